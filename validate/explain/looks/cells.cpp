#include "explain/looks/cells.h"

#include <algorithm>
#include <numeric>

#include "run/text.h"

namespace validate {
namespace {

constexpr int kPictureWidth = 40, kPictureHeight = 20;
constexpr int kMaxPeriod = 512;
constexpr std::size_t kGroupsShown = 4;

bool consecutive(const std::vector<int>& numbers) {
  return numbers.back() - numbers.front() + 1 == static_cast<int>(numbers.size());
}

/// "5..6, 11", the first few groups of neighbours.
std::string list_some(const std::vector<int>& numbers) {
  std::string text;
  std::size_t groups = 0, begin = 0;
  for (std::size_t k = 1; k <= numbers.size(); ++k) {
    if (k < numbers.size() && numbers[k] == numbers[k - 1] + 1) continue;
    if (++groups > kGroupsShown) return text + " ...";
    text += (begin > 0 ? ", " : "") + std::to_string(numbers[begin]);
    if (k - begin > 1) text += ".." + std::to_string(numbers[k - 1]);
    begin = k;
  }
  return text;
}

/// The remainders by `period` of the lines, if these are all interior lines with such remainders.
std::vector<int> remainders(const std::vector<int>& lines, int period, int n) {
  std::vector<char> wanted(period, 0);
  for (int line : lines) wanted[line % period] = 1;
  std::size_t expected = 0;
  for (int line = 1; line < n - 1; ++line) expected += wanted[line % period];
  std::vector<int> result;
  if (expected != lines.size()) return result;
  for (int r = 0; r < period; ++r) {
    if (wanted[r]) result.push_back(r);
  }
  return result;
}

/// Looks for the smallest period that at least two blocks show.
void find_period(Lines* lines) {
  for (int period = 2; period <= kMaxPeriod && 2 * period <= lines->n; period *= 2) {
    const std::vector<int> classes = remainders(lines->at, period, lines->n);
    const int count = static_cast<int>(classes.size());
    if (count == 0 || count == period) continue;
    // Many remainders with gaps between them are no pattern that says anything.
    if (count != period - 1 && !consecutive(classes) && 4 * count > period) continue;
    lines->kind = Lines::kPeriodic;
    lines->period = period;
    lines->classes = classes;
    return;
  }
}

/// Whether the columns (or rows) that miss one point all miss it in the same row (or column): that
/// is no chance.
bool miss_one_line(const Cells& cells, const std::vector<int>& counts, char letter) {
  constexpr int kNoChance = 3;
  const int n = cells.n();
  const Cells missing = Cells::where(
      n, [&](int i, int j) { return counts[letter == 'i' ? i : j] == n - 3 && !cells.has(i, j); });
  const std::vector<int> across = counts_of(missing, letter == 'i' ? 'j' : 'i');
  return *std::max_element(across.begin(), across.end()) >= kNoChance;
}

}  // namespace

std::size_t Cells::count() const { return std::count(in_.begin(), in_.end(), 1); }

Cells Cells::interior() const {
  return where(n_, [this](int i, int j) { return has(i, j) && !is_boundary(i, j); });
}

Cells Cells::boundary() const {
  return where(n_, [this](int i, int j) { return has(i, j) && is_boundary(i, j); });
}

std::vector<int> counts_of(const Cells& cells, char letter) {
  std::vector<int> counts(cells.n(), 0);
  for (int j = 1; j < cells.n() - 1; ++j) {
    for (int i = 1; i < cells.n() - 1; ++i) counts[letter == 'i' ? i : j] += cells.has(i, j);
  }
  return counts;
}

Lines describe_lines(const std::vector<int>& lines, char letter, int n) {
  Lines result;
  result.letter = letter;
  result.n = n;
  result.at = lines;
  if (lines.empty()) return result;
  if (consecutive(lines)) {
    const bool all = lines.front() == 1 && lines.back() == n - 2;
    result.kind = all ? Lines::kAll : Lines::kRange;
    return result;
  }
  result.kind = Lines::kOther;
  find_period(&result);
  return result;
}

std::string sides_in_words(const bool (&sides)[4]) {
  constexpr const char* kNames[] = {"column i = 0", "column i = n - 1", "row j = 0",
                                    "row j = n - 1"};
  std::vector<std::string> names;
  for (int k = 0; k < 4; ++k) {
    if (sides[k]) names.push_back(kNames[k]);
  }
  if (names.size() == 4) return "the boundary";
  return "the boundary's " + (names.empty() ? "corners" : join(names));
}

std::string lines_in_words(const std::vector<int>& lines, char letter) {
  const char* const what = letter == 'i' ? "column" : "row";
  return format("the %s%s %c = ", what, lines.size() == 1 ? "" : "s", letter) + list_some(lines);
}

std::string lines_that_are(const std::vector<int>& lines, char letter) {
  return lines_in_words(lines, letter) + (lines.size() == 1 ? " is" : " are");
}

std::string periodic_lines(const std::vector<int>& classes, int period, char letter) {
  const std::string lines =
      format("the %s with %c %% %d ", letter == 'i' ? "columns" : "rows", letter, period);
  if (classes.size() == 1) return lines + format("== %d", classes[0]);
  if (static_cast<int>(classes.size()) == period - 1) {
    const int all = period * (period - 1) / 2;
    return lines + format("!= %d", all - std::accumulate(classes.begin(), classes.end(), 0));
  }
  if (consecutive(classes)) {
    return lines + format("from %d to %d", classes.front(), classes.back());
  }
  return lines + "in {" + list_some(classes) + "}";
}

std::string Lines::words() const {
  const char* const what = letter == 'i' ? "column" : "row";
  const int count = static_cast<int>(at.size());
  if (kind == kPeriodic) {
    return periodic_lines(classes, period, letter) +
           format(" (%c = %s)", letter, list_some(at).c_str());
  }
  if (kind != kRange) return format("%d %ss, %c = ", count, what, letter) + list_some(at);
  const bool first = at.front() == 1;
  if (!first && at.back() != n - 2) return lines_in_words(at, letter);
  const std::string interior = first ? "the first " : "the last ";
  return interior +
         (count == 1 ? format("interior %s, %c = ", what, letter)
                     : format("%d interior %ss, %c = ", count, what, letter)) +
         list_some(at);
}

int Lines::blocks_before() const {
  if (at.empty() || at.back() != n - 2 || !consecutive(at)) return 0;
  for (int size : {32, 16, 64, 128, 256, 512, 1024, 8}) {
    if (at.front() == n - n % size && n >= size) return size;
  }
  return 0;
}

Pattern find_pattern(const Cells& cells) {
  const int n = cells.n(), inside = n - 2;
  const std::vector<int> in_column = counts_of(cells, 'i'), in_row = counts_of(cells, 'j');
  const std::size_t total = std::accumulate(in_row.begin(), in_row.end(), 0);
  // A value may be right by chance, once.
  auto lines = [&](const std::vector<int>& counts, char letter, int least) {
    std::vector<int> at;
    for (int k = 1; k < n - 1; ++k) {
      if (counts[k] >= least) at.push_back(k);
    }
    return describe_lines(at, letter, n);
  };
  const int nearly_all = inside > 8 ? inside - 1 : inside;
  Pattern result;
  if (total == 0) return result;
  result.columns =
      lines(in_column, 'i', miss_one_line(cells, in_column, 'i') ? inside : nearly_all);
  result.rows = lines(in_row, 'j', miss_one_line(cells, in_row, 'j') ? inside : nearly_all);
  if (result.columns.kind == Lines::kAll || result.rows.kind == Lines::kAll) {
    result.kind = Pattern::kAll;
    return result;
  }
  const std::size_t columns = result.columns.at.size(), rows = result.rows.at.size();
  const std::size_t of_union = (columns + rows) * inside - columns * rows;
  if (of_union >= total && of_union - total <= columns + rows) {
    result.kind = rows == 0 ? Pattern::kColumns : columns == 0 ? Pattern::kRows : Pattern::kUnion;
    return result;
  }
  // Not whole lines: which lines have a point at all?
  result.columns = lines(in_column, 'i', 1);
  result.rows = lines(in_row, 'j', 1);
  const auto are_some = [](const Lines& these, const Lines& others) {
    return these.kind != Lines::kAll && these.kind != Lines::kOther && others.kind == Lines::kAll;
  };
  result.kind = are_some(result.columns, result.rows)   ? Pattern::kInColumns
                : are_some(result.rows, result.columns) ? Pattern::kInRows
                                                        : Pattern::kOther;
  return result;
}

std::string Pattern::words() const {
  if (kind == kNone) return "no point";
  if (kind == kAll) return "the whole interior";
  if (kind == kColumns) return columns.words();
  if (kind == kRows) return rows.words();
  if (kind == kUnion) return columns.words() + ", and " + rows.words();
  if (kind == kInColumns) return "points in " + columns.words();
  if (kind == kInRows) return "points in " + rows.words();
  return is_one_point() ? format("point (%d, %d)", columns.at[0], rows.at[0]) : "some points";
}

std::vector<std::string> picture(const Cells& cells) {
  const int n = cells.n();
  const int points_x = (n + kPictureWidth - 1) / kPictureWidth;
  const int points_y = (n + kPictureHeight - 1) / kPictureHeight;
  std::vector<std::string> lines;
  for (int top = (n - 1) / points_y; top >= 0; --top) {
    std::string line;
    for (int left = 0; left < n; left += points_x) {
      bool any = false, all = true;
      for (int j = top * points_y; j < std::min(n, (top + 1) * points_y); ++j) {
        for (int i = left; i < std::min(n, left + points_x); ++i) {
          any |= cells.has(i, j);
          all &= cells.has(i, j) || cells.is_boundary(i, j);
        }
      }
      line += !any ? '.' : all ? '#' : '+';
    }
    lines.push_back(line);
  }
  return lines;
}

}  // namespace validate
