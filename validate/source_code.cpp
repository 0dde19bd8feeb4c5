#include "source_code.h"

#include <cctype>
#include <fstream>
#include <sstream>

namespace validate {

namespace {

/// Whether the ' at source[k] separates digits, as in 1'000: whether it stands inside a number.
bool separates_digits(const std::string& source, std::size_t k) {
  std::size_t start = k;
  while (start > 0 && (std::isalnum(static_cast<unsigned char>(source[start - 1])) ||
                       source[start - 1] == '\'' || source[start - 1] == '.')) {
    --start;
  }
  return start < k && std::isdigit(static_cast<unsigned char>(source[start]));
}

/// Source without comments and blanks; `as_words`: with a blank for each of them, and without what
/// stands in strings.
std::string without_comments(const std::string& source, bool as_words) {
  std::string code;
  const char* const gap = as_words ? " " : "";
  const std::size_t size = source.size();
  for (std::size_t k = 0; k < size; ++k) {
    const char c = source[k];
    if (c == '/' && k + 1 < size && source[k + 1] == '/') {
      while (k < size && source[k] != '\n') ++k;
      code += gap;
    } else if (c == '/' && k + 1 < size && source[k + 1] == '*') {
      const std::size_t end = source.find("*/", k + 2);
      k = end == std::string::npos ? size : end + 1;
      code += gap;
    } else if (c == '"' || (c == '\'' && !separates_digits(source, k))) {
      // A string's blanks and slashes belong to it.
      std::string text(1, c);
      for (++k; k < size && source[k] != c && source[k] != '\n'; ++k) {
        text += source[k];
        if (source[k] == '\\' && k + 1 < size) text += source[++k];
      }
      if (k < size) text += source[k];
      code += as_words ? gap : text;
    } else {
      code += std::isspace(static_cast<unsigned char>(c)) ? gap : std::string(1, c);
    }
  }
  return code;
}

}  // namespace

std::string code_only(const std::string& source) { return without_comments(source, false); }

std::set<std::string> names_in(const std::string& source) {
  std::set<std::string> names;
  std::string name;
  for (char c : without_comments(source, true) + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      name += c;
      continue;
    }
    if (!name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]))) names.insert(name);
    name.clear();
  }
  return names;
}

bool read_text(const std::string& path, std::string* text) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  std::ostringstream content;
  content << file.rdbuf();
  *text = content.str();
  return true;
}

}  // namespace validate
