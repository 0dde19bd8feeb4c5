// Compares a step's program with the CPU reference, and tells a learner how their exercise stands.

#include <cstdio>
#include <string>
#include <vector>

#include <lab/exit_codes.h>
#include <lab/options.h>

#include "judge/check_step.h"
#include "programs/command_line.h"
#include "run/program_run.h"
#include "run/text.h"
#include "source/source_code.h"

namespace {

constexpr const char* kHelp =
    "validate [options] PROGRAM: runs a step's program and compares its field and its\n"
    "residuals with a CPU reference\n\n"
    "  --n N,N,...          sizes to run at (default: 33 to 3072, as the step needs; with\n"
    "                       --problem or --iterations 100,250)\n"
    "  --problem P,P,...    probe, laplace, harmonic (default: all)\n"
    "  --iterations K       iterations of each run (default: what the problem needs)\n"
    "  --ranks R,R,...      the program is a job of this many ranks, which MPI starts\n"
    "  --time-limit S       seconds for one run (default 300)\n"
    "  --name NAME          what to call the program (default: its file's name)\n"
    "  --exercise FILE --before FILE\n"
    "                       the program is a learner's: its source, and what it started\n"
    "                       from: the solution of the previous step, or in a handout,\n"
    "                       which has none, the exercise as it was handed out\n"
    "  --source FILE        the program's source, whose names the diagnosis then uses\n"
    "                       (of a learner's program, that of --exercise)\n"
    "  --watched PROGRAM    the same program on the CPU with every access looked at: if the\n"
    "                       program is wrong, the diagnosis uses what that finds\n"
    "  --look-at N,N,...    once small grids are right, --watched also runs at these sizes\n"
    "  --look-sweeps K      iterations of each such run (default 3)\n"
    "  --gpu                the program runs on a GPU: it is also tried at its own n\n"
    "  --on-cpu PROGRAM     the same program on the CPU: it answers most questions, and the GPU "
    "few\n"
    "  --built FILE         PROGRAM is still being built: it is there once FILE says 0\n"
    "  --every-order        also with threads in reverse and in shuffled order, as CUDA on the\n"
    "                       CPU runs them\n"
    "  --verdict FILE       also write the verdict to FILE: unchanged, wrong or right; after\n"
    "                       wrong and a tab the name of the mistake, if it is known\n"
    "  --explain            also print the name of the mistake, as the catalogue has it\n"
    "  --help               print this\n\n"
    "exit codes: 0 right, 1 wrong (or, for an exercise, unchanged), 2 bad usage,\n"
    "            5 the reference does not fit in memory, 77 cannot run here (no usable GPU, no\n"
    "            space left, a limit)\n";

struct Arguments {
  validate::StepCheck check;
  std::string name, exercise, before, source, verdict;
  std::vector<int> sizes;
  std::vector<lab::ProblemKind> problems;
  int iterations = 0;
  bool explain = false;
};

/// The runs that the options ask for; none: it is for the validator to say what is tried.
std::vector<validate::Case> choose_cases(const Arguments& arguments) {
  using lab::ProblemKind;
  std::vector<int> sizes = arguments.sizes;
  std::vector<ProblemKind> problems = arguments.problems;
  if (sizes.empty() && problems.empty() && arguments.iterations == 0) return {};
  if (sizes.empty()) sizes = {100, 250};
  const bool all_problems = problems.empty();
  if (all_problems) problems = {ProblemKind::kProbe, ProblemKind::kLaplace, ProblemKind::kHarmonic};
  std::vector<validate::Case> cases;
  for (int n : sizes) {
    for (ProblemKind problem : problems) {
      if (problem == ProblemKind::kHarmonic && n > lab::kMaxHarmonicN && all_problems) continue;
      const int iterations =
          arguments.iterations > 0 ? arguments.iterations : validate::usual_iterations(problem, n);
      cases.push_back({problem, n, iterations});
    }
  }
  return cases;
}

/// Reads a file that the command line names; ends the program if it cannot.
std::string text_of(const std::string& file) {
  std::string text;
  if (!validate::read_text(file, &text)) {
    lab::fail(lab::kExitBadUsage, "%s: cannot be read", file.c_str());
  }
  return text;
}

Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  validate::StepCheck& check = arguments.check;
  validate::CommandLine line("validate", kHelp);
  line.integers("--n", lab::kMinN, lab::kMaxN, &arguments.sizes);
  line.list("--problem", [&](const std::string& name) {
    arguments.problems.push_back(lab::read_problem(name));
  });
  line.integer("--iterations", 1, 1000000, &arguments.iterations);
  line.integers("--ranks", 1, 100000, &check.ranks);
  line.seconds("--time-limit", &check.time_limit);
  line.text("--name", &arguments.name);
  line.value("--exercise",
             [&](const std::string& file) { arguments.exercise = arguments.source = file; });
  line.text("--source", &arguments.source);
  line.text("--before", &arguments.before);
  line.text("--watched", &check.at_hand.watched);
  line.integers("--look-at", lab::kMinN, lab::kMaxN, &check.look_at);
  line.integer("--look-sweeps", 1, 1000, &check.look_sweeps);
  line.flag("--gpu", &check.at_hand.gpu);
  line.text("--on-cpu", &check.on_cpu);
  line.text("--built", &check.built);
  line.flag("--every-order", &check.every_order);
  line.text("--verdict", &arguments.verdict);
  line.flag("--explain", &arguments.explain);
  line.read(argc, argv, &check.program);
  if (arguments.name.empty()) arguments.name = check.program.substr(check.program.rfind('/') + 1);
  if (!arguments.source.empty()) check.at_hand.source = text_of(arguments.source);
  check.cases = choose_cases(arguments);
  return arguments;
}

/// Whether the learner's file still says what the exercise said when they got it. If neither a
/// solution nor a handout's own copy is there, nothing can be said.
bool unchanged(const Arguments& arguments) {
  std::string before;
  if (arguments.exercise.empty() || !validate::read_text(arguments.before, &before)) return false;
  return validate::code_only(arguments.check.at_hand.source) == validate::code_only(before);
}

/// What is left to do for a learner whose results are right. Goals are another matter (goals/).
void print_next(const Arguments& arguments) {
  const std::string number = arguments.name.substr(0, 2);
  if (number == "00") {
    std::printf("  This step has no task. Run %s, then go on with step 01.\n",
                arguments.check.program.c_str());
    return;
  }
  const std::vector<std::string> todos =
      validate::lines_with("TODO(" + number + ")", arguments.check.at_hand.source);
  if (todos.empty()) return;
  const bool one = todos.size() == 1;
  std::printf("  TODO(%s) is still there, line%s %s of %s: delete %s when it is done.\n",
              number.c_str(), one ? "" : "s", validate::join(todos).c_str(),
              arguments.exercise.c_str(), one ? "it" : "each");
}

/// Up to which n the program can be right, and why; 0: for all.
int largest_n(const std::string& source, std::string* why) {
  if (const int line = validate::int_bytes_in(source)) {
    *why = validate::format(
        "Larger fields have more bytes than an int can count, and line %d keeps them in one "
        "(std::size_t is large enough).",
        line);
    return 23170;
  }
  if (const int line = validate::int_index_in(source)) {
    *why = validate::format(
        "Larger grids have more points than an int can count, and line %d multiplies ints "
        "(std::size_t(n) * n is large enough).",
        line);
    return 46340;
  }
  return 0;
}

/// What a right program does not ask its GPU, and where it would be wrong for larger grids than are
/// tried here. No mistakes: lines to think about.
void print_thoughts(const std::string& source) {
  const std::string unchecked = validate::unchecked_calls(source);
  if (!unchecked.empty()) std::printf("  %s\n", unchecked.c_str());
  std::string why;
  if (const int n = largest_n(source, &why)) {
    std::printf("  Right up to n = %d. %s\n", n, why.c_str());
  }
}

/// A CPU in a GPU's place does not try the program's own n. There it is wrong if ints are too
/// small.
void look_at_own_n(const Arguments& arguments, validate::Verdict* verdict) {
  const validate::StepCheck& check = arguments.check;
  const bool all = check.cases.empty() && check.every_order;  // by the CPU alone
  if (!all || verdict->kind != validate::Verdict::kRight) return;
  std::string why;
  const int most = largest_n(check.at_hand.source, &why);
  const int own_n = most > 0 ? validate::default_n(check.program) : 0;
  if (own_n <= most) return;
  verdict->kind = validate::Verdict::kWrong;
  verdict->summary = validate::format("wrong: at its own n = %d, and right up to %d", own_n, most);
  verdict->details = {"diagnosis: " + why};
}

int print_verdict(const Arguments& arguments, const validate::Verdict& verdict) {
  const char* name = arguments.name.c_str();
  const bool learner = !arguments.exercise.empty();
  const bool right = verdict.kind == validate::Verdict::kRight;
  const std::string& rule = verdict.rule;
  if (right || verdict.kind == validate::Verdict::kWrong) {
    std::printf("%s: %s\n", name, verdict.summary.c_str());
    for (const std::string& line : right ? verdict.remarks : verdict.details) {
      std::printf("  %s\n", line.c_str());
    }
    if (arguments.explain && !(right && rule.empty())) {
      std::printf("  rule: %s\n", rule.empty() ? "none" : rule.c_str());
    }
    if (right) print_thoughts(arguments.check.at_hand.source);
    if (right && learner) print_next(arguments);
    validate::write_verdict(arguments.verdict, right          ? "right"
                                               : rule.empty() ? "wrong"
                                                              : "wrong\t" + rule);
    return right ? 0 : 1;
  }
  const bool no_gpu = verdict.kind == validate::Verdict::kNoGpu;
  if (no_gpu || verdict.kind == validate::Verdict::kCannotRunHere) {
    std::printf("%s: %scannot run here\n  %s\n", name, no_gpu ? "compiles, but " : "",
                verdict.summary.c_str());
    if (no_gpu && learner) std::printf("  Check it again on a machine with an NVIDIA GPU.\n");
    return lab::kExitNoGpu;
  }
  // What is not built is told by the one who builds it.
  if (!verdict.summary.empty()) std::fprintf(stderr, "validate: %s\n", verdict.summary.c_str());
  return lab::kExitBadUsage;
}

int run(const Arguments& arguments) {
  if (unchanged(arguments)) {
    const std::string todo = "TODO(" + arguments.name.substr(0, 2) + ")";
    const bool there = !validate::lines_with(todo, arguments.check.at_hand.source).empty();
    std::printf(
        "%s: unchanged\n  Its code is still that of the previous step.\n  Look for %s in %s.\n",
        arguments.name.c_str(), there ? todo.c_str() : "the task",
        there ? arguments.exercise.c_str() : "its guide, and in the first lines of the file");
    validate::write_verdict(arguments.verdict, "unchanged");
    return 1;
  }
  validate::Verdict verdict = validate::check_step(arguments.check, [](const std::string& what) {
    validate::show_progress("  running: " + what);
  });
  validate::show_progress("");
  look_at_own_n(arguments, &verdict);
  return print_verdict(arguments, verdict);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = read_arguments(argc, argv);
  return validate::run_to_exit_code("validate", [&] { return run(arguments); });
}
