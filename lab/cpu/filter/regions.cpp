#include "regions.h"

namespace cuda_filter {

namespace {

class Splitter {
 public:
  Regions run(const Tokens& tokens) {
    for (std::size_t k = 0; k < tokens.size();) {
      const std::size_t start = k++;
      if (tokens[start].directive == 0) {
        if (!skipping_) take_code(tokens[start]);
        continue;
      }
      while (k < tokens.size() && tokens[k].directive == tokens[start].directive) ++k;
      take_directive(Tokens(tokens.begin() + start, tokens.begin() + k));
    }
    return std::move(regions_);
  }

 private:
  /// A brace opens a function if a bracket stands before it, as in a function's head, and then so
  /// do all braces in it.
  void take_code(const Token& token) {
    if (token.text == "}" && !in_function_.empty()) in_function_.pop_back();
    const bool inside = !in_function_.empty() && in_function_.back();
    regions_.code.push_back(token);
    regions_.in_function.push_back(inside);
    if (token.text == "{") in_function_.push_back(inside || head_has_bracket_);
    if (token.text == "(") head_has_bracket_ = true;
    if (token.text == "{" || token.text == "}" || token.text == ";") head_has_bracket_ = false;
  }

  /// The alternatives of an #if may open the same brace: each begins with the braces before it.
  void take_directive(const Tokens& directive) {
    const std::string_view name = directive.size() > 1 ? directive[1].text : "";
    if (name == "if" || name == "ifdef" || name == "ifndef") {
      const std::string_view condition = directive.size() == 3 ? directive[2].text : "";
      conditionals_.push_back({in_function_, skipping_, condition == "1"});
      if (condition == "0") skipping_ = true;
    } else if (!conditionals_.empty() && (name == "else" || name == "elif")) {
      in_function_ = conditionals_.back().in_function;
      skipping_ = conditionals_.back().skipping || conditionals_.back().always;
    } else if (!conditionals_.empty() && name == "endif") {
      skipping_ = conditionals_.back().skipping;
      conditionals_.pop_back();
    }
    if (!skipping_) regions_.directives.push_back(directive);
  }

  struct Conditional {
    std::vector<bool> in_function;
    bool skipping;
    bool always;
  };

  Regions regions_;
  bool head_has_bracket_ = false;  ///< since the last statement ended
  std::vector<bool> in_function_;  ///< for each open brace
  std::vector<Conditional> conditionals_;
  bool skipping_ = false;
};

}  // namespace

Regions split(const Tokens& tokens) { return Splitter().run(tokens); }

Tokens macro_body(const Tokens& directive) {
  if (!is(directive, 1, "define")) return {};
  std::size_t start = 3;
  if (is(directive, 3, "(") && directive[3].offset == directive[2].end()) {
    start = match_forward(directive, 3) + 1;
  }
  return start < directive.size() ? Tokens(directive.begin() + start, directive.end()) : Tokens();
}

}  // namespace cuda_filter
