#include "source/source_code.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "run/steps.h"

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

std::string code_at(const std::string& source, int line) {
  const std::vector<std::string> lines = code_lines(source);
  return line > 0 && line <= static_cast<int>(lines.size()) ? code_only(lines[line - 1]) : "";
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

std::string allocated_in(const std::string& source, int number) {
  const std::vector<std::string> lines = code_lines(source);
  if (number < 1 || number > static_cast<int>(lines.size())) return "";
  const std::string& line = lines[number - 1];
  const std::size_t call = line.find("cudaMalloc"), bracket = line.find('(', call);
  if (call == std::string::npos || bracket == std::string::npos) return "";
  std::size_t begin = bracket + 1;
  while (begin < line.size() && !in_name(line[begin])) ++begin;
  std::size_t end = begin;
  while (end < line.size() && (in_name(line[end]) || line[end] == '.')) ++end;
  return line.substr(begin, end - begin);
}

std::vector<std::string> kernels_in(const std::string& source) {
  static const std::regex kernel(
      R"(__global__\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(?:static\s+)?void\s+)"
      R"((?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\()");
  std::string code;
  for (const std::string& line : code_lines(source)) code += line + '\n';
  std::vector<std::string> names;
  for (std::sregex_iterator k(code.begin(), code.end(), kernel), end; k != end; ++k) {
    if (std::find(names.begin(), names.end(), (*k)[1]) == names.end()) names.push_back((*k)[1]);
  }
  return names;
}

namespace {

/// The place behind the bracket that closes the one at `open`.
std::size_t behind_bracket(const std::string& code, std::size_t open) {
  int depth = 0;
  for (std::size_t k = open; k < code.size(); ++k) {
    if (code[k] == '(' || code[k] == '{' || code[k] == '[') ++depth;
    if ((code[k] == ')' || code[k] == '}' || code[k] == ']') && --depth == 0) return k + 1;
  }
  return code.size();
}

/// What stands between commas that no brackets enclose, without white space.
std::vector<std::string> arguments_of(const std::string& text) {
  std::vector<std::string> arguments(1);
  int depth = 0;
  for (char c : text) {
    if (c == '(' || c == '{' || c == '[') ++depth;
    if (c == ')' || c == '}' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      arguments.emplace_back();
    } else if (!std::isspace(static_cast<unsigned char>(c))) {
      arguments.back() += c;
    }
  }
  if (arguments.size() == 1 && arguments[0].empty()) arguments.clear();
  return arguments;
}

std::string stream_at(const std::vector<std::string>& arguments, std::size_t k) {
  if (k >= arguments.size()) return "";
  const std::string& stream = arguments[k];
  return stream == "0" || stream == "nullptr" || stream == "NULL" ? "" : stream;
}

}  // namespace

std::vector<Queued> queued_in(const std::string& source) {
  static const std::regex begin(
      R"(\b(cudaMemset|cudaMemcpy)(Async)?\s*\(|\b(\w+)(<[^<>;()]*>)?\s*<<<)");
  std::string code;
  for (const std::string& line : code_lines(source)) code += line + '\n';
  std::vector<Queued> found;
  for (std::sregex_iterator k(code.begin(), code.end(), begin), end; k != end; ++k) {
    Queued work;
    const auto at = static_cast<std::size_t>(k->position(0));
    std::size_t open = at + static_cast<std::size_t>(k->length(0)) - 1;
    work.line = 1 + static_cast<int>(std::count(code.begin(), code.begin() + k->position(0), '\n'));
    work.launch = (*k)[3].matched;
    work.call = work.launch ? (*k)[3].str() : (*k)[1].str() + (*k)[2].str();
    if (work.launch) {
      const std::size_t close = code.find(">>>", open);
      if (close == std::string::npos) continue;
      work.stream = stream_at(arguments_of(code.substr(open + 1, close - open - 1)), 3);
      open = code.find('(', close);
      if (open == std::string::npos) continue;
    }
    work.arguments = arguments_of(code.substr(open + 1, behind_bracket(code, open) - open - 2));
    if (!work.launch && (*k)[2].matched) {
      work.stream = stream_at(work.arguments, (*k)[1] == "cudaMemset" ? 3 : 4);
    }
    found.push_back(work);
  }
  return found;
}

LostLocal lost_local_in(const std::string& source) {
  static const std::regex declared(R"(^\s+(?:const\s+)?(?:\w+::)*\w+\s+(\w+)\s*[;={])");
  static const std::regex address(R"(&\s*(\w+)(\.\w+)?\b)");
  static const std::regex kept(R"([.>]\s*\w+\s*=\s*&\s*(\w+)\s*;)");
  const std::vector<std::string> lines = code_lines(source);
  std::string function;
  std::set<std::string> locals;
  LostLocal found;
  bool capturing = false;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const std::string& line = lines[k];
    if (!line.empty() && in_name(line[0]) && line.find('(') != std::string::npos) {
      if (!found.name.empty()) return found;
      std::size_t begin = line.find('(');
      const std::size_t end = begin;
      while (begin > 0 && in_name(line[begin - 1])) --begin;
      function = line.substr(begin, end - begin);
      locals.clear();
      capturing = false;
    }
    // A function that waits has its copies made before it returns.
    if (!found.name.empty() && !found.captured && line.find("Synchronize") != std::string::npos) {
      found = LostLocal();
    }
    if (function == "main") continue;
    std::smatch match;
    if (std::regex_search(line, match, declared) &&
        match[0].str().find("return") == std::string::npos &&
        match[0].str().find("static") == std::string::npos) {
      locals.insert(match[1]);
    }
    if (line.find("cudaStreamEndCapture") != std::string::npos) capturing = false;
    const bool copy = line.find("cudaMemcpyAsync") != std::string::npos;
    const bool call = line.find("cuda") == std::string::npos || copy;
    if (std::regex_search(line, match, kept) && locals.count(match[1]) > 0) {
      found = {match[1], function, static_cast<int>(k) + 1, true};
    } else if (found.name.empty() && call && (capturing || copy) &&
               std::regex_search(line, match, address) && locals.count(match[1]) > 0) {
      found = {match[1].str() + match[2].str(), function, static_cast<int>(k) + 1, capturing};
    }
    if (line.find("cudaStreamBeginCapture") != std::string::npos) capturing = true;
  }
  return found;
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

std::vector<std::string> lines_with(const std::string& what, const std::string& source) {
  std::vector<std::string> numbers;
  int number = 0;
  for (const std::string& line : split(source, '\n')) {
    ++number;
    if (line.find(what) != std::string::npos) numbers.push_back(std::to_string(number));
  }
  return numbers;
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
