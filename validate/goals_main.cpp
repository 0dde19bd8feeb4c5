// Measures whether a step's goal is reached. scripts/check.sh calls it once the results are right.

#include <cstdio>
#include <cstdlib>
#include <string>

#include <lab/exit_codes.h>

#include "child.h"
#include "goals.h"
#include "steps.h"

namespace {

const char* const kHelp =
    "goals: measures whether a program reaches what its step is for\n\n"
    "  goals --name NN_name [OPTION...] PROGRAM\n\n"
    "  --gpu              PROGRAM runs on a GPU\n"
    "  --ranks R,R,...    PROGRAM is a job of ranks; tried with so many, where each has a GPU\n"
    "  --watched FILE     the same program on the CPU, its accesses counted\n"
    "  --before FILE      the program of the step before\n"
    "  --tracer FILE      the lab's tracer, a library\n"
    "  --ncu FILE         Nsight Compute's program\n"
    "  --bandwidth FILE   the lab's program that measures a copy\n"
    "  --next WORDS       printed at the end where nothing is missed\n"
    "  --time-limit S     seconds for one run (default 300)\n\n"
    "exit codes: 0 nothing that can be measured here is missed, 1 a goal is missed, 2 bad usage\n";

[[noreturn]] void bad_usage(const std::string& message) {
  std::fprintf(stderr, "goals: %s\n", message.c_str());
  std::exit(lab::kExitBadUsage);
}

struct Arguments {
  validate::Instruments instruments;
  std::string name, next;
};

Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  validate::Instruments& have = arguments.instruments;
  for (int k = 1; k < argc; ++k) {
    const std::string option = argv[k];
    auto value = [&]() -> std::string {
      if (k + 1 >= argc) bad_usage(option + ": needs a value (see --help)");
      return argv[++k];
    };
    if (option == "--help") {
      std::fputs(kHelp, stdout);
      std::exit(0);
    } else if (option == "--gpu") {
      have.on_gpu = true;
    } else if (option == "--ranks") {
      for (const std::string& text : validate::split(value(), ',')) {
        char* end = nullptr;
        const long ranks = std::strtol(text.c_str(), &end, 10);
        if (text.empty() || *end != '\0' || ranks < 1 || ranks > 100000) {
          bad_usage("--ranks " + text + ": must be a whole number from 1 to 100000");
        }
        have.ranks.push_back(static_cast<int>(ranks));
      }
    } else if (option == "--watched") {
      have.watched = value();
    } else if (option == "--before") {
      have.before = value();
    } else if (option == "--tracer") {
      have.tracer = value();
    } else if (option == "--ncu") {
      have.ncu = value();
    } else if (option == "--bandwidth") {
      have.bandwidth = value();
    } else if (option == "--name") {
      arguments.name = value();
    } else if (option == "--next") {
      arguments.next = value();
    } else if (option == "--time-limit") {
      const std::string text = value();
      char* end = nullptr;
      have.time_limit = std::strtod(text.c_str(), &end);
      if (*end != '\0' || !(have.time_limit >= 1 && have.time_limit <= 86400)) {
        bad_usage("--time-limit " + text + ": must be a number from 1 to 86400");
      }
    } else if (option.rfind("-", 0) == 0) {
      bad_usage(option + ": no such option (see --help)");
    } else if (!have.program.empty()) {
      bad_usage("one program at a time, not " + have.program + " and " + option);
    } else {
      have.program = option;
    }
  }
  if (have.program.empty()) bad_usage("which program? (see --help)");
  if (arguments.name.size() < 3 || arguments.name[2] != '_') {
    bad_usage("--name: needs a step's name, such as 04_jacobi_kernel");
  }
  // Without a slash a shell would search the PATH; we mean the file.
  if (have.program.find('/') == std::string::npos) have.program = "./" + have.program;
  return arguments;
}

int run(const Arguments& arguments) {
  using validate::Finding;
  validate::Bench bench(arguments.instruments);
  const char* name = arguments.name.c_str();
  int count[3] = {};
  for (const Finding& finding : validate::measure_goals(std::atoi(name), &bench)) {
    constexpr const char* kWords[] = {"reached", "MISSED", "not measurable here"};
    std::printf("  Goal %s: %s\n    %s\n", kWords[finding.kind], finding.goal.c_str(),
                finding.found.c_str());
    if (finding.kind == Finding::kMissed) std::printf("    %s\n", finding.advice.c_str());
    ++count[finding.kind];
  }
  const int reached = count[Finding::kReached], missed = count[Finding::kMissed];
  if (missed > 0) {
    std::printf("%s: right, but the step's goal is not reached\n", name);
    return 1;
  }
  if (count[Finding::kNotMeasurable] == 0) {
    std::printf("%s: done\n", name);
  } else if (reached > 0) {
    std::printf("%s: right; of its goals, what can be measured here is reached\n", name);
  } else {
    std::printf("%s: right; the goal cannot be measured here\n", name);
  }
  if (!arguments.next.empty()) std::printf("  %s\n", arguments.next.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = read_arguments(argc, argv);
  validate::catch_interrupts();
  try {
    return run(arguments);
  } catch (const validate::Interrupted& interrupted) {
    std::fprintf(stderr, "\ngoals: interrupted\n");
    return 128 + interrupted.signal;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "goals: %s\n", error.what());
    return lab::kExitBadUsage;
  }
}
