#include "source/source_code.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>

#include <lexer.h>

#include "run/steps.h"
#include "run/text.h"

namespace validate {
namespace {

using cuda_filter::is;
using cuda_filter::Kind;
using cuda_filter::lex;
using cuda_filter::match_forward;
using cuda_filter::Token;
using cuda_filter::Tokens;

bool is_name(const Tokens& tokens, std::size_t k) {
  return k < tokens.size() && tokens[k].kind == Kind::kIdentifier;
}

bool is_text(const Token& token) { return token.kind == Kind::kString; }

/// The tokens from `begin` to before `end`, without blanks.
std::string packed(const Tokens& tokens, std::size_t begin, std::size_t end) {
  std::string code;
  for (std::size_t k = begin; k < std::min(end, tokens.size()); ++k) {
    code += is_launch_sign(tokens[k]) ? "<<<" : tokens[k].text;
  }
  return code;
}

/// What stands between commas that no brackets enclose.
std::vector<std::string> arguments_of(const Tokens& tokens, std::size_t begin, std::size_t end) {
  std::vector<std::string> arguments;
  for (std::size_t k = begin; k < end; ++k) {
    const std::size_t start = k;
    for (; k < end && !is(tokens, k, ","); ++k) {
      if (opens(tokens[k])) k = std::min(match_forward(tokens, k), end - 1);
    }
    arguments.push_back(packed(tokens, start, k));
  }
  return arguments;
}

int line_of(const std::string& text, std::ptrdiff_t place) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + place, '\n'));
}

/// All lines, without comments and without what strings hold.
std::string plain_code(const std::string& source) {
  std::string code = source;
  for (char& c : code) c = c == '\n' ? c : ' ';
  for (const Token& token : lex(source)) {
    if (!is_text(token)) code.replace(token.offset, token.text.size(), token.text);
  }
  return code;
}

}  // namespace

std::string code_between(const std::string& source, int first, int last) {
  std::string code;
  for (const Token& token : lex(source)) {
    if (token.line >= first && token.line <= last && !is_text(token)) code += token.text;
  }
  return code;
}

std::string code_only(const std::string& source) {
  const Tokens tokens = lex(source);
  return packed(tokens, 0, tokens.size());
}

std::vector<std::string> code_lines(const std::string& source) {
  return split(plain_code(source), '\n');
}

std::string code_at(const std::string& source, int line) {
  return code_between(source, line, line);
}

std::set<std::string> names_in(const std::string& source) {
  std::set<std::string> names;
  for (const Token& token : lex(source)) {
    if (token.kind == Kind::kIdentifier) names.insert(std::string(token.text));
  }
  return names;
}

std::string allocated_in(const std::string& source, int line) {
  const Tokens tokens = lex(source);
  std::size_t k = 0;
  while (k < tokens.size() &&
         (tokens[k].line != line || tokens[k].text.rfind("cudaMalloc", 0) != 0)) {
    ++k;
  }
  // The first argument may be cast: (void**)&f_old.
  for (++k; k < tokens.size() && !is(tokens, k, ",") && !is(tokens, k, ";"); ++k) {
    if (!is_name(tokens, k) || is(tokens, k, "void") || is(tokens, k + 1, "<")) continue;
    std::string name(tokens[k].text);
    for (; is(tokens, k + 1, ".") && is_name(tokens, k + 2); k += 2) {
      name += "." + std::string(tokens[k + 2].text);
    }
    return name;
  }
  return "";
}

std::vector<Function> functions_in(const std::string& source) {
  const Tokens tokens = lex(source);
  std::vector<Function> functions;
  std::size_t head = 0;  // where the words before a { begin
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    if (is(tokens, k, ";") || is(tokens, k, "}") || tokens[k].directive) head = k + 1;
    if (!is(tokens, k, "{")) continue;
    Function function;
    bool is_scope = false;
    for (std::size_t j = head; j < k && function.name.empty(); ++j) {
      is_scope |= is(tokens, j, "namespace") || is(tokens, j, "struct") || is(tokens, j, "class") ||
                  is(tokens, j, "extern");
      if (!is(tokens, j, "(")) continue;
      // Not __launch_bounds__(...).
      if (j > head && is_name(tokens, j - 1) && tokens[j - 1].text.rfind("__", 0) != 0) {
        function.name = tokens[j - 1].text;
        if (function.name == "operator") function.name = "operator()";
      }
      j = match_forward(tokens, j);
    }
    if (!is_scope || !function.name.empty()) {
      function.is_kernel = std::any_of(tokens.begin() + head, tokens.begin() + k,
                                       [](const Token& t) { return t.text == "__global__"; });
      function.first_line = tokens[head].line;
      function.begin = k;
      function.end = k = std::min(match_forward(tokens, k), tokens.size() - 1);
      function.last_line = tokens[k].line;
      functions.push_back(function);
    }
    head = k + 1;
  }
  return functions;
}

std::string code_of(const Function& function, const std::string& source) {
  return code_between(source, function.first_line, function.last_line);
}

Function function_at(const std::string& source, int line) {
  for (const Function& function : functions_in(source)) {
    if (function.first_line <= line && line <= function.last_line) return function;
  }
  return {};
}

std::string array_at(const std::string& source, int line, bool written) {
  Tokens tokens = lex(source);
  tokens.erase(std::remove_if(tokens.begin(), tokens.end(),
                              [line](const Token& token) { return token.line != line; }),
               tokens.end());
  // x = ..., and not x == ... or x <= ...; nor x += ..., which reads and writes. a[i] = ... comes
  // first, in whose loop there may be int i = 0.
  std::size_t assigned = tokens.size();
  for (std::size_t k = tokens.size(); k-- > 1;) {
    const bool compares = is(tokens, k + 1, "=") || is(tokens, k - 1, "=") ||
                          is(tokens, k - 1, "!") || is(tokens, k - 1, ">");
    const bool of_array = assigned < tokens.size() && is(tokens, assigned - 1, "]");
    if (is(tokens, k, "=") && !compares && !of_array) assigned = k;
  }
  std::string found;
  for (std::size_t k = 0; k + 1 < tokens.size(); ++k) {
    // The place that __pipeline_memcpy_async(&ring[...], from, ...) writes is not what it reads.
    if (is(tokens, k, "__pipeline_memcpy_async") && !written) return "";
    if (!is_name(tokens, k) || !is(tokens, k + 1, "[")) continue;
    if (assigned < tokens.size() && written != (k < assigned)) continue;
    if (!found.empty() && found != tokens[k].text) return "";
    found = tokens[k].text;
  }
  return found;
}

std::vector<Queued> queued_in(const std::string& source) {
  const Tokens tokens = lex(source);
  std::vector<Queued> found;
  for (std::size_t k = 1; k < tokens.size(); ++k) {
    Queued work;
    work.line = tokens[k].line;
    std::size_t open = k + 1;
    if (is_launch_sign(tokens[k])) {
      std::size_t name = k - 1;
      if (is(tokens, name, ">")) {
        while (name > 0 && !is(tokens, name, "<")) --name;
        --name;
      }
      if (!is_name(tokens, name)) continue;
      work.launch = true;
      work.call = tokens[name].text;
      work.line = tokens[name].line;
      std::size_t close = k + 1;
      while (close < tokens.size() && !is(tokens, close, ">")) {
        close = opens(tokens[close]) ? match_forward(tokens, close) + 1 : close + 1;
      }
      open = close + 3;
      const std::vector<std::string> shape = arguments_of(tokens, k + 1, close);
      if (shape.size() > 3) work.stream = shape[3];
    } else if (is(tokens, k, "cudaMemset") || is(tokens, k, "cudaMemsetAsync") ||
               is(tokens, k, "cudaMemcpy") || is(tokens, k, "cudaMemcpyAsync")) {
      work.call = tokens[k].text;
    } else {
      continue;
    }
    if (!is(tokens, open, "(")) continue;
    work.arguments = arguments_of(tokens, open + 1, match_forward(tokens, open));
    const std::size_t own = says(work.call, "Memcpy") ? 4 : 3;
    if (!work.launch && work.arguments.size() > own) work.stream = work.arguments[own];
    found.push_back(work);
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
  // The same by another name, of a struct with n; f[j * n + i] with an int j; and sum / (n * n).
  // These are products of ints unless n is wider.
  static const std::regex wide_n("(size_t|long|int64_t|ptrdiff_t|double|float) n\\b");
  static const std::regex other_name(
      "\\b\\w+\\s*\\((?:\\s*(?:const )?int\\s+\\w+\\s*[,)]){2}[^;{]*\\{\\s*return\\s*"
      "(\\w+\\s*\\*\\s*n\\s*\\+|\\w+\\s*\\+\\s*\\w+\\s*\\*\\s*n\\s*;)");
  static const std::regex element(R"(\[\s*(\w+)\s*\*\s*n\s*\+)");
  static const std::regex divisor(R"(/\s*\(\s*n\s*\*\s*n\s*\))");
  static const std::regex wide(
      "size_t|long|int64|ptrdiff|double|float|unsigned|auto|[0-9][uUlLzZ]|\\w\\s*\\(");
  // std::size_t(j * n) + i: the product is one of ints before it is converted.
  static const std::regex too_late(R"(size_t\s*>?\s*\(\s*\w+\s*\*\s*\w+\b)");
  // n * n * sizeof(float): the first product is one of ints.
  static const std::regex bytes(R"([=(,]\s*n\s*\*\s*n\s*\*\s*sizeof\b)");
  const std::string code = plain_code(source);
  std::smatch found;
  if (std::regex_search(code, found, function)) {
    const std::string value = found[4];
    const bool product = says(value, "*");
    if (product && (!std::regex_search(value, wide) || std::regex_search(value, too_late))) {
      return line_of(code, found.position(4));
    }
  }
  if (std::regex_search(code, found, bytes)) return line_of(code, found.position());
  if (std::regex_search(code, wide_n)) return 0;
  if (std::regex_search(code, found, element)) {
    const std::regex of_ints("\\bint (\\w+ ?=[^;]*, ?)?" + found[1].str() + " ?=");
    if (std::regex_search(code, of_ints)) return line_of(code, found.position());
  }
  for (const std::regex& other : {other_name, divisor}) {
    if (std::regex_search(code, found, other)) {
      return line_of(code, found.position(found.size() - 1));
    }
  }
  return 0;
}

BareMacro bare_macro_in(const std::string& source) {
  static const std::regex definition(R"(^\s*#\s*define\s+(\w+)\(([^)]*)\)(.*))");
  static const std::regex sum(R"(^\s*#\s*define\s+(\w+)\s+(?![0-9.]+e)\w[^()]*[-+]\s*\w[^()]*)");
  const std::vector<std::string> lines = code_lines(source);
  const std::string code = plain_code(source);
  for (std::size_t k = 0; k < lines.size(); ++k) {
    std::smatch found;
    if (std::regex_match(lines[k], found, sum)) {
      const std::string word = "\\b" + found[1].str() + "\\b";
      const std::regex multiplied("[*/%]\\s*" + word + "|" + word + "\\s*[*/%]");
      if (std::regex_search(code, multiplied)) return {static_cast<int>(k) + 1, found[1], ""};
    }
    if (!std::regex_match(lines[k], found, definition)) continue;
    const std::string name = found[1], body = found[3];
    const std::vector<std::string> parameters = split(code_only(found[2]), ',');
    std::string before = "[^,()]*,";  // the arguments to the left
    for (std::size_t at = 0; at < parameters.size(); ++at) {
      const std::string word = "\\b" + parameters[at] + "\\b";
      const std::regex bare("\\*\\s*" + word + "|" + word + "\\s*\\*");
      std::string call = "\\b" + name + "\\(";
      for (std::size_t left = 0; left < at; ++left) call += before;
      if (std::regex_search(body, bare) &&
          std::regex_search(code, std::regex(call + "[^,()]*[+-]"))) {
        return {static_cast<int>(k) + 1, name, parameters[at]};
      }
    }
  }
  return {};
}

int int_bytes_in(const std::string& source) {
  static const std::regex bytes(
      R"(\bint\s+\w+\s*=(?=[^;{]*\bsizeof\s*\(\s*float)(?=[^;{]*\bn\b[^;{]*\bn\b)[^;{]*;)");
  const std::string code = plain_code(source);
  std::smatch found;
  return std::regex_search(code, found, bytes) ? line_of(code, found.position()) : 0;
}

long constant_in(const std::string& source, const std::string& name) {
  std::smatch found;
  const std::string code = code_only(source);
  if (!std::regex_search(code, found, std::regex("constexprint" + name + "=([0-9A-Za-z_*]+);"))) {
    return 0;
  }
  long product = 1;
  for (const std::string& factor : split(found[1], '*')) {
    const bool number = !factor.empty() && std::isdigit(static_cast<unsigned char>(factor[0]));
    product *= number ? std::atol(factor.c_str()) : factor == name ? 0 : constant_in(code, factor);
  }
  return product;
}

std::vector<std::string> lines_with(const std::string& what, const std::string& source) {
  std::vector<std::string> numbers;
  int number = 0;
  for (const std::string& line : split(source, '\n')) {
    ++number;
    if (says(line, what)) numbers.push_back(std::to_string(number));
  }
  return numbers;
}

bool read_text(const std::string& path, std::string* text) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  text->assign(std::istreambuf_iterator<char>(file), {});
  return true;
}

}  // namespace validate
