#pragma once

// What an entry of the catalogue of mistakes is. The entries are in mistakes/, one file per family.

#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "explain/words.h"

namespace validate {

class Evidence;

/// What an answer rests on. Mistakes are told in this order; of the same strength, in the order of
/// the families (engine.cpp) and of their tables.
enum class Strength {
  kForbidden,  ///< no program may do it, and the line is known
  kHistory,    ///< predicts the field of every iteration that is asked for
  kModel,      ///< predicts the first wrong field, or all residuals
  kShape,      ///< says which points are wrong, or missing in the sum, and how they lie
  kHarmless,   ///< a wrong access that may do no harm: something else may be the cause
  kSymptom,    ///< says how it looks, and guesses why
};

/// What was found by an entry's function: which mistake it is, and what fills the gaps in its
/// words.
struct Answer {
  const char* rule = nullptr;               ///< the entry's name; nullptr: nothing is known
  std::map<std::string, std::string> data;  ///< a flag is "yes", or empty
  std::optional<Strength> strength = {};    ///< if it is not the entry's own

  Answer() = default;
  explicit Answer(const char* name) : rule(name) {}
  /// It is the entry that asks; or nothing.
  explicit Answer(bool is) : rule(is ? kThisEntry : nullptr) {}
  static constexpr const char* kThisEntry = "";
  bool known() const { return rule != nullptr; }
  bool has(const std::string& name) const {
    const auto at = data.find(name);
    return at != data.end() && !at->second.empty();
  }
  Answer& with(const std::string& name, const std::string& value) {
    data[name] = value;
    return *this;
  }
  template <typename Number, typename = std::enable_if_t<std::is_integral_v<Number>>>
  Answer& with(const std::string& name, Number value) {
    if constexpr (std::is_same_v<Number, bool>) return with(name, value ? "yes" : "");
    return with(name, std::to_string(value));
  }
  Answer& as(Strength other) {
    strength = other;
    return *this;
  }
};

/// The programs that can have a mistake.
struct Programs {
  unsigned needs = 0, never = 0, one_of = 0;  ///< traits
  bool fit(const Words& words) const {
    return words.has(needs) && !words.has_any(never) && (one_of == 0 || words.has_any(one_of));
  }
};
inline constexpr Programs kAnyProgram = {};
constexpr Programs with(unsigned traits) { return {traits, 0}; }
constexpr Programs without(unsigned traits) { return {0, traits}; }
constexpr Programs with_any(unsigned traits) { return {0, 0, traits}; }

/// An entry. In its words {name} stands for what the answer has by that name, or for the program's
/// own words (words.cpp); {?name|these|or these} asks whether the answer, or the program, has it.
struct Mistake {
  const char* name;
  Strength strength;
  Programs programs;
  /// Holds it against the evidence. Several entries may share a function: it is asked once, and its
  /// answer names one of them. nullptr: it is told by who has seen more than one run (say()).
  Answer (*ask)(const Evidence&);
  std::string words;
  std::vector<std::string> look_at;  ///< the likeliest first; what comes out empty is left out
};
using Family = std::vector<Mistake>;

/// All entries, in the order in which they are asked.
const std::vector<const Mistake*>& catalogue();

/// The words of the catalogue, with their gaps filled.
std::string fill(const std::string& words, const Answer& answer, const Evidence& evidence);

}  // namespace validate
