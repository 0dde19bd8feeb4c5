#pragma once

#include <lab/options.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#ifdef __CUDACC__
#define LAB_HOST_DEVICE __host__ __device__
#else
#define LAB_HOST_DEVICE
#endif

namespace lab {

/// What an interior point holds before the first sweep. Computed only from integers, so that a
/// field initialised on the GPU has the same bits as one initialised on the CPU.
struct InteriorValue {
  ProblemKind kind;
  int n;               ///< points per side
  std::uint64_t seed;  ///< the probe's; each field has its own
  bool is_old;         ///< the field that the first sweep reads, not the one that it writes

  /// Value of point (i, j), 0 <= i, j < n.
  LAB_HOST_DEVICE float operator()(int i, int j) const {
    switch (kind) {
      case ProblemKind::kProbe: {
        // A value in [-1, 1) from 24 bits of a hash: SplitMix64's finaliser (Steele et al. 2014).
        std::uint64_t h = seed * 0x9e3779b97f4a7c15ull;
        h ^= (static_cast<std::uint64_t>(j) << 32) | static_cast<std::uint32_t>(i);
        h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
        h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
        h ^= h >> 31;
        const int value = static_cast<int>(h >> 40) - (1 << 23);
        return static_cast<float>(value) * (1.0f / (1 << 23));
      }
      case ProblemKind::kHarmonic:
        // (i + j)(i - j) = i^2 - j^2, an integer that a float holds exactly up to n = 4096.
        return is_old ? static_cast<float>((i + j) * (i - j)) : 0.0f;
      case ProblemKind::kLaplace:
        break;
    }
    return 0.0f;
  }
};

/// What every point of one field holds before the first sweep. It points to the boundary's values
/// and owns nothing: a kernel can take it if they are in the GPU's memory (lab::StartOnGpu).
struct StartingValue {
  InteriorValue interior;
  const float *south, *north;  ///< rows j = 0 and j = n - 1, n values each, corners included
  const float *west, *east;    ///< columns i = 0 and i = n - 1, n values each

  /// Value of point (i, j), 0 <= i, j < n.
  LAB_HOST_DEVICE float operator()(int i, int j) const {
    if (j == 0) return south[i];
    if (j == interior.n - 1) return north[i];
    if (i == 0) return west[j];
    if (i == interior.n - 1) return east[j];
    return interior(i, j);
  }
};

/// The values of one field before the first sweep: the boundary from arrays, the interior by rule.
struct StartingField {
  InteriorValue interior;
  std::vector<float> boundary;  ///< south, north, west and east of StartingValue, one by one

  /// The same with the boundary at `values`: boundary.data(), or a copy in the GPU's memory.
  StartingValue with_boundary_at(const float* values) const {
    const std::size_t n = boundary.size() / 4;
    return {interior, values, values + n, values + 2 * n, values + 3 * n};
  }
  /// Value of point (i, j), 0 <= i, j < n.
  float operator()(int i, int j) const { return with_boundary_at(boundary.data())(i, j); }
};

/// Copies `rows` whole rows of a field, from row j on, to `to`: n floats each, i from 0 to n - 1.
using FetchRows = std::function<void(float* to, int j, int rows)>;

/// Of a field in host memory, whose point (i, j) stands at i * stride_i + j * stride_j.
FetchRows fetch_rows(const float* field, int n, std::size_t stride_i, std::size_t stride_j);

/// Calls use(j, row) for all rows of a field in order, each with its n values.
void for_each_row(const FetchRows& fetch, int n,
                  const std::function<void(int j, const float* row)>& use);

/// The boundary-value problem that a step solves, on n x n points of the unit square.
///
/// laplace:  on the boundary u = sin(pi x) sinh(pi (1 - y)) / sinh(pi)
///                             + sin(2 pi y) sinh(2 pi x) / sinh(2 pi), zero inside.
///           u solves Laplace's equation, and is not symmetric in x and y.
/// probe:    every point, also on the boundary, from a hash of (i, j); no exact solution. The
///           field that the first sweep writes starts with other values: a point left out shows.
/// harmonic: x^2 - y^2 in integers, everywhere. A sweep changes no bit of it.
class Problem {
 public:
  explicit Problem(const Options& options);
  /// n points per side, n >= 3.
  Problem(ProblemKind kind, int n);

  /// Starting values of the field that the first sweep reads.
  const StartingField& initial_old() const { return old_; }
  /// Starting values of the field that the first sweep writes: the same boundary, another interior.
  const StartingField& initial_new() const { return new_; }

  ProblemKind kind() const { return old_.interior.kind; }
  int n() const { return old_.interior.n; }

  /// Whether `distance_to_exact` has an exact solution to compare with.
  bool has_exact_solution() const { return kind() != ProblemKind::kProbe; }

  /// sqrt(sum (f - u)^2 / sum u^2) over the interior, u the exact solution of the differential
  /// equation. `field` holds point (i, j) at i * stride_i + j * stride_j.
  double distance_to_exact(const float* field, std::size_t stride_i, std::size_t stride_j) const;
  /// The same of a field that is fetched row by row.
  double distance_to_exact(const FetchRows& fetch) const;

 private:
  StartingField old_, new_;
};

}  // namespace lab
