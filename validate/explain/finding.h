#pragma once

#include <string>

#include <cuda_on_cpu/report.h>

namespace validate {

/// What a program reports of a single access, a barrier, a launch or a call that is wrong.
struct Finding {
  cuda_on_cpu::Report report{""};  ///< all of it
  int n = 0;                       ///< points per side of the grid on which it was found
  std::string where;               ///< "just past the end of", if it is beside an allocation
  bool has_place = false;          ///< x and y are known
  int x = 0, y = 0;                ///< blockIdx * blockDim + threadIdx

  bool known() const { return report.line > 0; }
  bool is(const char* kind) const { return known() && report.kind == kind; }
  /// A kernel accesses what lies beside an allocation.
  bool is_outside() const { return is("out_of_bounds") && !where.empty(); }
  bool shared() const { return report.has("shared"); }
  bool is_race() const { return is("race"); }
  /// Of a race.
  bool both_write() const { return report.access == "writes" && report.has("other_writes"); }
  /// Of a race: the line that writes what others change atomically; 0: none.
  int plain_line() const;
};

/// What a program has reported on a grid of n x n points; not known if no line of the program is
/// named.
Finding read_finding(const cuda_on_cpu::Report& report, int n);

/// Where in a program's text something was found.
struct Scene {
  std::string function;  ///< in which the line stands: "jacobi_sweep_kernel"; "": not known
  std::string array;     ///< that the line accesses: "f_old"; "": not known
  bool thread_per_point =
      false;                     ///< i and j of that function come of blockIdx, blockDim, threadIdx
  int first_i = 0, first_j = 0;  ///< and begin with these
};

/// Of a finding, in the text of its program.
Scene scene_of(const Finding& finding, const std::string& source);

}  // namespace validate
