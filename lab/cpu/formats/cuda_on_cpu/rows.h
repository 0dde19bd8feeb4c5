#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>

/// Rows of a table, their columns separated by tabs. A type of row names its columns itself, in
/// order: Row::for_each_column(row, visit) calls visit(name, value) for each.
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
  Row::for_each_column(
      row, [&line](const char*, const auto& value) { line += column_text(value) + "\t"; });
  line.back() = '\n';
  return line;
}

/// The line of the names.
template <class Row>
std::string heading_of(const Row& row) {
  std::string line;
  Row::for_each_column(
      row, [&line](const char* name, const auto&) { line += std::string(name) + "\t"; });
  line.back() = '\n';
  return line;
}

/// Reads a line without its end; false if it has another number of columns.
template <class Row>
bool read_row(const std::string& line, Row* row) {
  std::size_t begin = 0;  // past the line's end: it has too few
  Row::for_each_column(*row, [&](const char*, auto& value) {
    if (begin > line.size()) {
      begin = line.size() + 2;
      return;
    }
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    const std::string text = line.substr(begin, end - begin);
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_arithmetic_v<Value>) {
      value = static_cast<Value>(std::strtod(text.c_str(), nullptr));
    } else {
      value = text;
    }
    begin = end + 1;
  });
  return begin == line.size() + 1;
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
