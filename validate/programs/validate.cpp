// Compares a step's program with the CPU reference, and tells a learner how their exercise stands.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <future>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <lab/exit_codes.h>
#include <lab/options.h>
#include <lab/run.h>

#include "judge/check_program.h"
#include "programs/command_line.h"
#include "run/child.h"
#include "run/program_run.h"
#include "run/steps.h"
#include "run/text.h"
#include "source/source_code.h"
#include "source/unchecked_calls.h"

namespace {

constexpr const char* kHelp =
    "validate [options] PROGRAM: runs a step's program and compares its field and its\n"
    "residuals with a CPU reference\n\n"
    "  --n N,N,...          sizes to run at (default: 100,250)\n"
    "  --problem P,P,...    probe, laplace, harmonic (default: all)\n"
    "  --iterations K       iterations of each run (default: what the problem needs)\n"
    "  --ranks R,R,...      the program is a job of so many ranks, which MPI starts\n"
    "  --time-limit S       seconds for one run (default 300)\n"
    "  --name NAME          what to call the program (default: its file's name)\n"
    "  --exercise FILE --before FILE\n"
    "                       the program is a learner's: its source, and what it started\n"
    "                       from: the solution of the step before, or in a handout,\n"
    "                       which has none, the exercise as it was handed out\n"
    "  --source FILE        the program's source, whose names the diagnosis then uses\n"
    "                       (of a learner's program, that of --exercise)\n"
    "  --watched PROGRAM    the same program on the CPU with every access looked at: if the\n"
    "                       program is wrong, the diagnosis uses what that finds\n"
    "  --look-at N,N,...    if the program is right, --watched runs at these sizes, too\n"
    "  --look-sweeps K      iterations of each such run (default 3)\n"
    "  --gpu                the program runs on a GPU: it is also tried at its own n\n"
    "  --on-cpu PROGRAM     the same program on the CPU: it answers most questions, and the GPU "
    "few\n"
    "  --every-order        also with threads in reverse and in shuffled order, as CUDA on the\n"
    "                       CPU runs them\n"
    "  --quiet              print the verdict alone\n"
    "  --help               print this\n\n"
    "exit codes: 0 right, 1 wrong (or, for an exercise, unchanged), 2 bad usage,\n"
    "            5 the reference does not fit in memory, 77 cannot run here (no usable GPU, no\n"
    "            space left, a limit)\n";

constexpr int kExitRight = 0;
constexpr int kExitWrong = 1;

struct Arguments {
  std::string program, name, exercise, before, source, watched, on_cpu;
  std::vector<int> sizes, ranks, look_at;
  std::vector<lab::ProblemKind> problems;
  int iterations = 0;
  int time_limit = 300, look_sweeps = 3;
  bool quiet = false, gpu = false, every_order = false;
};

Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  validate::CommandLine line("validate", kHelp);
  line.integers("--n", lab::kMinN, lab::kMaxN, "size", &arguments.sizes);
  line.list("--problem", "problem", [&](const std::string& name) {
    lab::ProblemKind problem;
    if (!lab::parse_problem(name, &problem)) {
      lab::fail(lab::kExitBadUsage, "--problem %s: must be probe, laplace or harmonic",
                name.c_str());
    }
    arguments.problems.push_back(problem);
  });
  line.integer("--iterations", 1, 1000000, &arguments.iterations);
  line.integers("--ranks", 1, 100000, "number of ranks", &arguments.ranks);
  line.integer("--time-limit", 1, 86400, &arguments.time_limit);
  line.text("--name", &arguments.name);
  line.value("--exercise",
             [&](const std::string& file) { arguments.exercise = arguments.source = file; });
  line.text("--source", &arguments.source);
  line.text("--before", &arguments.before);
  line.text("--watched", &arguments.watched);
  line.integers("--look-at", lab::kMinN, lab::kMaxN, "size", &arguments.look_at);
  line.integer("--look-sweeps", 1, 1000, &arguments.look_sweeps);
  line.flag("--gpu", &arguments.gpu);
  line.text("--on-cpu", &arguments.on_cpu);
  line.flag("--every-order", &arguments.every_order);
  line.flag("--quiet", &arguments.quiet);
  line.read(argc, argv, &arguments.program);
  if (!arguments.look_at.empty() && arguments.watched.empty()) {
    lab::fail(lab::kExitBadUsage, "--look-at needs --watched");
  }
  if (arguments.name.empty()) {
    arguments.name = arguments.program.substr(arguments.program.rfind('/') + 1);
  }
  return arguments;
}

/// Whether it is for the validator to say what is tried.
bool as_usual(const Arguments& arguments) {
  return arguments.sizes.empty() && arguments.problems.empty() && arguments.iterations == 0;
}

std::vector<validate::Case> choose_cases(const Arguments& arguments) {
  if (as_usual(arguments)) return validate::usual_cases();
  std::vector<int> sizes = arguments.sizes;
  if (sizes.empty()) sizes = {100, 250};
  std::vector<lab::ProblemKind> problems = arguments.problems;
  const bool all_problems = problems.empty();
  if (all_problems) {
    problems = {lab::ProblemKind::kProbe, lab::ProblemKind::kLaplace, lab::ProblemKind::kHarmonic};
  }
  std::vector<validate::Case> cases;
  for (int n : sizes) {
    for (lab::ProblemKind problem : problems) {
      if (problem == lab::ProblemKind::kHarmonic && n > lab::kMaxHarmonicN) {
        if (all_problems) continue;
        lab::fail(lab::kExitBadUsage, "--problem harmonic: exact only up to n = %d",
                  lab::kMaxHarmonicN);
      }
      const int iterations =
          arguments.iterations > 0 ? arguments.iterations : validate::usual_iterations(problem, n);
      cases.push_back({problem, n, iterations});
    }
  }
  return cases;
}

/// Whether the learner's file still says what the exercise said when they got it.
bool unchanged(const Arguments& arguments) {
  std::string exercise, before;
  if (!validate::read_text(arguments.exercise, &exercise)) {
    lab::fail(lab::kExitBadUsage, "%s: cannot be read", arguments.exercise.c_str());
  }
  // Where neither a solution nor a handout's own copy is there, nothing can be said.
  if (arguments.before.empty() || !validate::read_text(arguments.before, &before)) return false;
  return validate::code_only(exercise) == validate::code_only(before);
}

/// The numbers of the lines of `text` that hold `what`.
std::vector<std::string> lines_with(const std::string& what, const std::string& text) {
  std::vector<std::string> numbers;
  int number = 0;
  for (const std::string& line : validate::split(text, '\n')) {
    ++number;
    if (line.find(what) != std::string::npos) numbers.push_back(std::to_string(number));
  }
  return numbers;
}

/// What is left to do for a learner whose results are right. Goals are another matter (goals.h).
void print_next(const Arguments& arguments, const std::string& number) {
  if (number == "00") {
    std::printf("  This step has no task. Run %s, then go on with step 01.\n",
                arguments.program.c_str());
    return;
  }
  std::string source;
  validate::read_text(arguments.exercise, &source);
  const std::vector<std::string> todos = lines_with("TODO(" + number + ")", source);
  if (todos.size() == 1) {
    std::printf(
        "  Right so far. TODO(%s) is still there, line %s of %s: delete it when it is done.\n",
        number.c_str(), todos[0].c_str(), arguments.exercise.c_str());
  } else if (!todos.empty()) {
    std::printf(
        "  Right so far. TODO(%s) is still there, lines %s of %s: delete each when it is done.\n",
        number.c_str(), validate::join(todos).c_str(), arguments.exercise.c_str());
  }
}

/// What helps the diagnosis, as far as it is told.
validate::AtHand at_hand(const Arguments& arguments) {
  validate::AtHand found;
  if (!arguments.source.empty() && !validate::read_text(arguments.source, &found.source)) {
    lab::fail(lab::kExitBadUsage, "%s: cannot be read", arguments.source.c_str());
  }
  if (!arguments.watched.empty() && access(arguments.watched.c_str(), X_OK) != 0) {
    lab::fail(lab::kExitBadUsage, "%s: is no program", arguments.watched.c_str());
  }
  found.watched = arguments.watched;
  return found;
}

/// What a right program does not ask its GPU, and where it would be wrong for larger grids than are
/// tried here. No mistakes: lines to think about.
void print_thoughts(const Arguments& arguments) {
  std::string source;
  if (arguments.source.empty() || !validate::read_text(arguments.source, &source)) return;
  const std::string unchecked = validate::unchecked_calls(source);
  if (!unchecked.empty()) std::printf("  %s\n", unchecked.c_str());
  if (const int line = validate::int_index_in(source)) {
    std::printf(
        "  Right up to n = 46340: larger grids have more points than an int counts to, and line %d "
        "multiplies ints (std::size_t(j) * n has room).\n",
        line);
  }
}

/// What is tried beside the cases. Says in *not_tried if the step's own n cannot be.
validate::Extent extent_of(const Arguments& arguments, std::string* not_tried) {
  validate::Extent extent;
  extent.sizes = as_usual(arguments);
  extent.every_order = arguments.every_order;
  if (!arguments.gpu || !extent.sizes) return extent;
  const int n = validate::default_n(arguments.program);
  // The reference has two fields, and the program may need as much on the host.
  const double bytes = 16.0 * n * n;
  if (bytes > static_cast<double>(lab::available_host_memory())) {
    *not_tried = validate::format(
        "n = %d, its own, was not tried: the reference needs %.1f GB of memory", n, 1e-9 * bytes);
  } else {
    extent.own_n = n;
  }
  return extent;
}

constexpr const char* kByLuck =
    "The GPU was right by luck: the CPU, which looks at every access, finds this.";

/// The verdict of a GPU on few runs, and of the CPU in its place on all of them. What is wrong on
/// both is explained by the CPU, which is faster and knows more.
validate::Verdict check_on_both(const Arguments& arguments, const validate::Extent& extent,
                                const validate::Progress& progress) {
  const validate::Progress quietly = [](const std::string&) {};
  validate::Extent all = extent, few = extent;
  all.own_n = 0;
  all.every_order = true;
  few.explain = false;
  few.few_checks = true;
  std::vector<int> ranks = arguments.ranks;
  if (ranks.size() > 2) ranks = {2, *std::max_element(ranks.begin(), ranks.end())};
  const validate::AtHand hand = at_hand(arguments);

  std::future<validate::Verdict> on_cpu = std::async(std::launch::async, [&] {
    return validate::check_program(arguments.on_cpu,
                                   validate::with_ranks(validate::usual_cases(), arguments.ranks),
                                   arguments.time_limit, quietly, hand, all);
  });
  validate::Verdict gpu = validate::check_program(
      arguments.program, validate::with_ranks(validate::cases_for_gpu(), ranks),
      arguments.time_limit, progress, {}, few);
  progress("on the CPU, in place of the GPU");
  validate::Verdict cpu = on_cpu.get();
  using Kind = validate::Verdict::Kind;
  if (gpu.kind != Kind::kRight && gpu.kind != Kind::kWrong) return gpu;
  if (cpu.kind == Kind::kWrong) {
    if (gpu.kind == Kind::kRight) cpu.details.push_back(kByLuck);
    return cpu;
  }
  if (cpu.kind == Kind::kRight && gpu.kind == Kind::kRight) {
    gpu.remarks.push_back("The CPU, in place of the GPU, agrees: " +
                          cpu.summary.substr(std::string("right: ").size()));
    for (const std::string& remark : cpu.remarks) {
      // Both may say of the program what it is.
      if (std::count(gpu.remarks.begin(), gpu.remarks.end(), remark) == 0) {
        gpu.remarks.push_back(remark);
      }
    }
    return gpu;
  }
  // The CPU does not say: the GPU has to.
  const bool known = gpu.kind == Kind::kWrong;
  return validate::check_program(
      arguments.program,
      known ? std::vector<validate::Case>{gpu.run}
            : validate::with_ranks(validate::usual_cases(), arguments.ranks),
      arguments.time_limit, progress, hand, known ? validate::Extent() : extent);
}

/// Short runs in which every access is looked at.
validate::Verdict look(const Arguments& arguments, const validate::Progress& progress) {
  std::vector<validate::Case> cases;
  for (const int n : arguments.look_at) {
    cases.push_back({lab::ProblemKind::kProbe, n, arguments.look_sweeps});
  }
  // One number of ranks will do.
  std::vector<int> ranks;
  if (!arguments.ranks.empty()) {
    ranks = {std::min(3, *std::max_element(arguments.ranks.begin(), arguments.ranks.end()))};
  }
  validate::AtHand source = at_hand(arguments);
  source.watched.clear();
  return validate::check_program(arguments.watched, validate::with_ranks(cases, ranks),
                                 arguments.time_limit, progress, source);
}

/// What the look found of a right program is the verdict. If it could not be made, nothing is said.
void add_look(const Arguments& arguments, validate::Verdict found, validate::Verdict* verdict) {
  if (found.kind == validate::Verdict::kWrong) {
    if (arguments.gpu) found.details.push_back(kByLuck);
    *verdict = std::move(found);
  } else if (found.kind == validate::Verdict::kRight) {
    verdict->remarks.push_back(
        "No race, no access out of bounds, no read of memory that nothing wrote.");
  }
}

int print_verdict(const Arguments& arguments, const validate::Verdict& verdict) {
  const char* name = arguments.name.c_str();
  const bool learner = !arguments.exercise.empty();
  switch (verdict.kind) {
    case validate::Verdict::kRight:
      std::printf("%s: %s\n", name, verdict.summary.c_str());
      for (const std::string& remark : verdict.remarks) std::printf("  %s\n", remark.c_str());
      print_thoughts(arguments);
      if (learner) print_next(arguments, arguments.name.substr(0, 2));
      return kExitRight;
    case validate::Verdict::kWrong:
      std::printf("%s: %s\n", name, verdict.summary.c_str());
      for (const std::string& line : verdict.details) std::printf("  %s\n", line.c_str());
      return kExitWrong;
    case validate::Verdict::kNoGpu:
      std::printf("%s: compiles, but cannot run here\n  %s\n", name, verdict.summary.c_str());
      if (learner) std::printf("  Check it again on a machine with an NVIDIA GPU.\n");
      return lab::kExitNoGpu;
    case validate::Verdict::kCannotRunHere:
      std::printf("%s: cannot run here\n  %s\n", name, verdict.summary.c_str());
      return lab::kExitNoGpu;
    case validate::Verdict::kNoProgram:
      break;
  }
  std::fprintf(stderr, "validate: %s\n", verdict.summary.c_str());
  return lab::kExitBadUsage;
}

int run(const Arguments& arguments) {
  const bool learner = !arguments.exercise.empty();
  const std::string number = arguments.name.substr(0, 2);
  if (learner && unchanged(arguments)) {
    std::printf(
        "%s: unchanged\n  Its code is still that of the step before.\n  Look for TODO(%s) in %s.\n",
        arguments.name.c_str(), number.c_str(), arguments.exercise.c_str());
    return kExitWrong;
  }

  const bool terminal = isatty(STDERR_FILENO) && !arguments.quiet;
  auto progress = [&](const std::string& what) {
    if (terminal) std::fprintf(stderr, "\r\033[K  running: %s", what.c_str());
  };
  // Beside a GPU the CPU has nothing else to do.
  std::future<validate::Verdict> beside;
  if (arguments.gpu && !arguments.look_at.empty()) {
    beside =
        std::async(std::launch::async, [&] { return look(arguments, [](const std::string&) {}); });
  }
  std::string not_tried;
  const validate::Extent extent = extent_of(arguments, &not_tried);
  validate::Verdict verdict =
      arguments.on_cpu.empty() || !as_usual(arguments)
          ? validate::check_program(arguments.program,
                                    validate::with_ranks(choose_cases(arguments), arguments.ranks),
                                    arguments.time_limit, progress, at_hand(arguments), extent)
          : check_on_both(arguments, extent, progress);
  if (!not_tried.empty()) verdict.remarks.push_back(not_tried);
  if (verdict.kind == validate::Verdict::kRight && !arguments.look_at.empty()) {
    add_look(arguments, beside.valid() ? beside.get() : look(arguments, progress), &verdict);
  }
  if (terminal) std::fputs("\r\033[K", stderr);
  return print_verdict(arguments, verdict);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = read_arguments(argc, argv);
  validate::catch_interrupts();
  try {
    return run(arguments);
  } catch (const validate::Interrupted& interrupted) {
    std::fprintf(stderr, "\nvalidate: interrupted\n");
    return 128 + interrupted.signal;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "validate: the reference does not fit in memory: take a smaller n\n");
    return lab::kExitDoesNotFit;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "validate: %s\n", error.what());
    return lab::kExitBadUsage;
  }
}
