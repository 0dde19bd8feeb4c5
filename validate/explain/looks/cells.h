#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace validate {

/// A set of points of an n x n grid.
class Cells {
 public:
  explicit Cells(int n) : n_(n), in_(static_cast<std::size_t>(n) * n, 0) {}
  /// The points of which test(i, j) is true.
  template <typename Test>
  static Cells where(int n, Test test) {
    Cells some(n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        if (test(i, j)) some.add(i, j);
      }
    }
    return some;
  }

  void add(int i, int j) { in_[index(i, j)] = 1; }
  bool has(int i, int j) const { return in_[index(i, j)] != 0; }
  int n() const { return n_; }
  std::size_t count() const;
  bool is_boundary(int i, int j) const { return i == 0 || j == 0 || i == n_ - 1 || j == n_ - 1; }
  Cells interior() const;
  Cells boundary() const;

 private:
  std::size_t index(int i, int j) const { return static_cast<std::size_t>(j) * n_ + i; }
  int n_;
  std::vector<char> in_;
};

/// How many interior points of each column (letter 'i') or row ('j') of the grid belong to a set.
std::vector<int> counts_of(const Cells& cells, char letter);

/// "the boundary's column i = 0 and row j = n - 1", of the columns 0 and n - 1, then the rows.
std::string sides_in_words(const bool (&sides)[4]);

/// "the rows j = 5..6, 11", and with "are" behind it.
std::string lines_in_words(const std::vector<int>& lines, char letter);
std::string lines_that_are(const std::vector<int>& lines, char letter);
/// "the columns with i % 32 from 1 to 3", those with such remainders.
std::string periodic_lines(const std::vector<int>& classes, int period, char letter);

/// Some of the interior's columns, or of its rows.
struct Lines {
  enum Kind {
    kNone,
    kAll,
    kRange,     ///< one, or neighbours
    kPeriodic,  ///< the same in every block of `period`
    kOther,
  };
  Kind kind = kNone;
  char letter = 'i';         ///< 'i': columns, 'j': rows
  int n = 0;                 ///< of the grid
  std::vector<int> at;       ///< which, in order
  int period = 0;            ///< kPeriodic: a power of two
  std::vector<int> classes;  ///< kPeriodic: the remainders, in order

  /// "the last 3 interior columns, i = 96..98".
  std::string words() const;
  /// If these are the lines behind the last whole block, which a launch grid that is rounded down
  /// leaves out, the size of the blocks: 32, or another power of two. Else 0.
  int blocks_before() const;
};

Lines describe_lines(const std::vector<int>& lines, char letter, int n);

/// How a set of interior points lies.
struct Pattern {
  enum Kind {
    kNone,       ///< no point at all
    kAll,        ///< the whole interior
    kColumns,    ///< whole columns
    kRows,       ///< whole rows
    kUnion,      ///< whole columns, and whole rows
    kInColumns,  ///< not all points of these columns, and none elsewhere
    kInRows,     ///< not all points of these rows, and none elsewhere
    kOther,
  };
  Kind kind = kNone;
  Lines columns, rows;

  bool is_one_point() const {
    return kind == kOther && columns.at.size() == 1 && rows.at.size() == 1;
  }
  /// "the last interior column, i = 98".
  std::string words() const;
};

Pattern find_pattern(const Cells& cells);

/// The set as text, at most 20 lines of 40 characters: '#' stands for points that all belong to it,
/// '+' for some that do. The first line is the row j = n - 1.
std::vector<std::string> picture(const Cells& cells);

}  // namespace validate
