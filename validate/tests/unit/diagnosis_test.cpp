// What the diagnosis says of programs that are wrong in one way each: Jacobi solvers in memory, of
// which a part was exchanged for a wrong one. And nothing is said where nothing fits.

#include "explain/diagnosis.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "explain/looks/cells.h"
#include "explain/looks/stencil_fit.h"
#include "judge/compare.h"
#include "reference/reference.h"
#include "test_helpers.h"

namespace {

using lab::ProblemKind;
using test::kNan;
using validate::Case;
using validate::Cells;
using validate::Diagnosis;
using validate::Observation;
using validate::Wrong;

constexpr int kN = 100;  // 3 blocks of 32 and 4 points more
constexpr int kIterations = 10;

using Field = std::vector<float>;

/// A solver in parts. A test puts a wrong part in place of a right one.
struct Solver {
  int n = kN;
  ProblemKind problem = ProblemKind::kProbe;
  int runs = 0;  ///< how often it was asked

  float& at(Field& f, int i, int j) const { return f[static_cast<std::size_t>(j) * n + i]; }
  float at(const Field& f, int i, int j) const { return f[static_cast<std::size_t>(j) * n + i]; }
  float mean(const Field& f, int i, int j) const {
    return 0.25f * ((at(f, i + 1, j) + at(f, i, j + 1)) + (at(f, i - 1, j) + at(f, i, j - 1)));
  }

  Solver() = default;
  Solver(const Solver&) = delete;  // its parts know where it stands
  Solver& operator=(const Solver&) = delete;

  /// The new value of an interior point.
  std::function<float(const Field& old, int i, int j)> update =
      [this](const Field& old, int i, int j) { return mean(old, i, j); };
  std::function<bool(int i, int j)> is_swept = [](int, int) { return true; };
  std::function<bool(int i, int j)> is_copied = [](int, int) { return true; };
  std::function<bool(int i, int j)> is_counted = [](int, int) { return true; };
  std::function<double(double change)> counted = [](double change) { return change * change; };
  std::function<double(double sum)> residual = [this](double sum) {
    return std::sqrt(sum / (static_cast<double>(n) * n));
  };
  std::function<void(Field& f_old, Field& f_new)> start = [](Field&, Field&) {};
  std::function<void(Field& f_old, Field& f_new)> after_sweep = [](Field&, Field&) {};
  std::function<void(Field& f_old, Field& f_new)> before_sweep = [](Field&, Field&) {};
  std::function<void(Field& f_old)> finish = [](Field&) {};
  std::function<int(int asked)> iterations = [](int asked) { return asked; };
  bool resets_sum = true;

  Observation run(const Case& asked) {
    ++runs;
    n = asked.n;
    const lab::Problem data(problem, n);
    Field f_old = test::make_field(n, data.initial_old()), f_new;
    f_new = test::make_field(n, data.initial_new());
    start(f_old, f_new);
    Observation seen;
    double sum = 0;
    const int count = iterations(asked.iterations);
    for (int k = 1; k <= count; ++k) {
      before_sweep(f_old, f_new);
      if (resets_sum) sum = 0;
      for (int j = 1; j < n - 1; ++j) {
        for (int i = 1; i < n - 1; ++i) {
          if (!is_swept(i, j)) continue;
          const float value = update(f_old, i, j);
          if (is_counted(i, j)) sum += counted(static_cast<double>(value - at(f_old, i, j)));
          at(f_new, i, j) = value;
        }
      }
      after_sweep(f_old, f_new);
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
          if (is_copied(i, j)) at(f_old, i, j) = at(f_new, i, j);
        }
      }
      seen.residuals.push_back({k, residual(sum)});
      seen.iterations = k;
      if (std::isnan(seen.residuals.back().value)) break;  // as the steps' loops do
    }
    finish(f_old);
    seen.field = f_old;
    return seen;
  }
};

class DiagnosisTest : public ::testing::Test {
 protected:
  /// What is said of the solver, as one text.
  std::string said(int step = 9, ProblemKind problem = ProblemKind::kProbe) {
    const Case run = {problem, kN, kIterations};
    validate::Patient patient;
    patient.step = step;
    patient.names = names;
    patient.source = source;
    patient.watched = watched;
    patient.finding.n = kN;
    patient.finding.report.kind = found;
    if (found_shared) patient.finding.report.flags = "shared";
    patient.finding.report.line = patient.finding.report.other_line = found_at;
    patient.run = [&](const Case& asked, bool again, Observation* seen) {
      if (again && run_again) return run_again(asked, seen);
      *seen = solver.run(asked);
      return true;
    };
    const Observation seen = solver.run(run);
    Wrong wrong;
    wrong.run = run;
    wrong.made = seen.iterations;
    validate::Reference reference(lab::Problem(problem, kN));
    std::vector<double> residuals;
    for (int k = 1; k <= seen.iterations; ++k) {
      residuals.push_back(reference.sweep());
      const Case shorter = {problem, kN, k};
      if (wrong.field || validate::wrong_cells(shorter, solver.run(shorter).field).count() == 0) {
        continue;
      }
      wrong.field = true;
      wrong.first_iteration = k;
    }
    wrong.residual = validate::compare_residuals(residuals, seen.residuals, kN).kind ==
                     validate::ResidualComparison::kWrong;
    wrong.no_number = !seen.residuals.empty() && std::isnan(seen.residuals.back().value);
    EXPECT_TRUE(wrong.field || wrong.residual || wrong.made < kIterations) << "nothing is wrong";
    solver.runs = 0;
    std::string text;
    const Diagnosis diagnosis = validate::diagnose(wrong, patient);
    for (const std::string& line : diagnosis.lines()) text += line + "\n";
    EXPECT_LE(solver.runs, 8) << "every run costs half a second on a GPU";
    EXPECT_EQ(text.find("{"), std::string::npos) << "a gap that nothing fills: " << text;
    text += "rule: " + diagnosis.rule() + "\n";
    return diagnosis.known() ? text : "";
  }

  Solver solver;
  std::set<std::string> names;  ///< in the solver's source; none: it is not at hand
  std::string source;           ///< the same
  bool watched = false;         ///< every access was looked at, and this was found
  std::string found;
  bool found_shared = false;  ///< in shared memory
  int found_at = 0;           ///< the line
  std::function<bool(const Case&, Observation*)> run_again;
};

#define EXPECT_SAYS(words, text) EXPECT_NE((text).find(words), std::string::npos) << (text)

TEST_F(DiagnosisTest, a_race_in_a_tile_comes_before_what_it_looks_like) {
  // Some rows read the one above in place of their own.
  solver.update = [this](const Field& old, int i, int j) {
    return j % 8 == 3 ? solver.mean(old, i, j + 1) : solver.mean(old, i, j);
  };
  EXPECT_EQ(said().find("a race"), std::string::npos) << said();
  watched = found_shared = true;
  found = "race";
  found_at = 95;
  EXPECT_SAYS(
      "a race: one thread of a block writes shared memory, another one reads it, at line "
      "95",
      said());
}

// ---- Points that are left out

TEST_F(DiagnosisTest, first_and_last_columns_and_rows_left_out_by_the_sweep) {
  solver.is_swept = [](int i, int) { return i > 1; };
  EXPECT_SAYS("the sweep leaves out the first interior column, i = 1;", said());
  solver.is_swept = [](int i, int) { return i < kN - 2; };
  EXPECT_SAYS("the sweep leaves out the last interior column, i = 98;", said());
  solver.is_swept = [](int, int j) { return j > 1; };
  EXPECT_SAYS("the sweep leaves out the first interior row, j = 1;", said());
  solver.is_swept = [](int, int j) { return j < kN - 2; };
  EXPECT_SAYS("look at: the bounds of i and j in jacobi_sweep_kernel", said());
  EXPECT_SAYS("look at: the bounds of i and j in jacobi_sweep:", said(0));
}

TEST_F(DiagnosisTest, a_grid_rounded_down) {
  solver.is_swept = [](int i, int j) { return i < 96 && j < 96; };
  EXPECT_SAYS("the last 3 interior columns, i = 96..98, and the last 3 interior rows", said());
  EXPECT_SAYS("beyond 96, the last multiple of 8, 16 and 32", said());
  EXPECT_SAYS("look at: the launch grid in jacobi_sweep", said());
  EXPECT_EQ(said(0).find("block"), std::string::npos) << "step 00 has no blocks";
  solver.is_copied = solver.is_swept;
  EXPECT_SAYS("neither sweep nor copy (or swap) reaches", said());
  solver.is_swept = [](int, int) { return true; };
  EXPECT_SAYS("the sweep is right, but the copy (or swap) leaves out the last 3", said());
}

TEST_F(DiagnosisTest, rows_of_each_block_left_out) {
  solver.is_swept = [](int, int j) { return j % 32 < 4; };
  EXPECT_SAYS("the sweep leaves out the rows with j % 32 from 4 to 31", said());
}

TEST_F(DiagnosisTest, points_left_out_from_a_later_iteration_on) {
  int sweep = 0;
  solver.start = [&](Field&, Field&) { sweep = 0; };
  solver.before_sweep = [&](Field&, Field&) { ++sweep; };
  solver.is_copied = [&](int i, int) { return sweep < 3 || i != 98; };
  EXPECT_SAYS(
      "in iteration 3 the sweep is right, but the copy (or swap) leaves out the last "
      "interior column",
      said());
}

TEST_F(DiagnosisTest, no_copy_or_the_wrong_way) {
  solver.is_copied = [](int, int) { return false; };
  EXPECT_SAYS("the new field never becomes the old one. Either the copy is missing, or it goes",
              said());
}

TEST_F(DiagnosisTest, a_copy_before_the_sweep) {
  solver.is_copied = [](int, int) { return false; };
  solver.before_sweep = [](Field& f_old, Field& f_new) { f_old = f_new; };
  EXPECT_SAYS("the copy comes before the sweep", said());
}

TEST_F(DiagnosisTest, no_sweep_at_all) {
  solver.is_swept = [](int, int) { return false; };
  EXPECT_SAYS("the sweep leaves out the whole interior", said());
  EXPECT_SAYS("look at: the launch of jacobi_sweep_kernel", said());
}

// nvcc refuses it; the CPU's compiler takes it for a call of a function.
TEST_F(DiagnosisTest, sweeps_that_are_not_counted) {
  solver.before_sweep = [&](Field& f_old, Field&) {
    Field next = f_old;
    for (int j = 1; j < kN - 1; ++j) {
      for (int i = 1; i < kN - 1; ++i) solver.at(next, i, j) = solver.mean(f_old, i, j);
    }
    f_old = next;
  };
  EXPECT_SAYS("the field is that of 2 sweeps: more are performed than are counted", said());
}

// ---- Starting values and the boundary

TEST_F(DiagnosisTest, the_starting_values_of_the_other_field) {
  solver.start = [](Field& f_old, Field& f_new) { f_old = f_new; };
  EXPECT_SAYS("begins with wrong starting values (its interior)", said());
}

TEST_F(DiagnosisTest, the_starting_values_of_the_other_field_and_none_for_that_one) {
  solver.start = [](Field& f_old, Field& f_new) {
    f_old = f_new;
    f_new.assign(f_new.size(), 0.0f);
  };
  solver.is_copied = [](int, int) { return false; };
  solver.after_sweep = [](Field& f_old, Field& f_new) { std::swap(f_old, f_new); };
  EXPECT_SAYS("wrong starting values (the boundary)", said(10));
}

TEST_F(DiagnosisTest, an_interior_or_a_boundary_that_begins_with_zero) {
  solver.start = [&](Field& f_old, Field&) {
    for (int j = 1; j < kN - 1; ++j) {
      for (int i = 1; i < kN - 1; ++i) solver.at(f_old, i, j) = 0;
    }
  };
  EXPECT_SAYS("wrong starting values (its interior)", said());
  solver.start = [&](Field& f_old, Field& f_new) {
    for (int j = 0; j < kN; ++j) solver.at(f_old, kN - 1, j) = solver.at(f_new, kN - 1, j) = 0;
  };
  EXPECT_SAYS("the column i = 99 has no starting values", said());
}

// What a program says after its loop may have another formula than what it says in it.
TEST_F(DiagnosisTest, a_formula_that_is_wrong_in_the_loop_alone) {
  int said_so_far = 0;
  solver.start = [&](Field&, Field&) { said_so_far = 0; };
  solver.residual = [&](double sum) {
    const double right = std::sqrt(sum / (double(kN) * kN));
    return ++said_so_far == kIterations ? right : right / kN;
  };
  const std::string text = said();
  EXPECT_SAYS("the residual is 0.01 times the correct one", text);
  EXPECT_SAYS("But the last residual is right", text);
  EXPECT_SAYS("look at: where main records residuals: in its loop, and after it", text);
}

// A run of no sweep shows that they are there: it is the sweep that does not load them.
TEST_F(DiagnosisTest, starting_values_that_the_sweep_does_not_get) {
  solver.before_sweep = [&](Field& f_old, Field& f_new) {
    for (int j = 0; j < kN; ++j) solver.at(f_old, 0, j) = solver.at(f_new, 0, j) = 0;
  };
  EXPECT_SAYS("the column i = 0 has starting values, but the sweep does not get them", said());
  EXPECT_EQ(said().find("initialize_field"), std::string::npos);
}

// Some neighbours are taken from the field that is written: from behind, values of this sweep, and
// ahead what stood there before.
TEST_F(DiagnosisTest, neighbours_in_the_field_that_is_written) {
  Field written;
  solver.before_sweep = [&](Field&, Field& f_new) { written = f_new; };
  solver.update = [&](const Field& old, int i, int j) {
    const float value = 0.25f * ((solver.at(written, i + 1, j) + solver.at(old, i, j + 1)) +
                                 (solver.at(written, i - 1, j) + solver.at(old, i, j - 1)));
    return solver.at(written, i, j) = value;
  };
  EXPECT_SAYS("0.25 (north + south + west (new) + east (overwritten))", said());
  EXPECT_SAYS("rule: update_reads_the_new_field", said());
}

// Wrong points on the boundary, which no sweep writes, speak of the start, and not of the sweep.
TEST_F(DiagnosisTest, starting_values_of_other_points) {
  auto start_at = [&](auto place) {
    solver.start = [&, place](Field& f_old, Field& f_new) {
      const Field from_old = f_old, from_new = f_new;
      for (int j = 0; j < kN; ++j) {
        for (int i = 0; i < kN; ++i) {
          const auto [a, b] = place(i, j);
          solver.at(f_old, i, j) = solver.at(from_old, a, b);
          solver.at(f_new, i, j) = solver.at(from_new, a, b);
        }
      }
    };
  };
  start_at([](int i, int j) { return std::pair(std::min(i + 1, kN - 1), j); });
  EXPECT_SAYS("wrong starting values (the boundary's column i = 0, row j = 0 and", said());
  EXPECT_SAYS("look at: initialize_field", said());
  EXPECT_EQ(said().find("jacobi_sweep"), std::string::npos);
  start_at([](int i, int j) { return std::pair(i, kN - 1 - j); });
  EXPECT_SAYS("it is not what is handed over", said());  // its residuals are the same
  solver.start = [](Field& f_old, Field& f_new) {
    for (float& value : f_old) value *= 0.5f;
    for (float& value : f_new) value *= 0.5f;
  };
  EXPECT_SAYS("wrong starting values (the boundary)", said());
  // A result that is scaled is none: the residuals are right.
  solver.start = [](Field&, Field&) {};
  solver.finish = [](Field& f_old) {
    for (float& value : f_old) value *= 0.5f;
  };
  EXPECT_SAYS("it is not what is handed over", said());
}

TEST_F(DiagnosisTest, a_boundary_of_the_new_field_without_values) {
  solver.start = [&](Field&, Field& f_new) {
    for (int k = 0; k < kN; ++k) {
      solver.at(f_new, k, 0) = solver.at(f_new, k, kN - 1) = 0;
      solver.at(f_new, 0, k) = solver.at(f_new, kN - 1, k) = 0;
    }
  };
  EXPECT_SAYS("the boundary holds 0 after a sweep, and all else is right. Either f_new", said());
}

TEST_F(DiagnosisTest, a_boundary_that_is_written_on_two_sides) {
  // As a sweep from 0 on does it that finds nothing known before the field.
  auto low = [&](const Field&, Field& f_new) {
    for (int k = 0; k < kN; ++k) solver.at(f_new, 0, k) = solver.at(f_new, k, 0) = kNan;
  };
  solver.after_sweep = [&](Field& f_old, Field& f_new) { low(f_old, f_new); };
  EXPECT_SAYS(
      "hold no numbers after a sweep, and all else is right. Either the sweep (or the copy) "
      "writes there",
      said());
  EXPECT_SAYS("f_new did not begin with its values\nlook at: the bounds of i and j", said());
}

TEST_F(DiagnosisTest, a_boundary_that_is_swept) {
  solver.after_sweep = [&](Field& f_old, Field& f_new) {
    for (int i = 1; i < kN - 1; ++i) {
      const float outside = solver.at(f_old, i + 1, 0);  // what stands next where j is contiguous
      solver.at(f_new, i, kN - 1) =
          0.25f * ((solver.at(f_old, i + 1, kN - 1) + outside) +
                   (solver.at(f_old, i - 1, kN - 1) + solver.at(f_old, i, kN - 2)));
    }
  };
  EXPECT_SAYS("the sweep goes over the boundary's row j = n - 1 as if it were interior", said());
}

TEST_F(DiagnosisTest, another_problem) {
  solver.problem = ProblemKind::kLaplace;
  EXPECT_SAYS("but the first one begins with wrong starting values", said());
}

// ---- Exchanged indices

TEST_F(DiagnosisTest, a_result_with_i_and_j_exchanged) {
  solver.finish = [&](Field& f) {
    const Field copy = f;
    for (int j = 0; j < kN; ++j) {
      for (int i = 0; i < kN; ++i) solver.at(f, i, j) = solver.at(copy, j, i);
    }
  };
  EXPECT_SAYS("the field is the correct one with i and j exchanged", said());
  EXPECT_SAYS("look at: run.finish", said());
}

TEST_F(DiagnosisTest, rows_of_another_length_than_they_have_in_memory) {
  // Rows of `length` floats, read as if they had `stride`.
  for (const auto& [length, stride, words] :
       {std::tuple{kN + 28, kN, "point (0, 1) is the first wrong one, and holds 0"},
        std::tuple{kN, kN + 28,
                   "(0, 1) is the first wrong one, and holds what belongs to point (28, 1)"}}) {
    solver.finish = [&, length = length, stride = stride](Field& f) {
      const Field right = f;
      for (int j = 0; j < kN; ++j) {
        for (int i = 0; i < kN; ++i) {
          const int at = j * stride + i, a = at % length, b = at / length;
          solver.at(f, i, j) = a < kN && b < kN ? solver.at(right, a, b) : 0.0f;
        }
      }
    };
    EXPECT_SAYS(words, said(12));
  }
}

TEST_F(DiagnosisTest, one_array_with_i_and_j_exchanged) {
  solver.update = [&](const Field& old, int i, int j) { return solver.mean(old, j, i); };
  EXPECT_SAYS("i and j are exchanged in one array's index", said());
}

TEST_F(DiagnosisTest, a_tile_with_i_and_j_exchanged) {
  solver.update = [&](const Field& old, int i, int j) {
    const int a = i / 32 * 32 + j % 32, b = j / 32 * 32 + i % 32;
    return std::max(a, b) > kN - 2 || std::min(a, b) < 1 ? 0.0f : solver.mean(old, a, b);
  };
  EXPECT_SAYS("within each block of 32 x 32 points, i and j are exchanged", said());
}

TEST_F(DiagnosisTest, values_in_the_places_of_others) {
  const Solver& s = solver;
  auto moved = [&](auto place) {
    return [&s, place](Field& f) {
      const Field right = f;
      for (int j = 0; j < kN; ++j) {
        for (int i = 0; i < kN; ++i) {
          const auto [a, b] = place(i, j);
          f[static_cast<std::size_t>(j) * kN + i] = s.at(right, a, b);
        }
      }
    };
  };
  solver.finish = moved([](int i, int j) { return std::pair(std::min(i + 1, kN - 1), j); });
  EXPECT_SAYS("point (0, 0) is the first wrong one, and holds what belongs to point (1, 0)",
              said());
  solver.finish = moved([](int i, int j) { return std::pair(i, j % 60); });
  EXPECT_SAYS("point (0, 60) is the first wrong one, and holds what belongs to point (0, 0)",
              said(10));
}

TEST_F(DiagnosisTest, indices_that_come_of_one) {
  solver.is_swept = [](int i, int j) { return i % 32 == j % 32; };
  EXPECT_SAYS("i and j come from the same threadIdx", said());
  solver.is_swept = [](int i, int j) { return i / 32 == j / 32; };
  EXPECT_SAYS("i and j come from the same blockIdx", said());
  solver.is_swept = [](int i, int j) { return i == j; };
  EXPECT_SAYS("only the points with i == j are reached", said());
}

TEST_F(DiagnosisTest, blocks_that_read_farther_and_farther_off) {
  solver.update = [&](const Field& f, int i, int j) {
    return solver.mean(f, std::min(i + i / 32 * 2, kN - 2), j);
  };
  EXPECT_SAYS("Each block's points begin 34 after the previous block's, not 32", said());
}

TEST_F(DiagnosisTest, rows_without_starting_values) {
  for (const float value : {0.0f, kNan}) {
    solver.start = [&](Field& f_old, Field& f_new) {
      for (int k = 40 * kN; k < kN * kN; ++k) f_old[k] = f_new[k] = value;
    };
    EXPECT_SAYS("the rows j = 40..99 have no starting values", said(10));
  }
}

// ---- The update

TEST_F(DiagnosisTest, wrong_neighbours_and_factors) {
  const Solver& s = solver;
  solver.update = [&](const Field& f, int i, int j) {
    return 0.25f *
           ((s.at(f, i - 1, j) + s.at(f, i, j + 1)) + (s.at(f, i - 1, j) + s.at(f, i, j - 1)));
  };
  EXPECT_SAYS("each point becomes 0.25 (north + south) + 0.5 west;", said());
  solver.update = [&](const Field& f, int i, int j) { return 1.04f * s.mean(f, i, j); };
  EXPECT_SAYS("each point becomes 0.26 (east + north + west + south);", said());
  solver.update = [&](const Field& f, int i, int j) {
    return 0.2f * (4 * s.mean(f, i, j) + s.at(f, i, j));
  };
  EXPECT_SAYS("0.2 (east + north + west + south + the point itself)", said());
  solver.update = [&](const Field&, int, int) { return 0.0f; };
  EXPECT_SAYS("each point becomes 0\n", said());
  solver.update = [&](const Field& f, int i, int j) {
    return i == 50 ? 0.1f : s.mean(f, i - 1, j);
  };
  EXPECT_EQ(said().find("each point becomes"), std::string::npos) << "one column does not";
}

TEST_F(DiagnosisTest, the_field_that_it_writes_is_read) {
  Field* target = nullptr;
  solver.before_sweep = [&](Field& f_old, Field& f_new) {
    f_new = f_old;
    target = &f_new;
  };
  solver.update = [&](const Field&, int i, int j) { return solver.mean(*target, i, j); };
  EXPECT_SAYS("west (new) + south (new)", said());
  EXPECT_SAYS("it reads the field that it writes", said());
}

// ---- The edges of blocks

TEST_F(DiagnosisTest, each_side_of_the_halo) {
  const Solver& s = solver;
  solver.update = [&](const Field& f, int i, int j) {
    return i % 32 == 0 ? 0.25f * ((s.at(f, i + 1, j) + s.at(f, i, j + 1)) +
                                  (s.at(f, i, j) + s.at(f, i, j - 1)))
                       : s.mean(f, i, j);
  };
  EXPECT_SAYS("only the first column of each block (i % 32 == 0) is wrong", said());
  EXPECT_SAYS("0.25 (east + north + south + the point itself)", said());
  EXPECT_SAYS("look at: the loads of the left column of the tile's halo", said());
  // Blocks may begin at i = 1: the neighbour that is missing says which column it is.
  solver.update = [&](const Field& f, int i, int j) {
    return i % 32 == 0 ? 0.25f * ((s.at(f, i, j) + s.at(f, i, j + 1)) +
                                  (s.at(f, i - 1, j) + s.at(f, i, j - 1)))
                       : s.mean(f, i, j);
  };
  EXPECT_SAYS("only the last column of each block (i % 32 == 0) is wrong", said());
  EXPECT_SAYS("look at: the loads of the right column of the tile's halo", said());
  auto unknown_at = [&](auto is_edge) {
    solver.update = [&s, is_edge](const Field& f, int i, int j) {
      return is_edge(i, j) ? kNan : s.mean(f, i, j);
    };
  };
  unknown_at([](int i, int) { return i % 32 == 31; });
  EXPECT_SAYS("only the last column of each block (i % 32 == 31) is wrong", said());
  EXPECT_SAYS("Their values are not numbers: were they read, but never written?", said());
  unknown_at([](int, int j) { return j % 32 == 0; });
  EXPECT_SAYS("look at: the loads of the bottom row of the tile's halo", said());
  unknown_at([](int, int j) { return j % 16 == 15; });
  EXPECT_SAYS("only the last row of each block (j % 16 == 15) is wrong", said());
  unknown_at([](int i, int) { return i % 32 == 0 || i % 32 == 31; });
  EXPECT_SAYS("the left column and the right column of the tile's halo", said());
  EXPECT_EQ(said(4).find("halo"), std::string::npos) << "step 04 has no tile";
}

TEST_F(DiagnosisTest, what_lanes_get_from_each_other) {
  // East of a lane's last point comes point i + taken.
  int every = 4, taken = 0;
  solver.update = [&](const Field& old, int i, int j) {
    if (i % every != every - 1) return solver.mean(old, i, j);
    return 0.25f * ((solver.at(old, (i + taken + kN) % kN, j) + solver.at(old, i, j + 1)) +
                    (solver.at(old, i - 1, j) + solver.at(old, i, j - 1)));
  };
  taken = -3;
  EXPECT_SAYS("(the last of a lane's four), whose east neighbour belongs to the next lane",
              said(12));
  EXPECT_SAYS("look at: the shuffles", said(12));
  every = 80;
  EXPECT_SAYS("the column i = 79 (the last of a strip)", said(12));
  EXPECT_SAYS("look at: what the first and the last lane of a warp take", said(12));
  // A program with a tile has no lanes to speak of.
  every = 4;
  EXPECT_EQ(said(9).find("lane"), std::string::npos);
}

TEST_F(DiagnosisTest, a_residual_that_is_said_once_more) {
  int iteration = 0;
  double last = 0;
  solver.start = [&](Field&, Field&) { iteration = 0; };
  solver.residual = [&](double sum) {
    return iteration++ % 2 == 1 ? last : last = std::sqrt(sum / (double(kN) * kN));
  };
  EXPECT_SAYS(
      "the residual of iteration 2, 4, 6 and 8 (and others) is that of the previous iteration",
      said());
}

TEST_F(DiagnosisTest, a_sum_divided_by_what_it_should_not_be) {
  solver.residual = [](double sum) { return std::sqrt(sum / 10 / (double(kN) * kN)); };
  EXPECT_SAYS("divided by n * n * 10, and not by n * n", said(11));
  solver.residual = [](double sum) { return std::sqrt(sum / (double(kN) * kN)) / 10; };
  EXPECT_SAYS("divided by n * n * 100, and not by n * n", said(11));
}

TEST_F(DiagnosisTest, a_sum_divided_by_the_points_of_one_rank) {
  solver.residual = [](double sum) { return std::sqrt(sum / (double(kN) * kN / 4)); };
  Wrong wrong = {{ProblemKind::kProbe, kN, kIterations}, kIterations, false, 0, true};
  wrong.run.ranks = 4;
  validate::Patient patient;
  patient.step = 14;
  patient.run = [&](const Case& asked, bool, Observation* seen) {
    *seen = solver.run(asked);
    return true;
  };
  const Diagnosis fourth = validate::diagnose(wrong, patient);
  EXPECT_SAYS("after the root (there are 4 ranks); or under the root the sum is divided",
              fourth.cause);
  EXPECT_SAYS("n * 25, and not by n * n, as if for the rows that one rank has", fourth.cause);
  wrong.run.ranks = 3;  // rows that are no whole part of all
  solver.residual = [](double sum) { return std::sqrt(sum / (double(kN) * 33)); };
  EXPECT_SAYS("under the root the sum is divided by n * 33, and not by n * n, as if for the rows",
              validate::diagnose(wrong, patient).cause);
}

// Of one step each learner has another file: at first that of the step before.
TEST_F(DiagnosisTest, words_are_those_of_the_file) {
  solver.is_swept = [](int i, int) { return i < 96; };
  names = {"tile", "kBlockX", "jacobi_sweep_kernel", "jacobi_sweeps"};
  EXPECT_SAYS("(n + kBlockX - 1) / kBlockX blocks", said(12));
  // Without shuffles threads are no lanes of strips.
  names = {"load_row", "kRows", "jacobi_pass_kernel", "jacobi_pass"};
  EXPECT_SAYS("the launch grid in jacobi_pass: round it up, enough blocks along x", said(12));
  names.insert("__shfl_up_sync");
  // Three columns are no strip that a launch grid leaves out.
  EXPECT_SAYS("look at: which columns and rows keep their old values in jacobi_pass_kernel",
              said(12));
  EXPECT_EQ(said(12).find("launch grid"), std::string::npos);
  names.clear();
  EXPECT_SAYS("(n + kBlockX - 1) / kBlockX blocks", said(11));
  EXPECT_SAYS("look at: which columns and rows keep their old values in jacobi_sweep_kernel",
              said(12));
  solver.is_swept = [](int, int j) { return j < 96; };
  EXPECT_SAYS("the launch grid in jacobi_sweeps: round it up, enough blocks along x", said(12));
}

TEST_F(DiagnosisTest, a_kernel_is_called_as_the_file_calls_it) {
  solver.is_swept = [](int i, int) { return i > 1; };
  source =
      "__global__ void init(float* f) {}\n__global__ void __launch_bounds__(32 * 4)\n"
      "    relax(float* u_new, const float* u) {}\nvoid step() { relax<<<1, 1>>>(a, b); }\n";
  names = {"init", "relax", "step"};
  EXPECT_SAYS("the bounds of i and j in relax", said(4));
  EXPECT_EQ(said(4).find("jacobi_sweep"), std::string::npos);
  // Names of the step files that it does not have are not told.
  solver.is_swept = [](int, int) { return true; };
  solver.start = [&](Field& f_old, Field&) { f_old = validate::transposed(f_old, kN); };
  const std::string start = said(4);
  EXPECT_SAYS("look at: what fills a field with its starting values", start);
  for (const char* name : {"initialize_field", "f_old", "f_new", "idx"}) {
    EXPECT_EQ(start.find(name), std::string::npos) << start;
  }
}

TEST_F(DiagnosisTest, a_race) {
  solver.update = [&](const Field& f, int i, int j) {
    return solver.mean(f, i, j) + ((i * j) % 7 == 3 ? 0.01f * (i % 11) : 0.0f);
  };
  EXPECT_EQ(said().find("race"), std::string::npos);
  run_again = [&](const Case& asked, Observation* seen) {
    *seen = solver.run(asked);
    seen->field[kN + 5] += 0.5f;
    return true;
  };
  EXPECT_SAYS("two runs of it give different fields: a race", said());
  EXPECT_SAYS("look at: __syncthreads()", said());
  EXPECT_EQ(said(5).find("__syncthreads"), std::string::npos) << "step 05 has no barrier";
}

TEST_F(DiagnosisTest, rows_beside_the_borders_between_ranks) {
  Wrong wrong;
  wrong.run = {ProblemKind::kProbe, kN, 1};
  wrong.run.ranks = 2;
  wrong.field = true;
  wrong.first_iteration = 1;
  int first = 50;
  solver.update = [&](const Field& f, int i, int j) {
    return solver.mean(f, i, j) + (j >= first && j <= 50 ? 0.1f : 0.0f);
  };
  const auto cause = [&] {
    validate::Patient patient;
    patient.step = 14;
    patient.run = [&](const Case& asked, bool, Observation* seen) {
      *seen = solver.run(asked);
      return true;
    };
    return validate::diagnose(wrong, patient, validate::Subject::kBorders).cause;
  };
  EXPECT_SAYS("only the row j = 50 is wrong after 1 sweep: it lies next to the borders", cause());
  first = 49;
  EXPECT_SAYS("only the rows j = 49..50 are wrong after 1 sweep: they lie next to the borders",
              cause());
}

TEST_F(DiagnosisTest, points_that_are_no_numbers) {
  solver.update = [&](const Field&, int, int) { return kNan; };
  EXPECT_SAYS("the whole interior: not a number from iteration 1 on", said());
  solver.update = [&](const Field& f, int i, int j) {
    return i == 20 && j == 30 ? kNan : solver.mean(f, i, j);
  };
  EXPECT_SAYS("not a number from iteration 1 on, as if read where nothing had been", said());
}

// ---- The residual

TEST_F(DiagnosisTest, formulas_of_the_residual) {
  const double n = kN;
  solver.residual = [&](double sum) { return sum / (n * n); };
  EXPECT_SAYS("the root is missing", said());
  solver.residual = [](double sum) { return sum; };
  EXPECT_SAYS("nor is the root taken: it is the sum of the squares", said());
  solver.residual = [&](double sum) { return std::sqrt(sum / n); };
  EXPECT_SAYS("divided by n, and not by n * n", said());
  solver.residual = [&](double sum) { return std::sqrt(sum) / (n * n); };
  EXPECT_SAYS("0.01 times the correct one: it is divided by n once too often", said());
  solver.residual = [&](double sum) { return std::sqrt(sum) / (n - 2); };
  EXPECT_SAYS("divided by 98 * 98, and not by n * n", said());
  solver.residual = [&](double sum) { return std::sqrt(sum / (n * n)) * 0.7; };
  EXPECT_SAYS("is 0.7 times the correct one", said());
  solver.residual = [&](double sum) { return std::sqrt(-sum); };
  EXPECT_SAYS("the residual is not a number, though the field is right", said());
  solver.residual = [](double) { return 0.0; };
  EXPECT_SAYS("every residual is 0, though the field changes", said());
}

TEST_F(DiagnosisTest, starts_and_counts_that_are_off) {
  solver.start = [this](Field& f_old, Field&) {
    Field next = f_old;
    for (int j = 1; j < kN - 1; ++j) {
      for (int i = 1; i < kN - 1; ++i) solver.at(next, i, j) = solver.mean(f_old, i, j);
    }
    f_old = next;
  };
  EXPECT_SAYS("rule: iteration_of_several_sweeps\n", said());
}

TEST_F(DiagnosisTest, what_is_added_up) {
  solver.counted = [](double change) { return 32 * change * change; };
  EXPECT_SAYS("every squared change is counted 32 times", said());
}

TEST_F(DiagnosisTest, parts_of_the_sum_that_others_overwrite) {
  solver.is_counted = [](int, int j) { return j % 4 == 3; };
  EXPECT_EQ(said().find("race"), std::string::npos);
  run_again = [&](const Case& asked, Observation* seen) {
    *seen = solver.run(asked);
    for (auto& residual : seen->residuals) residual.value *= 0.9;
    return true;
  };
  EXPECT_SAYS("two runs of it give different residuals: a race", said());
}

TEST_F(DiagnosisTest, a_sum_that_is_not_set_back) {
  solver.resets_sum = false;
  EXPECT_SAYS("the sum is never reset", said());
}

TEST_F(DiagnosisTest, residuals_of_the_iteration_before) {
  double before = INFINITY;
  solver.start = [&](Field&, Field&) { before = INFINITY; };
  solver.residual = [&](double sum) {
    const double now = std::sqrt(sum) / kN, said = before;
    before = now;
    return said;
  };
  EXPECT_SAYS("each iteration reports the residual of the previous one", said());
}

TEST_F(DiagnosisTest, residuals_of_the_iteration_after) {
  solver.residual = [&](double sum) { return std::sqrt(sum) / kN; };
  validate::Patient patient;
  patient.step = 9;
  patient.run = [&](const Case& asked, bool, Observation* seen) {
    Case one_more = asked;
    ++one_more.iterations;
    *seen = solver.run(asked);
    const Observation later = solver.run(one_more);
    for (int k = 0; k < asked.iterations; ++k) {
      seen->residuals[k].value = later.residuals[k + 1].value;
    }
    return true;
  };
  const Wrong wrong = {{ProblemKind::kProbe, kN, kIterations}, kIterations, false, 0, true};
  EXPECT_EQ(validate::diagnose(wrong, patient).cause,
            "each iteration reports the residual of the next one");
}

TEST_F(DiagnosisTest, parts_of_the_sum) {
  solver.is_counted = [](int, int j) { return j % 4 == 0; };
  EXPECT_SAYS("only the rows with j % 4 == 0 are in the sum", said());
  solver.is_counted = [](int i, int) { return i % 32 < 16; };
  EXPECT_SAYS("only the columns with i % 32 from 0 to 15 are in the sum", said());
  solver.is_counted = [](int, int j) { return j == kN - 2; };
  EXPECT_SAYS("only the row j = 98 is in the sum", said());
  solver.is_counted = [](int i, int) { return i != 40; };
  EXPECT_SAYS("the column i = 40 is left out of the sum", said());
  solver.is_counted = [](int i, int j) { return (i * 31 + j * 17) % 7 < 3; };
  EXPECT_SAYS("the sum of the squared changes is too small", said());
}

TEST_F(DiagnosisTest, a_sum_that_an_int_has_held) {
  const auto of_whole = [](double sum) { return std::sqrt(sum / (double(kN) * kN)); };
  solver.residual = [&](double sum) { return of_whole(std::floor(sum)); };
  EXPECT_SAYS("is a whole number", said());
  // A variable that was never set may hold a large value, and large doubles have no fraction.
  solver.residual = [&](double sum) { return of_whole(std::floor(5e12 + sum)); };
  EXPECT_EQ(said().find("is a whole number"), std::string::npos) << said();
}

TEST_F(DiagnosisTest, a_sum_in_float) {
  float in_float = 0;
  solver.before_sweep = [&](Field&, Field&) { in_float = 0; };
  solver.counted = [&](double change) {
    in_float += static_cast<float>(change) * static_cast<float>(change);
    return 0.0;
  };
  solver.residual = [&](double) { return std::sqrt(static_cast<double>(in_float)) / kN; };
  EXPECT_SAYS("the sum is a float, and many numbers are added to it one after another", said());
}

TEST_F(DiagnosisTest, an_array_that_is_not_shared) {
  solver.update = [&](const Field& f, int i, int j) { return solver.at(f, i - 1, j); };
  const auto kernel = [](const std::string& declared) {
    return "__global__ void jacobi_sweep_kernel(float* f) {\n  float " + declared +
           ";\n  rows[threadIdx.y] = f[threadIdx.x];\n  __syncthreads();\n}\n";
  };
  source = kernel("rows[32]");
  EXPECT_SAYS("at line 2 rows is declared without __shared__", said(9));
  source = kernel("x;\n  __shared__ union {\n    float rows[32];\n  } both");
  EXPECT_EQ(said(9).find("without __shared__"), std::string::npos) << said(9);
  source = kernel("rows[3]");  // a thread's own
  EXPECT_EQ(said(9).find("__shared__"), std::string::npos) << said(9);
}

TEST_F(DiagnosisTest, a_race_in_the_sum) {
  solver.is_counted = [](int i, int j) { return (i * 31 + j * 17) % 7 < 6; };
  run_again = [&](const Case& asked, Observation* seen) {
    *seen = solver.run(asked);
    for (auto& residual : seen->residuals) residual.value *= 0.9;
    return true;
  };
  EXPECT_SAYS(
      "different residuals: a race, or a variable that was never set\nlook at: each addition",
      said());
  watched = true;
  EXPECT_SAYS(
      "different residuals: a look at every access finds no race, so most likely a variable that "
      "was never set\nlook at: whether a thread's own sum begins with 0",
      said());
  found = "race";
  source = "void sweep(double* sum) {\n  *sum += change * change;\n}\n";
  found_at = 2;
  EXPECT_SAYS("at line 2 several threads add to the same sum", said());
  EXPECT_SAYS("look at: line 2: atomicAdd", said());
  source = "void sweep(double* sum) {\n  f[k] += change * change;\n}\n";
  EXPECT_SAYS("a race: one thread writes what another one reads, in global memory, at line 2",
              said());
}

TEST_F(DiagnosisTest, residuals_that_are_less_and_less_right) {
  solver.residual = [&](double sum) {
    const double right = std::sqrt(sum) / kN;
    return right * (right > 0.2 ? 1 + 5e-7 : 1 + 3e-6);  // up to 1e-6 it is called right
  };
  EXPECT_SAYS("too large (1.00001 times what it should be in iteration 6)", said());
}

TEST_F(DiagnosisTest, a_sum_that_nobody_adds_to) {
  solver.residual = [](double) { return 0.0; };
  EXPECT_SAYS("every residual is 0, though the field changes", said(9));
  EXPECT_SAYS("look at: whether the kernel that adds to the sum, the one with kCheck", said(11));
  names = {"__global__", "kCheckEvery"};
  EXPECT_EQ(said(11).find("the one with kCheck"), std::string::npos) << "it has no such kernel";
}

TEST_F(DiagnosisTest, few_things_to_look_at_for_no_number) {
  solver.residual = [](double) { return static_cast<double>(kNan); };
  for (const int step : {4, 8, 11, 12, 15}) {
    const std::string text = said(step);
    std::size_t looks = 0;
    for (std::size_t at = text.find("look at: "); at != std::string::npos;
         at = text.find("look at: ", at + 1)) {
      ++looks;
    }
    EXPECT_GE(looks, 2u) << text;
    EXPECT_LE(looks, 4u) << text;  // three, of which a long one is told in two
  }
  names = {"__global__", "cudaMemcpyAsync", "atomicAdd"};
  EXPECT_SAYS(
      "gives something that is not a number\nlook at: the copy of the sum: the host's place comes "
      "first",
      said(11));
  names.erase("atomicAdd");
  EXPECT_SAYS("a stored part is added up that no block (or thread) has stored", said(11));
}

TEST_F(DiagnosisTest, bytes_of_the_sum_are_none_of_the_field) {
  solver.is_copied = [](int, int j) { return j < 16; };
  names = {"__global__", "copy_field_kernel", "cudaMemcpy"};
  source = "copy_field_kernel<<<grid, block>>>(to, from, n);\ncudaMemcpy(&host_sum, sum, 8, kind);";
  EXPECT_SAYS("look at: which points the threads of copy_field_kernel have", said(8));
  EXPECT_EQ(said(8).find("the number of bytes"), std::string::npos) << said(8);
  source = "cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);";
  EXPECT_SAYS("look at: the number of bytes, where the field is copied", said(8));
  names = {"memcpy"};
  EXPECT_SAYS("look at: the number of bytes, where the field is copied", said(3));
}

TEST_F(DiagnosisTest, quotes_no_line_that_the_file_has_not) {
  solver.residual = [](double sum) { return std::sqrt(sum) / (kN - 2); };
  EXPECT_SAYS("look at: residual = std::sqrt(squares / (double(n) * n)) in main", said(4));
  source = "residual = std::sqrt( squares / (double(n)*n) );  // in other blanks";
  EXPECT_SAYS("look at: residual = std::sqrt(squares / (double(n) * n)) in main", said(4));
  source = "residual = sqrt(total) / (n - 2);";
  EXPECT_SAYS("look at: the formula of the residual, and what", said(4));
  source = "double change(double total, int n) {\n  return sqrt(total) / (n - 2);\n}";
  EXPECT_SAYS("look at: the formula of the residual in change, and what", said(4));
}

// ---- Loops

TEST_F(DiagnosisTest, loops_that_end_early) {
  solver.iterations = [](int asked) { return asked - 1; };
  EXPECT_SAYS("the loop ends after 9 of 10 iterations", said());
  solver.iterations = [](int asked) { return std::min(asked, 4); };
  EXPECT_SAYS("the loop ends after 4 of 10 iterations", said());
}

// What the first run had read of memory that nothing has set was not a number, which ended its
// loop; the next one reads something else there.
TEST_F(DiagnosisTest, a_residual_that_is_no_number_once_is_not_a_loop_that_ends_early) {
  int run = 0;
  solver.start = [&](Field&, Field&) { ++run; };
  solver.residual = [&](double sum) { return run == 1 ? kNan : std::sqrt(sum) / kN; };
  EXPECT_EQ(said().find("the loop ends"), std::string::npos);
}

// A tile of 38 points that are stored, and a halo of 5, makes 6 sweeps.
TEST(DiagnosePassTest, tiles_with_a_halo_that_is_too_narrow) {
  Solver solver;
  validate::Patient patient;
  patient.step = 13;
  patient.names = {"tile_sweeps"};
  patient.run = [&](const Case& asked, bool, Observation* seen) {
    *seen = solver.run(asked);
    if (asked.iterations < 6) return true;
    for (int j = 1; j < asked.n - 1; ++j) {
      for (int i = 1; i < asked.n - 1; ++i) {
        const bool seam = i % 38 == 37 || i % 38 == 0 || j % 38 == 37 || j % 38 == 0;
        if (seam) seen->field[static_cast<std::size_t>(j) * asked.n + i] += 0.01f;
      }
    }
    return true;
  };
  Wrong wrong;
  wrong.run = {ProblemKind::kProbe, kN, 6};
  wrong.made = 6;
  wrong.field = true;
  wrong.first_iteration = 6;
  std::string text;
  for (const std::string& line :
       validate::diagnose(wrong, patient, validate::Subject::kPass).lines()) {
    text += line + "\n";
  }
  EXPECT_SAYS("its halo has as many points on each side as it performs sweeps", text);
}

TEST(DiagnosePassTest, a_sum_that_comes_nowhere) {
  validate::Wrong wrong;
  wrong.run = {ProblemKind::kProbe, kN, 10};
  wrong.made = 10;
  wrong.residual = true;
  const auto cause_of = [&](double found) {
    validate::Patient patient;
    patient.step = 11;
    patient.run = [&](const Case& asked, bool, Observation* seen) {
      *seen = Solver().run(asked);
      for (auto& residual : seen->residuals) residual.value = found;
      return true;
    };
    return validate::diagnose(wrong, patient, validate::Subject::kPassSum).cause;
  };
  // Of memory that nothing has written a GPU reads 0.
  EXPECT_SAYS("the residual is 0: the host reads a place to which no sum was copied", cause_of(0));
  EXPECT_SAYS("the residual is not a number: the host reads a place to which no sum was copied",
              cause_of(std::nan("")));
  EXPECT_EQ(cause_of(0.5).find("no sum was copied"), std::string::npos);
}

TEST(DiagnoseFailureTest, loops_that_end_late_or_never_begin) {
  const Case run = {ProblemKind::kProbe, kN, 10};
  const validate::Patient patient;
  EXPECT_SAYS("does not end at --iterations 10",
              validate::diagnose_failure(run, 11, "", patient).cause);
  EXPECT_SAYS(
      "not one iteration",
      validate::diagnose_failure(run, 0, "residuals.csv: holds no residual", patient).cause);
  EXPECT_SAYS("an iteration 0 is recorded",
              validate::diagnose_failure(run, 0, "x: a bad line, '0,0.5'", patient).cause);
  EXPECT_SAYS("it goes on for ever",
              validate::diagnose_failure(run, 0, "it did not end within 60 s", patient).cause);
  EXPECT_FALSE(validate::diagnose_failure(run, 0, "it ended with exit code 3", patient).known());
}

TEST_F(DiagnosisTest, nothing_is_said_where_nothing_fits) {
  solver.update = [&](const Field& f, int i, int j) {
    return i == 50 && j == 50 ? 7.0f : solver.mean(f, i, j);
  };
  EXPECT_EQ(said(), "");
  solver.update = [&](const Field& f, int i, int j) {
    return std::min(0.5f, solver.mean(f, i, j));
  };
  EXPECT_EQ(said(), "");
  solver.update = [&](const Field& f, int i, int j) {
    const float v = solver.mean(f, i, j);
    return v * v;
  };
  EXPECT_EQ(said(), "");
}

// ---- Sets of points

Cells cells_where(int n, const std::function<bool(int, int)>& in) {
  Cells cells(n);
  for (int j = 1; j < n - 1; ++j) {
    for (int i = 1; i < n - 1; ++i) {
      if (in(i, j)) cells.add(i, j);
    }
  }
  return cells;
}

std::string words_where(const std::function<bool(int, int)>& in) {
  return validate::find_pattern(cells_where(kN, in)).words();
}

TEST(PatternTest, has_words) {
  EXPECT_EQ(words_where([](int i, int) { return i == 1; }), "the first interior column, i = 1");
  EXPECT_EQ(words_where([](int, int j) { return j > 90; }), "the last 8 interior rows, j = 91..98");
  EXPECT_EQ(words_where([](int, int) { return true; }), "the whole interior");
  EXPECT_EQ(words_where([](int, int j) { return j > 1; }), "the last 97 interior rows, j = 2..98");
  EXPECT_EQ(words_where([](int i, int j) { return j > 2 || (j == 2 && i > 55); }),
            "points in the last 97 interior rows, j = 2..98");
  EXPECT_EQ(words_where([](int, int) { return false; }), "no point");
  EXPECT_EQ(words_where([](int i, int) { return i == 40; }), "the column i = 40");
  EXPECT_EQ(words_where([](int i, int) { return i % 8 != 3; }),
            "the columns with i % 8 != 3 (i = 1..2, 4..10, 12..18, 20..26 ...)");
  EXPECT_EQ(words_where([](int i, int j) { return i > 95 || j == 1; }),
            "the last 3 interior columns, i = 96..98, and the first interior row, j = 1");
  EXPECT_EQ(words_where([](int i, int j) { return (i * i + j * 7) % 11 == 3; }), "some points");
  // Half of the remainders, with gaps, say nothing.
  EXPECT_EQ(words_where([](int i, int) { return i % 8 == 1 || i % 8 == 2 || i % 8 == 4; }),
            "38 columns, i = 1..2, 4, 9..10, 12 ...");
}

TEST(PatternTest, finds_both_ends_of_each_block) {
  EXPECT_EQ(validate::describe_lines({31, 32, 63, 64, 95, 96}, 'i', 100).words(),
            "the columns with i % 32 in {0, 31} (i = 31..32, 63..64, 95..96)");
  EXPECT_EQ(validate::describe_lines({40, 90}, 'j', 100).words(), "2 rows, j = 40, 90");
}

TEST(PatternTest, one_point_that_is_right_by_chance_changes_nothing) {
  EXPECT_EQ(words_where([](int i, int j) { return i == 1 && j != 17; }),
            "the first interior column, i = 1");
}

TEST(PictureTest, is_small_and_has_north_above) {
  const std::vector<std::string> lines =
      validate::picture(cells_where(250, [](int i, int j) { return i < 100 && j > 200; }));
  ASSERT_LE(lines.size(), 20u);
  for (const std::string& line : lines) EXPECT_LE(line.size(), 40u);
  EXPECT_EQ(lines.front().find('#'), 0u);
  EXPECT_EQ(lines.front().back(), '.');
  EXPECT_EQ(lines.back().find('#'), std::string::npos);
}

TEST(PictureTest, what_is_wrong_in_part_looks_otherwise) {
  for (const std::string& line :
       validate::picture(cells_where(100, [](int i, int j) { return (i + j) % 2 == 0; }))) {
    EXPECT_EQ(line.find('#'), std::string::npos);
    EXPECT_NE(line.find('+'), std::string::npos);
  }
}

}  // namespace
