#pragma once

#include <string>
#include <vector>

namespace validate {

/// The first step whose iterations are cycles over several grids, and no Jacobi sweeps.
inline constexpr int kFirstCycleStep = 16;

/// One line of lab/steps.tsv.
struct Step {
  std::string name;    ///< "04_jacobi_kernel"
  std::string source;  ///< "jacobi.cu"
  bool needs_cuda;
  bool needs_ranks;  ///< it is a job of several ranks, which need CUDA each
  int n;             ///< the solution's default
  int iterations;    ///< that are timed at this n
  std::string title;

  std::string number() const { return name.substr(0, 2); }
  bool by_cycles() const { return std::stoi(number()) >= kFirstCycleStep; }
};

/// Reads the list of steps below the lab's folder. Throws std::runtime_error where it cannot.
std::vector<Step> read_steps(const std::string& lab_root);

std::vector<std::string> split(const std::string& line, char separator);

}  // namespace validate
