#include "lexer.h"

#include <algorithm>
#include <cctype>
#include <regex>

namespace cuda_filter {

namespace {

/// Where the blank, the comment or the continued line's end at `at` ends; `at` if none is there.
std::size_t skip_blank(const std::string& source, std::size_t at) {
  const auto sees = [&](std::string_view text) {
    return source.compare(at, text.size(), text) == 0;
  };
  if (std::isspace(static_cast<unsigned char>(source[at]))) return at + 1;
  if (sees("\\\n")) return at + 2;
  if (sees("\\\r\n")) return at + 3;
  std::size_t end = at;
  if (sees("/*")) {
    end = source.find("*/", at + 2);
    if (end != std::string::npos) end += 2;
  } else if (sees("//")) {
    do {
      end = source.find('\n', end + 1);
    } while (end != std::string::npos &&
             (source[end - 1] == '\\' || source.compare(end - 2, 2, "\\\r") == 0));
  }
  return std::min(end, source.size());
}

/// What begins at `at`, where no blank is.
Token read_token(const std::string& source, std::size_t at) {
  static const struct {
    Kind kind;
    std::regex shape;
  } kKinds[] = {
      {Kind::kNumber, std::regex(R"(\.?\d(?:[eEpP][+-]|'?[\w.])*)")},  // 1'000, 1e-5f
      {Kind::kString, std::regex(R"~((?:u8|[uUL])?R"([^\s(]*)\([\s\S]*?\)\1")~")},
      // Ends with the line if the closing quote is missing: an apostrophe in #error's text, say.
      {Kind::kString, std::regex(R"((?:u8|[uUL])?(["'])(?:\\\r?[\s\S]|(?!\1)[^\\\n])*\1?)")},
      // Letters beyond ASCII are part of names too.
      {Kind::kIdentifier, std::regex(R"([^\s!-#%-/:-@[-^`{-~]+)")},
      {Kind::kPunctuator, std::regex(R"(<<[ \t]*<|<<|<=|>=|->|::|[\s\S])")},
  };
  const char *begin = source.data() + at, *end = source.data() + source.size();
  std::cmatch match;
  const auto* kind = kKinds;
  while (
      !std::regex_search(begin, end, match, kind->shape, std::regex_constants::match_continuous)) {
    ++kind;
  }
  return {kind->kind, std::string_view(begin, match.length()), at, 0, 0};
}

}  // namespace

Tokens lex(const std::string& source) {
  Tokens tokens;
  int line = 1, directives = 0;
  bool in_directive = false, at_line_start = true;
  std::size_t at = source.rfind(kByteOrderMark, 0) == 0 ? kByteOrderMark.size() : 0;
  for (std::size_t end; at < source.size(); at = end) {
    end = skip_blank(source, at);
    if (end == at) {
      Token token = read_token(source, at);
      end = token.end();
      if (token.text == "#" && at_line_start) {
        in_directive = true;
        ++directives;
      }
      at_line_start = false;
      token.line = line;
      token.directive = in_directive ? directives : 0;
      tokens.push_back(token);
    } else if (source[at] == '\n') {
      in_directive = false;
      at_line_start = true;
    }
    line += static_cast<int>(std::count(source.begin() + at, source.begin() + end, '\n'));
  }
  return tokens;
}

Regions split(const Tokens& tokens) {
  Regions regions;
  std::vector<bool> braces;           // those that are open: is what they hold in a function?
  bool head_has_bracket = false;      // since the last statement ended
  bool skipping = false;              // what #if 0 leaves out
  std::vector<bool> skipping_around;  // each #if that is open
  for (std::size_t k = 0; k < tokens.size();) {
    const Token& token = tokens[k];
    if (token.directive == 0) {
      ++k;
      if (skipping) continue;
      // A brace opens a function if a bracket stands before it, as in a function's head, and then
      // so do all braces in it.
      if (token.text == "}" && !braces.empty()) braces.pop_back();
      const bool inside = !braces.empty() && braces.back();
      regions.code.push_back(token);
      regions.in_function.push_back(inside);
      if (token.text == "{") braces.push_back(inside || head_has_bracket);
      if (token.text == "(") head_has_bracket = true;
      if (token.text == "{" || token.text == "}" || token.text == ";") head_has_bracket = false;
      continue;
    }
    Tokens directive;
    while (k < tokens.size() && tokens[k].directive == token.directive) {
      directive.push_back(tokens[k++]);
    }
    const std::string_view name = directive.size() > 1 ? directive[1].text : "";
    if (name == "if" || name == "ifdef" || name == "ifndef") {
      skipping_around.push_back(skipping);
      skipping |= directive.size() == 3 && is(directive, 2, "0");
    } else if (!skipping_around.empty() && (name == "else" || name == "elif" || name == "endif")) {
      skipping = skipping_around.back();
      if (name == "endif") skipping_around.pop_back();
    }
    if (!skipping) regions.directives.push_back(directive);
  }
  return regions;
}

std::string included_header(const Tokens& directive) {
  if (!is(directive, 1, "include") || directive.size() < 3) return "";
  const std::string_view quoted = directive[2].text;
  if (quoted[0] == '"') return std::string(quoted.substr(1, quoted.size() - 2));
  std::string header;
  for (std::size_t k = 3; is(directive, 2, "<") && k < directive.size(); ++k) {
    if (is(directive, k, ">")) return header;
    header += directive[k].text;
  }
  return "";
}

Tokens macro_body(const Tokens& directive) {
  if (!is(directive, 1, "define")) return {};
  std::size_t start = 3;
  if (is(directive, 3, "(") && directive[3].offset == directive[2].end()) {
    start = match_forward(directive, 3) + 1;
  }
  return start < directive.size() ? Tokens(directive.begin() + start, directive.end()) : Tokens();
}

std::size_t match_forward(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t k = open; k < tokens.size(); ++k) {
    if (opens(tokens[k])) ++depth;
    if (closes(tokens[k]) && --depth == 0) return k;
  }
  return tokens.size();
}

std::size_t match_back(const Tokens& tokens, std::size_t close) {
  int depth = 0;
  for (std::size_t k = close + 1; k-- > 0;) {
    if (closes(tokens[k])) ++depth;
    if (opens(tokens[k]) && --depth == 0) return k;
  }
  return tokens.size();
}

std::size_t statement_start(const Tokens& tokens, std::size_t k) {
  while (k > 0 && !is(tokens, k - 1, ";") && !is(tokens, k - 1, "{") && !is(tokens, k - 1, "}") &&
         !is(tokens, k - 1, ":")) {
    --k;
  }
  return k;
}

std::size_t group_end(const Tokens& tokens, std::size_t k, std::size_t end) {
  if (opens(tokens[k])) return match_forward(tokens, k);
  if (!is(tokens, k, "<")) return k;
  int depth = 0;
  for (std::size_t in = k; in < end; ++in) {
    if (opens(tokens[in])) {
      in = match_forward(tokens, in);
      continue;
    }
    // Not a template's: n < 3 ? a : b, and the closing bracket of what is around.
    if (closes(tokens[in])) break;
    if (is(tokens, in, ";") || is(tokens, in, "?") || is_launch_sign(tokens[in])) break;
    if (is(tokens, in, "<")) ++depth;
    if (is(tokens, in, ">") && --depth == 0) return in;
  }
  return k;
}

}  // namespace cuda_filter
