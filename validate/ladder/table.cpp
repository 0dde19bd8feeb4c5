#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include <lab/run.h>

#include "ladder/ladder.h"
#include "run/steps.h"
#include "run/text.h"

namespace validate {
namespace {

constexpr double kBytesPerPoint = 8;  // one float read and one written: the least a sweep can move
constexpr std::size_t kWidth = 80;    // columns of a terminal

/// About four significant digits, without an exponent.
std::string significant(double value) {
  const int digits = value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : value >= 1 ? 3 : 4;
  return format("%.*f", digits, value);
}

double mpoints_per_s(const LadderRow& row) {
  return 1e-3 * row.step.n * row.step.n / row.time.median;
}

/// Whether the step has kernels: what runs on the CPU is not told against the GPU's bandwidth.
bool runs_on_gpu(const LadderRow& row) {
  return std::filesystem::path(row.step.source).extension() == ".cu";
}

double gb_per_s(const LadderRow& row) { return 1e-3 * kBytesPerPoint * mpoints_per_s(row); }

/// How many GPUs the row's time is of: ranks that outnumber them share them.
int gpus_of(const LadderRow& row, const Machine& machine) {
  return std::max(1, std::min(row.ranks, machine.gpus));
}

/// What a copy on all GPUs of the row's time would reach together, in GB/s; 0 where the step is not
/// to be told against it.
double copy_gb_per_s(const LadderRow& row, const Machine& machine) {
  return runs_on_gpu(row) ? machine.copy_gb_per_s * gpus_of(row, machine) : 0;
}

bool is_timed_job(const LadderRow& row) { return row.ranks > 0 && row.time.measured(); }

/// On how many GPUs the jobs of ranks were timed: "14, 15: on 2 GPUs, one rank per GPU; the step
/// before 14 ran on one". All jobs of a run have as many ranks. Empty where there is none.
std::string jobs_in_words(const std::vector<LadderRow>& rows, const Machine& machine) {
  std::string numbers, how, before;
  for (const LadderRow& row : rows) {
    if (!is_timed_job(row)) continue;
    numbers += (numbers.empty() ? "" : ", ") + row.step.number();
    how = (row.ranks > machine.gpus ? "" : "on ") + gpus_in_words(row, machine);
    if (gpus_of(row, machine) > 1 && row.before_alone && row.before.measured()) {
      before = "; the step before " + row.step.number() + " ran on one";
    }
  }
  return numbers.empty() ? "" : numbers + ": " + how + before;
}

/// Prints a paragraph, in lines of at most 80 columns, each with `indent` before it.
void print_wrapped(const std::string& text, const std::string& indent = "") {
  std::string line;
  for (const std::string& word : split(text, ' ')) {
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > kWidth) {
      std::printf("%s%s\n", indent.c_str(), line.c_str());
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  std::printf("%s%s\n", indent.c_str(), line.c_str());
}

std::string ms_text(const Timing& time) { return time.measured() ? significant(time.median) : "-"; }

std::string ratio_text(const Timing& other, const LadderRow& row) {
  return other.measured() ? significant(other.median / row.time.median) : "-";
}

/// The table's lines with # before them: on what machine, and what its serial code takes.
std::string comments_of(const Ladder& ladder) {
  const Machine& machine = ladder.machine;
  std::string text = "# The ladder: every solution, validated and timed. Written by `make run`.\n";
  text += "# date\t" + lab::utc_time("%Y-%m-%d") + "\n";
  text += "# gpu\t" + (machine.has_gpu ? machine.gpu : "none") + "\n";
  if (machine.has_gpu) {
    text += "# compute_capability\t" + machine.compute_capability + "\n# cuda\t" + machine.cuda +
            "\n# driver\t" + machine.driver + "\n";
    text += format("# copy_gb_per_s\t%.1f\tq1\t%.1f\tq3\t%.1f\tby\t%s\n", machine.copy_gb_per_s,
                   machine.copy_q1, machine.copy_q3, machine.copy_way.c_str());
  }
  text += "# cpu\t" + machine.cpu + "\n";
  auto add_time = [&text](const std::string& which, int n, const std::string& more,
                          const Timing& time) {
    if (!time.measured()) return;
    text += format("# %s\tn\t%d%s\tms\t%.6g\tq1\t%.6g\tq3\t%.6g\tsamples\t%d\n", which.c_str(), n,
                   more.c_str(), time.median, time.q1, time.q3, time.samples);
  };
  for (const auto& [n, cpu] : ladder.cpu) {
    add_time("serial\tbest", n, "", cpu.best);
    add_time("serial\tstrided", n, "", cpu.strided);
    add_time("all_cores", n, "\tthreads\t" + std::to_string(cpu.threads), cpu.all_cores);
  }
  return text;
}

std::string line_of(const LadderRow& row, const Ladder& ladder) {
  const std::string step = format("%s\t%s\t%s\t%d\t", row.step.name.c_str(), row.step.title.c_str(),
                                  row.verdict.c_str(), row.step.n);
  if (!row.time.measured()) return step + "-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t" + row.note + "\n";
  const auto at_n = ladder.cpu.find(row.step.n);
  const CpuTimes cpu = at_n != ladder.cpu.end() ? at_n->second : CpuTimes{};
  auto ratio = [&](const Timing& other) {
    return other.measured() ? format("%.4f\t", other.median / row.time.median) : "-\t";
  };
  const double copy = copy_gb_per_s(row, ladder.machine);
  return step +
         format("%.6g\t%.6g\t%.6g\t%d\t%.6g\t%.6g\t", row.time.median, row.time.q1, row.time.q3,
                row.time.samples, mpoints_per_s(row), gb_per_s(row)) +
         (copy > 0 ? format("%.5f\t", 100 * gb_per_s(row) / copy) : "-\t") + ratio(cpu.best) +
         ratio(cpu.strided) + ratio(row.before) +
         (row.before.measured() ? format("%.6f\t", row.before.median) : "-\t") + row.note + "\n";
}

std::string name_of(const LadderRow& row) { return row.step.number() + " " + row.step.title; }

void print_times(const Ladder& ladder) {
  std::printf("\n%-22s %-7s %5s %9s %6s %8s %7s %6s\n", "step", "valid", "n", "ms/iter", "spread",
              "Mpts/s", "GB/s", "% copy");
  for (const LadderRow& row : ladder.rows) {
    if (!row.time.measured()) {
      std::printf("%-22s %-7s %s\n", name_of(row).c_str(), row.verdict.c_str(),
                  row.verdict == "right" ? ("      - no time: " + row.note).c_str() : "");
      continue;
    }
    const double of_gpus = copy_gb_per_s(row, ladder.machine);
    const std::string copy = of_gpus > 0 ? format("%.1f", 100 * gb_per_s(row) / of_gpus) : "-";
    std::printf("%-22s %-7s %5d %9s %5.1f%% %8.0f %7.1f %6s\n", name_of(row).c_str(),
                row.verdict.c_str(), row.step.n, significant(row.time.median).c_str(),
                row.time.spread_percent(), mpoints_per_s(row), gb_per_s(row), copy.c_str());
  }
  const std::string jobs = jobs_in_words(ladder.rows, ladder.machine);
  if (!jobs.empty()) print_wrapped(jobs);
}

/// Nothing, if nothing was timed.
void print_speed_ups(const Ladder& ladder) {
  if (ladder.cpu.empty()) return;
  std::printf("\n%-22s %7s %11s %11s %11s %11s\n", "speed-up over", "n", "step before",
              "best serial", "all cores", "strided");
  for (const LadderRow& row : ladder.rows) {
    const auto found = ladder.cpu.find(row.step.n);
    if (!row.time.measured() || found == ladder.cpu.end()) continue;
    const CpuTimes& cpu = found->second;
    std::printf("%-22s %7d %11s %11s %11s %11s\n", name_of(row).c_str(), row.step.n,
                ratio_text(row.before, row).c_str(), ratio_text(cpu.best, row).c_str(),
                ratio_text(cpu.all_cores, row).c_str(), ratio_text(cpu.strided, row).c_str());
  }
  std::printf("\n%-22s %11s %20s %11s\n", "CPU, ms per iteration", "best serial",
              "all cores (threads)", "strided");
  for (const auto& [n, cpu] : ladder.cpu) {
    const std::string threads = " (" + std::to_string(cpu.threads) + ")";
    const bool too_large = !cpu.strided.measured() && n > ladder.max_strided_n;
    std::printf("n = %-18d %11s %20s %11s\n", n, ms_text(cpu.best).c_str(),
                (ms_text(cpu.all_cores) + threads).c_str(),
                too_large ? "not timed" : ms_text(cpu.strided).c_str());
  }
  print_wrapped(
      "Best serial is in row order, with -O3, on one core. All cores run the same code on as many "
      "threads as are worth it at that n. Strided is step 00 on one core, timed up to n = " +
      std::to_string(ladder.max_strided_n) + ".");
}

}  // namespace

std::string gpus_in_words(const LadderRow& row, const Machine& machine) {
  const int gpus = gpus_of(row, machine);
  const std::string words = std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs");
  if (row.ranks > gpus) return std::to_string(row.ranks) + " ranks on " + words;
  return words + (gpus > 1 ? ", one rank per GPU" : "");
}

void print_table(const Ladder& ladder) {
  const Machine& machine = ladder.machine;
  print_times(ladder);
  print_speed_ups(ladder);
  if (ladder.cpu.empty()) std::printf("\n");
  std::printf("CPU: %s\n", machine.cpu.c_str());
  if (machine.has_gpu) {
    std::printf("GPU: %s, CUDA %s, driver %s, copy bandwidth %.0f GB/s\n", machine.gpu.c_str(),
                machine.cuda.c_str(), machine.driver.c_str(), machine.copy_gb_per_s);
  } else {
    std::printf("GPU: none\n");
  }
  const bool several = std::any_of(
      ladder.rows.begin(), ladder.rows.end(),
      [&](const LadderRow& row) { return is_timed_job(row) && gpus_of(row, machine) > 1; });
  std::printf("\n");
  print_wrapped(
      "ms/iter is the median time of an iteration, spread its interquartile range. GB/s "
      "counts 8 bytes per point, the minimum that a sweep can move. % copy is its share of "
      "the copy bandwidth" +
      std::string(several ? ", on several GPUs that of all of them together" : "") +
      ". It is at most 50 while a step also copies the field. The previous step was timed again if "
      "its own n is different.");
}

void print_row(const LadderRow& row) {
  constexpr std::size_t kWords = 52;  // the column in which they begin
  const std::string words =
      row.time.measured()
          ? significant(row.time.median) + " ms/iter at n = " + std::to_string(row.step.n)
          : row.note;
  std::printf("%-20s %-21s %-8s", row.step.name.c_str(), row.step.title.c_str(),
              row.verdict.c_str());
  if (kWords + words.size() <= kWidth) {
    std::printf(" %s\n", words.c_str());
  } else {
    std::printf("\n");
    print_wrapped(words, "  ");
  }
  std::fflush(stdout);
}

void write_results(const std::string& folder, const Ladder& ladder) {
  std::string table =
      comments_of(ladder) +
      "step\ttitle\tverdict\tn\tms\tms_q1\tms_q3\tsamples\tmpoints_per_s\tgb_per_s\t"
      "percent_of_copy\tx_best_serial\tx_strided_serial\tx_before\tbefore_ms\tnote\n";
  for (const LadderRow& row : ladder.rows) table += line_of(row, ladder);
  lab::write_whole(folder, "ladder.tsv", table);
  std::printf("written to %s/ladder.tsv\n", folder.c_str());
}

}  // namespace validate
