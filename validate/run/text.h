#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <lab/format.h>

namespace validate {

using lab::format;

/// "a, b and c"; with `last` "or": "a, b or c".
std::string join(const std::vector<std::string>& parts, const std::string& last = "and");

/// "1 sweep", "2 sweeps".
inline std::string counted(int count, const char* what) {
  return format("%d %s%s", count, what, count == 1 ? "" : "s");
}

/// What stands between two texts; "" where one of them is missing.
std::string between(const std::string& text, const std::string& before, const std::string& after);

inline bool says(std::string_view text, std::string_view words) {
  return text.find(words) != text.npos;
}

/// One line that says what goes on: overwritten on a terminal, elsewhere nothing. "": it is gone.
void show_progress(const std::string& what);

/// "(i, j-1)": the point that lies di columns and dj rows from point (i, j).
std::string point_from_here(int di, int dj);

}  // namespace validate
