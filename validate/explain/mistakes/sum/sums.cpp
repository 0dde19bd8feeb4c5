// Residuals of a right field that are no numbers, do not change as they should, or begin with
// something else than 0.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "explain/looks/sum_look.h"
#include "explain/mistakes/families.h"
#include "run/text.h"
#include "source/source_code.h"

namespace validate {
namespace {

bool is_copy(const Queued& work, const std::string& direction) {
  return !work.launch && says(work.call, "Memcpy") && work.arguments.size() > 3 &&
         work.arguments[3] == "cudaMemcpy" + direction;
}

/// Whether it replaces what is in its first argument, if that is a sum: a single value.
bool is_fill(const Queued& work) {
  const bool sets = !work.launch && says(work.call, "Memset");
  return (sets && !work.arguments.empty()) ||
         (is_copy(work, "HostToDevice") && work.arguments[2].rfind("sizeof", 0) == 0 &&
          !says(work.arguments[2], "*"));
}

/// Whether two pieces of work go to streams of which neither waits for the other. No line between
/// theirs makes it wait; they may stand in one.
bool are_apart(const Queued& one, const Queued& other, const std::string& source) {
  if (one.stream == other.stream || !says(source, "NonBlocking")) return false;
  const std::vector<std::string> lines = code_lines(source);
  return std::none_of(
      lines.begin() + one.line, lines.begin() + std::max(one.line, other.line - 1),
      [](const std::string& line) { return says(line, "Synchronize") || says(line, "WaitEvent"); });
}

/// A sum that is set to 0 (or copied to) after it is added to, and before it is copied to the host;
/// or copied to the host before it is added to; or one that different streams use.
Answer order_of_sum(const Evidence& evidence) {
  const std::vector<Queued> all = queued_in(evidence.source);
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!is_fill(all[k])) continue;
    const std::string& sum = all[k].arguments[0];
    const Function function = function_at(evidence.source, all[k].line);
    const auto beside = [&](std::size_t at) {
      return at < all.size() && function.first_line <= all[at].line &&
             all[at].line <= function.last_line;
    };
    const auto adds = [&](std::size_t at) {
      const std::vector<std::string>* given = beside(at) ? &all[at].arguments : nullptr;
      return given && all[at].launch && std::count(given->begin(), given->end(), sum) > 0;
    };
    const auto copies = [&](std::size_t at) {
      return beside(at) && is_copy(all[at], "DeviceToHost") && all[at].arguments[1] == sum;
    };
    const bool behind = k > 0 && adds(k - 1);
    const bool fetched_before = k > 0 && copies(k - 1);
    if (fetched_before && are_apart(all[k - 1], all[k], evidence.source)) {
      return Answer("sum_in_two_streams")
          .with("line", all[k].line)
          .with("fill", true)
          .with("copy", true)
          .with("other", all[k - 1].line)
          .with("sum", sum);
    }
    const bool copied = copies(k + 1);
    // A launch that comes right after the two is what comes too late, and not the copy.
    const bool early = copied && adds(k + 2);
    // Sweeps that add nothing may stand in between, in a launch of their own.
    if (adds(k + 1) && copies(k + 2) && adds(k + 3)) {
      return Answer("sum_is_copied_too_early")
          .with("line", all[k + 3].line)
          .with("other", all[k + 2].line)
          .with("sum", sum);
    }
    if (adds(k + 1) && !copied && !behind) {
      const bool fetched = beside(k + 2) && is_copy(all[k + 2], "DeviceToHost");
      const bool fill = are_apart(all[k], all[k + 1], evidence.source);
      if (!fill && !(fetched && are_apart(all[k + 1], all[k + 2], evidence.source))) continue;
      return Answer("sum_in_two_streams")
          .with("line", all[fill ? k : k + 2].line)
          .with("fill", fill)
          .with("other", all[k + 1].line)
          .with("sum", sum);
    }
    if (!copied && (!behind || adds(k + 1))) continue;
    const bool wrong_way = !copied && is_copy(all[k], "HostToDevice");
    return Answer(early       ? "sum_is_copied_too_early"
                  : wrong_way ? "sum_is_copied_the_wrong_way"
                              : "sum_is_reset_too_early")
        .with("line", all[early ? k + 2 : k].line)
        .with("copied", copied)
        .with("other", all[copied ? k + 1 : k - 1].line)
        .with("sum", sum);
  }
  return {};
}

Answer four_bytes(const SumLook& look) { return half_a_sum(look.evidence.source, true); }

Answer not_a_number(const SumLook& look) {
  const auto is_none = [](const Sweep& s) { return std::isnan(s.found); };
  if (std::none_of(look.sweeps.begin(), look.sweeps.end(), is_none)) return {};
  const bool parts = look.has(kStoredParts), late = look.has(kLateSum);
  const bool adds = look.has(kBlockSum) && !parts, other = !parts && !late && !adds;
  return Answer("residual_is_no_number")
      .with("parts", parts)
      .with("wait", late)
      .with("adds", adds)
      .with("padding", !parts && !late && look.has(kPitch))
      .with("computed", other);
}

/// Residuals that are the one before once more, and right ones between them: they are not computed
/// (or not fetched) anew in each iteration.
Answer repeated(const SumLook& look) {
  std::vector<std::string> repeated;
  std::size_t right = 0;
  for (std::size_t k = 0; k < look.sweeps.size(); ++k) {
    const bool again = k > 0 && look.sweeps[k].found == look.sweeps[k - 1].found;
    if (again) repeated.push_back(format("%zu", k + 1));
    right += !again && look.equal(look.sweeps[k].found, look.sweeps[k].right);
    if (!again && !look.equal(look.sweeps[k].found, look.sweeps[k].right)) return {};
  }
  if (repeated.empty() || right < 2) return {};
  const bool many = repeated.size() > 4;
  if (many) repeated.resize(4);
  return Answer("residual_is_said_twice")
      .with("last",
            !many && repeated.back() == std::to_string(look.sweeps.size()) && repeated.size() == 1)
      .with("which", join(repeated, "and") + (many ? " (and others)" : ""));
}

/// The first residual is right, and all others are that one again, or zero.
Answer once_only(const SumLook& look) {
  const std::vector<Sweep>& sweeps = look.sweeps;
  const auto all_are = [&](double value) {
    return std::all_of(sweeps.begin() + 1, sweeps.end(),
                       [&](const Sweep& sweep) { return sweep.found == value; });
  };
  if (sweeps.size() < 3 || !look.equal(sweeps[0].found, sweeps[0].right)) return {};
  const bool again = all_are(sweeps[0].found);
  return Answer(again || all_are(0) ? "sum_is_computed_once" : nullptr).with("again", again);
}

/// Residuals that are always the same, or another iteration's.
Answer same_or_late(const SumLook& look) {
  const std::size_t count = look.sweeps.size();
  const bool zero = look.explained([](const Sweep&) { return 0.0; });
  if (Answer order = order_of_sum(look.evidence);
      order.known() && (zero || order.rule == std::string("sum_is_copied_the_wrong_way"))) {
    return order.with("zero", zero);  // what the host never wrote may be anything
  }
  if (zero) {
    const std::string code = code_only(look.evidence.source);
    return Answer("residuals_are_zero")
        .with("other", says(code, "value-f_new") || !says(code, "change=value-"))
        .with("unseen", !look.evidence.patient.watched)
        .with("unfetched", look.has(kKernels) && !says(code, "cudaMemcpyDeviceToHost"))
        .with("own", !says(code, "std::sqrt(squares/(double(n)*n))"));
  }
  if (const Answer once = once_only(look); once.known()) return once;
  if (const Answer twice = repeated(look); twice.known()) return twice;
  // Each iteration says the one before; the first has none to say. Or the next one; then the first
  // may be right, if no other sum is there yet.
  bool late = count > 1, early = count > 2;
  const std::size_t begin = count > 3 && look.equal(look.sweeps[0].found, look.sweeps[0].right);
  for (std::size_t k = 1; k < count; ++k) {
    late &= look.equal(look.sweeps[k].found, look.sweeps[k - 1].right);
    if (k > begin) early &= look.equal(look.sweeps[k - 1].found, look.sweeps[k].right);
  }
  return late || early ? Answer("residual_of_another_iteration").with("late", late) : Answer();
}

/// Whether all sums are whole numbers, as those that an int has held.
Answer whole_numbers(const SumLook& look) {
  const bool whole = std::all_of(look.sweeps.begin(), look.sweeps.end(), [&](const Sweep& s) {
    const double sum = s.found_sum(look.n);
    return std::fabs(sum - std::round(sum)) <= 1e-11 * sum;
  });
  if (look.sweeps.size() < 3 || !whole || look.sweeps[0].found == 0) return {};
  // A double that large has no fraction either.
  if (look.sweeps[0].found > 2 * look.sweeps[0].right) return {};
  return Answer("sum_is_an_int").with("sum", format("%.0f", look.sweeps[0].found_sum(look.n)));
}

Answer running(const SumLook& look) {
  if (look.sweeps.size() < 2) return {};
  // Two sums that take turns; in each the sum over all ranks stays, or only the rank's own part.
  for (const int ranks : {1, std::max(1, look.ranks)}) {
    double before = 0, other = 0;
    if (look.sweeps.size() > 2 && look.sum_explained([&](const Sweep& s) {
          std::swap(before, other);
          return before = ranks * before + s.total;
        })) {
      return Answer("sum_is_never_set_back").with("two", true);
    }
  }
  double before = 0;
  return look.sum_explained([&](const Sweep& s) { return before += s.total; })
             ? Answer("sum_is_never_set_back")
             : Answer();
}

Answer too_little_or_too_much(const SumLook& look) {
  const auto wrong = std::find_if(look.sweeps.begin(), look.sweeps.end(), [&](const Sweep& s) {
    return !(std::fabs(s.found / s.right - 1) <= 1e-6);
  });
  if (wrong == look.sweeps.end()) return {};
  const double part = wrong->found_sum(look.n) / wrong->total;
  if (!std::isfinite(part)) return {};
  if (look.has(kLateSum) && part == 0) return Answer("sum_comes_to_another_place").with("is", "0");
  return Answer(part < 1 ? "sum_is_too_small" : "sum_is_too_large")
      .with("half", part < 1e-300)  // of a double only the four bytes with the smallest bits
      .with("part", format(part < 1 ? "%.3g" : "%.6g", part))
      .with("iteration", static_cast<int>(wrong - look.sweeps.begin()) + 1)
      .with("ranks", look.ranks > 1);
}

}  // namespace

Answer half_a_sum(const std::string& source, bool field_is_right) {
  const std::string code = code_only(source);
  for (const Queued& work : queued_in(source)) {
    const bool fill = says(work.call, "Memset");
    if (work.launch || work.arguments.size() < 3) continue;
    const std::string &sum = work.arguments[fill ? 0 : 1], &bytes = work.arguments[2];
    const bool none = fill && bytes == "0";
    // Or as many as a float on the host has, to which it is copied.
    const std::string &to = work.arguments[0], host = to.substr(to.find('&') + 1);
    const bool to_float = to[0] == '&' && says(code, "float" + host + ";");
    const bool of_host = bytes == "sizeof" + host || bytes == "sizeof(" + host + ")";
    const bool four =
        (bytes == "sizeof(float)" || (to_float && of_host)) && !says(code, "float*" + sum);
    if (!none && !four) continue;
    return Answer("four_bytes_of_the_sum")
        .with("line", work.line)
        .with("none", none)
        .with("does", fill ? "sets" : "copies")
        .with("sum", sum)
        .with("field_is_right", field_is_right);
  }
  return {};
}

// clang-format off
const char* const kSumOfEachPoint =
    "{?ranks|{sum_over_ranks}; and }the sum in {sweep}: each point's change * change once{?kernels|; a thread with "
    "several points adds them up (+=), and adds that to the sum of all after its last point}. One root, at the end";
const char* const kSumOfThreads =
    "{?block_sum|each block's sum: only the first of its threads has it, and adds it|{?shuffles|each warp's sum: "
    "shuffles by 16, 8, 4, 2 and 1, 32 lanes wide (the threads along x come first); then only lane 0 adds it. If the "
    "warps' sums are added up once more: all of them, and each once}}";
const Family kSumMistakes = {
    {"four_bytes_of_the_sum", Strength::kForbidden, kAnyProgram, of_sum<four_bytes>,
     "{?field_is_right|the field is right; the residual is not: }line {line} {does} {?none|0 bytes of {sum}: the value "
     "and the number of bytes are exchanged|4 bytes of {sum}, as many as a float has; a double has 8}",
     {"{?none|the order of the arguments at line {line}: the address, the value 0, then the number of bytes, "
      "sizeof(double)|the number of bytes at line {line}: sizeof(double); a copy has a double at both ends}"}},
    {"residual_is_no_number", Strength::kSymptom, kAnyProgram, of_sum<not_a_number>,
     "the residual is not a number, though the field is right: {?parts|a stored part is added up that no block (or "
     "thread) has stored|either {?wait|the host reads a place to which no sum was copied, or }something that is added "
     "to the sum is not a number, or the sum itself was never set to 0, or the formula gives something that is not a "
     "number}",
     {"{?parts|the index with which each part is stored: blockIdx.y * gridDim.x + blockIdx.x for a block's; "
      "and {stored_parts}}",
      "{?wait|the copy of the sum: the host's place comes first, then the GPU's; whether the host waits for it before "
      "it reads it: cudaEventSynchronize, for an event that was recorded after that copy; and whether it reads the "
      "place where that copy puts it: the sum of this pass, not another's}",
      "{?adds|who adds the block's sum: only the first thread has it from cub::BlockReduce, and the others do not}",
      "{?!parts|where the sum is set to 0 before each sweep, all sizeof(double) bytes of it; the same holds for a "
      "thread's own sum, and for one in shared memory: what was never set may be anything}",
      "{?padding|the padding of the rows: whether initialize_field writes it, or the sum leaves it out}",
      "{?computed|{formula}: no root of a negative number (all that is added is a square), no 0 / 0, and no product of "
      "integers that is too large for an int}"}},
    {"sum_is_copied_too_early", Strength::kModel, kAnyProgram, of_sum<same_or_late>,
     "every residual is 0: line {other} copies {sum} to the host before the kernel of line {line} has added to it",
     {"the order: first the launch at line {line}, then the copy"}},
    {"sum_is_copied_the_wrong_way", Strength::kModel, kAnyProgram, of_sum<same_or_late>,
     "{?zero|every residual is 0|the residual is no sum}: line {line} copies to {sum}, in place of what the kernel of "
     "line {other} has added",
     {"line {line}: a copy to the host has the host's address first, then {sum}, and cudaMemcpyDeviceToHost"}},
    {"sum_in_two_streams", Strength::kModel, kAnyProgram, of_sum<same_or_late>,
     "every residual is 0: line {line} {?fill|resets|copies} {sum} in another stream than the {?copy|copy|kernel} of "
     "line {other}, and neither waits for the other",
     {"the streams of these two lines: the same for both; or what comes later waits (cudaStreamSynchronize, or "
      "cudaStreamWaitEvent)"}},
    {"sum_is_reset_too_early", Strength::kModel, kAnyProgram, of_sum<same_or_late>,
     "every residual is 0: line {line} resets {sum} before the host has it (line {other} {?copied|copies it|adds to "
     "it})",
     {"the order: the fill before the launch, and {?copied|no other one before the copy at line "
      "{other}|not after it}"}},
    {"residuals_are_zero", Strength::kSymptom, kAnyProgram, of_sum<same_or_late>,
     "every residual is 0, though the field changes: {?other|the change is computed after the new value has replaced "
     "the old one, or }the sum stays 0 (nothing is added{?checks|, or not by a pass of this length}, or only to a copy "
     "of the sum), or it is not what the host gets{?unfetched|, or the host reads it {?unseen|before the kernel has "
     "added to it or }after it was reset}{?own|, or the formula turns it into 0}",
     {"{?checks|{?!check_kernel|{?!passes|whether the sum is asked for in the last sweep before each check}}}",
      "{?check_kernel|whether the kernel that adds to the sum, the one with kCheck, is launched: for the last sweep "
      "before each check (with --check-every 1 for each)}{?passes|whether the kernel that adds to the sum, the one "
      "with kSum, is launched: for the last pass before each check}",
      "what is added to the sum{?shuffles|: each lane adds (+=) what a shuffle gives it, and then one lane adds to the "
      "sum}; what the host reads of it when the sweep has ended{?own|; and {formula}: an integer divided by an integer "
      "loses its fraction}",
      "{?other|{?!strips|{change_line}: value minus the old field's point}}"}},
    {"sum_is_computed_once", Strength::kShape, kAnyProgram, of_sum<same_or_late>,
     "the field is right, and so is the first residual; all others are {?again|the first one again|0}: the sum is "
     "computed once only",
     {"what makes the sum in each iteration, and copies it to the host. If the last block to end adds up, its counter "
      "has to go back to 0 for the next launch: otherwise no block is the last one again"}},
    {"residual_is_said_twice", Strength::kModel, kAnyProgram, of_sum<same_or_late>,
     "the residual of iteration {which} is that of the previous iteration, in every digit: there it is not computed "
     "again, or not fetched again",
     {"{?last|{?late_sum|what is recorded after the loop in main: the residual of the last pass, which the loop has "
      "not waited for}}",
      "what stands around the line that computes the residual: whether it is done in each iteration{?late_sum|; and "
      "whether the place on the host that is read is the one that this sum was copied to}"}},
    {"residual_of_another_iteration", Strength::kModel, kAnyProgram, of_sum<same_or_late>,
     "{?of_pass|In longer passes each|each} {?late_sum|check|iteration} reports the residual of the "
     "{?late|previous|next} one{?!late|{?graph|; or a pass performs one sweep more than it counts, while main takes "
     "the field before the last}}",
     {"{?late|the order in the loop of main: sweep, residual, then run.record(++iteration, residual); and in {host}: "
      "first the sweep, then what adds up its changes or copies them|{?late_sum|whose sum is read in the loop of main: "
      "that of the previous {?passes|check|pass}, not of the one that was launched last; and which number of sweeps it "
      "is recorded with; and whether each {?passes|check|pass} in flight has a sum, a place on the host and an event "
      "of its own|the order in the loop of main: sweep, residual, then run.record(++iteration, residual); iteration "
      "begins at 0}}"}},
    {"sum_is_never_set_back", Strength::kModel, kAnyProgram, of_sum<running>,
     "{?!two|the sum is never reset: each residual holds those of all previous iterations|there are two sums, which "
     "take turns, and each still holds what it held the last time}",
     {"{?two|where a sum is set to 0 for its next turn: after the copy that takes it to the host, in the same "
      "stream|where {host} sets the sum to 0: before each {?checks|pass|sweep}}"}},
    {"sum_is_an_int", Strength::kModel, kAnyProgram, of_sum<whole_numbers>,
     "every sum of squared changes is a whole number ({sum} in iteration 1): on its way it is an int, or each change "
     "is, which has no digits behind the point",
     {"the types of all that holds a part of the sum, a thread's, a block's and the whole: double each (`auto sum = 0` "
      "is an int){?block_sum|; and cub::BlockReduce<double, ...>}"}},
    {"sum_is_too_small", Strength::kSymptom, kAnyProgram, of_sum<too_little_or_too_much>,
     "the field is right, but the sum of the squared changes is too small ({part} of the correct one in iteration "
     "{iteration}). Either some points are left out of it, or something else is added up, or a different formula "
     "follows",
     {std::string("{?half|where the sum is added to: a float* to it reaches half of a double|") + kSumOfEachPoint +
      "}{?streams|; and whether all launches of a pass add to it, the ends' and the "
      "rest's}", kSumOfThreads, "{?stored_parts|{stored_parts}}",
      "{?kernels|{?!block_sum|{?!shuffles|a sum over a block's threads in shared memory, if there is one: all of their "
      "parts are added, also the last one's, and a tree that halves their number begins with a power of two}}}"}},
    {"sum_is_too_large", Strength::kSymptom, kAnyProgram, of_sum<too_little_or_too_much>,
     "the field is right, but the sum of the squared changes is too large ({part} times what it should be in iteration "
     "{iteration}). Either some are added more than once, or something else is added up, or a different formula "
     "follows",
     {kSumOfEachPoint, kSumOfThreads,
      "{?strips or ranks or tile|the points that are in the sum: only those that the {?strips|warp|block} stores, none "
      "of its halo, and none of the rows' padding{?ranks|; of a rank only its own rows, and none of its halo, which "
      "belongs to a neighbour{?streams|; and each row in one launch of a pass only: the two ends of a rank with few "
      "rows overlap}}}"}},
};
// clang-format on

}  // namespace validate
