// Runs that leave no record: loops that do not end, crashes, and refused calls without a line. And
// loops that end early, and what only several runs tell.

#include <cmath>
#include <cstdlib>
#include <string>

#include "explain/evidence.h"
#include "explain/mistakes/families.h"
#include "run/text.h"

namespace validate {
namespace {

/// Loops that end late, or records that are not as they should be.
Answer record(const Evidence& evidence) {
  if (evidence.subject != Subject::kFailure) return {};
  const int asked = evidence.wrong.run.iterations, made = evidence.wrong.made;
  if (made > asked) return Answer("loop_does_not_end_in_time").with("asked", asked);
  if (says(evidence.error, "a bad line, '0,")) {
    return Answer("iteration_0_is_recorded").with("asked", asked);
  }
  if (says(evidence.error, "holds no residual")) {
    return Answer("nothing_is_recorded").with("late", evidence.words.has(kLateSum));
  }
  if (says(evidence.error, "the function for run.finish writes more than")) {
    return Answer("result_has_no_room").with("pitch", evidence.words.has(kPitch));
  }
  return says(evidence.error, "is recorded after iteration")
             ? Answer("recorded_numbers_do_not_go_up")
             : Answer();
}

Answer endless(const Evidence& evidence) {
  if (evidence.error.rfind("it did not end", 0) != 0) return {};
  if (says(evidence.error, "it waits")) return {};
  const int limit = std::atoi(evidence.error.c_str() + sizeof("it did not end within ") - 1);
  return Answer("never_ends").with("short", limit < 60);
}

/// What a GPU says, which names no line.
Answer by_gpu(const Evidence& evidence) {
  if (evidence.report.has("cudaErrorIllegalAddress")) return Answer("illegal_access");
  return evidence.report.has("cudaErrorMisalignedAddress") ? Answer("misaligned_access") : Answer();
}

/// A loop that stops by itself, before the iterations that were asked for are made.
Answer early_stop(const Evidence& evidence) {
  if (!evidence.stopped_early) return {};
  const Wrong& wrong = evidence.wrong;
  const auto seen = evidence.after(wrong.run.iterations);
  return Answer("loop_ends_early")
      .with("asked", wrong.run.iterations)
      .with("made", wrong.made)
      .with("residual", format("%.3g", seen ? seen->residuals.back().value : NAN));
}

Answer damaged_memory(const Evidence& evidence) {
  return Answer(evidence.error.rfind("it crashed", 0) == 0 && says(evidence.error, "SIGABRT"));
}

}  // namespace

// clang-format off
const Family kFailureMistakes = {
    {"wrong_only_at_a_large_n", Strength::kShape, kAnyProgram, nullptr,
     "up to n = {right} it is right, but at n = {n} it {?hangs|does not end|is wrong}",
     {"{?hangs|each loop that may not end there: its condition, and what changes in each turn}",
      "what has a fixed size, or one that does not grow with n as it should: a buffer of partial sums, the number of "
      "blocks, a number of points kept in an int"}},
    {"ranks_hand_over_other_rows", Strength::kShape, kAnyProgram, nullptr,
     "with one rank it is right; with more the residual is also right. So each rank sweeps its rows as it should, but "
     "hands over other rows as the result",
     {"what ranks.finish is given in main: row j of the field is row j - slab.held_begin of what the rank holds, "
      "which begins with the halo; and whether its rows are those that it computes, slab.begin to slab.end, without "
      "the halo"}},
    {"loop_ends_early", Strength::kModel, kAnyProgram, early_stop,
     "the loop ends after {made} of {asked} iterations, with the residual {residual}",
     {"the condition of the loop in main: options.tolerance (with --iterations it is -1, so that no residual ends the "
      "loop) and options.max_iterations", "iteration, which begins at 0 and goes up by 1 for each sweep",
      "{?checks|a residual that is read one pass late: in the first round there is none yet to wait for or to read}"}},
    {"loop_does_not_end_in_time", Strength::kForbidden, kAnyProgram, record,
     "the loop does not end at --iterations {asked}",
     {"the condition of the loop in main: it goes on while iteration < options.max_iterations (not <=), and iteration "
      "begins at 0; and how many sweeps a round performs: one, or as many as are counted and left",
      "{?checks|the last pass, which may have fewer sweeps than --check-every says: how many it performs, and by how "
      "many iteration goes up}"}},
    {"iteration_0_is_recorded", Strength::kForbidden, kAnyProgram, record,
     "an iteration 0 is recorded: the first sweep's residual should have the number 1",
     {"run.record(...) in main: the number of sweeps that have been performed, this one included",
      "{?checks|how many passes are performed if {asked} sweeps are asked for, which may be fewer than --check-every "
      "says: as many as it takes to perform them all, and the last pass may be shorter}"}},
    {"nothing_is_recorded", Strength::kForbidden, kAnyProgram, record,
     "not one iteration was recorded: {?late|the loop ended while its last pass was still in flight, and nothing "
     "records that pass; or the loop never begins|the loop never begins, or it does not call run.record in each "
     "iteration}",
     {"{?late|after the loop in main: run.record(...) of the last pass, when its sum has arrived; in the loop each "
      "turn records the previous pass|the loop in main: residual begins at infinity, iteration at 0, and each "
      "iteration ends with run.record(++iteration, residual)}"}},
    {"recorded_numbers_do_not_go_up", Strength::kForbidden, kAnyProgram, record,
     "the numbers that run.record gets do not go up: a residual is recorded twice, or with another number than that of "
     "the sweep that it belongs to",
     {"each call of run.record in main, in the loop and after it, and where iteration goes up: before the call, or "
      "after it"}},
    {"result_has_no_room", Strength::kForbidden, kAnyProgram, record,
     "what main hands to run.finish writes past the rows that it is asked for",
     {"the copy to `to`: there one row follows the other, n floats each{?pitch|, without padding (in cudaMemcpy2D the "
      "pitch of `to` is the width of a row, n * sizeof(float))}; in all it is rows * n * sizeof(float) bytes"}},
    {"never_ends", Strength::kModel, kAnyProgram, endless,
     "it goes on for ever, or does far more work than n * n points need{?short|, or the time limit is too short}",
     {"{loop_condition}",
      "the loops in {sweep}: each ends{?kernels|, and a thread goes over its own points only, not over all points}",
      "{?slabs|whether all ranks perform the same exchanges and sums}"}},
    {"memory_is_damaged", Strength::kModel, kAnyProgram, damaged_memory,
     "its memory is damaged: memory is freed twice, or in a different way than it was allocated, or something is "
     "written outside of what was allocated",
     {"free_fields: each pointer once, with what matches its allocation (delete[] for new[], cudaFree for cudaMalloc "
      "and cudaMallocManaged); where a pointer is assigned to the other one, both are the same field",
      "what allocate_fields allocates: two fields of n * n floats, and whether n in main is options.n"}},
    {"illegal_access", Strength::kSymptom, kAnyProgram, by_gpu,
     "a kernel reads or writes outside of what was allocated", {"{bounds}", "{ask_the_cpu}"}},
    {"misaligned_access", Strength::kSymptom, kAnyProgram, by_gpu,
     "a kernel accesses several floats at once, at an address that is not a multiple of their size",
     {"each access by float2 or float4, and each asynchronous copy: the index of its first float is a multiple of 2, "
      "or 4, even if n is not", "{ask_the_cpu}"}},
};
// clang-format on

}  // namespace validate
