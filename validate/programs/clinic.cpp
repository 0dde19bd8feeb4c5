// Judges a kernel of the clinic: wrong, right, or done by a goal that is counted. `make check
// CLINIC=NAME` calls it.

#include <cstdio>
#include <string>

#include <lab/exit_codes.h>

#include "clinic/kernels.h"
#include "programs/command_line.h"

namespace {

constexpr const char* kHelp =
    "clinic: says whether a kernel of the clinic is right, and whether it reaches its goal\n\n"
    "  clinic --name NAME [OPTION...] PROGRAM\n\n"
    "  PROGRAM            the kernel's program on the CPU, its accesses counted\n"
    "  --on-gpu FILE      the same program on a GPU\n"
    "  --from-nvcc DIR    what nvcc left: `log`, printed with -Xptxas -v, and `kernel.ptx`\n"
    "  --next WORDS       printed at the end if the goal is reached\n"
    "  --time-limit S     seconds for one run (default 120)\n"
    "  --help             print this\n\n"
    "exit codes: 0 right, and no goal that can be measured here is missed; 1 wrong, or a goal is\n"
    "            missed; 2 bad usage; 77 it cannot run here\n";

struct Arguments {
  std::string name, program, on_gpu, from_nvcc, next;
  double time_limit = 120;
};

/// Sizes at which results are compared: whole tiles first, because an index that is wrong
/// everywhere is then seen by its values and not by what it does at an edge; 99 * 99 is odd.
constexpr int kSizes[] = {validate::kClinicN, 100, 99};

/// Whether the program is right at all sizes; prints it if not.
bool is_right(const Arguments& arguments, const validate::ClinicKernel& kernel,
              const std::string& program, const char* where) {
  for (const int n : kSizes) {
    const std::string wrong = validate::what_is_wrong(kernel, program, n, arguments.time_limit);
    if (wrong.empty()) continue;
    std::printf("clinic/%s: wrong\n  at n = %d%s: %s\n", kernel.name, n, where, wrong.c_str());
    return false;
  }
  return true;
}

int judge(const Arguments& arguments, const validate::ClinicKernel& kernel) {
  if (!is_right(arguments, kernel, arguments.program, "")) return 1;
  if (!arguments.on_gpu.empty() && !is_right(arguments, kernel, arguments.on_gpu, " on the GPU")) {
    return 1;
  }
  validate::Instruments have;
  have.program = have.watched = have.on_cpu = arguments.program;
  have.time_limit = arguments.time_limit;
  validate::Bench bench(have);
  const validate::GoalCount count =
      validate::measure_clinic_goals(kernel, &bench, validate::read_from_nvcc(arguments.from_nvcc));
  const bool missed = count.missed > 0;
  const char* verdict = missed                     ? "right, but its goal is not reached"
                        : count.not_measurable > 0 ? "right; the goal cannot be measured here"
                                                   : "done";
  std::printf("clinic/%s: %s\n", kernel.name, verdict);
  if (!missed && !arguments.next.empty()) std::printf("  %s\n", arguments.next.c_str());
  return missed ? 1 : 0;
}

int run(const Arguments& arguments) {
  const validate::ClinicKernel* kernel = validate::find_clinic_kernel(arguments.name);
  if (!kernel) {
    lab::fail(lab::kExitBadUsage, "--name %s: there is no such kernel", arguments.name.c_str());
  }
  try {
    return judge(arguments, *kernel);
  } catch (const validate::NotMeasurable& reason) {
    std::printf("clinic/%s: cannot run here\n  %s\n", kernel->name, reason.what());
    return lab::kExitNoGpu;
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  validate::CommandLine line("clinic", kHelp);
  line.text("--name", &arguments.name);
  line.text("--on-gpu", &arguments.on_gpu);
  line.text("--from-nvcc", &arguments.from_nvcc);
  line.text("--next", &arguments.next);
  line.seconds("--time-limit", &arguments.time_limit);
  line.read(argc, argv, &arguments.program);
  return validate::run_to_exit_code("clinic", [&] { return run(arguments); });
}
