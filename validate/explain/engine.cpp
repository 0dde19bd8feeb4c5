// Asks the entries of the catalogue, and makes words of the answer.

#include <algorithm>
#include <set>

#include "explain/evidence.h"
#include "explain/mistake.h"
#include "explain/mistakes/families.h"
#include "run/text.h"

namespace validate {

const std::vector<const Mistake*>& catalogue() {
  static const std::vector<const Mistake*> all = [] {
    std::vector<const Mistake*> entries;
    for (const Family* family :
         {&kExchangeMistakes, &kFindingMistakes, &kCallMistakes, &kFailureMistakes,
          &kHistoryMistakes, &kStartMistakes, &kRingMistakes, &kPlaceMistakes, &kBoundaryMistakes,
          &kLeftOutMistakes, &kSumMistakes, &kFormulaMistakes, &kPartMistakes, &kEdgeMistakes,
          &kRaceMistakes, &kUpdateMistakes, &kPassMistakes, &kCycleMistakes}) {
      for (const Mistake& entry : *family) entries.push_back(&entry);
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Mistake* a, const Mistake* b) { return a->strength < b->strength; });
    return entries;
  }();
  return all;
}

const Mistake* find_mistake(const std::string& name) {
  static const std::map<std::string, const Mistake*> by_name = [] {
    std::map<std::string, const Mistake*> all;
    for (const Mistake* entry : catalogue()) all[entry->name] = entry;
    return all;
  }();
  const auto at = by_name.find(name);
  return at == by_name.end() ? nullptr : at->second;
}

namespace {

Strength strength_of(const Answer& answer) {
  return answer.strength ? *answer.strength : find_mistake(answer.rule)->strength;
}

}  // namespace

Answer ask_all(const Evidence& evidence) {
  std::set<Answer (*)(const Evidence&)> asked;
  std::vector<Answer> known;  // that are weaker than what has been asked so far
  const auto best = [&known](Strength at_most) {
    const auto at = std::min_element(known.begin(), known.end(), [](const auto& a, const auto& b) {
      return strength_of(a) < strength_of(b);
    });
    return at != known.end() && strength_of(*at) <= at_most ? *at : Answer();
  };
  for (const Mistake* entry : catalogue()) {
    // What is known already was asked first.
    if (const Answer answer = best(entry->strength); answer.known()) return answer;
    if (!entry->ask || !entry->programs.fit(evidence.words)) continue;
    if (!asked.insert(entry->ask).second) continue;
    Answer answer = entry->ask(evidence);
    if (answer.known() && *answer.rule == '\0') answer.rule = entry->name;
    if (!answer.known() || !find_mistake(answer.rule)->programs.fit(evidence.words)) continue;
    if (strength_of(answer) <= entry->strength) return answer;
    known.push_back(std::move(answer));
  }
  return best(Strength::kSymptom);
}

// ---- Words

namespace {

/// Whether the condition of {?condition|...} holds: names of data or traits, joined by " or ", each
/// perhaps behind a !.
bool holds(const std::string& condition, const Answer& answer, const Evidence& evidence) {
  const std::size_t either = condition.find(" or ");
  if (either != std::string::npos) {
    return holds(condition.substr(0, either), answer, evidence) ||
           holds(condition.substr(either + 4), answer, evidence);
  }
  if (condition[0] == '!') return !holds(condition.substr(1), answer, evidence);
  if (condition == "nccl" || condition == "mpi") {
    const char* halos = evidence.wrong.run.halos;
    return halos && condition == halos;
  }
  return answer.has(condition) || evidence.words.has(condition);
}

/// Where a part that begins at `at` ends: at a | or a } that belong to no bracket inside of it.
std::size_t end_of_part(const std::string& text, std::size_t at) {
  for (int depth = 0; at < text.size(); ++at) {
    if (depth == 0 && (text[at] == '|' || text[at] == '}')) break;
    depth += (text[at] == '{') - (text[at] == '}');
  }
  return at;
}

}  // namespace

std::string fill(const std::string& words, const Answer& answer, const Evidence& evidence) {
  std::string result;
  for (std::size_t k = 0; k < words.size();) {
    if (words[k] != '{') {
      result += words[k++];
      continue;
    }
    std::size_t end = end_of_part(words, k + 1);
    const std::string name = words.substr(k + 1, end - k - 1);
    if (name[0] == '?') {
      const bool is = holds(name.substr(1), answer, evidence);
      for (bool part = true; end < words.size() && words[end] == '|'; part = false) {
        const std::size_t begin = end + 1;
        end = end_of_part(words, begin);
        if (part == is) result += fill(words.substr(begin, end - begin), answer, evidence);
      }
    } else if (answer.data.count(name) > 0) {
      result += answer.data.at(name);
    } else if (name == "wrong_pass") {
      if (evidence.subject == Subject::kPass)
        result += "What is wrong is how several sweeps form one pass: ";
    } else if (name == "n") {
      result += std::to_string(evidence.wrong.run.n);
    } else if (const std::string own = evidence.words.say(name); !own.empty()) {
      result += fill(own, answer, evidence);
    } else {
      result += "{" + name + "}";  // a test looks for such
    }
    k = end + 1;
  }
  return result;
}

}  // namespace validate
