#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <type_traits>

#include <cuda_on_cpu/report.h>

namespace cuda_on_cpu {

/// The report as a row of the file: its columns with a tab between them.
inline std::string row_of(const Report& report) {
  std::string row;
  Report::for_each_column(report, [&row](const char*, const auto& value) {
    std::string text;
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>) {
      text = std::to_string(value);
    } else {
      text = value;
    }
    for (char& c : text) {
      if (c == '\t' || c == '\n' || c == '\r') c = ' ';
    }
    row += (row.empty() ? "" : "\t") + text;
  });
  return row + "\n";
}

/// Adds a row to the file that LAB_REPORT names, if it names one. Processes of a job may share it.
inline void write_report(const Report& report) {
  const char* path = std::getenv("LAB_REPORT");
  std::FILE* file = path && *path ? std::fopen(path, "a") : nullptr;
  if (!file) return;
  const std::string row = row_of(report);
  std::fwrite(row.data(), 1, row.size(), file);
  std::fclose(file);
}

/// The last row of a file: what a program said last. `kind` is empty if there is none.
inline Report read_report(const std::string& path) {
  std::ifstream file(path);
  std::string row, line;
  while (std::getline(file, line)) row = line;
  Report report;
  std::size_t begin = 0;
  Report::for_each_column(report, [&](const char*, auto& value) {
    const std::size_t end = std::min(row.find('\t', begin), row.size());
    const std::string text = row.substr(begin, end - begin);
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>) {
      value = static_cast<std::decay_t<decltype(value)>>(std::atol(text.c_str()));
    } else {
      value = text;
    }
    begin = std::min(end + 1, row.size());
  });
  return report;
}

}  // namespace cuda_on_cpu
