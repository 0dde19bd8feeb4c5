#include "explain/diagnosis.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "explain/diagnosis_parts.h"
#include "run/text.h"
#include "source/source_code.h"

namespace validate {

using cuda_on_cpu::Report;

bool Words::has(const std::string& name, bool guess) const {
  return names_.empty() ? guess : names_.count(name) > 0;
}

bool Words::has_like(const std::string& beginning, bool guess) const {
  if (names_.empty()) return guess;
  return std::any_of(names_.begin(), names_.end(), [&](const std::string& name) {
    std::string lower;
    for (char c : name) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower.rfind(beginning, 0) == 0 || lower.rfind("k" + beginning, 0) == 0;
  });
}

bool Words::has_line(const std::string& code) const {
  return source_.empty() || code_only(source_).find(code_only(code)) != std::string::npos;
}

std::string Words::kernel(bool copies) const {
  std::string found;
  for (const std::string& name : kernels_in(source_)) {
    bool other = false, copy = false;
    for (const char* part : {"init", "start", "fill", "sum", "reduc", "residual", "norm", "zero"}) {
      other |= name.find(part) != std::string::npos;
    }
    for (const char* part : {"copy", "swap", "update_old"}) {
      copy |= name.find(part) != std::string::npos;
    }
    if (other || copy != copies) continue;
    if (!found.empty()) return "";
    found = name;
  }
  return found;
}

std::string Words::sweep() const {
  if (!sweep_on_gpu()) return has("jacobi_sweep", true) ? "jacobi_sweep" : "the sweep";
  const std::string usual =
      has("jacobi_pass_kernel", has_passes()) ? "jacobi_pass_kernel" : "jacobi_sweep_kernel";
  if (has(usual, true)) return usual;
  const std::string own = kernel(false);
  return own.empty() ? "the sweep" : own;
}

std::string Words::copy() const {
  if (copy_on_gpu() && has("copy_field_kernel", true)) return "copy_field_kernel";
  const std::string own = copy_on_gpu() ? kernel(true) : "";
  return own.empty() ? "copy_field" : own;
}

std::string Words::host() const {
  const std::string usual = has("jacobi_pass", has_passes())    ? "jacobi_pass"
                            : has("jacobi_sweeps", step_ >= 11) ? "jacobi_sweeps"
                                                                : "jacobi_sweep";
  return has(usual, true) ? usual : "the function that launches it";
}

std::string Words::lacking_of_pipeline() const {
  if (!has("__pipeline_memcpy_async", false)) return "";
  for (const char* call : {"__pipeline_commit", "__pipeline_wait_prior"}) {
    if (!has(call, true)) return call;
  }
  return "";
}

std::string Words::handover() const {
  if (!swaps()) return "copy_field(f_old, f_new, n) in main";
  // The learner's may exchange copies, or have another name.
  if (step_ >= 11 && has_line("std::swap(*f_old,*f_new)")) {
    return "std::swap(*f_old, *f_new) in " + host();
  }
  if (step_ >= 11) {
    return has_line("std::swap(f_old,f_new)")
               ? "std::swap(f_old, f_new) (in a function it must reach main's own pointers)"
               : "the exchange of f_old and f_new in " + host();
  }
  return "std::swap(f_old, f_new)";
}

std::string Words::bounds() const {
  return has_strips() ? "which columns and rows keep their old values in " + sweep() +
                            " and in what it calls: those of the boundary, 0 and n - 1, and no "
                            "others of the grid"
                      : "the bounds of i and j in " + sweep() + ": 1 to n - 2";
}

std::string Words::launch_grid() const {
  if (has("kBlockX", !has_strips())) return "(n + kBlockX - 1) / kBlockX blocks";
  return "enough blocks side by side for n columns, and enough one above the other for n rows";
}

std::string Words::held_points() const {
  return has_slabs() ? "held_end - held_begin rows, as many as the rank holds" : "n * n floats";
}

std::string Words::tile_loads() const {
  return "how threads share out the tile's entries: all of them together load each entry once (the "
         "thread's number in the block, the entry that it belongs to, and from one round to the "
         "next as many as the block has threads)";
}

std::string Words::exchange() const {
  return has("exchange_halos", true) ? "exchange_halos" : "the exchange of rows";
}

std::string Words::shares() const {
  return has("slab_of_rank", true) ? "slab_of_rank" : "which rows each rank has";
}

std::string Words::formula() const {
  const bool waits = has("wait_for", step_ == 11);
  const std::string line = waits ? "return std::sqrt(*pass.host_sum / (double(n) * n))"
                                 : "residual = std::sqrt(squares / (double(n) * n))";
  // The learner's own may have other words.
  if (!has_line(line)) return "the formula of the residual";
  return line + (waits ? " in wait_for" : " in main");
}

Field field_of(const Reference& reference) {
  Field field;
  for (int j = 0; j < reference.n(); ++j) {
    field.insert(field.end(), reference.row(j), reference.row(j) + reference.n());
  }
  return field;
}

Field field_of(const lab::StartingField& start, int n) {
  Field field;
  field.reserve(static_cast<std::size_t>(n) * n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) field.push_back(start(i, j));
  }
  return field;
}

Field transposed(const Field& field, int n) {
  Field result(field.size());
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      result[static_cast<std::size_t>(j) * n + i] = field[static_cast<std::size_t>(i) * n + j];
    }
  }
  return result;
}

const Field& Sweeps::after(int k) {
  while (static_cast<int>(fields_.size()) <= k) {
    residuals_.push_back(reference_.sweep());
    fields_.push_back(field_of(reference_));
  }
  return fields_[k];
}

double Sweeps::residual(int k) {
  after(k);
  return residuals_[k - 1];
}

double largest_of(const Field& field) {
  double largest = 0;
  for (float value : field) largest = std::max(largest, std::fabs(static_cast<double>(value)));
  return largest;
}

Cells differing(const Field& expected, const Field& found, int n, int sweeps) {
  const Near near(largest_of(expected), sweeps);
  Cells cells(n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      const std::size_t k = static_cast<std::size_t>(j) * n + i;
      const bool same = cells.is_boundary(i, j)
                            ? std::memcmp(&expected[k], &found[k], sizeof(float)) == 0
                            : near(expected[k], found[k]);
      if (!same) cells.add(i, j);
    }
  }
  return cells;
}

bool agree(const Field& a, const Field& b, int n, int sweeps) {
  return a.size() == b.size() && differing(a, b, n, sweeps).count() == 0;
}

const Observation* Interview::after(int k) {
  const auto found = answers_.find(k);
  Answer& answer = answers_[k];
  if (found == answers_.end()) {
    Case run = run_;
    run.iterations = k;
    answer.known = patient_.run(run, &answer.seen) &&
                   answer.seen.field.size() == static_cast<std::size_t>(run.n) * run.n;
  }
  return answer.known ? &answer.seen : nullptr;
}

bool field_changes(Interview* interview, int k) {
  const Observation* one = interview->after(k);
  Case run = interview->run();
  run.iterations = k;
  Observation other;
  if (!one || !interview->patient().run_again(run, &other)) return false;
  return one->field.size() == other.field.size() &&
         std::memcmp(one->field.data(), other.field.data(), one->field.size() * sizeof(float)) != 0;
}

Diagnosis ask_about_streams(const std::string& source) {
  const std::vector<Queued> all = queued_in(source);
  const bool default_waits = source.find("NonBlocking") == std::string::npos;
  const auto named = [](const Queued& work) {
    return work.stream.empty() ? std::string("the default stream") : "the stream " + work.stream;
  };
  for (const Queued& other : all) {
    if (other.launch || other.arguments.size() < 3) continue;
    const bool fill = other.call.find("Memset") != std::string::npos;
    const std::string& memory = other.arguments[fill ? 0 : 1];
    for (const Queued& launch : all) {
      const auto& given = launch.arguments;
      if (!launch.launch || launch.stream == other.stream ||
          std::find(given.begin(), given.end(), memory) == given.end()) {
        continue;
      }
      if (default_waits && (launch.stream.empty() || other.stream.empty())) continue;
      return {
          format("line %d %s %s in %s, line %d launches the kernel that adds to it in %s: "
                 "nothing says which of the two comes first",
                 other.line, fill ? "fills" : "copies", memory.c_str(), named(other).c_str(),
                 launch.line, named(launch).c_str()),
          {format("the stream at line %d and the one at line %d: the same for both; or an event "
                  "that the second one waits for (cudaStreamWaitEvent)",
                  other.line, launch.line)}};
    }
  }
  return {};
}

Diagnosis ask_about_order_of_sum(const std::string& source) {
  const std::vector<Queued> all = queued_in(source);
  const std::vector<std::string> lines = code_lines(source);
  const auto one_function = [&](const Queued& from, const Queued& to) {
    for (int k = from.line; k < to.line - 1; ++k) {
      if (lines[k].rfind('}', 0) == 0) return false;
    }
    return true;
  };
  const auto is_copy = [](const Queued& work) {
    return !work.launch && work.call.find("Memcpy") != std::string::npos &&
           work.arguments.size() > 3 && work.arguments[3] == "cudaMemcpyDeviceToHost";
  };
  const auto is_fill = [](const Queued& work) {
    return !work.launch && work.call.find("Memset") != std::string::npos && !work.arguments.empty();
  };
  const auto adds = [](const Queued& work, const std::string& sum) {
    return work.launch && std::count(work.arguments.begin(), work.arguments.end(), sum) > 0;
  };
  for (std::size_t k = 0; k + 1 < all.size(); ++k) {
    const Queued &first = all[k], &second = all[k + 1];
    if (second.line <= first.line || !one_function(first, second)) continue;
    const bool of_kernels =
        is_fill(first) && std::any_of(all.begin(), all.begin() + k, [](const Queued& work) {
          return work.launch && work.arguments.size() > 2;
        });
    // A launch that comes right after the two is what comes too late, and not the copy.
    const bool launched_after = k + 2 < all.size() && all[k + 2].line > second.line &&
                                one_function(second, all[k + 2]) &&
                                adds(all[k + 2], first.arguments[0]);
    if (of_kernels && !launched_after && is_copy(second) &&
        second.arguments[1] == first.arguments[0]) {
      return {format("line %d sets %s back before line %d copies it to the host", first.line,
                     first.arguments[0].c_str(), second.line),
              {format("the order: first the copy at line %d, then the fill", second.line)}};
    }
    const bool nothing_before =
        k == 0 || all[k - 1].line > first.line || !one_function(all[k - 1], first);
    if (is_copy(first) && adds(second, first.arguments[1]) &&
        (nothing_before || is_fill(all[k - 1]))) {
      return {format("line %d copies %s to the host before line %d launches the kernel that adds "
                     "to it",
                     first.line, first.arguments[1].c_str(), second.line),
              {format("the order: first the launch at line %d, then the copy", second.line)}};
    }
    if (is_fill(second) && adds(first, second.arguments[0]) && nothing_before) {
      return {format("line %d sets %s back when the kernel of line %d has added to it, and before "
                     "the host reads it",
                     second.line, second.arguments[0].c_str(), first.line),
              {format("the order: first the fill at line %d, then the launch", second.line)}};
    }
  }
  return {};
}

Diagnosis diagnose_global_race(const Finding& finding, const std::string& source) {
  if (finding.kind != Finding::kRace || finding.shared || finding.both_write || finding.line < 1) {
    return {};
  }
  const int line = finding.line, other = finding.other_line;
  const std::string code = code_at(source, line);
  const std::size_t adds = code.find("+="), is = code.find('=');
  // "*sum = *sum + x"
  const bool sums = is != std::string::npos && is > 0 &&
                    code.find(code.substr(0, is) + "+", is) != std::string::npos;
  const bool of_one = code.find('[') > std::min(adds, is);
  if (line == other && of_one && (adds != std::string::npos || sums)) {
    return {format("at line %d several threads add to the same sum, each reads it, adds, and "
                   "writes it back, and what another one has added meanwhile is lost",
                   line),
            {format("line %d: atomicAdd", line)}};
  }
  const Scene scene = scene_of(finding, source);
  const std::string what = scene.array.empty() ? "global memory" : scene.array;
  const std::string lines =
      other > 0 && other != line
          ? format("lines %d and %d", std::min(line, other), std::max(line, other))
          : format("line %d", line);
  return {"a race: one thread writes what another one reads, in " + what + ", at " + lines +
              ", and nothing says which of them comes first",
          {"what the two lines are meant to access: a sweep reads one field and writes the other, "
           "and no barrier inside a kernel orders threads of different blocks"}};
}

Diagnosis ask_about_lost_local(const std::string& source) {
  const LostLocal lost = lost_local_in(source);
  if (lost.name.empty()) return {};
  return {format("at line %d the address of %s is %s; that variable is gone when %s has returned, "
                 "and what is written there later damages other variables, or is lost",
                 lost.line, lost.name.c_str(),
                 lost.captured ? "kept for later (work that is captured as a graph keeps it)"
                               : "given to a copy that nothing waits for",
                 lost.function.c_str()),
          {"memory for it that lives as long as the work that writes it: cudaMallocHost, say"}};
}

std::vector<std::string> Diagnosis::lines() const {
  std::vector<std::string> lines;
  if (!known()) return lines;
  lines.push_back("diagnosis: " + (lead.empty() ? "" : lead + ". ") + cause);
  for (const std::string& where : look_at) lines.push_back("look at: " + where);
  return lines;
}

Cells wrong_cells(const Case& run, const std::vector<float>& field) {
  Reference reference(lab::Problem(run.problem, run.n, 1));
  for (int k = 0; k < run.iterations; ++k) reference.sweep();
  return differing(field_of(reference), field, run.n, run.iterations);
}

namespace {

/// A loop that stops by itself, before the iterations that were asked for are made.
Diagnosis diagnose_early_stop(const Wrong& wrong, Interview* interview) {
  const int asked = wrong.run.iterations, more = asked + 3;
  const Observation* longer = interview->after(more);
  if (!longer) return {};
  if (wrong.made == asked - 1 && longer->iterations == more - 1) {
    return {"each run makes one iteration too few",
            {"the condition of the loop in main: it goes on while iteration < "
             "options.max_iterations, and iteration begins at 0"}};
  }
  if (longer->iterations != wrong.made) return {};
  const double last = longer->residuals.empty() ? NAN : longer->residuals.back().value;
  const char* const condition =
      "the condition of the loop in main: options.tolerance (with --iterations it is -1, so that "
      "no residual ends the loop) and options.max_iterations";
  Case probe = wrong.run;
  probe.problem = lab::ProblemKind::kProbe;
  Observation seen;
  if (probe.problem != wrong.run.problem && interview->patient().run(probe, &seen) &&
      seen.iterations == probe.iterations) {
    return {format("it stops at a tolerance of its own: the residual is %.3g then, and with larger "
                   "ones it goes on",
                   last),
            {condition}};
  }
  return {format("it stops after %d iteration%s, however many --iterations asks for: either at a "
                 "tolerance of its own (the residual is %.3g then), or at a count of its own",
                 wrong.made, wrong.made == 1 ? "" : "s", last),
          {condition}};
}

/// Whether residuals of several iterations are missing, though each sweep's is asked for.
Diagnosis ask_about_numbers(const Wrong& wrong, Interview* interview) {
  const Observation* seen = interview->after(wrong.run.iterations);
  if (!seen || seen->residuals.size() < 2 || Words(interview->patient()).has_checks()) return {};
  const int step = seen->residuals[0].iteration;
  if (step == 1 && wrong.made < wrong.run.iterations) {
    for (std::size_t k = 1; k < seen->residuals.size(); ++k) {
      const int before = seen->residuals[k - 1].iteration, now = seen->residuals[k].iteration;
      if (now == before + 1) continue;
      return {format("the residual of iteration %d is recorded, and the next one is that of "
                     "iteration %d: run.record is not called in each iteration",
                     before, now),
              {"run.record(++iteration, residual) in the loop of main: in every turn, whatever the "
               "iteration's number"}};
    }
  }
  for (std::size_t k = 0; k < seen->residuals.size(); ++k) {
    if (seen->residuals[k].iteration != step * static_cast<int>(k + 1)) return {};
  }
  if (step < 2) return {};
  return {format("the iterations are numbered %d, %d and so on: of %d numbers, one sweep is made",
                 step, 2 * step, step),
          {"where iteration goes up in the loop of main: by 1 for each sweep"}};
}

/// Whether the allocation has far too few bytes to be meant for a field.
bool is_no_field(const Report& report, int n) {
  return 8 * report.bytes < static_cast<long>(sizeof(float)) * n * n;
}

/// An access beside what was allocated.
Diagnosis diagnose_out_of_bounds(const Finding& finding, int n, const Patient& patient) {
  const Words words(patient);
  const Scene scene = scene_of(finding, patient.source);
  const std::string kernel = scene.function.empty() ? "a kernel" : scene.function;
  const std::string array = scene.array.empty() ? "what was allocated" : scene.array;
  const std::string named = array == "row" ? "the array row" : array;  // it is a word, too
  Diagnosis diagnosis{kernel + " " + finding.what + " " + named, {}};
  const bool copies = scene.function.find("copy") != std::string::npos;
  const bool sweeps = scene.function == words.sweep();
  if (finding.has_place && scene.thread_per_point && (sweeps || copies)) {
    const int i = finding.x, j = finding.y, low = sweeps ? 1 : 0, high = n - 1 - low;
    if (i < low || i > high || j < low || j > high) {
      diagnosis.cause += format("; a thread with i = %d, j = %d %s", i, j,
                                sweeps ? "is no interior point" : "is no point of the grid");
      diagnosis.look_at.push_back(
          "the `if` in " + kernel +
          (sweeps ? ": its bounds are 1 to n - 2, for i and for j" : ": i < n && j < n"));
      return diagnosis;
    }
    diagnosis.cause += format(", in the thread with i = %d, j = %d", i, j);
  }
  // What is far smaller than a field holds sums: one for each block, say.
  if (finding.report.bytes > 0 && is_no_field(finding.report, n)) {
    diagnosis.look_at.push_back(
        format("the index at line %d, and how many bytes line %d asks for: "
               "a place for each block (or thread) that has one",
               finding.line, finding.allocated_at));
    return diagnosis;
  }
  if (words.has_slabs() && sweeps) {
    diagnosis.look_at = {
        format("line %d, and how its row is counted: row j of the field is row j - held_begin of "
               "what the rank holds, and no row but those from held_begin to held_end - 1 is there",
               finding.line),
        std::string("the columns that a lane ") +
            (finding.what.rfind("writes", 0) == 0 ? "stores" : "loads") +
            ", none of them behind the row's end, padding included; and the rows that a warp "
            "marches "
            "through (" +
            words.shares() + ": the first rank's rows begin at 0, the last one's end at n)"};
    return diagnosis;
  }
  diagnosis.look_at.push_back(format("the index at line %d", finding.line) +
                              (scene.array.empty() ? "" : " of " + array) +
                              (sweeps ? ", and the n that " + kernel + " is given" : ""));
  const bool launched = patient.source.find(kernel + "<<<") != std::string::npos;
  if (!launched && words.has_strips()) {  // a function that the sweep calls
    diagnosis.look_at.push_back(
        std::string("the columns that a lane ") +
        (finding.what.rfind("writes", 0) == 0 ? "stores" : "loads") +
        ", none of them behind the row's end, padding included; and the rows that a warp marches "
        "through, 0 to n - 1");
  } else if (launched && !sweeps && !copies) {
    diagnosis.look_at.push_back(
        "the launch of " + kernel + " (how many blocks, how many threads)" +
        (finding.allocated_at > 0
             ? format(", and the bytes that line %d allocates: ", finding.allocated_at) +
                   words.held_points() + ", and a row's padding if it has one"
             : ""));
  }
  if (words.has_slabs()) {
    diagnosis.look_at.push_back(
        "where a row stands: row j of the field is row j - held_begin of what the rank holds");
  }
  const bool interior = finding.has_place && scene.thread_per_point && sweeps;
  if (interior && !words.has_tile()) {
    diagnosis.look_at.push_back(format(
        "the type of the index at line %d: std::size_t, or int where it is large enough (a short "
        "ends at 32767)",
        finding.line));
  } else if (words.has_strips() && diagnosis.look_at.size() > 1) {
    return diagnosis;
  } else if (words.has_tile() && sweeps) {
    diagnosis.look_at.push_back(
        "what a block loads at the edge of the grid: only points that there are, 0 to n - 1");
  } else if (sweeps && !words.has_strips()) {
    diagnosis.look_at.push_back(words.bounds());
  }
  return diagnosis;
}

/// A barrier or a shuffle that some threads never reach.
Diagnosis diagnose_barrier(const Finding& finding) {
  const bool barrier = finding.what == "barrier";
  return {format("not all threads of %s come to the %s at line %d: some have returned before, or "
                 "an `if` or a loop "
                 "leads them around it",
                 barrier ? "the block" : "the warp", finding.what.c_str(), finding.line),
          {format("each `return`, `if` and loop before line %d: threads without a point leave out "
                  "their work, not the "
                  "%s",
                  finding.line,
                  barrier ? "barrier (a cub reduction has barriers inside)" : "shuffle")}};
}

/// What the loop in main goes on for.
constexpr const char* kLoopCondition =
    "the condition of the loop in main: residual > options.tolerance && iteration < "
    "options.max_iterations, and iteration goes up in each turn";

/// Where a program was that did not end.
Diagnosis diagnose_endless(const Finding& finding) {
  if (finding.what == "kernel") {
    return {format("a loop of the kernel around line %d never ends for one of the threads",
                   finding.line),
            {"its condition, and what changes in each turn: by how much does its variable go on, "
             "and does it come to the end for every thread?",
             "where it waits for another block: that one may begin when this one has ended, and "
             "only then"}};
  }
  std::string cause =
      finding.what == "host"
          ? format("a loop of the host never ends: one around line %d", finding.line)
          : format("the loop that launches the kernel of line %d never ends", finding.line);
  if (finding.other_line > 0) {
    cause += format(", or the one in main around line %d", finding.other_line);
  }
  return {cause, {"its condition, and what changes in each turn", kLoopCondition}};
}

/// The host uses what a kernel, or a copy, may not be done with.
Diagnosis diagnose_host_early(const Finding& finding, const Patient& patient) {
  const Scene scene = scene_of(finding, patient.source);
  const std::string what = scene.array.empty() ? "that memory" : scene.array;
  return {format("at line %d the host %s ", finding.line, finding.what.c_str()) + what +
              " before the GPU is done with it",
          {format("what waits for the GPU between the launch (or the copy) and line %d: "
                  "cudaDeviceSynchronize(), or "
                  "cudaEventSynchronize for an event recorded behind it",
                  finding.line)}};
}

/// What a line first assigns to: "sum" of *sum = part[0], and of sum[k] = part[0].
std::string assigned_in(const std::string& code) {
  std::size_t end = code.find('=');
  while (end != std::string::npos && (code[end + 1] == '=' || std::strchr("=<>!", code[end - 1]))) {
    end = code.find('=', end + (code[end + 1] == '=' ? 2 : 1));
  }
  if (end == std::string::npos) return "";
  for (int depth = 0; end > 0 && (depth > 0 || code[end - 1] == ']');) {
    --end;
    depth += (code[end] == ']') - (code[end] == '[');
  }
  std::size_t begin = end;
  while (begin > 0 && in_name(code[begin - 1])) --begin;
  return code.substr(begin, end - begin);
}

/// Two threads that write the same place of a field.
Diagnosis diagnose_two_writers(const Finding& finding, const Patient& patient) {
  const Report& report = finding.report;
  const std::string code = code_at(patient.source, finding.line);
  const std::string target = code.find("+=") == std::string::npos ? assigned_in(code) : "";
  const std::string who =
      ": thread (" + report.thread + ") of block (" + report.block + "), and thread (" +
      report.other_thread + ") of " +
      (report.other_block.empty() ? "the same block" : "block (" + report.other_block + ")");
  // Parts of a sum are doubles, in an array or as one.
  const std::string whole = code_only(patient.source);
  const bool of_sum = !target.empty() && (whole.find("double*" + target) != std::string::npos ||
                                          whole.find("double" + target + "[") != std::string::npos);
  if (of_sum) {
    return {format("at line %d several threads write the same place in %s, and what the last of "
                   "them writes stays",
                   finding.line, target.c_str()) +
                who,
            {format("the index at line %d: a place for each block (blockIdx.y * gridDim.x + "
                    "blockIdx.x), or for each thread; or atomicAdd to one; or one block alone that "
                    "gets there",
                    finding.line)}};
  }
  Diagnosis diagnosis{
      "two threads write the same place in " + (target.empty() ? "memory" : target) +
          format(" at line %d", finding.line) + who + ". Each point has to be one thread's alone",
      {"which points a thread has: where its loops begin, by how much they go on, and where they "
       "end, so that no two threads (or blocks) have the same ones"}};
  if (Words(patient).has_pitch()) {
    diagnosis.look_at.push_back(
        "idx: a row that is stored four points at a time needs a pitch that is a multiple of "
        "4, or its last store reaches into the next row");
  }
  return diagnosis;
}

/// Two threads that use the same place in shared memory, and nothing orders them.
Diagnosis diagnose_shared_race(const Finding& finding) {
  const std::string what = finding.what.empty() ? "shared memory" : finding.what;
  if (finding.both_write) {
    return {
        format("two threads write the same place in shared memory, %s, at line %d: a race",
               what.c_str(), finding.line),
        {format("the index at line %d: a place for each thread; where a block has several warps "
                "(threadIdx.y), for each of them, too",
                finding.line)}};
  }
  const int line = finding.line, other = finding.other_line;
  const std::string lines =
      other > 0 && other != line
          ? format("lines %d and %d", std::min(line, other), std::max(line, other))
          : format("line %d", line);
  return {"a race: one thread of a block writes " + what + ", another one reads it, at " + lines +
              ", and no barrier says which of them comes first",
          {"__syncthreads() between writing shared memory and reading it; and where it is written "
           "again, in a loop, between reading it and that, too"}};
}

/// An access past the end of an array in shared memory.
Diagnosis diagnose_shared_end(const Finding& finding, const Patient& patient) {
  const Scene scene = scene_of(finding, patient.source);
  const std::string array = scene.array.empty() ? "an array in shared memory" : scene.array;
  const bool tile = Words(patient).has_tile() && scene.array.find("tile") == 0;
  return {
      format("line %d %s past the end of ", finding.line, finding.what.c_str()) + array,
      {"the size that " + array + " is declared with" +
       (tile ? format(
                   ": a block's points and a halo on both sides, two more along x and along y; and "
                   "the indices at line %d: columns and rows of the tile, not of the block",
                   finding.line)
             : ": an entry for each index that is used; and the index at that line")}};
}

/// An allocation of too few bytes, by their number: that of a field's points, or of a float.
/// Otherwise nothing.
Diagnosis diagnose_few_bytes(const Report& given, int n) {
  const int line = given.allocated_line;
  const std::string where = format("how many bytes line %d asks for: ", line);
  if (line <= 0 || given.bytes <= 0) return {};
  if (given.bytes == static_cast<long>(n) * n) {
    return {format("line %d allocates n * n bytes; n * n floats have four times as many", line),
            {where + "std::size_t(n) * n * sizeof(float)"}};
  }
  const long field = static_cast<long>(sizeof(float)) * n * n;
  if (given.bytes < field && !is_no_field(given, n)) {
    return {format("line %d allocates %ld bytes; n * n floats have %ld", line, given.bytes, field),
            {where + "std::size_t(n) * n * sizeof(float)"}};
  }
  if (given.bytes == sizeof(float)) {
    return {format("line %d allocates 4 bytes, as many as a float has; a double has 8", line),
            {where + "sizeof(double) for the sum"}};
  }
  return {};
}

/// Host code, or a copy, that accesses an address at which there is nothing.
Diagnosis diagnose_nowhere(const Finding& finding, const Patient& patient) {
  Diagnosis diagnosis{format("line %d %s memory of the host where nothing was allocated",
                             finding.line, finding.report.access.c_str()),
                      {}};
  const std::vector<std::string> lines = code_lines(patient.source);
  const bool known = finding.line <= static_cast<int>(lines.size());
  if (known && lines[finding.line - 1].find("cudaMemcpy") != std::string::npos) {
    diagnosis.look_at.push_back(
        "the copy's pointers and its number of bytes. What run.finish hands over, `to`, is where "
        "row j goes already: only the field's pointer is moved by idx(0, j, n)");
  } else {
    diagnosis.look_at.push_back(
        format("the pointer at line %d: what it was set to, and its index", finding.line));
  }
  return diagnosis;
}

/// Host code that accesses what lies beside an allocation, or what only the GPU can reach.
Diagnosis diagnose_host_access(const Finding& finding, int n, const Patient& patient) {
  const Report& report = finding.report;
  if (report.place == "nowhere") return diagnose_nowhere(finding, patient);
  if (report.bytes == 0) return {};
  Finding access = finding;
  access.what = report.access;
  const Scene scene = scene_of(access, patient.source);
  const std::string array = scene.array.empty() ? "memory" : scene.array;
  const std::string at = format("at line %d the host ", finding.line);
  if (report.has("device")) {
    Diagnosis diagnosis{at + access.what + " " + array +
                            ", which is in the GPU's own memory (cudaMalloc): only kernels and "
                            "copies reach it",
                        {}};
    if (patient.source.find("cudaMallocManaged") != std::string::npos) {
      diagnosis.look_at.push_back(format(
          "line %d: cudaMallocManaged gives memory that both can use", finding.allocated_at));
    } else {
      diagnosis.look_at.push_back(
          "what does it in the host's place: a kernel that writes the values; or, for what the "
          "host "
          "needs, cudaMemcpy to memory of its own (cudaMemcpyDeviceToHost)");
    }
    return diagnosis;
  }
  if (const Diagnosis few = diagnose_few_bytes(report, n); few.known()) return few;
  if (finding.where.empty()) return {};
  Diagnosis diagnosis{at + access.what + " " + finding.where + " " + array, {}};
  diagnosis.look_at.push_back(
      format("the index at line %d, and where the loops around it begin and end: points go from "
             "0 to n - 1",
             finding.line) +
      (patient.names.count("idx") > 0 ? "; and idx itself, which goes from 0 up, each point to a "
                                        "place of its own"
                                      : ""));
  diagnosis.look_at.push_back(
      format("how many bytes line %d asks for: those of n * n floats", finding.allocated_at));
  return diagnosis;
}

/// The function that a call's text names first: "cudaMemset" of "cudaMemset(&sum, 0, 8)".
std::string called_in(const std::string& call) { return call.substr(0, call.find('(')); }

/// The last fill or copy before a line whose result is dropped: "cudaMemset at line 85".
std::string dropped_call_before(int line, const std::string& source) {
  const std::vector<std::string> lines = code_lines(source);
  for (int k = std::min(line - 1, static_cast<int>(lines.size())); k > 0; --k) {
    const std::string code = code_only(lines[k - 1]);
    if (code.rfind("cudaMem", 0) != 0) continue;
    return code.substr(0, code.find('(')) + format(" at line %d", k);
  }
  return "each copy and fill before that line";
}

/// Whether a line that copies counts floats, or takes the size of a pointer: without spaces.
bool counts_no_bytes(const std::string& code) {
  const std::size_t at = code.find("sizeof(");
  if (at == std::string::npos) {
    return code.find(".size()") != std::string::npos || code.find("n*n") != std::string::npos ||
           code.find("n)*n") != std::string::npos;
  }
  const std::size_t end = code.find(')', at);
  return code.find("*sizeof") == std::string::npos &&
         (end == std::string::npos || code.compare(end, 2, ")*") != 0);
}

/// The lines that copy too few bytes to the GPU: "line 17"; "" where there is none.
std::string copies_of_few_bytes(const std::string& source) {
  const std::vector<std::string> lines = code_lines(source);
  std::vector<std::string> found;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const std::string code = code_only(lines[k]);
    if (code.find("cudaMemcpy") != std::string::npos &&
        code.find("cudaMemcpyHostToDevice") != std::string::npos && counts_no_bytes(code)) {
      found.push_back(format("line %zu", k + 1));
    }
  }
  return join(found);
}

/// Memory that nothing has written: of a sum, or global memory that a copy may have left out.
Diagnosis diagnose_unwritten(const Finding& finding, const Patient& patient) {
  const bool atomic = finding.report.access == "changes atomically";
  if (atomic && finding.shared) {
    return {format("line %d adds to %s, and no thread has set it to 0", finding.line,
                   finding.what.empty() ? "shared memory" : finding.what.c_str()),
            {"shared memory begins with anything: one thread of the block sets the sum to 0, and "
             "then comes a barrier, before the first thread adds to it"}};
  }
  if (atomic) {
    for (const Diagnosis& order :
         {ask_about_streams(patient.source), ask_about_order_of_sum(patient.source)}) {
      if (order.known()) return order;
    }
    return {format("line %d adds to memory that nothing has written", finding.line),
            {"where the sum is set to 0, all sizeof(double) bytes of it: before the first kernel "
             "that adds to it, also where nobody reads that sum"}};
  }
  const std::string copies = copies_of_few_bytes(patient.source);
  if (copies.empty() || !finding.what.empty()) return {};
  return {format("line %d reads what nothing has written: the copy to the GPU does not bring the "
                 "whole field there",
                 finding.line),
          {"the number of bytes in " + copies +
           ": cudaMemcpy counts bytes, and a field has n * n * sizeof(float). (size() of a vector "
           "counts its floats; sizeof of a pointer is 8)"}};
}

/// A fill of what is no memory of the GPU's: "cudaMemset(&sum, 0, ...)".
Diagnosis diagnose_fill(const Finding& finding) {
  const std::string& code = finding.report.array;
  const std::string call = called_in(code), filled = between(code, "(", ",");
  if (filled.empty()) return {};
  const std::string cause = format("at line %d ", finding.line) + call + " gets " + filled;
  if (filled[0] == '&') {
    return {cause + ", the address of a variable of the host's, and not of memory on the GPU",
            {filled.substr(1) +
             " holds the address that cudaMalloc gave: it is the argument, without the &"}};
  }
  return {cause + ", which holds no address of the GPU's memory then",
          {format("whether cudaMalloc has given %s its memory before line %d is reached (work that "
                  "is captured as a graph is noted with the addresses of that time), and that it "
                  "still has it",
                  filled.c_str(), finding.line)}};
}

const char* const kOrderOfLaunch =
    "the order between <<< and >>>: the launch grid first, then the block (exchanged, a small n "
    "may still come out right)";
const char* const kSizesOfLaunch =
    "their sizes: at least one block (in whole numbers n / 1024 may be 0: round up), and at most "
    "1024 threads a block, all directions multiplied";

/// Of a job: a rank that is asked for rows of the result, and copies what it does not hold.
Diagnosis diagnose_rows_of_result(const Finding& finding, const Patient& patient) {
  const Report& report = finding.report;
  const bool outside =
      report.place == "source" && (report.kind == "host_memory" || report.kind == "room");
  if (!outside || patient.source.find("ranks.finish") == std::string::npos ||
      report.array.find("cudaMemcpyDeviceToHost") == std::string::npos ||
      code_at(patient.source, finding.line).find("&host") != std::string::npos) {
    return {};
  }
  return {format("at line %d a rank copies rows of the result that it does not hold", finding.line),
          {std::string("ranks.finish in main: it is given the rows that this rank computes, and "
                       "is asked for these; row j of the field") +
           (Words(patient).has_slabs() ? " is row j - held_begin of what the rank holds"
                                       : " stands behind the halo of what the rank holds")}};
}

/// What the CPU in the GPU's place says in words that name the mistake, and not yet its mending.
Diagnosis diagnose_other(const Finding& finding, int n, const Patient& patient) {
  const Report& report = finding.report;
  const std::string& kind = report.kind;
  const std::string call = called_in(report.array);
  if (kind == "host_access") return diagnose_host_access(finding, n, patient);
  if (kind == "dynamic_shared") {
    const std::string bytes =
        report.bytes > 0 ? format("only %ld bytes of it", report.bytes) : "none of it";
    return {
        format("line %d uses more dynamic shared memory (extern __shared__) than the launch "
               "gives: ",
               finding.line) +
            bytes,
        {"the third value in <<<grid, block, bytes>>>: bytes, sizeof(float) for each entry, and "
         "entries for a block's points with their halo"}};
  }
  if (kind == "lane") {
    return {format("the shuffle at line %d asks lane %s, which takes no part in it", finding.line,
                   report.detail.c_str()),
            {format("the mask at line %d: 0xffffffff for all 32 lanes of a warp, and all of them "
                    "reach it; or offsets that stay among the lanes of the mask",
                    finding.line)}};
  }
  if (kind == "async_copy") {
    return {
        format("at line %d an asynchronous copy begins at an address that is no multiple of its "
               "bytes, or has another number of them than 4, 8 or 16",
               finding.line),
        {"the first of a lane's columns: a multiple of 4, so the columns of a halo and those "
         "that a warp keeps are multiples of 4, too",
         "idx: the pitch of a row is a multiple of 4 floats, also where n is not"}};
  }
  if (kind == "room") {
    return {format("line %d copies or fills more than there is room for: ", finding.line) +
                report.detail,
            {format("the number of bytes at line %d: a float has sizeof(float), and a field n * n "
                    "of them; the sum is one double",
                    finding.line)}};
  }
  if (report.has("cudaErrorInvalidPitchValue") && !report.detail.empty()) {
    return {
        format("at line %d the rows that are copied are longer than a pitch: ", finding.line) +
            report.detail,
        {"idx, where the pitch is made of n: rounded up, never down, so that a row fits",
         "the order at that line: the destination and its pitch, the source and its pitch, then "
         "the width of a row, all three in bytes, and the number of rows"}};
  }
  if (kind == "capture") {
    if (call.find("Synchronize") != std::string::npos) {
      return {
          format("line %d waits while a stream is captured: work that is captured is noted and "
                 "does not run, so there is nothing to wait for",
                 finding.line),
          {call + format(" at line %d: it belongs behind the launch of the graph", finding.line)}};
    }
    return {format("what line %d asks for goes to the default stream while another is captured",
                   finding.line),
            {"each launch, fill and copy that is captured: kernel<<<grid, block, 0, stream>>>, "
             "cudaMemsetAsync and cudaMemcpyAsync with the stream as the last argument"}};
  }
  if (report.has("cudaErrorInvalidConfiguration")) {
    // The CPU in place of a GPU says what cannot be.
    return {format("the launch before line %d was refused: ", finding.line) +
                (report.detail.empty() ? "no GPU has such a block or launch grid" : report.detail),
            {kOrderOfLaunch, kSizesOfLaunch,
             "CUDA_CHECK(cudaGetLastError()) right behind each launch, which names it at once"}};
  }
  // A GPU says no more than that.
  const bool invalid = report.has("cudaErrorInvalidValue");
  if (call == "cudaGetLastError" && invalid && report.detail.empty()) {
    return {format("the launch before line %d was refused, or a call before it failed that nobody "
                   "checked",
                   finding.line),
            {kOrderOfLaunch, kSizesOfLaunch,
             "each call before that line: the CUDA_CHECK around it, which tells of its error"}};
  }
  const bool fills = call.rfind("cudaMemset", 0) == 0;
  if (fills && invalid && report.array.find("(&") != std::string::npos) {
    return diagnose_fill(finding);
  }
  if (kind == "own_variable") {
    return {format("line %d adds to a variable that each thread has for itself: what the threads "
                   "add comes nowhere else",
                   finding.line),
            {"how the sum gets there: by its address (double* sum), through every function on the "
             "way. A parameter by value (double sum) is a copy, and so is double own = *sum"}};
  }
  if (kind == "host_argument") {
    return {
        format("the launch at line %d gives the kernel an address of host memory: ", finding.line) +
            report.array,
        {"what that argument points to: cudaMalloc or cudaMallocManaged gives memory that a "
         "kernel can use; malloc, new, a vector and a variable of the host do not"}};
  }
  if (const Diagnosis rows = diagnose_rows_of_result(finding, patient); rows.known()) return rows;
  if (kind == "direction" || kind == "host_memory") {
    if (call == "cudaGetLastError") {
      return {format("a call before line %d failed, and nobody checked it: cudaGetLastError tells "
                     "of the last error, whichever call it was",
                     finding.line),
              {dropped_call_before(finding.line, patient.source) + ", and its CUDA_CHECK",
               "its arguments: a pointer that cudaMalloc or cudaMallocManaged gave, not the "
               "address of that pointer"}};
    }
    if (fills) return diagnose_fill(finding);
    return {format("at line %d the two pointers and the direction do not fit", finding.line),
            {"the order: first where it goes to, then where it comes from; and the direction, "
             "cudaMemcpyDeviceToHost where the first of them is the host's"}};
  }
  return {};
}

/// Rows that are sent or received, and are none of what the rank holds.
Diagnosis diagnose_rows_outside(bool some, bool sent, const Words& words) {
  const std::string from = sent ? "from which row on is sent" : "to which row on is received";
  const std::string place =
      words.exchange() + ": " + from +
      (words.has_slabs() ? " (row j of the field is row j - held_begin of what the rank holds)"
                         : " (of the rows that the rank holds)") +
      (sent ? ""
            : ": to the south those before its own first row, to the north those behind its "
              "last one") +
      "; and how many values, which are no bytes";
  const std::string held =
      words.shares() +
      ": as many rows beyond the rank's own are held as a pass has sweeps, on both sides; and that "
      "allocate_fields gives memory for all of them";
  // `some` of the rows are there: it is not the place that is another.
  return {std::string("the rows of a halo lie outside of what the rank has memory for: those that "
                      "are ") +
              (sent ? "sent" : "received"),
          some ? std::vector<std::string>{held, place} : std::vector<std::string>{place, held}};
}

/// What the lab's own part of an exchange says, of what a rank hands over to it.
Diagnosis diagnose_exchange(const Report& report, const Words& words) {
  const std::string& kind = report.kind;
  const auto calls = [&](const char* name) { return report.array.find(name) != std::string::npos; };
  if (kind == "sum_memory") {
    return {"ranks.sum is given an address at which the GPU has no double",
            {"the argument of ranks.sum: the address that cudaMalloc gave for the sum"}};
  }
  if (kind == "nccl_memory" && calls("ncclAllReduce")) {
    return {
        "ncclAllReduce is given more values than the GPU's memory has there, or an address that "
        "is none of its memory",
        {"the arguments of ncclAllReduce: the sum's address (that cudaMalloc gave) twice, then "
         "how many values there are, 1, and their type, ncclDouble"}};
  }
  if (kind == "exchange_memory" || kind == "nccl_memory") {
    return diagnose_rows_outside(report.bytes > 0, report.has("sent") || calls("ncclSend"), words);
  }
  if (kind == "nccl_usage" && calls("ncclGroupEnd")) {
    return {"a group of NCCL's calls is ended, and none was begun",
            {"ncclGroupStart: before the first ncclSend or ncclRecv of the group. Without it each "
             "call may wait for the other rank's"}};
  }
  if (kind == "nccl_argument" && (calls("ncclSend(") || calls("ncclRecv("))) {
    const char* const call = calls("ncclSend(") ? "ncclSend" : "ncclRecv";
    return {std::string(call) + " is given a rank that there is not, or no address",
            {"the rank in " + std::string(call) +
             ": a neighbour's, that is rank() - 1 or rank() + 1, if there is one; and the same one "
             "in both ncclSend and ncclRecv for the rows at one border"}};
  }
  if (kind == "exchange_rank") {
    return {report.detail + ": no rank has that number",
            {words.exchange() +
                 ": to the south is rank() - 1, to the north rank() + 1; and the first rank has no "
                 "neighbour to the south, the last one none to the north",
             words.shares() +
                 ": the last rank's rows end at n, also where n is no multiple of the number of "
                 "ranks"}};
  }
  if (kind == "no_owner") {
    return {
        "some rows belong to no rank",
        {words.shares() +
             ": each row is one rank's: where one rank's rows end the next one's begin, the first "
             "rank's begin at 0, the last one's end at n",
         "ranks.finish in main: it is given the rows that this rank computes, from the first one "
         "to the one behind the last"}};
  }
  if (kind == "waits_nccl") {
    return {"NCCL's calls of two ranks wait for each other",
            {"ncclSend and ncclRecv: all of a rank's between ncclGroupStart and "
             "ncclGroupEnd, as alone each may wait for the other rank's; and to each ncclSend an "
             "ncclRecv of the neighbour's",
             "whether all ranks make the same calls, in the same order, the sum's among them"}};
  }
  if (kind == "waits_halos") {
    return {"a rank waits for an exchange that its neighbour does not make",
            {words.exchange() +
                 ": before every pass each of two neighbours has the other one in its list, on no "
                 "condition but that there is one",
             "whether all ranks make as many passes: sweeps and residual are the same in each"}};
  }
  if (kind == "nccl_counts") {
    return {"a rank sends another number of values than its neighbour waits for",
            {"ncclSend and ncclRecv: the same count in both, of values "
             "(ncclFloat), not of bytes",
             "the number of rows: the same for both ranks at a border"}};
  }
  return {};
}

/// A kernel that is declared to return a value, which the CPU's compiler lets pass.
Diagnosis diagnose_kernel_that_returns(const std::string& source) {
  const std::string code = code_only(source), mark = "__global__";
  for (std::size_t at = code.find(mark); at != std::string::npos; at = code.find(mark, at + 1)) {
    for (const std::string type : {"double", "float", "int", "bool"}) {
      const std::size_t begin = at + mark.size(), bracket = code.find('(', begin);
      if (bracket == std::string::npos || code.compare(begin, type.size(), type) != 0) continue;
      const std::string name = code.substr(begin + type.size(), bracket - begin - type.size());
      return {name + " is to return a value (" + type + "): a kernel returns nothing",
              {"its first line, __global__ void " + name +
               "(...): what the host needs is written to memory, through a pointer. nvcc refuses "
               "any other; the CPU's compiler does not"}};
    }
  }
  return {};
}

/// Whether the program, asked for one point more a side, says the same residual: then it has not
/// looked at --n. Otherwise says which of the usual sizes it used.
Diagnosis diagnose_own_size(const Case& run, const Patient& patient) {
  Case one = run, other = run;
  one.iterations = other.iterations = 1;
  other.n += 1;
  Observation seen, seen_other;
  if (!patient.run(one, &seen) || !patient.run(other, &seen_other)) return {};
  if (seen.residuals.empty() || seen_other.residuals.empty()) return {};
  const double residual = seen.residuals[0].value;
  if (residual != seen_other.residuals[0].value || !(residual > 0)) return {};
  if (!std::isfinite(residual)) return {};  // of any size
  std::string cause =
      format("--n changes nothing: the residual is the same at n = %d and n = %d", run.n, other.n);
  for (int n : {64, 2048}) {
    Reference reference(lab::Problem(run.problem, n, 1));
    if (std::fabs(reference.sweep() / residual - 1) < 1e-6) cause += format(", that of n = %d", n);
  }
  return {cause, {"n in main: it is options.n, and every size in the program follows from it"}};
}

/// A crash that depends on n.
Diagnosis diagnose_crash(const Case& run, const Words& words, const Patient& patient) {
  // Where a row has no padding, its length and its pitch are the same.
  if (words.has_pitch() && run.n > 64 && run.n % 32 != 0) {
    Observation seen;
    if (patient.run({run.problem, 64, 2}, &seen) && !patient.run({run.problem, 60, 2}, &seen)) {
      return {
          format("at n = %d and at n = 60 it crashes, at n = 64 it does not: the length of a row "
                 "and its pitch are mixed up, which are the same only where n is a multiple of "
                 "32",
                 run.n),
          {"the pitches and the width of cudaMemcpy2D in main: first the destination and its "
           "pitch (its rows have no padding: n * sizeof(float)), then the source and its pitch",
           "idx, and what allocate_fields allocates: the padding, too"}};
    }
  }
  // A field of fixed size is too small at some n, and large enough at others.
  for (int n : {64, 16}) {
    Observation seen;
    const Case small = {run.problem, n, 2};
    if (n >= run.n || !patient.run(small, &seen)) continue;
    if (seen.iterations == 2 && wrong_cells(small, seen.field).count() == 0) {
      return {
          format("at n = %d it crashes, at n = %d it is right: an index or an allocation does "
                 "not follow n",
                 run.n, n),
          {"what allocate_fields allocates (n * n floats), and whether n in main is options.n"}};
    }
  }
  return {};
}

}  // namespace

Diagnosis diagnose(const Wrong& wrong, const Patient& patient) {
  Interview interview(wrong.run, patient);
  Wrong seen = wrong;
  if (const Diagnosis numbers = ask_about_numbers(wrong, &interview); numbers.known()) {
    return numbers;
  }
  if (wrong.made < wrong.run.iterations) {
    // A loop ends where the residual is not a number; that is a symptom.
    const Observation* last = interview.after(wrong.made);
    if (!last || last->residuals.empty()) return {};
    const bool numbers = std::none_of(last->residuals.begin(), last->residuals.end(),
                                      [](const auto& r) { return std::isnan(r.value); });
    if (numbers) return diagnose_early_stop(wrong, &interview);
    seen.run.iterations = wrong.made;
    seen.residual = true;
  }
  if (seen.field && seen.first_iteration > 0) {
    const Diagnosis diagnosis = diagnose_field(seen, &interview);
    if (diagnosis.known() && !diagnosis.symptom) return diagnosis;
    const Diagnosis own_size = diagnose_own_size(wrong.run, patient);
    return own_size.known() ? own_size : diagnosis;
  }
  return !seen.field && seen.residual ? diagnose_residual(seen, &interview) : Diagnosis();
}

Diagnosis diagnose_sweeps_of_a_pass(const Wrong& wrong, const Patient& patient) {
  Interview interview(wrong.run, patient);
  Diagnosis diagnosis;
  const Words words(patient);
  if (wrong.field && wrong.first_iteration > 0) {
    diagnosis = diagnose_pass(wrong, &interview);
  }
  diagnosis.lead = "with --check-every 1 all is right: the sweeps are, and so is each residual";
  if (diagnosis.known()) return diagnosis;
  diagnosis.general = true;
  diagnosis.cause = "Wrong is how several sweeps make one pass";
  if (!wrong.field) {
    const Diagnosis sum = diagnose_sum_of_pass(wrong, &interview);
    if (sum.known()) {
      diagnosis.cause += ": " + sum.cause;
      diagnosis.look_at = sum.look_at;
      return diagnosis;
    }
  }
  if (words.has_graph() && wrong.field) {
    diagnosis.look_at.push_back(
        "which fields the sweeps of a graph read and write: after an odd number of them f_old and "
        "f_new have changed roles, and a graph keeps the pointers that it was captured with");
  }
  if (words.has_tile() && wrong.field && !words.has_graph()) {
    diagnosis.look_at.push_back(
        "a tile that makes several sweeps: its halo has as many points on each side as it makes "
        "sweeps, the boundary keeps its values after each, and a barrier lies between them");
  }
  if (words.has_passes() && wrong.field) {
    diagnosis.look_at.push_back(
        "what a pass does between its first and its last sweep: the boundary keeps its values "
        "after each, each is a row behind the one before, and a strip loses a column at each end");
  }
  diagnosis.look_at.push_back(
      "which sweep's changes are in the sum (the last one's alone), and the sweeps that are left "
      "at the end, fewer than a pass has");
  return diagnosis;
}

Diagnosis diagnose_pass_residual(const Wrong& wrong, const Patient& patient) {
  Interview interview(wrong.run, patient);
  return wrong.field || !wrong.residual ? Diagnosis() : diagnose_sum_of_pass(wrong, &interview);
}

Diagnosis diagnose_finding(const Finding& finding, int n, const Patient& patient) {
  const Words words(patient);
  const bool of_tile = words.has_tile() && finding.what.find('[') != std::string::npos;
  switch (finding.kind) {
    case Finding::kOutOfBounds:
      return diagnose_out_of_bounds(finding, n, patient);
    case Finding::kUnwritten:
      if (!of_tile) return diagnose_unwritten(finding, patient);
      return {
          finding.what + format(" is read at line %d, and no thread had loaded it", finding.line),
          {words.tile_loads(),
           format("the index at line %d: whether %s is the entry that is meant there; and the `if` "
                  "around it: interior points alone, 1 to n - 2",
                  finding.line, finding.what.c_str())}};
    case Finding::kRace:
      if (finding.both_write && !finding.shared) return diagnose_two_writers(finding, patient);
      if (!finding.shared && finding.plain_line == 0) {
        return diagnose_global_race(finding, patient.source);
      }
      if (finding.shared && !(of_tile && finding.both_write)) return diagnose_shared_race(finding);
      if (!of_tile || !finding.both_write) break;
      return {format("two threads load the same entry of the tile, %s, at line %d; then others may "
                     "be loaded by none",
                     finding.what.c_str(), finding.line),
              {words.tile_loads(),
               "the size that the tile is declared with: a block's points and a halo on both "
               "sides, two more along x and along y"}};
    case Finding::kBarrier:
      return diagnose_barrier(finding);
    case Finding::kShape:
      return {format("at line %d ", finding.line) + finding.what,
              {"the block's shape in the launch in " + words.host() +
               ", and the numbers of threads along x and y that cub::BlockReduce is made for: "
               "BlockReduce<double, threads along x, the algorithm, threads along y>"}};
    case Finding::kHostEarly:
      return diagnose_host_early(finding, patient);
    case Finding::kSharedEnd:
      return diagnose_shared_end(finding, patient);
    case Finding::kMisaligned:
      if (!words.has_strips()) {
        return {format("at line %d several floats are accessed at once, at an address that is no "
                       "multiple of their bytes",
                       finding.line),
                {"the index of the first of them: a row of n floats begins at a multiple of 4 only "
                 "where n is one, so with any n one float at a time, or padded rows"}};
      }
      return {format("at line %d four floats are accessed at once, at an address that is no "
                     "multiple of 16 bytes",
                     finding.line),
              {"the first of a lane's columns: a multiple of 4 (the strip begins at one, and each "
               "lane has four)",
               "idx: the pitch of a row is a multiple of 4 floats, also where n is not"}};
    case Finding::kEndless:
      return diagnose_endless(finding);
    case Finding::kFreedTwice:
      return {finding.what +
                  " is memory that was freed before: two pointers hold the same address, or one is "
                  "freed twice",
              {"free_fields: each pointer once",
               "where a pointer is assigned to another one in main (f_old = f_new): "
               "then both are the same field; std::swap exchanges them"}};
    case Finding::kRefused:
      return {format("the launch at line %d was refused (%s), and nobody asked cudaGetLastError",
                     finding.line, finding.what.c_str()),
              {"the grid and the block of that launch; and CUDA_CHECK(cudaGetLastError()) right "
               "behind it, which says so at once"}};
    case Finding::kOther:
      return diagnose_other(finding, n, patient);
    case Finding::kNone:
      break;
  }
  return {};
}

Diagnosis diagnose_failure(const Case& run, int made, const std::string& error,
                           const Patient& patient, const Report& report) {
  if (made > run.iterations) {
    if (made == run.iterations + 1) {
      return {"one iteration too many",
              {"the condition of the loop in main: it goes on while iteration < "
               "options.max_iterations (not <=), and iteration begins at 0"}};
    }
    Diagnosis diagnosis = {format("the loop does not end at --iterations %d", run.iterations),
                           {"the condition of the loop in main: iteration < "
                            "options.max_iterations"}};
    if (Words(patient).has_checks()) {
      diagnosis.look_at.push_back(
          "the last pass, which may have fewer sweeps than --check-every says: how many it makes, "
          "and by how many iteration goes up");
    }
    return diagnosis;
  }
  if (error.find("a bad line, '0,") != std::string::npos) {
    return {
        "an iteration 0 is recorded: the first sweep's residual has the number 1",
        {"run.record(++iteration, residual) in the loop of main: iteration goes up before it is "
         "recorded"}};
  }
  if (error.find("before Run wrote its record") != std::string::npos) {
    return {"main ends without run.finish, which writes the result",
            {"the end of main: run.finish(...) gives the exit code; and whether a `return` or an "
             "exit() comes before it"}};
  }
  if (error.find("holds no residual") != std::string::npos) {
    // With one pass alone nothing else records it.
    if (Words(patient).reads_sum_late() && patient.names.count("record") > 0) {
      return {
          "not one iteration was recorded: the loop ended when its last pass was still under way, "
          "and nothing records that one; or it never begins",
          {"behind the loop in main: run.record(...) of the last pass, when its sum has come; in "
           "the loop each turn records the pass before"}};
    }
    return {
        "not one iteration was recorded: either the loop never begins, or it never calls "
        "run.record",
        {"the loop in main: residual begins at infinity, iteration at 0, and each iteration "
         "ends with run.record(++iteration, residual)"}};
  }
  if (error.find("is recorded after iteration") != std::string::npos) {
    return {
        "the numbers that run.record gets do not go up: a residual is recorded twice, or with "
        "another number than that of the sweeps that were made when it was the last one's",
        {"each call of run.record in main, in the loop and behind it, and where iteration is "
         "raised: before the call, or after it"}};
  }
  const Words words(patient);
  // A job of several ranks may wait for one of them.
  if (error.rfind("it did not end", 0) == 0 && error.find("it waits") == std::string::npos &&
      run.ranks <= 1) {
    return {"it goes on for ever, or makes far more work than n * n points need",
            {kLoopCondition, words.sweep_on_gpu()
                                 ? "the loops in " + words.sweep() +
                                       ": each ends, and a thread goes over its own points alone, "
                                       "not over all of them"
                                 : "the loops in " + words.sweep() + ": each ends"}};
  }
  if (error.rfind("it did not end", 0) == 0 && run.ranks > 1) {
    Diagnosis endless{
        "it goes on for ever: a loop that does not end for the rows of some rank, or ranks that do "
        "not all make the same exchanges and sums",
        {"the loops in " + words.sweep() +
             ": each ends for any rows that a rank holds, also where these are not the field's "
             "last ones",
         kLoopCondition}};
    endless.symptom = true;
    return endless;
  }
  if (error.rfind(format("it ended with exit code %d", lab::kExitCudaError), 0) == 0) {
    Diagnosis found = diagnose_exchange(report, words);
    if (!found.known()) found = diagnose_finding(read_finding(report), run.n, patient);
    // Found when the kernel had ended.
    if (!found.known() && report.kind == "padding" && report.place == "past") {
      found = diagnose_few_bytes(report, run.n);
    }
    if (!found.known()) found = diagnose_kernel_that_returns(patient.source);
    if (found.known()) return found;
  }
  if (called_in(report.array) == "cudaFree" && report.has("cudaErrorInvalidValue")) {
    return {
        "cudaFree is given an address that no allocation has: that memory was freed before, or "
        "it is not what cudaMalloc or cudaMallocManaged gave",
        {"free_fields: each pointer once",
         "where a pointer is assigned to another one in main (f_old = f_new): "
         "then both are the same field; std::swap exchanges them"}};
  }
  // A GPU names no line.
  const std::string ask_the_cpu =
      "make check with RACES=1: it needs no GPU, and names the line, the block and the thread";
  Diagnosis by_gpu;
  by_gpu.symptom = true;
  if (report.has("cudaErrorIllegalAddress")) {
    by_gpu.cause = "a kernel reads or writes outside of what was allocated";
    by_gpu.look_at = {words.bounds(), ask_the_cpu};
    return by_gpu;
  }
  if (report.has("cudaErrorMisalignedAddress")) {
    by_gpu.cause =
        "a kernel accesses several floats at once, at an address that is no multiple of their "
        "bytes";
    by_gpu.look_at = {
        "each access by float2 or float4, and each asynchronous copy: the index of its first "
        "float is a multiple of 2, or 4, also where n is not",
        ask_the_cpu};
    return by_gpu;
  }
  const bool crashed = error.rfind("it crashed", 0) == 0;
  if (crashed || report.place == "null") {
    const Diagnosis lost = ask_about_lost_local(patient.source);
    if (lost.known()) return lost;
  }
  if (!crashed) return {};
  const Diagnosis crash = diagnose_crash(run, words, patient);
  if (crash.known() || error.find("SIGABRT") == std::string::npos) return crash;
  return {
      "its memory is damaged: something is written beside what was allocated, or memory is freed "
      "twice, or in "
      "another way than it was allocated",
      {"what allocate_fields allocates: two fields of n * n floats",
       "free_fields: each pointer once, by what fits its allocation (delete[] to new[], cudaFree "
       "to cudaMalloc); "
       "after f_old = f_new both are the same field"}};
}

}  // namespace validate
