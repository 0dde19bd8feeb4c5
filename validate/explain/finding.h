#pragma once

#include <string>

#include <cuda_on_cpu/report.h>

namespace validate {

/// What a program reports of a single access, a barrier, a launch or a call that is wrong.
struct Finding {
  enum Kind {
    kNone,
    kOutOfBounds,  ///< a kernel accesses what lies beside an allocation
    kUnwritten,    ///< a kernel reads what nothing has written
    kRace,
    kRefused,     ///< a launch, and nobody asked whether it was accepted
    kBarrier,     ///< some threads of a block, or lanes of a warp, do not come to where others wait
    kShape,       ///< a block of another shape than a collective was made for
    kHostEarly,   ///< the host accesses what a kernel may still be using
    kSharedEnd,   ///< an access past the end of a variable in shared memory
    kMisaligned,  ///< four floats at once, at an address that is no multiple of 16
    kFreedTwice,  ///< memory is freed that was freed before
    kEndless,     ///< where it was when it was asked at the time limit
    kOther,       ///< `report.kind` says more
  };
  Kind kind = kNone;
  cuda_on_cpu::Report report{""};  ///< all of it
  std::string where;               ///< "just past the end of", if it is beside an allocation
  bool has_place = false;          ///< x and y are known
  int x = 0, y = 0;                ///< blockIdx * blockDim + threadIdx

  bool known() const { return kind != kNone; }
  bool shared() const { return report.has("shared"); }
  bool is_race() const { return kind == kRace; }
  /// Of a race.
  bool both_write() const { return report.access == "writes" && report.has("other_writes"); }
  /// Of a race: the line that writes what others change atomically; 0: none.
  int plain_line() const;
};

/// What a program has reported; kNone if no line of the program is named.
Finding read_finding(const cuda_on_cpu::Report& report);

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
