#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <tuple>

/// Rows of a table, their columns separated by tabs. A type of row has Row::columns(row), a tuple
/// of references to its columns in order, and Row::kHeading, the line of their names.
namespace cuda_on_cpu {

/// The value as it stands in a row: a number with a decimal if it has one.
inline std::string column_text(const std::string& value) {
  std::string text = value;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}
template <class Number>
std::string column_text(Number value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f", static_cast<double>(value));
  const std::string all = text;
  return all.compare(all.size() - 2, 2, ".0") == 0 ? all.substr(0, all.size() - 2) : all;
}

/// The row's line.
template <class Row>
std::string row_of(const Row& row) {
  std::string line;
  const auto add = [&line](const auto&... value) { ((line += column_text(value) + "\t"), ...); };
  std::apply(add, Row::columns(row));
  line.back() = '\n';
  return line;
}

inline void read_column(const std::string& text, std::string* value) { *value = text; }
template <class Number>
void read_column(const std::string& text, Number* value) {
  *value = static_cast<Number>(std::strtod(text.c_str(), nullptr));
}

/// Reads a line without its end; false if it has another number of columns.
template <class Row>
bool read_row(const std::string& line, Row* row) {
  std::istringstream rest(line + "\t");
  bool complete = true;
  const auto read = [&](auto* value) {
    std::string text;
    complete &= bool(std::getline(rest, text, '\t'));
    read_column(text, value);
  };
  std::apply([&read](auto&... value) { (read(&value), ...); }, Row::columns(*row));
  return complete && rest.peek() == std::istringstream::traits_type::eof();
}

/// Adds lines to a file, in one call: several processes may share it. An empty one gets the heading
/// first, if there is one. False if it cannot be written.
inline bool append(const std::string& path, const std::string& lines,
                   const std::string& heading = "") {
  std::FILE* file = std::fopen(path.c_str(), "a");
  if (!file) return false;
  std::fseek(file, 0, SEEK_END);
  const std::string all = (std::ftell(file) == 0 ? heading : "") + lines;
  const bool written = std::fwrite(all.data(), 1, all.size(), file) == all.size();
  return std::fclose(file) == 0 && written;
}

}  // namespace cuda_on_cpu
