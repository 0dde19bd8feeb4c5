// The catalogue of mistakes as a whole: names, words, and what reaches its entries.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "explain/evidence.h"
#include "explain/mistake.h"
#include "explain/words.h"
#include "run/steps.h"
#include "run/text.h"
#include "source/source_code.h"
#include "test_helpers.h"

namespace {

using validate::Answer;
using validate::catalogue;
using validate::Mistake;

const std::string kRoot = LAB_SOURCE_DIR;

constexpr const char* kStrengths[] = {"forbidden", "history",  "model",
                                      "shape",     "harmless", "symptom"};

std::string text_of(const std::filesystem::path& path) {
  std::string text;
  EXPECT_TRUE(validate::read_text(path.string(), &text)) << path;
  return text;
}

/// The bank's patches by the entry that each names: "04_jacobi_kernel/no_barrier".
std::map<std::string, std::vector<std::string>> patches_by_rule() {
  std::map<std::string, std::vector<std::string>> patches;
  // A right program may also be told of a mistake: that keeps it from its goal.
  for (const bool wrong : {true, false}) {
    const std::string bank = kRoot + "/validate/tests/bank/" + (wrong ? "wrong" : "right");
    for (const auto& file : std::filesystem::recursive_directory_iterator(bank)) {
      if (file.path().extension() != ".patch") continue;
      const std::string text = text_of(file.path());
      const std::string rule = validate::between("\n" + text, "\n# rule: ", "\n");
      const std::string name =
          file.path().parent_path().filename().string() + "/" + file.path().stem().string();
      EXPECT_TRUE(!wrong || !rule.empty()) << name << " has no line `# rule: NAME`";
      if (!rule.empty()) patches[rule].push_back(name);
    }
  }
  return patches;
}

/// The entries of what no patch can do: what a GPU alone says, and a loop whose place is not known.
std::set<std::string> rules_of_failures() {
  const validate::Case run = {lab::ProblemKind::kProbe, 100, 10};
  validate::Patient patient;
  patient.step = 9;
  std::set<std::string> rules = {
      validate::diagnose_failure(run, 0, "it did not end within 60 s", patient).rule()};
  for (const char* error : {"call cudaErrorIllegalAddress", "call cudaErrorMisalignedAddress"}) {
    const auto report = test::report("call", 181, std::string("flags=") + error);
    rules.insert(validate::diagnose_failure(run, 0, "", patient, report).rule());
  }
  return rules;
}

TEST(CatalogueTest, every_entry_is_reached_and_has_a_name_of_its_own) {
  const auto patches = patches_by_rule();
  const std::set<std::string> of_failures = rules_of_failures();
  std::set<std::string> names = {"none"};
  std::printf("%-42s %-10s %s\n", "entry", "strength", "reached by");
  for (const Mistake* of : catalogue()) {
    const Mistake& entry = *of;
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name << " is there twice";
    const auto at = patches.find(entry.name);
    std::string by;
    if (at != patches.end()) {
      by = at->second[0];
      if (at->second.size() > 1) by += validate::format(" and %zu more", at->second.size() - 1);
    } else if (of_failures.count(entry.name) > 0) {
      by = "this test";
    }
    EXPECT_NE(by, "") << entry.name << ": no patch names it, and this test does not reach it";
    std::printf("%-42s %-10s %s\n", entry.name, kStrengths[static_cast<int>(entry.strength)],
                by.c_str());
  }
  for (const auto& [rule, by] : patches) {
    EXPECT_EQ(names.count(rule), 1u) << rule << ", which " << by[0] << " names, is no entry";
  }
}

TEST(CatalogueTest, words_have_no_gap_that_nothing_fills) {
  validate::Patient patient;
  patient.step = 13;
  const validate::Evidence evidence(validate::Subject::kAccess, {}, patient);
  for (const Mistake* of : catalogue()) {
    const Mistake& entry = *of;
    EXPECT_FALSE(entry.words.empty()) << entry.name;
    for (const std::string& words : entry.look_at) {
      EXPECT_EQ(std::count(words.begin(), words.end(), '{'),
                std::count(words.begin(), words.end(), '}'))
          << entry.name << ": " << words;
    }
    EXPECT_EQ(std::count(entry.words.begin(), entry.words.end(), '{'),
              std::count(entry.words.begin(), entry.words.end(), '}'))
        << entry.name;
  }
  Answer answer("wrong_update");
  answer.with("where", "each point").with("flag", true);
  EXPECT_EQ(validate::fill("{where}{?flag| is|never}{?!flag|never|, {sweep}}", answer, evidence),
            "each point is, jacobi_pass_kernel");
  EXPECT_EQ(validate::fill("{?graph or strips|one|none}{?graph|{bounds}}", answer, evidence),
            "one");
}

// A file is asked for a name to know what its program is like: that name has to be in the solutions
// of the steps that are like that, and in no others.
TEST(TraitsTest, the_evidence_is_in_the_solutions_that_have_the_trait) {
  for (const auto& solution : std::filesystem::directory_iterator(kRoot + "/solutions")) {
    const std::string name = solution.path().filename().string();
    if (name.size() < 3 || name[2] != '_') continue;
    const int step = std::stoi(name.substr(0, 2));
    if (step >= validate::kFirstCycleStep)
      continue;  // its words are those of the step it begins with
    std::string source;
    for (const char* file : {"jacobi.cpp", "jacobi.cu"}) {
      if (std::filesystem::exists(solution.path() / file)) source = text_of(solution.path() / file);
    }
    const std::set<std::string> names = validate::names_in(source);
    for (const validate::TraitRow& row : validate::trait_rows()) {
      EXPECT_EQ(validate::holds_evidence(names, row.evidence),
                row.from <= step && step <= row.until)
          << name << ": " << row.name << ", by " << row.evidence;
    }
  }
}

}  // namespace
