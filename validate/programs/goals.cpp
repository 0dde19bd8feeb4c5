// Measures whether a step's goal is reached. `make check` calls it once the results are right.

#include <cstdio>
#include <cstdlib>
#include <string>

#include "goals/measures.h"
#include "programs/command_line.h"
#include "run/text.h"
#include "source/source_code.h"

namespace {

constexpr const char* kHelp =
    "goals: measures whether a program reaches what its step is for\n\n"
    "  goals --name NN_name [OPTION...] PROGRAM\n\n"
    "  --gpu              PROGRAM runs on a GPU\n"
    "  --ranks R,R,...    PROGRAM is a job of ranks; tried with this many, if each has a GPU\n"
    "  --compiled FILE    PROGRAM is there once FILE says 0\n"
    "  --built FILE       and is free to be timed once this one does\n"
    "  --watched FILE     the same program on the CPU, its accesses counted\n"
    "  --on-cpu FILE      with --gpu: the same program on the CPU\n"
    "  --before FILE      the program of the previous step\n"
    "  --tracer FILE      the lab's tracer, a library\n"
    "  --bandwidth FILE   the lab's program that measures a copy\n"
    "  --exercise FILE    PROGRAM is a learner's, and this is its source\n"
    "  --next WORDS       printed at the end if nothing is missed and no TODO is left in FILE\n"
    "  --verdict FILE     also write the verdict to FILE: done, \"goal missed\", or nothing\n"
    "  --time-limit S     seconds for one run (default 300)\n"
    "  --help             print this\n\n"
    "exit codes: 0 nothing that can be measured here is missed, 1 a goal is missed, 2 bad usage\n";

struct Arguments {
  validate::Instruments instruments;
  std::string name, exercise, next, verdict;
};

Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  validate::Instruments& have = arguments.instruments;
  validate::CommandLine line("goals", kHelp);
  line.flag("--gpu", &have.on_gpu);
  line.text("--compiled", &have.compiled);
  line.text("--built", &have.built);
  line.integers("--ranks", 1, 100000, &have.ranks);
  line.text("--watched", &have.watched);
  line.text("--on-cpu", &have.on_cpu);
  line.text("--before", &have.before);
  line.text("--tracer", &have.tracer);
  line.text("--bandwidth", &have.bandwidth);
  line.text("--name", &arguments.name);
  line.text("--exercise", &arguments.exercise);
  line.text("--next", &arguments.next);
  line.text("--verdict", &arguments.verdict);
  line.seconds("--time-limit", &have.time_limit);
  line.read(argc, argv, &have.program);
  if (have.on_cpu.empty()) have.on_cpu = have.on_gpu ? have.watched : have.program;
  return arguments;
}

bool has_todo(const Arguments& arguments) {
  std::string source;
  return validate::read_text(arguments.exercise, &source) &&
         validate::says(source, "TODO(" + arguments.name.substr(0, 2) + ")");
}

int run(const Arguments& arguments) {
  validate::Bench bench(arguments.instruments);
  const char* name = arguments.name.c_str();
  const validate::GoalCount count = validate::measure_goals(std::atoi(name), &bench);
  validate::wait_for_build(arguments.instruments.built);  // if no goal ran the program
  const bool todo = has_todo(arguments);
  if (count.missed > 0) {
    std::printf("%s: right, but the step's goal is not reached\n", name);
    if (todo) {
      std::printf("  Next: the TODO(%.2s) that are left. For a hint: make hint STEP=%.2s\n", name,
                  name);
    } else if (!arguments.exercise.empty()) {
      std::printf("  Next: what is MISSED above. For a hint: make hint STEP=%.2s\n", name);
    }
    validate::write_verdict(arguments.verdict, "goal missed");
    return 1;
  }
  if (count.not_measurable == 0) {
    std::printf("%s: %s\n", name, todo ? "right so far, and its goals are reached" : "done");
    validate::write_verdict(arguments.verdict, "done");
  } else {
    std::printf("%s: %s, as far as this machine can tell\n", name, todo ? "right so far" : "done");
  }
  if (todo) {
    std::printf("  Next: the TODO(%.2s) that are left.\n", name);
  } else if (!arguments.next.empty()) {
    std::printf("  %s\n", arguments.next.c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = read_arguments(argc, argv);
  return validate::run_to_exit_code("goals", [&] { return run(arguments); });
}
