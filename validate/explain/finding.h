#pragma once

#include <string>

#include <cuda_on_cpu/report.h>

namespace validate {

/// What a program reports of a single access, a barrier, a launch or a call that is wrong.
struct Finding {
  cuda_on_cpu::Report report{""};  ///< all of it
  int n = 0;                       ///< points per side of the grid on which it was found

  /// Whether a line of the program is named.
  bool known() const { return report.line > 0; }
  bool is(const char* kind) const { return known() && report.kind == kind; }
  /// "just past the end of", "400 bytes before"; "" if it is not beside an allocation.
  std::string where() const;
  /// A kernel accesses what lies beside an allocation.
  bool is_outside() const { return is("out_of_bounds") && !where().empty(); }
  bool shared() const { return report.has("shared"); }
  bool is_race() const { return is("race"); }
  /// Of a race.
  bool both_write() const { return report.access == "writes" && report.has("other_writes"); }
  /// Of a race: the line that writes what others change atomically; 0: none.
  int plain_line() const;
};

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
