#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <regex>
#include <set>
#include <string_view>
#include <vector>

#include <lexer.h>

#include "run/text.h"
#include "source/source_code.h"

namespace validate {
namespace {

using cuda_filter::is;
using cuda_filter::Tokens;

bool is_error_query(std::string_view name) {
  return name == "cudaGetLastError" || name == "cudaPeekAtLastError";
}

/// Whether a function of another file asks for errors, by its name: checkLaunch("sweep").
bool sounds_like_a_check(std::string_view name) {
  static const std::regex check("(?!cuda|check_cuda$).*(check|error).*", std::regex::icase);
  return std::regex_match(name.begin(), name.end(), check);
}

/// A source as far as it matters here.
class Program {
 public:
  explicit Program(const std::string& source)
      : tokens_(cuda_filter::lex(source)), functions_(functions_in(source)) {
    for (std::size_t k = 0; k + 1 < tokens_.size(); ++k) {
      if (is(tokens_, k, "define") && tokens_[k].directive) read_macro(k + 1);
    }
    for (const Function& function : functions_) own_.insert(function.name);
    // const auto wait = [] { CUDA_CHECK(cudaGetLastError()); };
    for (std::size_t k = 1; k + 1 < tokens_.size(); ++k) {
      if (!is(tokens_, k, "=") || !is(tokens_, k + 1, "[")) continue;
      std::size_t open = k + 1;
      while (open < tokens_.size() && !is(tokens_, open, "{") && !is(tokens_, open, ";")) ++open;
      const std::size_t end = std::min(match_forward(tokens_, open), tokens_.size());
      const bool launches =
          std::any_of(tokens_.begin() + open, tokens_.begin() + end, cuda_filter::is_launch_sign);
      if (is(tokens_, open, "{") && !launches && asks_in(open, end)) {
        askers_.insert(tokens_[k - 1].text);
      }
    }
    // What launches by itself asks for its own launch.
    for (const Function& function : functions_) {
      if (!launches(function) && asks_in(function.begin, function.end))
        askers_.insert(function.name);
    }
  }

  std::string unchecked() const;

 private:
  void read_macro(std::size_t name) {
    own_.insert(tokens_[name].text);
    for (std::size_t k = name; k < tokens_.size(); ++k) {
      if (tokens_[k].directive != tokens_[name].directive) break;
      if (is_error_query(tokens_[k].text)) askers_.insert(tokens_[name].text);
    }
  }

  /// Whether a call of the CUDA runtime begins at k, and is a statement by itself: behind if (...),
  /// say, but not behind (void).
  bool drops_result(std::size_t k) const {
    const std::string_view name = tokens_[k].text;
    if (k == 0 || name.rfind("cuda", 0) != 0 || name.size() < 5 ||
        !std::isupper(static_cast<unsigned char>(name[4])) || name == "cudaDeviceReset" ||
        name.rfind("cudaProfiler", 0) == 0 || !is(tokens_, k + 1, "(")) {
      return false;
    }
    const bool begins = is(tokens_, k - 1, ";") || is(tokens_, k - 1, "{") ||
                        is(tokens_, k - 1, "}") || is(tokens_, k - 1, "else") ||
                        (is(tokens_, k - 1, ")") && k > 1 && !is(tokens_, k - 2, "void"));
    return begins && is(tokens_, match_forward(tokens_, k + 1) + 1, ";");
  }

  /// Whether the program asks at k for the error of what came before.
  bool asks(std::size_t k) const {
    const std::string_view name = tokens_[k].text;
    if (is_error_query(name)) return !drops_result(k);
    return askers_.count(name) > 0 ||
           (is(tokens_, k + 1, "(") && own_.count(name) == 0 && sounds_like_a_check(name));
  }

  bool asks_in(std::size_t begin, std::size_t end) const {
    for (std::size_t k = begin; k < end; ++k) {
      if (asks(k)) return true;
    }
    return false;
  }

  bool launches(const Function& function) const {
    return std::any_of(tokens_.begin() + function.begin, tokens_.begin() + function.end,
                       cuda_filter::is_launch_sign);
  }

  /// Whether the function asks after k, which is in it, or in the macro around k.
  bool asks_after(const Function& function, std::size_t k) const {
    while (k > function.begin && !is(tokens_, k, ";") && !is(tokens_, k, "{")) --k;
    return asks_in(k, function.end);
  }

  /// Whether an error of `function` shows where it is called.
  bool asked_by_a_caller(const Function& function) const {
    return std::any_of(functions_.begin(), functions_.end(), [&](const Function& caller) {
      for (std::size_t k = caller.begin; k < caller.end; ++k) {
        if (tokens_[k].text == function.name && caller.begin != function.begin) {
          return asks_after(caller, k);
        }
      }
      return false;
    });
  }

  const Tokens tokens_;
  const std::vector<Function> functions_;
  std::set<std::string_view> own_, askers_;  ///< functions and macros of this file; those that ask
};

std::string Program::unchecked() const {
  std::map<std::string, std::vector<std::string>> places;  // lines, by the call; "": a launch
  for (const Function& function : functions_) {
    const bool has_launch = launches(function);
    for (std::size_t k = function.begin; k < function.end; ++k) {
      const bool is_launch = is_launch_sign(tokens_[k]);
      if (!is_launch && !drops_result(k)) continue;
      // Without a launch this takes back an error that was answered already.
      if (is(tokens_, k, "cudaGetLastError") && !has_launch) continue;
      if (asks_after(function, k) || asked_by_a_caller(function)) continue;
      const std::string line = std::to_string(tokens_[k].line);
      std::vector<std::string>& lines = places[is_launch ? "" : std::string(tokens_[k].text)];
      if (lines.empty() || lines.back() != line) lines.push_back(line);
    }
  }
  bool allocates = false, asks_for_room = false;
  for (const cuda_filter::Token& token : tokens_) {
    allocates |= token.text == "cudaMalloc" || token.text == "cudaMallocManaged";
    asks_for_room |= token.text == "require_gpu_memory";
  }

  std::vector<std::string> said;
  for (const auto& [name, lines] : places) {
    const bool several = lines.size() > 1;
    const std::string at = (several ? " at lines " : " at line ") + join(lines);
    said.push_back(!name.empty() ? name + at
                                 : (several ? "the launches" : "the launch") + at +
                                       " (check cudaGetLastError after it)");
  }
  if (allocates && !asks_for_room)
    said.push_back("whether the fields fit (lab::require_gpu_memory)");
  std::string all;
  for (const std::string& one : said)
    all += (all.empty() ? "Your code does not check: " : "; ") + one;
  return all.empty() ? all : all + ".";
}

}  // namespace

std::string unchecked_calls(const std::string& source) { return Program(source).unchecked(); }

}  // namespace validate
