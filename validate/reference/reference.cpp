#include "reference/reference.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include <cuda_on_cpu/machine.h>
#include <lab/run.h>

namespace validate {
namespace {

/// With fewer points than this, one more thread costs more than it saves.
constexpr std::size_t kPointsPerThread = 1 << 16;

/// Calls work(first_row, last_row) for rows [begin, end) split over threads.
template <typename Work>
void over_rows(int begin, int end, int n, int threads, Work work) {
  const std::size_t points = static_cast<std::size_t>(end - begin) * n;
  const int useful = static_cast<int>(points / kPointsPerThread) + 1;
  const int count = std::max(1, std::min({threads, useful, end - begin}));
  if (count == 1) return work(begin, end);
  std::vector<std::thread> workers;
  for (int t = 0; t < count; ++t) {
    workers.emplace_back(work, begin + first_row(end - begin, t, count),
                         begin + first_row(end - begin, t + 1, count));
  }
  for (std::thread& worker : workers) worker.join();
}

std::size_t points(int n) { return static_cast<std::size_t>(n) * n; }

}  // namespace

double sweep_row(float* __restrict__ out, const float* __restrict__ south,
                 const float* __restrict__ middle, const float* __restrict__ north, int n) {
  // Eight partial sums, so that the compiler may use vector instructions without changing the order
  // of any addition.
  constexpr int kLanes = 8;
  double partial[kLanes] = {};
  int i = 1;
  for (; i + kLanes <= n - 1; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const int k = i + lane;
      const float value = 0.25f * ((middle[k + 1] + north[k]) + (middle[k - 1] + south[k]));
      const double change = value - middle[k];
      out[k] = value;
      partial[lane] += change * change;
    }
  }
  for (; i < n - 1; ++i) {
    const float value = 0.25f * ((middle[i + 1] + north[i]) + (middle[i - 1] + south[i]));
    const double change = value - middle[i];
    out[i] = value;
    partial[0] += change * change;
  }
  double sum = 0;
  for (double p : partial) sum += p;
  return sum;
}

Reference::Reference(int n, int threads)
    : n_(n),
      threads_(threads > 0 ? threads : cuda_on_cpu::usable_cores()),
      field_(unwritten_floats(points(n_))),
      next_(unwritten_floats(points(n_))),
      row_sums_(n_, 0.0) {}

Reference::Reference(const lab::Problem& problem, int threads) : Reference(problem.n(), threads) {
  over_rows(0, n_, n_, threads_, [&](int first, int last) {
    for (int j = first; j < last; ++j) {
      const std::size_t row = static_cast<std::size_t>(j) * n_;
      for (int i = 0; i < n_; ++i) {
        field_[row + i] = problem.initial_old()(i, j);
        next_[row + i] = problem.initial_new()(i, j);
      }
    }
  });
}

Reference::Reference(int n, const std::vector<float>& field) : Reference(n, 0) {
  std::copy(field.begin(), field.end(), field_.get());
  std::copy(field.begin(), field.end(), next_.get());
}

double Reference::sweep() {
  over_rows(1, n_ - 1, n_, threads_, [&](int first, int last) {
    for (int j = first; j < last; ++j) {
      row_sums_[j] =
          sweep_row(&next_[static_cast<std::size_t>(j) * n_], row(j - 1), row(j), row(j + 1), n_);
    }
  });
  std::swap(field_, next_);
  double sum = 0;
  for (double row_sum : row_sums_) sum += row_sum;
  return std::sqrt(sum / (static_cast<double>(n_) * n_));
}

std::vector<std::uint64_t> Reference::row_hashes() const {
  std::vector<std::uint64_t> hashes(n_);
  over_rows(0, n_, n_, threads_, [&](int first, int last) {
    for (int j = first; j < last; ++j) hashes[j] = lab::row_hash(row(j), n_);
  });
  return hashes;
}

double Reference::max_abs() const {
  float largest = 0;
  for (std::size_t k = 0; k < points(n_); ++k) largest = std::max(largest, std::fabs(field_[k]));
  return largest;
}

}  // namespace validate
