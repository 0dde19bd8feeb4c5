#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_filter {

/// A character in quotes counts as a string.
enum class Kind { kIdentifier, kNumber, kString, kPunctuator };

/// A piece of the source that the rules look at: comments and white space are not one.
struct Token {
  Kind kind;
  std::string_view text;  ///< a view of the source, which has to outlive it
  std::size_t offset;     ///< of its first character in the source
  int line;               ///< of its first character, from 1
  int directive;  ///< 0 in code, else the number of the preprocessor directive it is part of

  std::size_t end() const { return offset + text.size(); }
};

using Tokens = std::vector<Token>;

/// What some editors put before a file's first character.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// `>` is always a token of its own, so that a template's `>>` closes two; `<<` and `<<<` are one,
/// and so is `<< <`, as some formatters write it.
/// A line that ends in a backslash goes on in the next one, but between tokens and in strings only.
Tokens lex(const std::string& source);

/// A source file taken apart by what rules apply where. What `#if 0` leaves out is in neither list.
struct Regions {
  Tokens code;                    ///< the tokens outside preprocessor directives
  std::vector<bool> in_function;  ///< for each of them: is it in a function's body?
  std::vector<Tokens> directives;
};

Regions split(const Tokens& tokens);

/// The name in "name.h" or <name.h> that the directive includes; empty if there is none.
std::string included_header(const Tokens& directive);

/// What a #define puts in for its name; nothing for other directives.
Tokens macro_body(const Tokens& directive);

/// The bracket that matches the one at `open`; tokens.size() if none does.
std::size_t match_forward(const Tokens& tokens, std::size_t open);

/// The bracket that matches the one at `close`; tokens.size() if none does.
std::size_t match_back(const Tokens& tokens, std::size_t close);

/// Where the statement begins that the token at `k` is part of.
std::size_t statement_start(const Tokens& tokens, std::size_t k);

/// The last token of the brackets or template arguments that open at `k`; `k` if none do.
std::size_t group_end(const Tokens& tokens, std::size_t k, std::size_t end);

inline bool is(const Tokens& tokens, std::size_t k, std::string_view text) {
  return k < tokens.size() && tokens[k].text == text;
}
/// `<<<` or `<< <`
inline bool is_launch_sign(const Token& token) {
  return token.text.size() > 2 && token.text.substr(0, 2) == "<<" && token.text.back() == '<';
}
inline bool opens(const Token& token) {
  return token.text == "(" || token.text == "[" || token.text == "{";
}
inline bool closes(const Token& token) {
  return token.text == ")" || token.text == "]" || token.text == "}";
}

}  // namespace cuda_filter
