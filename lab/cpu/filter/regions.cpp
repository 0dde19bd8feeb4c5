#include "regions.h"

namespace cuda_filter {

namespace {

bool is_class_key(const Token& token) {
  return token.text == "class" || token.text == "struct" || token.text == "union" ||
         token.text == "enum";
}

/// Whether a class key stands in `head` itself, not in its parameters or template arguments.
bool names_a_class(const Tokens& head) {
  for (std::size_t k = 0; k < head.size(); ++k) {
    if (is_class_key(head[k])) return true;
    k = group_end(head, k, head.size());
  }
  return false;
}

/// Whether the brace after `head`, the tokens since the last statement, opens a function. What is
/// neither a namespace nor a class counts as one: an initialiser does no harm.
bool opens_function(const Tokens& head) {
  const std::size_t size = head.size();
  for (const Token& token : head) {
    if (token.text == "namespace") return false;
  }
  if (size >= 2 && head[size - 2].text == "extern" && head[size - 1].kind == Kind::kString) {
    return false;
  }
  if (size == 0 || !names_a_class(head)) return true;
  // struct Pair make() const { ... } is a function; it ends otherwise than a class's head does.
  const Token& last = head.back();
  const bool ends_class =
      last.text == ">" || (last.kind == Kind::kIdentifier && last.text != "const" &&
                           last.text != "noexcept" && last.text != "override");
  return !ends_class;
}

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
  void take_code(const Token& token) {
    if (token.text == "}" && !in_function_.empty()) in_function_.pop_back();
    const bool inside = !in_function_.empty() && in_function_.back();
    regions_.code.push_back(token);
    regions_.in_function.push_back(inside);
    if (token.text == "{") in_function_.push_back(opens_function(head_));
    if (token.text == "{" || token.text == "}" || token.text == ";") {
      head_.clear();
    } else {
      head_.push_back(token);
    }
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
  Tokens head_;                    ///< since the last statement's end
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
