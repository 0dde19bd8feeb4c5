#pragma once

// What the parts of the diagnosis share; others include diagnosis.h.

#include <cmath>
#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <lab/problem.h>

#include "explain/diagnosis.h"
#include "judge/reference.h"

namespace validate {

/// What the functions and variables are called in the step's file, which changes from step to step.
/// The file is asked, where it is at hand; else they are those of the step's solution.
class Words {
 public:
  explicit Words(const Patient& patient)
      : step_(patient.step), names_(patient.names), source_(patient.source) {}
  bool sweep_on_gpu() const { return step_ >= 4 || has("__global__", false); }
  bool copy_on_gpu() const { return step_ >= 5; }
  bool has_block_sum() const { return has("BlockReduce", step_ >= 8 && step_ <= 12); }
  /// Warps that march up strips of the grid, and exchange neighbours by shuffles.
  bool has_strips() const { return step_ >= 12 && !has_like("tile", false); }
  bool has_tile() const { return step_ >= 9 && !has_strips(); }
  bool has_passes() const { return has_strips() && has_like("level", step_ >= 13); }
  bool has_ring() const { return has_strips() && has_like("ring", step_ >= 13); }
  /// A residual every so many sweeps only.
  bool has_checks() const { return step_ >= 11 || has("check_every", false); }
  bool has_graph() const { return has("cudaGraphLaunch", step_ == 11); }
  bool has_memcpy() const { return has("cudaMemcpy", false) || has("cudaMemcpyAsync", false); }
  bool has_host_memcpy() const { return has("memcpy", false); }
  /// The parts of the sum that blocks (or threads) have are stored, and added up later.
  bool has_stored_parts() const { return has("DeviceReduce", false) || !has_like("atomic", true); }
  bool has_shuffles() const { return has_like("__shfl", has_strips()); }
  bool has_pitch() const { return has_like("pitch", step_ >= 12); }
  bool swaps() const { return step_ >= 10; }
  /// Kernels that add to the sum only where they are asked to.
  bool has_check_kernel() const { return has("kCheck", step_ >= 11); }
  bool waits_for_events() const { return has("cudaEventSynchronize", true); }
  bool reads_sum_late() const { return has("cudaMemcpyAsync", step_ == 11 || step_ >= 15); }
  /// Ranks, each of which holds some rows, numbered from its own first one.
  bool has_slabs() const { return has("held_begin", step_ >= 14); }
  /// NCCL's calls are grouped, and no group ends.
  bool leaves_group_open() const {
    return has("ncclGroupStart", false) && !has("ncclGroupEnd", true);
  }
  bool has_streams() const { return has("cudaStreamWaitEvent", step_ >= 15); }
  /// Of a file that copies to shared memory asynchronously: which of the calls that belong to it is
  /// missing; "": none.
  std::string lacking_of_pipeline() const;
  /// The sweep's kernel, or its function; "the sweep" if the file calls neither as expected.
  std::string sweep() const;
  /// The host's function that launches it.
  std::string host() const;
  bool launches_copy() const { return has_copy_kernel() && has_line(copy() + "<<<"); }
  bool has_copy_kernel() const { return copy_on_gpu() && copy() != "copy_field"; }
  std::string copy() const;
  /// How the new field becomes the old one.
  std::string handover() const;
  /// What keeps the boundary as it is.
  std::string bounds() const;
  /// The blocks that the launch must have.
  std::string launch_grid() const;
  /// What an allocation has room for.
  std::string held_points() const;
  /// How threads share out what a block loads.
  std::string tile_loads() const;
  /// What gives neighbours their rows.
  std::string exchange() const;
  /// What says which rows a rank has.
  std::string shares() const;
  /// How the residual comes of the sum.
  std::string formula() const;

 private:
  /// Whether the file holds the name; `guess` where there is no file to look into.
  bool has(const std::string& name, bool guess) const;
  /// The one kernel whose name is one of a copy, or of a sweep; "" if there are several, or none.
  std::string kernel(bool copies) const;
  /// Whether it holds a name with this at its beginning, or behind a k for a constant.
  bool has_like(const std::string& beginning, bool guess) const;
  /// Whether the file holds this line; true where there is no file to look into.
  bool has_line(const std::string& code) const;

  int step_;
  const std::set<std::string>& names_;
  const std::string& source_;
};

/// A field as the reference and the programs hand it over: n x n, row j outer.
using Field = std::vector<float>;

Field field_of(const Reference& reference);
Field field_of(const lab::StartingField& start, int n);
Field transposed(const Field& field, int n);

/// The fields of the right sweeps from a starting field.
class Sweeps {
 public:
  Sweeps(int n, const Field& start) : reference_(n, start) { fields_.push_back(start); }
  /// After k sweeps.
  const Field& after(int k);
  /// The residual of sweep k, from 1.
  double residual(int k);

 private:
  Reference reference_;
  std::deque<Field> fields_;  // a reference to one outlives the making of the next
  std::vector<double> residuals_;
};

/// Equal but for rounding, in a field whose largest magnitude is `largest`, after k sweeps.
struct Near {
  double bound;
  Near(double largest, int k) : bound(4.5 * k * std::ldexp(1.0, -24) * largest) {}
  bool operator()(double a, double b) const { return std::fabs(a - b) <= bound; }
};
double largest_of(const Field& field);
/// Whether all values are equal but for rounding, those on the boundary in every bit.
bool agree(const Field& a, const Field& b, int n, int sweeps);

/// The points at which two fields differ by more than rounding; on the boundary, in any bit.
Cells differing(const Field& expected, const Field& found, int n, int sweeps);

/// The program's answers, each asked for once.
class Interview {
 public:
  Interview(const Case& run, const Patient& patient) : run_(run), patient_(patient) {}
  /// After k iterations; nullptr where there is no answer.
  const Observation* after(int k);
  const Case& run() const { return run_; }
  const Patient& patient() const { return patient_; }

 private:
  struct Answer {
    bool known = false;
    Observation seen;
  };
  Case run_;
  const Patient& patient_;
  std::map<int, Answer> answers_;  // by the number of iterations
};

Diagnosis diagnose_field(const Wrong& wrong, Interview* interview);
/// Of a field that is wrong after a pass of several sweeps, and right where each sweep is a pass.
Diagnosis diagnose_pass(const Wrong& wrong, Interview* interview);
Diagnosis diagnose_residual(const Wrong& wrong, Interview* interview);
/// Whether a look at every access found a race in shared memory.
bool found_in_shared(const Patient& patient);
/// Of residuals that are said every few sweeps only, and of a field that is right.
Diagnosis diagnose_sum_of_pass(const Wrong& wrong, Interview* interview);
/// Of a sum that is filled, added to and fetched in streams that do not wait for each other, as the
/// program's text shows.
Diagnosis ask_about_streams(const std::string& source);
/// Of a sum that is copied to the host before it is added to, or set to 0 after that.
Diagnosis ask_about_order_of_sum(const std::string& source);
/// Two threads that use the same place in global memory, one of them writing: as the lines show.
Diagnosis diagnose_global_race(const Finding& finding, const std::string& source);
/// Of asynchronous work that keeps the address of a variable that is gone.
Diagnosis ask_about_lost_local(const std::string& source);
/// Whether another run, its threads in another order, gives another field after k iterations.
bool field_changes(Interview* interview, int k);

}  // namespace validate
