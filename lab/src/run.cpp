#include <lab/format.h>
#include <lab/quantile.h>
#include <lab/run.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <system_error>

#include <unistd.h>

#include <cuda_on_cpu/machine.h>
#include <cuda_on_cpu/program.h>

namespace lab {
namespace {

std::string device_name = "CPU";
bool device_is_timed = true;
std::vector<std::string> notes;
int record_calls = 0;

// CUDA on the CPU looks for what is allocated sweep after sweep.
[[maybe_unused]] const bool counts_handed_in = [] {
  cuda_on_cpu::program.round = "sweep";
  cuda_on_cpu::program.rounds = [] { return record_calls; };
  return true;
}();

/// Writes DIR/NAME: `write` puts the bytes there. A file that cannot be written whole is removed,
/// and the program ends.
void write_file(const std::string& dir, const std::string& name,
                const std::function<void(std::FILE*)>& write) {
  const std::string path = dir + "/" + name;
  std::FILE* file = std::fopen(path.c_str(), "wbe");
  if (file) write(file);
  if (file && !std::ferror(file) && std::fclose(file) == 0) return;
  const int error = errno;
  unlink(path.c_str());
  fail(kExitCannotWrite, "%s: %s", path.c_str(), std::strerror(error));
}

/// JSON has no NaN and no infinity; they are written as null.
std::string json_number(double value) {
  return std::isfinite(value) ? format("%.17g", value) : "null";
}

// A median of fewer iterations than this says little, and where a residual is read one check late
// the last ones take next to no time.
constexpr std::size_t kFewestSamples = 3;
constexpr int kEnoughChecks = 20;  // that are proposed
// What the host sees of the GPU's progress comes in steps of up to 2 us. So that they do not count,
// a sample is no shorter than this (ms).
constexpr double kShortestSample = 0.1;

struct TimingSummary {
  std::size_t samples = 0;
  // Milliseconds; NaN without samples.
  double first = NAN, min = NAN, q1 = NAN, median = NAN, q3 = NAN, max = NAN;
};

template <typename Checks>
TimingSummary summarize(const Checks& checks) {
  TimingSummary summary;
  if (checks.empty() || !device_is_timed) return summary;
  summary.first = checks.front().milliseconds;
  // The first iteration warms up (page faults, loading of kernels) and is told apart.
  const std::size_t from = checks.size() > 1 ? 1 : 0;
  const auto iterations = [&](std::size_t k) {
    return checks[k].iteration - (k == 0 ? 0 : checks[k - 1].iteration);
  };
  double total = 0;
  for (std::size_t k = from; k < checks.size(); ++k)
    total += checks[k].milliseconds * iterations(k);
  const double shortest = std::min(kShortestSample, total / kEnoughChecks);
  std::vector<double> times;
  double sample = 0;  // of `joined` iterations
  int joined = 0;
  for (std::size_t k = from; k < checks.size(); ++k) {
    sample += checks[k].milliseconds * iterations(k);
    joined += iterations(k);
    if (sample >= shortest || (times.empty() && k + 1 == checks.size())) {
      times.push_back(sample / std::max(1, joined));
      sample = joined = 0;
    }
  }
  std::sort(times.begin(), times.end());
  summary.samples = times.size();
  summary.min = times.front();
  summary.q1 = quantile(times, 0.25);
  summary.median = quantile(times, 0.5);
  summary.q3 = quantile(times, 0.75);
  summary.max = times.back();
  return summary;
}

}  // namespace

void write_whole(const std::string& dir, const std::string& name, const std::string& text) {
  // Under its own name only when it is whole: on a full disk a table of before stays.
  const std::string aside = name + ".partial";
  write_file(dir, aside, [&](std::FILE* file) { std::fwrite(text.data(), 1, text.size(), file); });
  std::error_code error;
  std::filesystem::rename(dir + "/" + aside, dir + "/" + name, error);
  if (error)
    fail(kExitCannotWrite, "%s/%s: %s", dir.c_str(), name.c_str(), error.message().c_str());
}

void set_device(const std::string& name, bool timed) {
  device_name = name;
  device_is_timed = timed;
}

std::string utc_time(const char* pattern) {
  char text[32] = "";
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::strftime(text, sizeof text, pattern, &utc);
  return text;
}

void add_note(const std::string& note) { notes.push_back(note); }

int largest_n(std::size_t bytes, std::size_t bytes_per_point) {
  auto n = static_cast<std::size_t>(std::sqrt(static_cast<double>(bytes / bytes_per_point)));
  while (n * n * bytes_per_point > bytes) --n;
  return static_cast<int>(std::min<std::size_t>(n, kMaxN));
}

void require_host_memory(int n, std::size_t bytes_per_point) {
  const std::size_t available = cuda_on_cpu::available_memory();
  const std::size_t needed = bytes_per_point * n * n;
  if (needed > available) {
    fail(kExitDoesNotFit,
         "n = %d needs %.1f GB of memory, and %.1f GB are free: the largest n that fits is %d", n,
         1e-9 * needed, 1e-9 * available, largest_n(available, bytes_per_point));
  }
}

std::uint64_t row_hash(const float* row, int n) {
  // FNV-1a (Fowler, Noll, Vo) over 32-bit words. Several hashes take turns: a step of one waits for
  // the one before, and not for those of the others.
  constexpr std::uint64_t kPrime = 0x100000001b3ull;
  constexpr int kHashes = 4;
  std::uint64_t hash[kHashes] = {1, 2, 3, 4}, all = 0xcbf29ce484222325ull;
  for (int i = 0; i < n; ++i) {
    const float value = std::fabs(row[i]) < 1e-30f ? 0.0f : row[i];
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    hash[i % kHashes] = (hash[i % kHashes] ^ bits) * kPrime;
  }
  for (const std::uint64_t each : hash) all = (all ^ each ^ (each >> 30)) * kPrime;
  return all ^ (all >> 31);
}

std::string rows_csv(const std::vector<std::uint64_t>& hashes) {
  std::string csv = "row,hash\n";
  for (std::size_t j = 0; j < hashes.size(); ++j) {
    csv += format("%zu,%016llx\n", j, static_cast<unsigned long long>(hashes[j]));
  }
  return csv;
}

Run::Run(const Options& options, const Problem& problem) : options_(options), problem_(problem) {
  checks_.reserve(std::min(options_.max_iterations, 1 << 16));
  iteration_start_ = Clock::now();
  last_progress_ = iteration_start_;
  set_up_ms_ = std::chrono::duration<double, std::milli>(iteration_start_ - options_.start).count();
  if (!options_.quiet) {
    const int columns =
        std::printf("%s: %s, n = %d (a field: %.3g MB),", options_.step.c_str(),
                    problem_name(options_.problem), options_.n, 4e-6 * options_.n * options_.n);
    // A terminal has 80: a long device's name goes to a line of its own.
    const bool fits = columns + 1 + device_name.size() <= 80;
    std::printf("%s%s\n", fits ? " " : "\n  ", device_name.c_str());
    for (const std::string& note : notes) std::printf("  %s\n", note.c_str());
    std::fflush(stdout);
  }
  iteration_start_ = Clock::now();
}

void Run::record(int iteration, double residual) {
  ++record_calls;
  const Clock::time_point now = Clock::now();
  const int before = checks_.empty() ? 0 : checks_.back().iteration;
  const double ms = std::chrono::duration<double, std::milli>(now - iteration_start_).count();
  checks_.push_back({iteration, residual, ms / std::max(1, iteration - before)});
  if (!options_.quiet) print_progress(before, iteration, residual);
  iteration_start_ = Clock::now();
}

void Run::print_progress(int before, int iteration, double residual) {
  // A line when 1, 2, 5, 10, 20, 50, ... are passed; between them, on a terminal, one that is
  // overwritten.
  long long step = 1;
  while (10 * step <= iteration) step *= 10;
  const long long leading = iteration / step;  // 1 to 9
  const bool round = before < (leading >= 5 ? 5 : leading >= 2 ? 2 : 1) * step;
  if (round) {
    clear_progress();
    std::printf("  iteration %6d   residual %.4e\n", iteration, residual);
    std::fflush(stdout);
    last_progress_ = Clock::now();
  } else if (isatty(STDERR_FILENO) &&
             Clock::now() - last_progress_ > std::chrono::milliseconds(200)) {
    std::fprintf(stderr, "\r\033[K  iteration %6d   residual %.4e   at most %d", iteration,
                 residual, options_.max_iterations);
    progress_line_ = true;
    last_progress_ = Clock::now();
  }
}

void Run::clear_progress() {
  if (progress_line_) std::fputs("\r\033[K", stderr);
  progress_line_ = false;
}

int Run::finish(const float* field, std::size_t stride_i, std::size_t stride_j) {
  return finish(fetch_rows(field, options_.n, stride_i, stride_j));
}

int Run::finish(const FetchRows& fetch) {
  clear_progress();
  const double residual = last_residual();
  const bool converged = !options_.fixed_iterations && residual <= options_.tolerance;
  const bool all_made = options_.fixed_iterations && last_iteration() == options_.max_iterations &&
                        (!std::isnan(residual) || checks_.empty());

  if (!options_.quiet) {
    std::printf("  %s after %d iterations",
                converged  ? "converged"
                : all_made ? "done"
                           : "NOT CONVERGED",
                last_iteration());
    std::printf(checks_.empty() ? "\n" : ": residual %.4e\n", residual);
    print_times();
    if (problem_.has_exact_solution()) {
      distance_ = problem_.distance_to_exact(fetch);
      std::printf("  exact solution   %.3g %% away from it\n", 100 * distance_);
      if (distance_ > 0.01) {
        std::printf(
            "    A small residual is not a small error: it says only how little the last\n"
            "    sweep still changed.%s\n",
            options_.step < "16" ? " Step 16 has a method that makes the error small." : "");
      }
    }
    if (!converged && !all_made && !std::isnan(residual)) {
      std::printf("  tolerance %g was not reached: raise --max-iterations\n", options_.tolerance);
    }
    std::fflush(stdout);
  }
  if (!options_.record_dir.empty()) write_record(fetch);
  if (std::isnan(residual) && !all_made) {
    fail(kExitNotConverged, "the residual of iteration %d is not a number", last_iteration());
  }
  return converged || all_made ? kExitDone : kExitNotConverged;
}

int Run::last_iteration() const { return checks_.empty() ? 0 : checks_.back().iteration; }
double Run::last_residual() const { return checks_.empty() ? NAN : checks_.back().residual; }

void Run::print_times() const {
  const TimingSummary time = summarize(checks_);
  const bool enough = time.samples >= kFewestSamples;
  if (enough) {
    std::printf("  per iteration    %.4g ms, median of %zu (middle half: %.4g to %.4g)\n",
                time.median, time.samples, time.q1, time.q3);
  }
  if (time.samples > 0) {
    std::printf("  first, set-up    %.4g ms, %.4g ms\n", time.first, set_up_ms_);
  }
  if (enough) {
    const double points = static_cast<double>(options_.n) * options_.n;
    std::printf("  throughput       %.4g million points/s, %.4g GB/s at 8 bytes per point\n",
                1e-3 * points / time.median, 8e-6 * points / time.median);
  }
  if (time.samples > 0 && !enough) {
    const bool sparse = options_.check_every > 0;
    std::printf("  no time          too few %s; with --iterations %d\n%19sthere are enough\n",
                sparse ? "checks to time an iteration" : "iterations to time one",
                kEnoughChecks * std::max(1, options_.check_every), "");
  }
  if (!device_is_timed) {
    std::printf("  no times         they would say nothing about a GPU\n");
  }
}

void Run::write_record(const FetchRows& fetch) const {
  const std::string& dir = options_.record_dir;
  // run.json goes first and comes last: where it is, the record beside it is whole.
  std::error_code ignored;
  std::filesystem::remove(dir + "/run.json", ignored);
  std::string residuals = "iteration,residual\n";
  for (const Check& check : checks_) {
    residuals += format("%d,%.17g\n", check.iteration, check.residual);
  }
  write_whole(dir, "residuals.csv", residuals);
  const FieldRecord what = options_.field_record;
  if (what != FieldRecord::kFull) std::filesystem::remove(dir + "/field.f32", ignored);
  if (what != FieldRecord::kRows) std::filesystem::remove(dir + "/rows.csv", ignored);
  if (what == FieldRecord::kFull) {
    write_file(dir, "field.f32", [&](std::FILE* file) {
      for_each_row(fetch, n(),
                   [&](int, const float* row) { std::fwrite(row, sizeof(float), n(), file); });
    });
  } else if (what == FieldRecord::kRows) {
    std::vector<std::uint64_t> hashes;
    for_each_row(fetch, n(), [&](int, const float* row) { hashes.push_back(row_hash(row, n())); });
    write_whole(dir, "rows.csv", rows_csv(hashes));
  }
  write_run_json();
}

void Run::write_run_json() const {
  const TimingSummary time = summarize(checks_);
  std::ostringstream json;
  json << "{\n"
       << "  \"step\": \"" << options_.step << "\",\n"
       << "  \"device\": \"" << device_name << "\",\n"
       << "  \"ranks\": " << job.size << ",\n"
       << "  \"date\": \"" << utc_time("%Y-%m-%dT%H:%M:%SZ") << "\",\n"
       << "  \"problem\": \"" << problem_name(options_.problem) << "\",\n"
       << "  \"n\": " << options_.n << ",\n"
       << "  \"iterations\": " << last_iteration() << ",\n"
       << "  \"residual\": " << json_number(last_residual()) << ",\n"
       << "  \"distance_to_exact\": " << json_number(distance_ < 0 ? NAN : distance_) << ",\n"
       << "  \"field\": \"" << kFieldRecordNames[int(options_.field_record)] << "\",\n"
       << "  \"set_up_ms\": " << json_number(device_is_timed ? set_up_ms_ : NAN) << ",\n"
       << "  \"first_iteration_ms\": " << json_number(time.first) << ",\n"
       << "  \"iteration_samples\": " << time.samples << ",\n"
       << "  \"iteration_ms_min\": " << json_number(time.min) << ",\n"
       << "  \"iteration_ms_q1\": " << json_number(time.q1) << ",\n"
       << "  \"iteration_ms_median\": " << json_number(time.median) << ",\n"
       << "  \"iteration_ms_q3\": " << json_number(time.q3) << ",\n"
       << "  \"iteration_ms_max\": " << json_number(time.max) << "\n"
       << "}\n";
  write_whole(options_.record_dir, "run.json", json.str());
}

void record_clinic(const ClinicOptions& options, const std::vector<int>& result) {
  if (options.record_dir.empty()) return;
  const auto* bytes = reinterpret_cast<const char*>(result.data());
  write_whole(options.record_dir, "result.i32", {bytes, result.size() * sizeof(int)});
}

}  // namespace lab
