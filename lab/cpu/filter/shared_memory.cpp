#include "shared_memory.h"

#include <algorithm>
#include <cstdlib>

#include "not_covered.h"

namespace cuda_filter {

namespace {

constexpr unsigned long kLargestAlignment = 128;
constexpr const char* kNotUnderstood =
    "this declaration of shared memory was not understood: write it as __shared__ float "
    "name[4][8];";

/// The first token of that text that stands in no brackets and no template arguments.
std::size_t find(const Tokens& tokens, std::string_view text, std::size_t begin = 0) {
  std::size_t k = begin;
  while (k < tokens.size() && tokens[k].text != text) k = group_end(tokens, k, tokens.size()) + 1;
  return std::min(k, tokens.size());
}

/// The tokens from `begin` to before `end`, with one blank if the source has any.
std::string join(const Tokens& tokens, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t k = begin; k < end; ++k) {
    if (k > begin && tokens[k].offset > tokens[k - 1].end()) text += ' ';
    text += tokens[k].text;
  }
  return text;
}

/// The line ends of a part of the source, for what replaces it to take as many lines.
std::string line_ends(const std::string& part) {
  std::string ends;
  for (std::size_t k = 0; k < part.size(); ++k) {
    if (part[k] == '\n') ends += k > 0 && part[k - 1] == '\r' ? "\r\n" : "\n";
  }
  return ends;
}

/// A declaration of shared variables, from its first token to its semicolon. Its functions throw an
/// Error at what they cannot take.
class Declaration {
 public:
  explicit Declaration(const Tokens& tokens) : tokens_(tokens) {}

  std::vector<Edit> rewrite(const std::string& source) {
    std::vector<Edit> edits;
    // `text` instead of the tokens from `begin` to before `end`, with as many lines.
    auto replace = [&](std::size_t begin, std::size_t end, const std::string& text) {
      const std::size_t offset = tokens_[begin].offset;
      const std::size_t length = tokens_[end - 1].end() - offset;
      edits.push_back({offset, length, text + line_ends(source.substr(offset, length))});
    };
    std::size_t begin = 0;
    std::string before;
    if (const std::size_t brace = find(tokens_, "{"); const std::size_t keyword = type_at(brace)) {
      // A type that is defined on the way gets a name, and a statement of its own.
      without_qualifiers(0, keyword);
      const std::size_t close = match_forward(tokens_, brace);
      if (close + 1 >= tokens_.size()) fail(0, kNotUnderstood);
      base_type_ =
          std::string(keyword + 1 < brace ? tokens_[brace - 1].text : tokens_[close + 1].text) +
          (keyword + 1 < brace ? "" : "_type");
      replace(0, brace, std::string(tokens_[keyword].text) + ' ' + base_type_);
      begin = close + 1;
      before = "; ";
    }
    while (begin < tokens_.size()) {
      const std::size_t end = std::min(find(tokens_, ",", begin), tokens_.size() - 1);
      replace(begin, end + 1, before + variable(begin, end));
      before.clear();
      begin = end + 1;
    }
    return edits;
  }

 private:
  [[noreturn]] void fail(std::size_t k, const char* words) const {
    throw Error{tokens_[k].line, words};
  }

  /// Where the struct or union begins that the { at `brace` defines; 0: it defines none.
  std::size_t type_at(std::size_t brace) const {
    if (brace >= tokens_.size()) return 0;
    auto defines = [&](std::size_t k) {
      return is(tokens_, k, "struct") || is(tokens_, k, "union");
    };
    if (brace >= 1 && defines(brace - 1)) return brace - 1;
    const bool named = brace >= 2 && tokens_[brace - 1].kind == Kind::kIdentifier;
    return named && defines(brace - 2) ? brace - 2 : 0;
  }

  /// The declaration of the variable in [begin, end). The first one brings the type of them all.
  std::string variable(std::size_t begin, std::size_t end) {
    const Tokens words = without_qualifiers(begin, end);
    check(words, begin);
    const std::size_t bounds = find(words, "[");
    if (bounds == 0 || words[bounds - 1].kind != Kind::kIdentifier) fail(begin, kNotUnderstood);
    const std::size_t name = bounds - 1;
    std::size_t star = 0;
    if (begin == 0) {
      star = std::min(find(words, "*"), name);
      base_type_ = join(words, 0, star);
    }
    if (base_type_.empty() || (star < name && words[star].text != "*")) fail(begin, kNotUnderstood);
    return declare(base_type_ + join(words, star, name), std::string(words[name].text),
                   array(words, bounds, begin), begin);
  }

  std::string declare(const std::string& type, const std::string& name, const std::string& array,
                      std::size_t begin) const {
    if (dynamic_) {
      if (array != "[]") {
        fail(begin, "dynamic shared memory has no size here: extern __shared__ float name[];");
      }
      return type + "* " + name + " = ::cuda_on_cpu::dynamic_shared<" + type + ">();";
    }
    if (array.rfind("[]", 0) == 0) {
      fail(begin, "shared memory without a size is extern: extern __shared__ float name[];");
    }
    const std::string variable = name + "_in_shared_memory";
    return "static ::cuda_on_cpu::SharedVariable<" + type + array + "> " + variable + "{\"" + name +
           "\"}; auto& " + name + " = " + variable + ".here();";
  }

  /// Without the words that a SharedVariable needs none of: it is aligned for all types.
  Tokens without_qualifiers(std::size_t begin, std::size_t end) {
    Tokens words;
    for (std::size_t k = begin; k < end; ++k) {
      if (is(tokens_, k, "__align__") || is(tokens_, k, "alignas")) {
        check_alignment(k);
        k += 3;
      } else if (is(tokens_, k, "extern")) {
        dynamic_ = true;
      } else if (!is(tokens_, k, "__shared__") && !is(tokens_, k, "static")) {
        words.push_back(tokens_[k]);
      }
    }
    return words;
  }

  void check_alignment(std::size_t k) const {
    const bool is_literal =
        is(tokens_, k + 1, "(") && is(tokens_, k + 3, ")") && tokens_[k + 2].kind == Kind::kNumber;
    if (!is_literal ||
        std::strtoul(std::string(tokens_[k + 2].text).c_str(), nullptr, 0) > kLargestAlignment) {
      fail(k,
           "the alignment of shared memory must be a number up to 128 here, as in __align__(16)");
    }
  }

  void check(const Tokens& words, std::size_t begin) const {
    const std::size_t brace = find(words, "{");
    for (std::size_t k = 0; k < brace && brace < words.size(); ++k) {
      if (words[k].text == "struct" || words[k].text == "class" || words[k].text == "union" ||
          words[k].text == "enum") {
        fail(begin, "shared memory of a type without a name: define the type first");
      }
    }
    if (brace < words.size() || find(words, "=") < words.size()) {
      fail(begin,
           "shared memory cannot be initialised where it is declared: assign to it in the kernel");
    }
    const std::size_t parenthesis = find(words, "(");
    if (parenthesis < words.size() &&
        (parenthesis == 0 || words[parenthesis - 1].text != "decltype")) {
      fail(begin, kNotUnderstood);
    }
  }

  /// The bounds from `k` on. A > in them would end the template argument that they become part of.
  std::string array(const Tokens& words, std::size_t k, std::size_t begin) const {
    std::string text;
    for (; k < words.size(); ++k) {
      const std::size_t close = match_forward(words, k);
      if (words[k].text != "[" || close >= words.size()) fail(begin, kNotUnderstood);
      const std::string bound = join(words, k + 1, close);
      const bool has_greater = bound.find('>') != std::string::npos;
      text += has_greater ? "[(" + bound + ")]" : "[" + bound + "]";
      k = close;
    }
    return text;
  }

  const Tokens& tokens_;
  std::string base_type_;
  bool dynamic_ = false;
};

/// Where the statement begins that the token at `k` is part of.
std::size_t statement_start(const Tokens& code, std::size_t k) {
  while (k > 0 && !is(code, k - 1, ";") && !is(code, k - 1, "{") && !is(code, k - 1, "}") &&
         !is(code, k - 1, ":")) {
    --k;
  }
  return k;
}

/// The declaration from `begin` on, whose `__shared__` is at `k`.
Tokens declaration_around(const Regions& regions, std::size_t begin, std::size_t k) {
  const Tokens& code = regions.code;
  std::size_t end = k + 1;
  while (end < code.size() && !is(code, end, ";") && !is(code, end, "__shared__") &&
         !closes(code[end])) {
    end = group_end(code, end, code.size()) + 1;
  }
  if (!is(code, end, ";")) {
    throw Error{code[k].line, "a declaration of shared memory without a ; at its end"};
  }
  for (const Tokens& directive : regions.directives) {
    if (directive[0].offset > code[begin].offset && directive[0].offset < code[end].offset) {
      throw Error{directive[0].line, "a # line within a declaration of shared memory"};
    }
  }
  return Tokens(code.begin() + begin, code.begin() + end + 1);
}

}  // namespace

void rewrite_shared_memory(const std::string& source, const Regions& regions, Changes* changes) {
  std::size_t last = regions.code.size();
  for (std::size_t k = 0; k < regions.code.size(); ++k) {
    if (!is(regions.code, k, "__shared__")) continue;
    const std::size_t begin = statement_start(regions.code, k);
    if (begin <= last && last < k) continue;  // the previous one was reported already
    last = k;
    try {
      if (!regions.in_function[k]) {
        throw Error{
            regions.code[k].line,
            does_not_cover("shared memory outside of a kernel: declare it inside the kernel")};
      }
      const Tokens declaration = declaration_around(regions, begin, k);
      const std::vector<Edit> edits = Declaration(declaration).rewrite(source);
      changes->edits.insert(changes->edits.end(), edits.begin(), edits.end());
    } catch (const Error& error) {
      changes->errors.push_back(error);
    }
  }
  for (const Tokens& directive : regions.directives) {
    for (const Token& token : macro_body(directive)) {
      if (token.text == "__shared__") {
        changes->errors.push_back(
            {token.line,
             does_not_cover("shared memory in a macro: declare it in the kernel itself")});
      }
    }
  }
}

}  // namespace cuda_filter
