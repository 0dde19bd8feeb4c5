#pragma once

#include <set>
#include <string>

#include "explain/evidence.h"

namespace validate {

using cuda_on_cpu::Report;
inline constexpr auto kForbidden = Strength::kForbidden, kHarmless = Strength::kHarmless;

/// A name in the program. One that would read as a word of the sentence is marked.
inline std::string as_name(const std::string& name) {
  static const std::set<std::string> words = {"from", "to",  "in",   "out",
                                              "row",  "old", "here", "host"};
  return words.count(name) > 0 ? "`" + name + "`" : name;
}

/// A finding, and what the program's text says of it.
struct Found {
  const Evidence& evidence;
  const Finding& finding;
  const int n = finding.n;
  const Words& words = evidence.words;
  const std::string& source = evidence.source;
  const Report& report = finding.report;
  Scene scene = scene_of(finding, source);
  /// With what the words of many entries say of a report; its kind is a flag.
  Answer answer(const char* rule) const {
    return Answer(rule)
        .with("line", report.line)
        .with("does", report.access)
        .with("array", as_name(scene.array))
        .with("detail", report.detail)
        .with("of_ranks", evidence.wrong.run.ranks > 1)
        .with(report.kind, true);
  }
};

/// Whether the allocation has far too few bytes to be meant for a field, also for that of a coarser
/// level (of floats).
inline bool is_no_field(const Report& report, int n) {
  for (long m = n / 2 + 1; m >= 3; m = m / 2 + 1) {
    if (report.bytes == static_cast<long>(sizeof(float)) * m * m) return false;
  }
  return 8 * report.bytes < static_cast<long>(sizeof(float)) * n * n;
}

/// An allocation of too few bytes, by their number: that of a field's points, of a row, of rows
/// without the padding that they should have, or of a float.
Answer few_bytes(const Report& given, int n, bool padded = false);

/// What host code, a call or a launch does wrong: calls.cpp.
Answer answer_of_call(const Found& found);

/// Of two threads that use the same memory with no order in between: races.cpp.
Answer answer_of_race(const Found& found);

/// The function of all entries of findings: what a look at every access found; of a run that
/// failed, also what it reported itself.
Answer finding(const Evidence& evidence);

}  // namespace validate
