#include "source_code.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include "steps.h"

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

enum class Form {
  kPacked,  // without blanks
  kWords,   // with a blank for each of them and for each comment, and without what strings hold
  kLines,   // the same, with the ends of lines kept
};

/// Source without comments.
std::string without_comments(const std::string& source, Form form) {
  std::string code;
  const std::string gap = form == Form::kPacked ? "" : " ";
  const std::size_t size = source.size();
  auto leave_out = [&](std::size_t from, std::size_t to) {
    code += gap;
    if (form != Form::kLines) return;
    for (std::size_t k = from; k < std::min(to, size); ++k) {
      if (source[k] == '\n') code += '\n';
    }
  };
  for (std::size_t k = 0; k < size; ++k) {
    const char c = source[k];
    const std::size_t begin = k;
    if (c == '/' && k + 1 < size && source[k + 1] == '/') {
      while (k < size && source[k] != '\n') ++k;
      leave_out(begin, k + 1);
    } else if (c == '/' && k + 1 < size && source[k + 1] == '*') {
      const std::size_t end = source.find("*/", k + 2);
      k = end == std::string::npos ? size : end + 1;
      leave_out(begin, k);
    } else if (c == '"' || (c == '\'' && !separates_digits(source, k))) {
      // A string's blanks and slashes belong to it.
      std::string text(1, c);
      for (++k; k < size && source[k] != c && source[k] != '\n'; ++k) {
        text += source[k];
        if (source[k] == '\\' && k + 1 < size) text += source[++k];
      }
      if (k < size) text += source[k];
      if (form == Form::kPacked) {
        code += text;
      } else {
        leave_out(begin, k + 1);
      }
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      leave_out(k, k + 1);
    } else {
      code += c;
    }
  }
  return code;
}

}  // namespace

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string code_only(const std::string& source) { return without_comments(source, Form::kPacked); }

std::vector<std::string> code_lines(const std::string& source) {
  return split(without_comments(source, Form::kLines), '\n');
}

std::set<std::string> names_in(const std::string& source) {
  std::set<std::string> names;
  std::string name;
  for (char c : without_comments(source, Form::kWords) + " ") {
    if (in_name(c)) {
      name += c;
      continue;
    }
    if (!name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]))) names.insert(name);
    name.clear();
  }
  return names;
}

int step_in(const std::string& source) {
  const bool named = source.size() > 6 && source.compare(0, 3, "// ") == 0 && source[5] == '_';
  return named ? std::atoi(source.substr(3, 2).c_str()) : 0;
}

int int_index_in(const std::string& source) {
  // idx(int i, int j, int n) { return ...; }
  static const std::regex function(
      R"(\bidx\s*\((\s*(const\s+)?int(\s+const)?\s+\w+\s*[,)]){3}[^;{]*\{\s*return\b([^;]*);)");
  static const std::regex wide(
      "size_t|long|int64|ptrdiff|double|float|unsigned|auto|[0-9][uUlLzZ]|\\w\\s*\\(");
  std::string code;
  for (const std::string& line : code_lines(source)) code += line + '\n';
  std::smatch found;
  if (!std::regex_search(code, found, function)) return 0;
  const std::string value = found[4];
  if (value.find('*') == std::string::npos || std::regex_search(value, wide)) return 0;
  const auto begin = code.begin(), end = begin + found.position(4);
  return 1 + static_cast<int>(std::count(begin, end, '\n'));
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
