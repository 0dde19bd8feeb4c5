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

}  // namespace

std::string code_only(const std::string& source) {
  std::string code;
  const std::size_t size = source.size();
  for (std::size_t k = 0; k < size; ++k) {
    const char c = source[k];
    if (c == '/' && k + 1 < size && source[k + 1] == '/') {
      while (k < size && source[k] != '\n') ++k;
    } else if (c == '/' && k + 1 < size && source[k + 1] == '*') {
      const std::size_t end = source.find("*/", k + 2);
      k = end == std::string::npos ? size : end + 1;
    } else if (c == '"' || (c == '\'' && !separates_digits(source, k))) {
      // A string's blanks and slashes belong to it.
      code += c;
      for (++k; k < size && source[k] != c && source[k] != '\n'; ++k) {
        code += source[k];
        if (source[k] == '\\' && k + 1 < size) code += source[++k];
      }
      if (k < size) code += source[k];
    } else if (!std::isspace(static_cast<unsigned char>(c))) {
      code += c;
    }
  }
  return code;
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
