#include "lexer.h"

#include <algorithm>
#include <cctype>

namespace cuda_filter {

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

/// Letters beyond ASCII are part of names too.
bool is_name(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) || c == '_' || c == '$' || byte >= 0x80;
}

class Lexer {
 public:
  explicit Lexer(const std::string& source) : source_(source) {}

  Tokens run() {
    if (sees(kByteOrderMark)) at_ = kByteOrderMark.size();
    while (at_ < source_.size()) {
      if (!skip_blank()) read_token();
    }
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }
  bool sees(std::string_view text) const { return source_.compare(at_, text.size(), text) == 0; }

  /// Goes on to `end`, and counts the lines.
  void advance_to(std::size_t end) {
    end = std::min(end, source_.size());
    for (; at_ < end; ++at_) line_ += source_[at_] == '\n';
  }

  /// The length of a backslash and the line end after it; 0 if there is none.
  std::size_t continuation() const { return sees("\\\n") ? 2 : sees("\\\r\n") ? 3 : 0; }

  /// Skips one blank, comment or line end.
  bool skip_blank() {
    if (peek() == '\n') {
      in_directive_ = false;
      at_line_start_ = true;
      advance_to(at_ + 1);
    } else if (std::isspace(static_cast<unsigned char>(peek()))) {
      advance_to(at_ + 1);
    } else if (continuation() > 0) {
      advance_to(at_ + continuation());
    } else if (sees("//")) {
      while (at_ < source_.size() && peek() != '\n') {
        advance_to(at_ + std::max<std::size_t>(continuation(), 1));
      }
    } else if (sees("/*")) {
      const std::size_t end = source_.find("*/", at_ + 2);
      advance_to(end == std::string::npos ? end : end + 2);
    } else {
      return false;
    }
    return true;
  }

  void read_token() {
    if (peek() == '#' && at_line_start_) {
      in_directive_ = true;
      ++directives_;
    }
    at_line_start_ = false;
    const std::size_t start = at_;
    const int line = line_;
    const Kind kind = read();
    tokens_.push_back({kind, std::string_view(source_).substr(start, at_ - start), start, line,
                       in_directive_ ? directives_ : 0});
  }

  Kind read() {
    if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) return read_number();
    if (is_name(peek())) return read_name();
    if (peek() == '"' || peek() == '\'') return read_quoted();
    if (const std::size_t length = spaced_launch()) {
      advance_to(at_ + length);
      return Kind::kPunctuator;
    }
    for (const std::string_view text : {"<<<", "<<", "<=", ">=", "->", "::"}) {
      if (sees(text)) {
        advance_to(at_ + text.size());
        return Kind::kPunctuator;
      }
    }
    advance_to(at_ + 1);
    return Kind::kPunctuator;
  }

  /// The length of `<< <`, with blanks as they are; 0 if none begins here. Only a launch has it:
  /// no template's name ends in <<, but for operator<<.
  std::size_t spaced_launch() const {
    if (!sees("<< ") && !sees("<<\t")) return 0;
    if (!tokens_.empty() && tokens_.back().text == "operator") return 0;
    const std::size_t next = source_.find_first_not_of(" \t", at_ + 2);
    if (next == std::string::npos || source_[next] != '<') return 0;
    return next + 1 - at_;
  }

  /// 1'000 and 1e-5f are one token each.
  Kind read_number() {
    const auto goes_on = [this] {
      if (peek() == '\'') return is_name(peek(1));
      if (peek() == '+' || peek() == '-') {
        return std::string_view("eEpP").find(source_[at_ - 1]) != std::string_view::npos;
      }
      return peek() == '.' || is_name(peek());
    };
    while (goes_on()) advance_to(at_ + 1);
    return Kind::kNumber;
  }

  /// A name, or a string after its prefix: u8"...", R"(...)".
  Kind read_name() {
    const std::size_t start = at_;
    while (is_name(peek())) advance_to(at_ + 1);
    const std::string name = source_.substr(start, at_ - start);
    const auto is_one_of = [&name](std::initializer_list<const char*> names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (peek() == '"' && is_one_of({"R", "LR", "uR", "UR", "u8R"})) return read_raw_string();
    if ((peek() == '"' || peek() == '\'') && is_one_of({"L", "u", "U", "u8"})) return read_quoted();
    return Kind::kIdentifier;
  }

  Kind read_raw_string() {
    const std::size_t open = source_.find('(', at_);
    if (open == std::string::npos) {
      advance_to(source_.size());
    } else {
      const std::string close = ")" + source_.substr(at_ + 1, open - at_ - 1) + "\"";
      const std::size_t end = source_.find(close, open);
      advance_to(end == std::string::npos ? end : end + close.size());
    }
    return Kind::kString;
  }

  /// Ends with the line if the closing quote is missing: an apostrophe in #error's text, say.
  Kind read_quoted() {
    const char quote = peek();
    advance_to(at_ + 1);
    while (at_ < source_.size() && peek() != quote && peek() != '\n') {
      const std::size_t escape = peek() == '\\' ? std::max<std::size_t>(continuation(), 2) : 1;
      advance_to(at_ + escape);
    }
    if (peek() == quote) advance_to(at_ + 1);
    return quote == '"' ? Kind::kString : Kind::kCharacter;
  }

  const std::string& source_;
  Tokens tokens_;
  std::size_t at_ = 0;
  int line_ = 1;
  int directives_ = 0;
  bool in_directive_ = false;
  bool at_line_start_ = true;
};

}  // namespace

Tokens lex(const std::string& source) { return Lexer(source).run(); }

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

std::size_t skip_template_arguments(const Tokens& tokens, std::size_t open, std::size_t end) {
  int depth = 0;
  for (std::size_t k = open; k < end; ++k) {
    if (opens(tokens[k])) {
      k = match_forward(tokens, k);
      continue;
    }
    // Not a template's: n < 3 ? a : b, and the closing bracket of what is around.
    if (closes(tokens[k])) break;
    if (is(tokens, k, ";") || is(tokens, k, "?") || is_launch_sign(tokens[k])) break;
    if (is(tokens, k, "<")) ++depth;
    if (is(tokens, k, ">") && --depth == 0) return k + 1;
  }
  return open;
}

std::size_t group_end(const Tokens& tokens, std::size_t k, std::size_t end) {
  if (opens(tokens[k])) return match_forward(tokens, k);
  if (!is(tokens, k, "<")) return k;
  const std::size_t behind = skip_template_arguments(tokens, k, end);
  return behind == k ? k : behind - 1;
}

}  // namespace cuda_filter
