#include <lab/exit_codes.h>
#include <lab/problem.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lab {
namespace {

constexpr double kPi = 3.14159265358979323846;

/// The exact solution of `laplace`, a sum of two products: u = along_x[0] along_y[0] + ...
/// Kept as four factors of n values each, so that n x n points need no sinh.
struct LaplaceFactors {
  std::vector<double> x1, y1, x2, y2;

  explicit LaplaceFactors(int n) : x1(n), y1(n), x2(n), y2(n) {
    for (int k = 0; k < n; ++k) {
      const double t = static_cast<double>(k) / (n - 1);
      x1[k] = std::sin(kPi * t);
      y1[k] = std::sinh(kPi * (1 - t)) / std::sinh(kPi);
      x2[k] = std::sinh(2 * kPi * t) / std::sinh(2 * kPi);
      y2[k] = std::sin(2 * kPi * t);
    }
  }
  double operator()(int i, int j) const { return x1[i] * y1[j] + x2[i] * y2[j]; }
};

template <typename Value>
void fill_boundary(StartingField* field, Value value) {
  const int n = field->interior.n;
  field->boundary.reserve(std::size_t{4} * n);
  const auto add_side = [&](auto point) {
    for (int k = 0; k < n; ++k) field->boundary.push_back(static_cast<float>(point(k)));
  };
  add_side([&](int k) { return value(k, 0); });
  add_side([&](int k) { return value(k, n - 1); });
  add_side([&](int k) { return value(0, k); });
  add_side([&](int k) { return value(n - 1, k); });
}

}  // namespace

void for_each_row(const FetchRows& fetch, int n,
                  const std::function<void(int j, const float* row)>& use) {
  // Some megabytes at a time: a short copy from a GPU takes nearly as long as a longer one. And so
  // few that the validator's larger grids take more than one: a copy that begins at row 0 each time
  // shows.
  constexpr int kValues = 1 << 20;
  const int most = std::min(n, std::max(16, kValues / n));
  // Behind them there is room for rows that come with their padding: it shows, and damages nothing.
  constexpr float kUntouched = -4.0e-32f;
  std::vector<float> rows(static_cast<std::size_t>(most) * (n + 32));
  for (int first = 0; first < n; first += most) {
    const int count = std::min(most, n - first);
    const auto behind = rows.begin() + static_cast<std::ptrdiff_t>(count) * n;
    std::fill(behind, rows.end(), kUntouched);
    fetch(rows.data(), first, count);
    if (std::find_if(behind, rows.end(), [](float f) { return f != kUntouched; }) != rows.end()) {
      fail(kExitBadUsage, "the function for run.finish writes more than %d rows of n = %d floats",
           count, n);
    }
    for (int r = 0; r < count; ++r) use(first + r, &rows[static_cast<std::size_t>(r) * n]);
  }
}

FetchRows fetch_rows(const float* field, int n, std::size_t stride_i, std::size_t stride_j) {
  return [=](float* to, int j, int rows) {
    // A few rows side by side: in a layout in which the points of a row are far apart, those of a
    // column are neighbours, and a cache line serves them all.
    constexpr int kRows = 16;
    for (int first = 0; first < rows; first += kRows) {
      for (int i = 0; i < n; ++i) {
        for (int r = first; r < std::min(first + kRows, rows); ++r) {
          to[static_cast<std::size_t>(r) * n + i] = field[i * stride_i + (j + r) * stride_j];
        }
      }
    }
  };
}

Problem::Problem(const Options& options) : Problem(options.problem, options.n) {}

Problem::Problem(ProblemKind kind, int n) {
  old_.interior = {kind, n, 2, true};
  if (kind == ProblemKind::kLaplace) {
    fill_boundary(&old_, LaplaceFactors(n));
  } else {
    // The interior's rule holds on the boundary too.
    fill_boundary(&old_, old_.interior);
  }
  new_ = old_;
  new_.interior = {kind, n, 3, false};
}

double Problem::distance_to_exact(const float* field, std::size_t stride_i,
                                  std::size_t stride_j) const {
  return distance_to_exact(fetch_rows(field, n(), stride_i, stride_j));
}

double Problem::distance_to_exact(const FetchRows& fetch) const {
  const int n = this->n();
  const LaplaceFactors laplace(n);
  double difference = 0, size = 0;
  for_each_row(fetch, n, [&](int j, const float* row) {
    if (j == 0 || j == n - 1) return;
    // Several sums take turns: an addition need not wait for the one before.
    constexpr int kSums = 8;
    double differences[kSums] = {}, sizes[kSums] = {};
    for (int i = 1; i < n - 1; ++i) {
      const double u = kind() == ProblemKind::kLaplace ? laplace(i, j) : 1.0 * i * i - 1.0 * j * j;
      const double d = row[i] - u;
      differences[i % kSums] += d * d;
      sizes[i % kSums] += u * u;
    }
    difference = std::accumulate(differences, differences + kSums, difference);
    size = std::accumulate(sizes, sizes + kSums, size);
  });
  // n = 3 has one interior point, where x^2 - y^2 is 0.
  return std::sqrt(size > 0 ? difference / size : difference);
}

}  // namespace lab
