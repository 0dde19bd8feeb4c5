// Compares a step's program with the CPU reference, and tells a learner how their exercise stands.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <unistd.h>

#include "check_program.h"
#include "child.h"
#include "source_code.h"
#include "steps.h"
#include "text.h"
#include "unchecked_calls.h"

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
    "  --watched PROGRAM    the same program on the CPU with every access looked at; where the\n"
    "                       program is wrong, the diagnosis makes use of what that finds\n"
    "  --quiet              print the verdict alone\n"
    "  --help               print this\n\n"
    "exit codes: 0 right, 1 wrong (or, for an exercise, unchanged), 2 bad usage,\n"
    "            77 no usable GPU\n";

[[noreturn]] void bad_usage(const std::string& message) {
  std::fprintf(stderr, "validate: %s\n", message.c_str());
  std::exit(lab::kExitBadUsage);
}

int read_count(const std::string& option, const std::string& text, long low, long high) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < low || value > high) {
    bad_usage(option + " " + text + ": must be a whole number from " + std::to_string(low) +
              " to " + std::to_string(high));
  }
  return static_cast<int>(value);
}

struct Arguments {
  std::string program, name, exercise, before, source, watched;
  std::vector<int> sizes, ranks;
  std::vector<lab::ProblemKind> problems;
  int iterations = 0;
  int time_limit = 300;
  bool quiet = false;
};

Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  for (int k = 1; k < argc; ++k) {
    const std::string option = argv[k];
    auto value = [&]() -> std::string {
      if (k + 1 >= argc) bad_usage(option + ": needs a value (see --help)");
      return argv[++k];
    };
    if (option == "--help") {
      std::fputs(kHelp, stdout);
      std::exit(0);
    } else if (option == "--n") {
      for (const std::string& n : validate::split(value(), ',')) {
        arguments.sizes.push_back(read_count(option, n, lab::kMinN, lab::kMaxN));
      }
      if (arguments.sizes.empty()) bad_usage("--n: needs at least one size");
    } else if (option == "--problem") {
      for (const std::string& name : validate::split(value(), ',')) {
        lab::ProblemKind problem;
        if (!lab::parse_problem(name, &problem)) {
          bad_usage("--problem " + name + ": must be probe, laplace or harmonic");
        }
        arguments.problems.push_back(problem);
      }
      if (arguments.problems.empty()) bad_usage("--problem: needs at least one problem");
    } else if (option == "--iterations") {
      arguments.iterations = read_count(option, value(), 1, 1000000);
    } else if (option == "--ranks") {
      for (const std::string& ranks : validate::split(value(), ',')) {
        arguments.ranks.push_back(read_count(option, ranks, 1, 100000));
      }
      if (arguments.ranks.empty()) bad_usage("--ranks: needs at least one number of ranks");
    } else if (option == "--time-limit") {
      arguments.time_limit = read_count(option, value(), 1, 86400);
    } else if (option == "--name") {
      arguments.name = value();
    } else if (option == "--exercise") {
      arguments.exercise = arguments.source = value();
    } else if (option == "--source") {
      arguments.source = value();
    } else if (option == "--before") {
      arguments.before = value();
    } else if (option == "--watched") {
      arguments.watched = value();
    } else if (option == "--quiet") {
      arguments.quiet = true;
    } else if (option.rfind("-", 0) == 0) {
      bad_usage(option + ": no such option (see --help)");
    } else if (!arguments.program.empty()) {
      bad_usage("one program at a time, not " + arguments.program + " and " + option);
    } else {
      arguments.program = option;
    }
  }
  if (arguments.program.empty()) bad_usage("which program? (see --help)");
  // Without a slash a shell would search the PATH; we mean the file.
  if (arguments.program.find('/') == std::string::npos) {
    arguments.program = "./" + arguments.program;
  }
  if (arguments.name.empty()) {
    arguments.name = arguments.program.substr(arguments.program.rfind('/') + 1);
  }
  return arguments;
}

std::vector<validate::Case> choose_cases(const Arguments& arguments) {
  if (arguments.sizes.empty() && arguments.problems.empty() && arguments.iterations == 0) {
    return validate::usual_cases();
  }
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
        bad_usage("--problem harmonic: exact only up to n = " + std::to_string(lab::kMaxHarmonicN));
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
    bad_usage(arguments.exercise + ": cannot be read");
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
    bad_usage(arguments.source + ": cannot be read");
  }
  if (!arguments.watched.empty() && access(arguments.watched.c_str(), X_OK) != 0) {
    bad_usage(arguments.watched + ": is no program");
  }
  found.watched = arguments.watched;
  return found;
}

/// What a right program does not ask its GPU. No mistake: a line to think about.
void print_unchecked(const Arguments& arguments) {
  std::string source;
  if (arguments.source.empty() || !validate::read_text(arguments.source, &source)) return;
  const std::string unchecked = validate::unchecked_calls(source);
  if (!unchecked.empty()) std::printf("  %s\n", unchecked.c_str());
}

int run(const Arguments& arguments) {
  const bool learner = !arguments.exercise.empty();
  const std::string number = arguments.name.substr(0, 2);
  if (learner && unchanged(arguments)) {
    std::printf(
        "%s: unchanged\n  Its code is still that of the step before.\n  Look for TODO(%s) in %s.\n",
        arguments.name.c_str(), number.c_str(), arguments.exercise.c_str());
    return lab::kExitNotConverged;
  }

  const std::vector<validate::Case> cases =
      validate::with_ranks(choose_cases(arguments), arguments.ranks);
  const bool terminal = isatty(STDERR_FILENO) && !arguments.quiet;
  const validate::Verdict verdict = validate::check_program(
      arguments.program, cases, arguments.time_limit,
      [&](const std::string& what) {
        if (!terminal) return;
        std::fprintf(stderr, "\r\033[K  running: %s", what.c_str());
      },
      at_hand(arguments));
  if (terminal) std::fputs("\r\033[K", stderr);

  switch (verdict.kind) {
    case validate::Verdict::kRight:
      std::printf("%s: %s\n", arguments.name.c_str(), verdict.summary.c_str());
      for (const std::string& remark : verdict.remarks) std::printf("  %s\n", remark.c_str());
      print_unchecked(arguments);
      if (learner) print_next(arguments, number);
      return 0;
    case validate::Verdict::kWrong:
      std::printf("%s: %s\n", arguments.name.c_str(), verdict.summary.c_str());
      for (const std::string& line : verdict.details) std::printf("  %s\n", line.c_str());
      return 1;
    case validate::Verdict::kNoGpu:
      std::printf("%s: compiles, but cannot run here\n  %s\n", arguments.name.c_str(),
                  verdict.summary.c_str());
      if (learner) std::printf("  Check it again on a machine with an NVIDIA GPU.\n");
      return lab::kExitNoGpu;
    case validate::Verdict::kCannotRun:
      break;
  }
  std::fprintf(stderr, "validate: %s\n", verdict.summary.c_str());
  return lab::kExitBadUsage;
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
