// Causes that predict the whole field, iteration after iteration.

#include <regex>
#include <string>

#include "explain/looks/field_look.h"
#include "explain/mistakes/families.h"
#include "source/source_code.h"

namespace validate {
namespace {

constexpr int kIterations = 3;  // that are looked at to tell one cause from another

/// What the field is after k iterations, by a cause that predicts all of it.
using Model = Field (*)(const FieldLook& look, int k);

/// Whether the program's field is the model's after 1, 2 and 3 iterations.
bool predicts(const FieldLook& look, Model model) {
  int compared = 0;
  for (int k = 1; k <= kIterations; ++k) {
    const auto seen = look.after(k);
    if (!seen || seen->iterations != k) break;
    if (!agree(model(look, k), seen->field, look.n, k + 1)) return false;
    ++compared;
  }
  return compared >= 2;
}

template <Model model>
Answer history(const FieldLook& look) {
  return Answer(predicts(look, model));
}

/// The same of a model that says nothing if both fields begin alike.
template <Model model>
Answer history_of_two(const FieldLook& look) {
  return Answer(look.start_new != look.start_old && predicts(look, model));
}

Field old_start(const FieldLook& look, int) { return look.start_old; }
Field new_start(const FieldLook& look, int) { return look.start_new; }
Field starts_in_turn(const FieldLook& look, int k) {
  return (k % 2 ? new_start : old_start)(look, k);
}
Field first_sweep(const FieldLook& look, int) { return look.sweeps.after(1); }
Field one_sweep_less(const FieldLook& look, int k) { return look.sweeps.after(k - 1); }
Field even_sweeps(const FieldLook& look, int k) { return look.sweeps.after(k - k % 2); }
Field odd_sweeps(const FieldLook& look, int k) { return look.sweeps.after(k - (k + 1) % 2); }
Field at_most_one_sweep(const FieldLook& look, int k) { return look.sweeps.after(k % 2); }
Field sweeps_of_new(const FieldLook& look, int k) {
  return Sweeps(look.n, look.start_new).after(k - 1);
}
Field axes_exchanged(const FieldLook& look, int k) {
  return transposed(look.sweeps.after(k), look.n);
}

Field copied_with_axes_exchanged(const FieldLook& look, int k) {
  Field field = look.start_old;
  for (int made = 0; made < k; ++made) {
    Field next = look.start_new;  // whose boundary stays
    const Field swept = Sweeps(look.n, field).after(1);
    look.all_of(look.interior(), [&](int i, int j) {
      next[static_cast<std::size_t>(j) * look.n + i] = look.at(swept, i, j);
      return true;
    });
    field = transposed(next, look.n);
  }
  return field;
}

/// The result, or each copy, has i and j exchanged.
Answer transposes(const FieldLook& look) {
  if (predicts(look, axes_exchanged)) return Answer(true);
  return Answer(predicts(look, copied_with_axes_exchanged)).with("each_copy", true);
}

/// The first iteration makes several sweeps.
Answer several_sweeps(const FieldLook& look) {
  constexpr int kMost = 64;
  Sweeps right(look.n, look.start_old);
  for (int made = 2; look.first == 1 && made <= kMost; ++made) {
    if (agree(right.after(made), look.found, look.n, made)) {
      return Answer("iteration_of_several_sweeps").with("made", made);
    }
  }
  return {};
}

/// Whether the field is right after one pass of `sweeps` sweeps.
bool right_at_once(const FieldLook& look, int sweeps) {
  Case pass = look.evidence.wrong.run;
  pass.check_every = pass.iterations = sweeps;
  const auto seen = look.has(kChecks) ? look.evidence.patient.ask(pass) : nullptr;
  return seen && agree(look.sweeps.after(sweeps), seen->field, look.n, sweeps);
}

/// Whole passes are performed, and of a few sweeps none.
Answer rest_is_dropped(const FieldLook& look) {
  constexpr int kAsked = 47;  // a prime: a pass of several sweeps leaves a rest
  Case many = look.evidence.wrong.run;
  many.iterations = many.check_every = kAsked;
  const auto seen = look.n <= kMaxDiagnosedN / 4 ? look.evidence.patient.ask(many) : nullptr;
  // If none is left over, all are performed.
  const auto whole_passes = [&](int sweeps) { return right_at_once(look, sweeps); };
  for (int made = 2; seen && made < kAsked; ++made) {
    if (!agree(look.sweeps.after(made), seen->field, look.n, made)) continue;
    // Of an odd number the last one: its values may be in the other of two buffers.
    return made == kAsked - 1 ? Answer("new_field_never_becomes_old").with("odd", true)
                              : Answer("sweeps_left_over_are_dropped")
                                    .with("asked", kAsked)
                                    .with("made", made)
                                    .with("each", !whole_passes(made));
  }
  return {};
}

/// Whether a function assigns to a pointer that it was given by value, and so changes nothing but
/// its own copy of it.
bool exchanges_its_own_pointers(const std::string& source) {
  static const std::regex pointer(R"((?:float|double)\*(\w+)[,)])");
  for (const Function& function : functions_in(source)) {
    const std::string code = code_of(function, source), head = code.substr(0, code.find('{'));
    for (std::sregex_iterator at(head.begin(), head.end(), pointer), end; at != end; ++at) {
      const std::regex assigned("[;{}]" + (*at)[1].str() + "=");
      if (std::regex_search(code, assigned)) return true;
    }
  }
  return false;
}

/// Each iteration does the same: the field never changes at all, or is always that of one sweep.
Answer stands_still(const FieldLook& look) {
  if (!predicts(look, old_start) && !predicts(look, first_sweep)) return {};
  const double first = look.said(1), second = look.said(2);
  if (first == 0 && second == 0) return rest_is_dropped(look);
  if (!look.residual_is_right(1) || !same_residual(second, first)) return {};
  return Answer("new_field_never_becomes_old")
      .with("odd", right_at_once(look, 2))
      .with("single", right_at_once(look, 48))
      .with("by_bytes", look.has(kMemcpy) && !look.words.launches_copy())
      .with("swap", look.evidence.patient.names.count("swap") > 0 ||
                        exchanges_its_own_pointers(look.evidence.source));
}

Field sweep_of_new(const FieldLook& look, int) { return Sweeps(look.n, look.start_new).after(1); }

/// The sweep writes to the field that it should read; the copy, if there is one, brings back the
/// other's starting values.
Answer fields_exchanged(const FieldLook& look) {
  if (look.start_new == look.start_old) return {};
  if (!predicts(look, look.has(kSwaps) ? sweep_of_new : new_start)) return {};
  Sweeps from_new(look.n, look.start_new);
  return Answer(same_residual(look.said(1), from_new.residual(1)));
}

/// A pass that makes as many sweeps as usual, though only one was asked for.
Answer whole_pass(const FieldLook& look) {
  constexpr int kMost = 48;
  const auto one = look.after(1), two = look.after(2);
  for (int each = 3; look.n <= kMaxDiagnosedN / 4 && one && two && each <= kMost; ++each) {
    // After an even number, main's pointers change roles all the same: it counts one, which is odd.
    const int other_role = look.has(kGraph) && each % 2 == 0 ? 1 : 0;
    if (agree(look.sweeps.after(each - other_role), one->field, look.n, each) &&
        agree(look.sweeps.after(2 * each), two->field, look.n, 2 * each)) {
      return Answer("pass_of_a_constant").with("each", each);
    }
  }
  return {};
}

}  // namespace

// clang-format off
const Family kHistoryMistakes = {
    {"sweeps_left_over_are_dropped", Strength::kHistory, kAnyProgram, of_field<stands_still>,
     "of {asked} sweeps {made} are performed, and of one none: {?each|in each pass one is missing, or more|the sweeps "
     "that are left over, fewer than a pass has, are dropped}",
     {"{?each|the loop over the sweeps of a pass: from the first to the last, and the number of them|the loop over the "
      "passes: when fewer sweeps are left than a pass has, they still have to be performed, one by one or in a shorter "
      "pass}"}},
    {"new_field_never_becomes_old", Strength::kHistory, kAnyProgram, of_field<stands_still>,
     "{?odd|a pass of an even number of {?passes|launches|sweeps} is right. One of an odd number loses what the last "
     "one computes (so with --check-every 1 each pass repeats the first)|{?single|a pass of 48 sweeps is right, and "
     "one of a single sweep leaves the field as it was|every iteration repeats the first: the new field never becomes "
     "the old one. {?swaps|The swap is missing, or it exchanges something else, or something undoes it (a second swap, "
     "a copy that was left){?tile|{?checks|{?!graph|; or a tile's two buffers do not change roles, and it is stored as "
     "it was loaded}}}|Either the copy is missing, or it goes the wrong way, or it reaches no point of the "
     "interior{?swap|, or pointers are swapped that are not main's own}}}}",
     {"{?odd or single|where the last sweep of a pass leaves its values: after an odd number of sweeps in the other "
      "one of the two fields{?tile| (or of a tile's two buffers, so which of these is stored)}}",
      "{?!odd|{?!single|{?swaps|{?tile|{?checks|{?!graph|if a pass of two sweeps changes the field: which of a tile's "
      "two buffers is stored, the one that the last sweep has written}}}}}}",
      "{?swaps|whether {handover} comes after each {?passes|pass|sweep}, and exchanges main's own pointers|the call in "
      "the loop of main, copy_field(f_old, f_new, n), and to and from in {copy}; and how much it copies: {?by_bytes|n "
      "* n * sizeof(float) bytes|all points{?copy_kernel| (its grid, its bounds; a single index ends at n * "
      "n)}}{?swap|. A function that gets pointers by value and swaps them only swaps its own copies}}"}},
    {"iteration_of_several_sweeps", Strength::kModel, kAnyProgram, of_field<several_sweeps>,
     "after the first iteration the field is that of {made} sweeps: more are performed than are counted",
     {"how many sweeps {host} performs, and by how much iteration goes up in main{?graph|; and with how many sweeps "
      "each graph is captured: as many as main counts for a launch of it}"}},
    {"fields_exchanged_in_the_call", Strength::kHistory, kAnyProgram, of_field<fields_exchanged>,
     "{?swaps|every sweep reads the starting values of the new field and writes the old one: the two are exchanged, "
     "and main's pointers do not follow (or change roles twice in each iteration)|the sweep reads f_new and writes "
     "f_old: the two are exchanged, and the copy then overwrites the result}",
     {"the arguments of {sweep} where it is {?kernels|launched|called}, each in the place of its parameter: f_new "
      "where it writes, and f_old where it reads",
      "{?swaps|{handover}|{?kernels|the order of the two fields, wherever a function is given them}}"}},
    {"one_iteration_behind", Strength::kHistory, kAnyProgram, of_field<history<one_sweep_less>>,
     "{?checks|with --check-every 1 }the field is the previous iteration's",
     {"run.finish in main: it must get the field that the last sweep wrote; and whether the new field becomes the "
      "old one before the next sweep",
      "{?graph|whether each sweep that main counts is launched: a capture performs none; and whether each graph begins "
      "with the field that the one before it leaves: with an odd number of sweeps the fields change roles}"}},
    {"pointers_do_not_follow", Strength::kHistory, kAnyProgram, of_field<history<even_sweeps>>,
     "{?checks|with --check-every 1 }after an even number of sweeps the field is right, after an odd number it is the "
     "previous sweep's: the sweeps exchange the roles of the fields, but main's pointers do not follow; or the result "
     "is copied from a pointer that was set before the loop",
     {"{?strips or !checks|{handover}: it must change main's own pointers|where std::swap(f_old, f_new) must be called "
      "in main: after every odd number of sweeps}{?!strips|; and which pointer run.finish copies from, and when that "
      "was set}"}},
    {"result_of_one_field", Strength::kHistory, with(kSwaps), of_field<history<odd_sweeps>>,
     "{?checks|with --check-every 1 }after an odd number of sweeps the field is right, after an even one it is the "
     "previous sweep's: the result is always taken from the same one of the two fields",
     {"which of the two fields run.finish copies: the one that the last sweep wrote"}},
    {"every_sweep_reads_the_start", Strength::kHistory, with(kSwaps), of_field<history_of_two<at_most_one_sweep>>,
     "every sweep{?graph| of both graphs} reads the initial field and writes the same other field, while main takes "
     "them in turn for the new one",
     {"{?graph|the pointers that each graph is captured with: the second graph reads what the first one writes (a "
      "function that gets pointers by value exchanges only its copies): {handover}; and whether the two passes take "
      "turns|the arguments of {sweep} where it is launched, and {handover}}"}},
    {"fields_swapped_and_not_swept", Strength::kHistory, with(kSwaps), of_field<history_of_two<starts_in_turn>>,
     "{?checks|with --check-every 1 }no sweep is performed, or it stores nothing, or it has not ended when its result "
     "is used: the fields change roles, and keep their starting values",
     {"{?graph|whether every pass launches a graph, also the one in which it is captured: what stands between "
      "cudaStreamBeginCapture and cudaStreamEndCapture does not run until cudaGraphLaunch; and whether the sweeps of a "
      "pass stand there, and go into the stream that is captured; and }{never_launched}; and how many sweeps {host} "
      "performs: as many as it is asked for, even if it is only one"}},
    {"pass_of_a_constant", Strength::kHistory, with(kChecks), of_field<whole_pass>,
     "asked for one sweep (--check-every 1), a pass performs {each}: a constant is used instead of the number of "
     "sweeps that were asked for",
     {"the number of sweeps that a pass {?graph|is captured with|performs}: options.check_every, or fewer if fewer are "
      "left"}},
    {"handover_before_the_sweep", Strength::kHistory, kAnyProgram, of_field<history_of_two<sweeps_of_new>>,
     "the sweeps begin a step late, with the starting values of the new field: {?swaps|the fields change roles|the "
     "copy comes} before the sweep{?graph|, or the graph that was captured second, with the fields' roles exchanged, "
     "is launched first}{?kernels|, or a launch has the two fields in each other's place}",
     {"{?graph|whether graphs are launched in the order in which they were captured; and }the order in the loop of "
      "main: first the sweep, then {?swaps|{handover}|copy_field}",
      "{?kernels|the two fields in every launch of {sweep}: each in the place of its parameter}"}},
    {"result_is_transposed", Strength::kHistory, kAnyProgram, of_field<transposes>,
     "{?each_copy|each copy exchanges i and j: point (i, j) of the old field gets the value of point (j, i) of the new "
     "one|the field is the correct one with i and j exchanged. Either the result is recorded that way, or the starting "
     "values are set that way}",
     {"{?each_copy|the two indices in {copy}: a point has the same place in both fields|run.finish in main: "
      "{?gives_rows|it copies whole rows, from f_old + idx(0, j, n) on|first the distance in memory from i to i + 1, "
      "then from j to j + 1}; and where the field is filled: start(i, j) is for point (i, j)}"}},
};
// clang-format on

}  // namespace validate
