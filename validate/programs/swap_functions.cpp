// Makes variants of a learner's program, each with one function of the solution in place of the
// learner's. The one that is right tells where the mistake is (scripts/lib/which_function.sh).

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <sys/stat.h>

#include <lab/exit_codes.h>
#include <lab/options.h>
#include <lexer.h>

#include "programs/command_line.h"
#include "run/steps.h"
#include "run/text.h"
#include "source/source_code.h"

namespace {

constexpr const char* kHelp =
    "swap_functions [options] MINE: of a learner's program MINE makes variants, each with\n"
    "one function, constant or type of the solution in place of the learner's own, or a\n"
    "few lines of a function\n\n"
    "  --solution FILE      where the functions come from\n"
    "  --into DIR           each variant becomes DIR/VARIANT/FILE, FILE as the solution's\n"
    "  --names              only print the names of all functions of MINE\n"
    "  --help               print this\n\n"
    "It prints a line for each variant: its name, a tab, what was replaced, a tab, and\n"
    "`alike`, if that differs in little from the solution, `lines`, if it is a few lines of\n"
    "such a function, or `own` or `constant`: these may be right, and call for something\n"
    "that is wrong elsewhere.\n";

/// What a learner finds at a glance.
constexpr int kFewLines = 6, kFewFunctions = 2;
constexpr std::size_t kFewNames = 2;

/// Lines first to last, from 1, that others take the place of. last = first - 1: none.
struct Lines {
  int first, last;
};

struct Swap {
  Lines mine, theirs;
};

struct Variant {
  std::string name, words;
  std::vector<Swap> swaps;  ///< in order
  const char* kind;         ///< alike, lines, own or constant
};

struct Part {
  std::string name;
  Lines lines;
};

struct Source {
  std::string text;
  std::vector<std::string> lines;
  std::vector<Part> functions;
};

Source read_source(const std::string& file) {
  Source source;
  if (!validate::read_text(file, &source.text)) {
    lab::fail(lab::kExitBadUsage, "%s: cannot be read", file.c_str());
  }
  source.lines = validate::split(source.text, '\n');
  for (const validate::Function& function : validate::functions_in(source.text)) {
    source.functions.push_back({function.name, {function.first_line, function.last_line}});
  }
  return source;
}

/// The function of that name; nullptr: there is none, or there are several.
const Part* named(const Source& source, const std::string& name) {
  const Part* found = nullptr;
  for (const Part& function : source.functions) {
    if (function.name != name) continue;
    if (found) return nullptr;
    found = &function;
  }
  return found;
}

std::string text_of(const Source& source, const Part& part) {
  std::string text;
  for (int line = part.lines.first; line <= part.lines.last; ++line) {
    text += source.lines[line - 1] + '\n';
  }
  return text;
}

/// What stands before its {, without white space, the names of its parameters, and __restrict__.
std::string head_of(const Source& source, const Part& function) {
  const std::string text = text_of(source, function);
  const cuda_filter::Tokens tokens = cuda_filter::lex(text);
  std::string head;
  for (std::size_t k = 0; k < tokens.size() && !is(tokens, k, "{"); ++k) {
    const bool last = is(tokens, k + 1, ",") || is(tokens, k + 1, ")");
    // A type without a name stays.
    const bool name =
        last && tokens[k].kind == cuda_filter::Kind::kIdentifier && !is(tokens, k - 1, "(");
    if (!name && !is(tokens, k, "__restrict__")) head += tokens[k].text;
  }
  return head;
}

std::string lines_in_words(Lines lines) {
  if (lines.last < lines.first) return validate::format("after line %d", lines.last);
  if (lines.last == lines.first) return validate::format("line %d", lines.first);
  return validate::format("lines %d to %d", lines.first, lines.last);
}

std::string code_of(const Source& source, const Part& part) {
  return validate::code_between(source.text, part.lines.first, part.lines.last);
}

/// Its constants and types.
std::vector<Part> declarations_in(const Source& source) {
  std::vector<Part> found;
  for (int first = 1; first <= static_cast<int>(source.lines.size()); ++first) {
    const std::string& line = source.lines[first - 1];
    const bool type = line.rfind("struct ", 0) == 0;
    if (!type && line.rfind("constexpr ", 0) != 0) continue;
    // Its name is the last word before the value.
    std::string name = line.substr(0, line.find_first_of("={"));
    name.erase(name.find_last_not_of(' ') + 1);
    name.erase(0, name.rfind(' ') + 1);
    int last = first;
    const auto lines = static_cast<int>(source.lines.size());
    while (last < lines && source.lines[last - 1].find(type ? "};" : ";") == std::string::npos) {
      ++last;
    }
    found.push_back({name, {first, last}});
  }
  return found;
}

/// What the learner has not: the solution's constants and types, and of its functions those that
/// are `taken`.
std::vector<Lines> missing(const Source& mine, const Source& theirs,
                           const std::set<std::string>& taken) {
  const std::set<std::string> known = validate::names_in(mine.text);
  std::vector<Lines> found;
  for (const Part& declared : declarations_in(theirs)) {
    if (known.count(declared.name) == 0) found.push_back(declared.lines);
  }
  for (const Part& function : theirs.functions) {
    if (taken.count(function.name) > 0 && !named(mine, function.name)) {
      found.push_back(function.lines);
    }
  }
  std::sort(found.begin(), found.end(), [](Lines a, Lines b) { return a.first < b.first; });
  return found;
}

/// Takes a function from the solution, and with it what else must come from there: functions that
/// the learner has not, and if its parameters are others there, those that call it. false: they do
/// not fit together.
bool take(const Source& mine, const Source& theirs, const std::string& name,
          std::set<std::string>* taken) {
  if (taken->count(name) > 0) return true;
  const Part* own = named(mine, name);
  const Part* other = named(theirs, name);
  if (!other) return false;
  taken->insert(name);
  const std::set<std::string> called = validate::names_in(text_of(theirs, *other));
  for (const Part& callee : theirs.functions) {
    if (callee.name == name || called.count(callee.name) == 0) continue;
    const Part* its_own = named(mine, callee.name);
    const bool fits = its_own && head_of(mine, *its_own) == head_of(theirs, callee);
    if (!fits && !take(mine, theirs, callee.name, taken)) return false;
  }
  if (!own || head_of(mine, *own) == head_of(theirs, *other)) return true;
  for (const Part& caller : mine.functions) {
    if (caller.name == name || validate::names_in(text_of(mine, caller)).count(name) == 0) continue;
    if (!take(mine, theirs, caller.name, taken)) return false;
  }
  return true;
}

/// Lines as diff pairs them: for each line of `a` the number of its counterpart in `b`, from 0; -1:
/// it has none.
std::vector<int> pairs_of(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  // common[x][y]: the length of the longest sequence that a from x on and b from y on share.
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t x = a.size(); x-- > 0;) {
    for (std::size_t y = b.size(); y-- > 0;) {
      common[x][y] =
          a[x] == b[y] ? common[x + 1][y + 1] + 1 : std::max(common[x + 1][y], common[x][y + 1]);
    }
  }
  std::vector<int> pairs(a.size(), -1);
  for (std::size_t x = 0, y = 0; x < a.size() && y < b.size();) {
    if (a[x] == b[y]) {
      pairs[x++] = static_cast<int>(y++);
    } else {
      ++(common[x + 1][y] >= common[x][y + 1] ? x : y);
    }
  }
  return pairs;
}

/// A function's lines without comments and white space.
std::vector<std::string> lines_of_code(const Source& source, const Part& function) {
  std::vector<std::string> lines;
  for (int line = function.lines.first; line <= function.lines.last; ++line) {
    lines.push_back(validate::code_at(source.text, line));
  }
  return lines;
}

/// Whether most lines of a function are those of another one.
bool alike(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const std::vector<int> pairs = pairs_of(a, b);
  int same = 0, all = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k].size() <= 1) continue;  // a bracket
    ++all;
    same += pairs[k] >= 0;
  }
  return 2 * same >= all;
}

/// One for each group of lines that differ within the function, as diff would show them; none if
/// there are many.
std::vector<Variant> of_lines(const Source& mine, const Part& function, const Source& theirs,
                              const Part& other) {
  std::vector<int> pairs = pairs_of(lines_of_code(mine, function), lines_of_code(theirs, other));
  pairs.push_back(other.lines.last + 1 - other.lines.first);
  std::vector<Variant> variants;
  int x_begin = 0, y_begin = 0;
  for (int x = 0; x < static_cast<int>(pairs.size()); ++x) {
    if (pairs[x] < 0) continue;
    if (x > x_begin || pairs[x] > y_begin) {
      const Lines swapped{function.lines.first + x_begin, function.lines.first + x - 1};
      if (x - x_begin > kFewLines) return {};
      variants.push_back(
          {validate::format("lines_%d", swapped.first),
           lines_in_words(swapped),
           {{swapped, {other.lines.first + y_begin, other.lines.first + pairs[x] - 1}}},
           "lines"});
    }
    x_begin = x + 1;
    y_begin = pairs[x] + 1;
  }
  if (static_cast<int>(variants.size()) > kFewLines) return {};
  return variants;
}

/// The learner's functions that the solution has not, and that functions in `taken` call.
std::vector<std::string> only_called(const Source& mine, const Source& theirs,
                                     std::set<std::string> taken) {
  std::vector<std::string> called, callers(taken.begin(), taken.end());
  for (std::size_t k = 0; k < callers.size(); ++k) {
    const Part* caller = named(mine, callers[k]);
    if (!caller) continue;
    const std::set<std::string> names = validate::names_in(text_of(mine, *caller));
    for (const Part& function : mine.functions) {
      if (names.count(function.name) == 0 || named(theirs, function.name) ||
          !taken.insert(function.name).second) {
        continue;
      }
      callers.push_back(function.name);
      called.push_back(function.name);
    }
  }
  return called;
}

/// The learner's functions that are others in the solution.
std::vector<std::string> names_of_others(const Source& mine, const Source& theirs) {
  std::vector<std::string> names;
  for (const Part& function : mine.functions) {
    const Part* other = named(theirs, function.name);
    if (other && named(mine, function.name) && code_of(mine, function) != code_of(theirs, *other)) {
      names.push_back(function.name);
    }
  }
  return names;
}

/// One for each function that is another one in the solution. If many of these, or all, have to be
/// taken at once, that tells nothing.
std::vector<Variant> of_functions(const Source& mine, const Source& theirs) {
  std::vector<Variant> variants;
  std::set<std::set<std::string>> known;
  const std::vector<std::string> names = names_of_others(mine, theirs);
  for (const std::string& name : names) {
    std::set<std::string> taken;
    const bool fits = take(mine, theirs, name, &taken);
    const auto count = std::count_if(names.begin(), names.end(),
                                     [&](const std::string& other) { return taken.count(other); });
    if (!fits || count > kFewFunctions || (count > 1 && count == static_cast<int>(names.size())) ||
        !known.insert(taken).second) {
      continue;
    }
    Variant variant{"with_" + name, "", {}, "own"};
    std::vector<std::string> concerned;
    const std::vector<Lines> added = missing(mine, theirs, taken);
    auto next = added.begin();
    for (const Part& swapped : mine.functions) {
      if (taken.count(swapped.name) == 0) continue;
      const Lines its_own = named(theirs, swapped.name)->lines;
      for (; next != added.end() && next->first < its_own.first; ++next) {
        variant.swaps.push_back({{swapped.lines.first, swapped.lines.first - 1}, *next});
      }
      variant.swaps.push_back({swapped.lines, its_own});
      concerned.push_back(swapped.name);
    }
    for (const std::string& called : only_called(mine, theirs, taken)) concerned.push_back(called);
    if (concerned.size() > kFewNames) continue;
    variant.words = validate::join(concerned, "or");
    if (taken.size() == 1 && concerned.size() == 1) {
      const Part &own = *named(mine, name), &other = *named(theirs, name);
      variant.words += " (" + lines_in_words(own.lines) + ")";
      if (names.size() == 1 || alike(lines_of_code(mine, own), lines_of_code(theirs, other))) {
        variant.kind = "alike";
        for (Variant& lines : of_lines(mine, own, theirs, other)) {
          lines.words += ", in " + name;
          variants.push_back(lines);
        }
      }
    }
    variants.push_back(variant);
  }
  return variants;
}

/// One for each constant or type that is another one in the solution.
std::vector<Variant> of_declarations(const Source& mine, const Source& theirs) {
  const bool alone = names_of_others(mine, theirs).empty();
  std::vector<Variant> variants;
  for (const Part& own : declarations_in(mine)) {
    for (const Part& other : declarations_in(theirs)) {
      if (own.name != other.name || code_of(mine, own) == code_of(theirs, other)) continue;
      variants.push_back({"with_" + own.name,
                          own.name + " (" + lines_in_words(own.lines) + ")",
                          {{own.lines, other.lines}},
                          alone ? "alike" : "constant"});
    }
  }
  return variants;
}

void write(const std::string& folder, const std::string& file, const Variant& variant,
           const Source& mine, const Source& theirs) {
  mkdir((folder + "/" + variant.name).c_str(), 0777);
  std::ofstream out(folder + "/" + variant.name + "/" + file);
  for (const std::string& line : theirs.lines) {
    if (line.rfind("#include", 0) == 0) out << line << '\n';
  }
  int next = 1;
  const auto copy = [&](const Source& source, int first, int last) {
    for (int line = first; line <= last; ++line) out << source.lines[line - 1] << '\n';
  };
  for (const Swap& swap : variant.swaps) {
    copy(mine, next, swap.mine.first - 1);
    copy(theirs, swap.theirs.first, swap.theirs.last);
    next = swap.mine.last + 1;
  }
  copy(mine, next, static_cast<int>(mine.lines.size()));
  if (!out.flush()) lab::fail(lab::kExitCannotWrite, "%s: cannot be written", folder.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  std::string file, solution, folder;
  bool names = false;
  validate::CommandLine line("swap_functions", kHelp);
  line.text("--solution", &solution);
  line.text("--into", &folder);
  line.flag("--names", &names);
  line.read(argc, argv, &file);
  const Source mine = read_source(file);
  if (names) {
    for (const Part& function : mine.functions) std::printf("%s\n", function.name.c_str());
    return 0;
  }
  const Source theirs = read_source(solution);
  const std::string name = solution.substr(solution.rfind('/') + 1);
  std::vector<Variant> variants = of_functions(mine, theirs);
  for (const Variant& variant : of_declarations(mine, theirs)) variants.push_back(variant);
  for (const Variant& variant : variants) {
    write(folder, name, variant, mine, theirs);
    std::printf("%s\t%s\t%s\n", variant.name.c_str(), variant.words.c_str(), variant.kind);
  }
  return 0;
}
