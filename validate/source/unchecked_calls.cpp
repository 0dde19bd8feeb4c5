#include "source/unchecked_calls.h"

#include <cctype>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "run/text.h"
#include "source/source_code.h"

namespace validate {

namespace {

/// A word of the source, or a character that is none; a launch's <<< is one.
struct Token {
  std::string text;
  int line;
};
using Tokens = std::vector<Token>;

bool is_name(const std::string& text) {
  return std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_';
}

Tokens tokens_of(const std::string& line, int number) {
  Tokens tokens;
  for (std::size_t k = 0; k < line.size();) {
    std::size_t end = k + 1;
    if (in_name(line[k])) {
      while (end < line.size() && in_name(line[end])) ++end;
    } else if (line.compare(k, 3, "<<<") == 0) {
      end = k + 3;
    }
    if (!std::isspace(static_cast<unsigned char>(line[k]))) {
      tokens.push_back({line.substr(k, end - k), number});
    }
    k = end;
  }
  return tokens;
}

/// A function: where the tokens of its body begin and end.
struct Body {
  std::string name;
  std::size_t begin, end;
};

/// A source as far as it matters here: its functions and macros, and which of them ask for errors.
class Program {
 public:
  explicit Program(const std::string& source) {
    read_lines(source);
    find_functions();
    find_checkers();
  }

  /// What unchecked_calls tells.
  std::string unchecked() const;

 private:
  void read_lines(const std::string& source);
  void find_functions();
  void find_checkers();

  const std::string& text(std::size_t k) const {
    static const std::string none;
    return k < tokens_.size() ? tokens_[k].text : none;
  }

  /// The place of the bracket that closes the one at k.
  std::size_t closing(std::size_t k) const {
    int depth = 0;
    for (; k < tokens_.size(); ++k) {
      if (text(k) == "(") ++depth;
      if (text(k) == ")" && --depth == 0) break;
    }
    return k;
  }

  /// Whether a statement begins at k.
  bool begins_statement(std::size_t k) const {
    if (k == 0) return true;
    const std::string& before = text(k - 1);
    if (before == ";" || before == "{" || before == "}" || before == "else") return true;
    if (before != ")") return false;
    // if (...) call(); but not (void)call();
    int depth = 0;
    std::size_t open = k - 1;
    for (;; --open) {
      if (text(open) == ")") ++depth;
      if (text(open) == "(" && --depth == 0) break;
      if (open == 0) return false;
    }
    const std::string keyword = open > 0 ? text(open - 1) : "";
    return keyword == "if" || keyword == "for" || keyword == "while";
  }

  /// Whether a call of the CUDA runtime begins at k, and is a statement by itself.
  bool drops_result(std::size_t k) const {
    static const std::set<std::string> need_none = {"cudaDeviceReset", "cudaProfilerStart",
                                                    "cudaProfilerStop"};
    const std::string& name = text(k);
    return name.rfind("cuda", 0) == 0 && name.size() > 4 &&
           std::isupper(static_cast<unsigned char>(name[4])) && text(k + 1) == "(" &&
           need_none.count(name) == 0 && begins_statement(k) && text(closing(k + 1) + 1) == ";";
  }

  bool forgets_an_error(std::size_t k) const;

  /// Whether somebody asks at k for the error of what came before.
  bool asks(std::size_t k) const {
    const std::string& name = text(k);
    if (name == "cudaGetLastError" || name == "cudaPeekAtLastError") return !drops_result(k);
    if (checkers_.count(name) > 0) return true;
    // A function of another file, by its name: checkLaunch("sweep").
    if (!is_name(name) || text(k + 1) != "(" || known_.count(name) > 0) return false;
    std::string lower;
    for (const char c : name) lower += std::tolower(static_cast<unsigned char>(c));
    return lower != "cuda_check" && lower != "check_cuda" && lower.rfind("cuda", 0) != 0 &&
           (lower.find("check") != std::string::npos || lower.find("error") != std::string::npos);
  }

  /// Whether somebody asks after k: later in the function, in the macro around it, or where the
  /// function was called.
  bool asked_after(std::size_t k, std::set<std::string> visited) const {
    for (std::size_t j = k; j-- > 0 && text(j) != ";" && text(j) != "{" && text(j) != "}";) {
      if (asks(j)) return true;
    }
    for (const Body& function : functions_) {
      if (k < function.begin || k >= function.end) continue;
      for (std::size_t j = k + 1; j < function.end; ++j) {
        if (asks(j)) return true;
      }
      if (function.name.empty() || !visited.insert(function.name).second) return false;
      int calls = 0, asked = 0;
      for (const Body& caller : functions_) {
        for (std::size_t j = caller.begin; j < caller.end; ++j) {
          if (text(j) != function.name || &caller == &function) continue;
          ++calls;
          if (asked_after(j, visited)) ++asked;
        }
      }
      return calls > 0 && asked == calls;
    }
    return false;
  }

  Tokens tokens_;                // without what the preprocessor reads
  std::vector<Body> functions_;  // in tokens_
  std::map<std::string, Tokens> macros_;
  std::set<std::string> checkers_;  // functions and macros that ask
  std::set<std::string> known_;     // all of this file
};

void Program::read_lines(const std::string& source) {
  int number = 0;
  std::string macro;  // the directive goes on in the next line
  bool in_directive = false;
  for (const std::string& line : code_lines(source)) {
    Tokens tokens = tokens_of(line, ++number);
    const bool goes_on = !tokens.empty() && tokens.back().text == "\\";
    if (goes_on) tokens.pop_back();
    if (in_directive || (!tokens.empty() && tokens[0].text == "#")) {
      if (!in_directive) {
        const bool defines = tokens.size() > 2 && tokens[1].text == "define";
        macro = defines ? tokens[2].text : "";
      }
      if (!macro.empty()) {
        Tokens& all = macros_[macro];
        all.insert(all.end(), tokens.begin(), tokens.end());
        known_.insert(macro);
      }
      in_directive = goes_on;
      continue;
    }
    tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  }
}

void Program::find_functions() {
  std::size_t head = 0;  // where the words before a { begin
  for (std::size_t k = 0; k < tokens_.size(); ++k) {
    if (text(k) == ";" || text(k) == "}") head = k + 1;
    if (text(k) != "{") continue;
    std::string name;
    bool is_scope = false;
    for (std::size_t j = head; j < k; ++j) {
      if (text(j) == "(") {
        if (j > 0 && is_name(text(j - 1))) name = text(j - 1);
        j = closing(j);
      } else if (text(j) == "namespace" || text(j) == "struct" || text(j) == "class" ||
                 text(j) == "extern") {
        is_scope = true;
      }
    }
    if (is_scope && name.empty()) {
      head = k + 1;
      continue;
    }
    int depth = 0;
    std::size_t end = k;
    for (; end < tokens_.size(); ++end) {
      if (text(end) == "{") ++depth;
      if (text(end) == "}" && --depth == 0) break;
    }
    functions_.push_back({name, k, end});
    known_.insert(name);
    k = end;
    head = end + 1;
  }
}

void Program::find_checkers() {
  // One may call another.
  for (int round = 0; round < 3; ++round) {
    std::set<std::string> found;
    for (const Body& function : functions_) {
      bool launches = false, asks_here = false;
      for (std::size_t k = function.begin; k < function.end; ++k) {
        launches |= text(k) == "<<<";
        asks_here |= asks(k);
      }
      // What launches by itself asks for its own launch.
      if (asks_here && !launches && !function.name.empty()) found.insert(function.name);
    }
    for (const auto& [name, tokens] : macros_) {
      for (std::size_t k = 3; k < tokens.size(); ++k) {
        const std::string& word = tokens[k].text;
        if (word == "cudaGetLastError" || word == "cudaPeekAtLastError" || checkers_.count(word)) {
          found.insert(name);
        }
      }
    }
    checkers_ = found;
  }
}

/// Whether a call takes back an error that was answered already: it follows no launch in its
/// function.
bool Program::forgets_an_error(std::size_t k) const {
  if (text(k) != "cudaGetLastError") return false;
  for (const Body& function : functions_) {
    if (k < function.begin || k >= function.end) continue;
    for (std::size_t before = function.begin; before < k; ++before) {
      if (text(before) == "<<<") return false;
    }
  }
  return true;
}

std::string Program::unchecked() const {
  std::vector<std::pair<std::string, std::vector<int>>> places;  // what, and its lines
  auto add = [&](const std::string& what, int line) {
    for (auto& [name, lines] : places) {
      if (name != what) continue;
      if (lines.back() != line) lines.push_back(line);
      return;
    }
    places.push_back({what, {line}});
  };
  bool allocates = false, asks_for_room = false;
  for (std::size_t k = 0; k < tokens_.size(); ++k) {
    allocates |= text(k) == "cudaMalloc" || text(k) == "cudaMallocManaged";
    asks_for_room |= text(k) == "require_gpu_memory";
    const bool is_launch = text(k) == "<<<";
    if (!is_launch && !drops_result(k)) continue;
    if (forgets_an_error(k)) continue;
    if (!asked_after(k, {})) add(is_launch ? "launch" : text(k), tokens_[k].line);
  }

  std::string said;
  for (const auto& [name, lines] : places) {
    std::vector<std::string> numbers;
    for (const int line : lines) numbers.push_back(std::to_string(line));
    const char* const s = lines.size() > 1 ? "s" : "";
    said += said.empty() ? "Not checked: " : "; ";
    if (name == "launch") {
      said += format("the launch%s at line%s ", lines.size() > 1 ? "es" : "", s) + join(numbers) +
              " (cudaGetLastError after it tells)";
    } else {
      said += name + format(" at line%s ", s) + join(numbers);
    }
  }
  if (allocates && !asks_for_room) {
    said += said.empty() ? "Not checked: " : "; ";
    said += "whether the fields fit (lab::require_gpu_memory)";
  }
  return said.empty() ? said : said + ".";
}

}  // namespace

std::string unchecked_calls(const std::string& source) { return Program(source).unchecked(); }

}  // namespace validate
