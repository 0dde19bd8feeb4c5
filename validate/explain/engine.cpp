// Asks the entries of the catalogue, and makes words of the answer.

#include <algorithm>
#include <cstring>
#include <set>

#include "explain/evidence.h"
#include "explain/looks/sum_look.h"
#include "explain/mistake.h"
#include "explain/mistakes/families.h"

namespace validate {
namespace {

const Mistake& entry_of(const Answer& answer) {
  return **std::find_if(catalogue().begin(), catalogue().end(), [&](const Mistake* entry) {
    return std::strcmp(entry->name, answer.rule) == 0;
  });
}

Strength strength_of(const Answer& answer) {
  return answer.strength ? *answer.strength : entry_of(answer).strength;
}

/// Asks all entries, in the one order, and stops at the first that is known.
Answer ask_all(const Evidence& evidence) {
  std::set<Answer (*)(const Evidence&)> asked;
  Answer best;  // of those that are weaker than what has been asked so far
  for (const Mistake* entry : catalogue()) {
    // What is known already was asked first.
    if (best.known() && strength_of(best) <= entry->strength) return best;
    if (!entry->ask || !entry->programs.fit(evidence.words)) continue;
    if (!asked.insert(entry->ask).second) continue;
    Answer answer = entry->ask(evidence);
    if (answer.known() && *answer.rule == '\0') answer.rule = entry->name;
    if (!answer.known() || !entry_of(answer).programs.fit(evidence.words)) continue;
    if (strength_of(answer) <= entry->strength) return answer;
    if (!best.known() || strength_of(answer) < strength_of(best)) best = answer;
  }
  return best;
}

// ---- Words

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

/// The words of an answer, and of what is told with it.
Diagnosis tell(const Answer& answer, const Evidence& evidence) {
  Diagnosis diagnosis;
  if (!answer.known()) return diagnosis;
  const Mistake& entry = entry_of(answer);
  diagnosis.answer = answer;
  diagnosis.strength = strength_of(answer);
  const Words& words = evidence.words;
  diagnosis.cause = words.in_own_names(fill(entry.words, answer, evidence));
  const SumLook* sum = evidence.sum();
  if (sum && sum->last_is_right) {
    diagnosis.cause += ". But the last residual is right";
    diagnosis.look_at.push_back("where main records residuals: in its loop, and after it");
  }
  for (const std::string& where : entry.look_at) {
    std::string line = words.in_own_names(fill(where, answer, evidence));
    if (!line.empty()) diagnosis.look_at.push_back(std::move(line));
  }
  return diagnosis;
}

/// A lead of many words as several, at each "; and" that is in no brackets. (An `if` is one that
/// the words before it have named.)
std::vector<std::string> short_leads(const std::string& lead) {
  constexpr std::size_t kLong = 150, kShort = 30;  // letters
  const std::string joint = "; and ";
  if (lead.size() < kLong) return {lead};
  std::vector<std::string> leads(1);
  int depth = 0;
  for (std::size_t k = 0; k < lead.size(); ++k) {
    depth += (lead[k] == '(') - (lead[k] == ')');
    const bool parts = depth == 0 && lead.compare(k, joint.size(), joint) == 0 &&
                       leads.back().size() > kShort && lead.size() - k > joint.size() + kShort &&
                       lead.compare(k + joint.size(), 8, "the `if`") != 0;
    if (parts) {
      leads.emplace_back();
      k += joint.size() - 1;
    } else {
      leads.back() += lead[k];
    }
  }
  return leads;
}

Diagnosis ask_and_tell(const Evidence& evidence) { return tell(ask_all(evidence), evidence); }

}  // namespace

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

std::vector<std::string> Diagnosis::lines() const {
  std::vector<std::string> lines;
  if (!known()) return lines;
  lines.push_back(
      "diagnosis: " + (lead.empty() || is_finding() ? "" : lead + ". ") + cause +
      (seen_in.empty() || is_finding() ? "" : " (seen in another run: " + seen_in + ")"));
  for (const std::string& where : look_at) {
    for (const std::string& lead : short_leads(where)) lines.push_back("look at: " + lead);
  }
  return lines;
}

Diagnosis diagnose(const Wrong& wrong, const Patient& patient, Subject about) {
  if (about == Subject::kPassSum && (wrong.field || !wrong.residual)) return {};
  Diagnosis diagnosis = ask_and_tell(Evidence(about, wrong, patient));
  if (about == Subject::kPass) {
    diagnosis.lead =
        "with --check-every 1 all is right: each sweep is correct, and so is each residual";
  }
  return diagnosis;
}

Diagnosis diagnose_failure(const Case& run, int made, const std::string& error,
                           const Patient& patient, const cuda_on_cpu::Report& report) {
  return ask_and_tell(Evidence(Subject::kFailure, {run, made}, patient, error, report));
}

Diagnosis say(const Answer& answer, const Case& run, const Patient& patient) {
  return tell(answer, Evidence(Subject::kAccess, {run}, patient));
}

}  // namespace validate
