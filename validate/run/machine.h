#pragma once

#include <string>

namespace validate {

/// What the machine is: from the program `bandwidth` and /proc.
struct Machine {
  bool has_gpu = false;
  int gpus = 0;
  std::string why_not;  ///< where there is no usable GPU
  std::string gpu, compute_capability, cuda, driver, cpu = "unknown";
  double l2_bytes = 0;
  double copy_gb_per_s = 0, copy_q1 = 0, copy_q3 = 0;  ///< the best of the ways to copy
  std::string copy_way;
};

/// Looks at this machine; `bandwidth`: that program. Without a usable GPU the machine says why.
Machine look_at_machine(const std::string& bandwidth);

}  // namespace validate
