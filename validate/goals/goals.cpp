// What each step is for, as something that can be measured: the table has all of it. What measures
// is in memory.cpp, time.cpp, ranks.cpp and cycles.cpp.
//
// A learner may reach a goal in their own way: no kernel's name is asked for where its work tells
// what it is, and no block's shape.

#include <cstdio>

#include "goals/measures.h"

namespace validate {
namespace {

// The first step with a kernel, the one whose goal is coalesced accesses, and the first whose
// programs are jobs of ranks.
constexpr int kFirstKernelStep = 4, kCoalescedStep = 6, kFirstJobStep = 14;

struct Goal {
  int step;
  const char* goal;
  std::function<Measured(Bench*)> measure;
  const char* advice;  // where it is missed
};

const std::vector<Goal>& goals() {
  static const std::vector<Goal> table = {
      {1, "two ranges that are entered once per iteration", ranges_in_loop,
       "Push a range at the beginning of jacobi_sweep and of copy_field, and pop it at their end."},
      {1, "three more around what is done outside the loop", ranges_outside,
       "Also give allocate_fields, initialize_field and free_fields a range."},
      {1, "every range that is opened is closed", ranges_closed, kCloseRanges},
      {2, "both fields in managed memory", fields_managed,
       "cudaMallocManaged for both fields, cudaFree at the end."},
      {2, "what is allocated is freed at the end", everything_freed,
       "cudaFree for each pointer that cudaMallocManaged gave, as long as it holds that address."},
      {3, "sweeps and copies are 95 % of the run", work_outweighs_start,
       "The grid is too small for its start-up: raise kDefaultN."},
      {4, "kernels perform the sweep", sweep_on_gpu,
       "Launch the kernel once per sweep, and remove the loops over i and j on the CPU."},
      {5, "the copy is also done on the GPU", copy_on_gpu,
       "Let copy_field launch a kernel with a thread for each point."},
      {5, "host code leaves the fields to the GPU", fields_stay,
       "Host code reads or writes that memory in each iteration: a loop, std::copy, or a function "
       "that main calls. A kernel has to do it."},
      {5, "pages no longer migrate: under 1 % of a field per iteration", migration_stopped,
       "Something on the CPU still touches a field in the loop: its pages come and go."},
      {6, "every kernel's accesses are coalesced: near 4 sectors per 32 floats", coalesced,
       "Neighbours in threadIdx.x have to be neighbours in memory, 32 of them: look at idx, i and "
       "j, and the block's shape, line by line with make count."},
      {7, "both fields are 4 times the L2 cache or more", beyond_l2, "Raise kDefaultN."},
      {8, "at most one atomic addition per block", one_atomic_a_block,
       "Add up the block with cub::BlockReduce, and let one of its threads do the atomicAdd."},
      {8, "host code leaves the sum to the GPU: its page does not move", sum_stays,
       "cudaMemset sets the sum to zero where it is, and cudaMemcpy fetches it."},
      {8, "a sweep 20 times as fast as in the previous step", sweep_faster,
       "What do its warps wait for? make ncu STEP=08 shows it."},
      {9, "a block fills a tile in shared memory", tile_in_shared_memory,
       "Load the block's points and the halo around them into a __shared__ array first."},
      {9, "at most half the loads from global memory", fewer_loads,
       "Load each entry of the tile once, and read the neighbours from it, no longer from f_old: "
       "make count shows each line."},
      {10, "no field is copied any more", no_copy,
       "Swap the two pointers after the sweep, and leave out the copy."},
      {10, "an iteration takes at most 0.6 of its time in the previous step", iteration_shorter,
       "What does the loop do besides the sweep? make trace STEP=10 shows it."},
      {11, "the host waits at most once in 5 sweeps", few_waits,
       "Compute a residual every kCheckEvery sweeps, and wait for nothing else in the loop."},
      {11, "when the host waits for a pass, the next one is already queued", waits_late,
       "Queue the next pass first; then wait for the residual of the previous pass, by that pass's "
       "own event. Its sum goes to pinned memory (cudaMallocHost): a copy to any other waits for "
       "all."},
      {11, "3 or more sweeps per launch", sweeps_together,
       "Capture the sweeps of a pass as a graph: cudaGraphLaunch launches all of them."},
      {11, "4.5 times as many sweeps per second as in the previous step", more_sweeps_a_second,
       "Is the sum computed by every sweep, or only by the last of a pass? See make trace "
       "STEP=11."},
      {12, "0.8 of the bandwidth of a copy", near_copy,
       "Are the loads 16 bytes wide, and are several rows in flight? make ncu STEP=12 shows it."},
      {13, "a kernel performs 4 or more sweeps, on average", several_sweeps_a_launch,
       "kLevels: how many sweeps a row goes through before it is stored. kCheckEvery: at least as "
       "many, or no pass is whole. And if exactly kLevels sweeps are left, they are a whole pass."},
      {13, "4 times as fast as one sweep at the speed of a copy", past_copy,
       "Several sweeps per trip to memory: do the registers spill (make ncu STEP=13)?"},
      {14, "neighbours exchange once for several sweeps, one row for each", exchange_before_passes,
       "Before each pass, ncclSend and ncclRecv as many rows as it performs sweeps."},
      {14, "with NCCL no row goes through a host", nothing_through_host,
       "With ranks.has_nccl(), rows go from GPU to GPU; the host needs only the residual."},
      {14, "a sum over the ranks only at checks", sums_at_checks,
       "ncclAllReduce once per check, of the last pass's sum."},
      {15, "each exchange may run alongside a kernel", exchange_beside_kernel,
       "The exchange after the ends, in their stream; the rest in another stream, and neither "
       "waits for the other."},
      {15, "the rest need not wait for the ends of its own pass", parts_beside_each_other,
       "The rest waits for the ends of the pass before: its wait comes before this pass records "
       "ends_done, or the wait is for this pass's."},
      {15, "on the GPUs each exchange starts while the rest is swept",
       exchange_starts_beside_kernel,
       "NCCL's blocks start only on free multiprocessors: launch the rest with fewer blocks than "
       "fit, and the ends first, in a stream with high priority. make nsys STEP=15 draws it."},
      {15, "when the host waits for a pass, the next one is already queued", host_waits_late,
       "Queue the next sweeps first; then wait for the residual of the previous ones, by an event "
       "of their own: one that the next sweeps record anew waits for those."},
      {15, "R GPUs are 0.85 R times as fast as one", scales,
       "What is exposed? make nsys STEP=15 shows the exchange, and what the GPU does meanwhile."},
      {16, "a cycle leaves at most 0.3 of the error, whatever n", little_error_left,
       "The sweeps damp rough errors, the coarser levels smooth ones. If nothing above says which "
       "are left: how many points has each level (n / 2 + 1), where do they lie, and is the last "
       "one, of one interior point, solved (e = r / 4)?"},
      {16, "the first cycle begins with what the coarser levels found", begins_near,
       "If a cycle leaves too much (above), mend that first. Then: "
       "solve on the coarsest level first, interpolate, and go on with the next finer one: a cycle "
       "that begins on a level takes that level's defect, and adds to its u. Each needs the "
       "boundary's values before. "
       "Point i lies at i * (m - 1) / (n - 1) of the m x m points that it is interpolated from, "
       "and the finest level is filled last."},
      {16, "solved in the time of 30 copies of the field", solves_in_few_copies,
       "Which levels and which kernels take the time? make trace STEP=16 tells."},
  };
  return table;
}

/// What is no goal, but worth a word. It needs the CPU alone: where there is a GPU, nvcc is still
/// compiling.
std::vector<std::string> remarks_on(int number, Bench* bench) {
  std::vector<std::string> remarks;
  if (number < kFirstKernelStep || number >= kFirstJobStep) return remarks;
  const auto add = [&](const std::string& remark) {
    if (!remark.empty()) remarks.push_back(remark);
  };
  try {
    add(large_launch(bench));
    if (number > kCoalescedStep) add(scattered_accesses(bench));
  } catch (const NotMeasurable&) {  // a remark may as well be left out
  }
  return remarks;
}

}  // namespace

void GoalCount::tell(const char* goal, const char* advice,
                     const std::function<Measured()>& measure) {
  try {
    Measured now;
    try {
      now = measure();
    } catch (const Measured& missed) {
      now = missed;
    }
    missed += !now.reached;
    std::printf("  Goal %s: %s\n    %s\n", now.reached ? "reached" : "MISSED", goal,
                now.found.c_str());
    if (!now.reached) std::printf("    %s\n", now.advice.empty() ? advice : now.advice.c_str());
  } catch (const NotMeasurable& reason) {
    ++not_measurable;
    std::printf("  Goal not measurable here: %s\n    %s\n", goal, reason.what());
  }
}

GoalCount measure_goals(int number, Bench* bench) {
  GoalCount count;
  const std::vector<std::string> remarks = remarks_on(number, bench);
  for (const Goal& goal : goals()) {
    if (goal.step != number) continue;
    count.tell(goal.goal, goal.advice, [&] { return goal.measure(bench); });
  }
  for (const std::string& remark : remarks) std::printf("  Remark: %s.\n", remark.c_str());
  return count;
}

}  // namespace validate
