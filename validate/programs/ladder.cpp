// Validates every solution, times it, and prints the ladder: what each step brings, compared with
// the copy bandwidth and the serial code measured in the same run. Writes the table as
// DIR/ladder.tsv.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <lab/exit_codes.h>
#include <lab/options.h>

#include "ladder/ladder.h"
#include "programs/command_line.h"
#include "run/program_run.h"
#include "run/steps.h"
#include "run/text.h"

namespace {

using validate::show_progress;

constexpr const char* kHelp =
    "ladder [options]: validates and times every step's solution, and prints the ladder\n\n"
    "  --lab DIR            the lab's folder (default: where this was built)\n"
    "  --results DIR        write DIR/ladder.tsv\n"
    "  --steps NN,NN,...    only these steps\n"
    "  --ranks R            time steps that are jobs of ranks with this many (default: one for\n"
    "                       each GPU of this machine)\n"
    "  --help               print this\n\n"
    "exit codes: 0 every solution that can run here is right, 1 one is wrong, 2 bad usage,\n"
    "            4 cannot write, 77 a step cannot run here (no space left, a limit, no MPI job)\n";

constexpr int kMaxRanks = 64;

struct Arguments {
  std::string lab = LAB_SOURCE_DIR, results;
  std::vector<std::string> steps;
  int ranks = 0;
};

Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  validate::CommandLine line("ladder", kHelp);
  line.text("--lab", &arguments.lab);
  line.text("--results", &arguments.results);
  line.list("--steps", [&](const std::string& step) { arguments.steps.push_back(step); });
  line.integer("--ranks", 1, kMaxRanks, &arguments.ranks);
  line.read(argc, argv);
  return arguments;
}

void print_machine(const validate::Machine& machine, int ranks) {
  if (machine.has_gpu) {
    std::printf("GPU: %s, copy bandwidth %.0f GB/s\n", machine.gpu.c_str(), machine.copy_gb_per_s);
  } else {
    std::printf(
        "No usable GPU here: the CPU runs the kernels instead; results, but no times\n"
        "  (%s)\n",
        machine.why_not.c_str());
    if (ranks > 0) {
      std::printf("  (--ranks %d is for times; without them jobs of ranks have %d)\n", ranks,
                  validate::kCheckedRanks);
    }
  }
  std::fflush(stdout);
}

/// Measures, and prints as it goes on. Returns the program's exit code.
int run(const Arguments& arguments) {
  const std::string bin = validate::program_folder();
  validate::Ladder ladder;
  const std::vector<validate::Step> steps = validate::read_steps(arguments.lab);
  const std::vector<std::string>& wanted = arguments.steps;
  lab::prepare_folder("--results", arguments.results);
  show_progress("measuring the copy bandwidth ...");
  ladder.machine = validate::look_at_machine(bin + "/bandwidth");
  show_progress("");
  print_machine(ladder.machine, arguments.ranks);

  validate::Climb climb(bin, arguments.ranks, &ladder);
  std::vector<const validate::Step*> chosen;
  for (const validate::Step& step : steps) {
    if (wanted.empty() || std::count(wanted.begin(), wanted.end(), step.number()) > 0) {
      chosen.push_back(&step);
    }
  }
  climb.check(chosen);
  bool all_right = true;
  for (const validate::Step* step : chosen) {
    all_right &= climb.measure(*step, step == &steps.front() ? nullptr : step - 1);
  }
  climb.measure_cpu(steps.front());

  validate::print_table(ladder);
  if (!arguments.results.empty()) validate::write_results(arguments.results, ladder);
  if (all_right && ladder.cannot_run) return lab::kExitNoGpu;
  return all_right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = read_arguments(argc, argv);
  return validate::run_to_exit_code("ladder", [&] { return run(arguments); });
}
