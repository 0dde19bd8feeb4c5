#include "ladder/all_cores.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <thread>
#include <utility>

namespace validate {
namespace {

/// With fewer points per thread waits longer for the others than it computes.
constexpr int kPointsPerThread = 1 << 14;

/// Threads meet here. They ask again and again, because a sweep is short; on a machine with other
/// work they let others run.
class MeetingPoint {
 public:
  explicit MeetingPoint(int threads) : threads_(threads) {}
  void wait() {
    constexpr int kPatience = 4096;
    const int meeting = meeting_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      arrived_.store(0, std::memory_order_relaxed);
      meeting_.store(meeting + 1, std::memory_order_release);
      return;
    }
    for (int k = 0; meeting_.load(std::memory_order_acquire) == meeting; ++k) {
      if (k > kPatience) std::this_thread::yield();
    }
  }

 private:
  const int threads_;
  std::atomic<int> arrived_{0}, meeting_{0};
};

/// A thread's sums of this sweep and of the one before, on a cache line of its own.
struct alignas(64) Sums {
  double of[2];
};

}  // namespace

int useful_threads(int n, int most) {
  const long long useful = static_cast<long long>(n) * n / kPointsPerThread;
  return static_cast<int>(std::clamp<long long>(useful, 1, std::max(1, std::min(most, n - 2))));
}

ThreadedSweeps sweep_on_threads(const lab::Problem& problem, int threads, int samples, int sweeps) {
  using Clock = std::chrono::steady_clock;
  const int n = problem.n();
  const std::size_t points = static_cast<std::size_t>(n) * n;
  ThreadedSweeps made;
  made.field = unwritten_floats(points);
  std::unique_ptr<float[]> other = unwritten_floats(points);
  std::vector<Sums> sums(threads);
  MeetingPoint everyone(threads);

  auto work = [&](int thread) {
    const int first = 1 + first_row(n - 2, thread, threads);
    const int last = 1 + first_row(n - 2, thread + 1, threads);
    float *from = made.field.get(), *to = other.get();
    auto row = [n](float* field, int j) { return field + static_cast<std::size_t>(j) * n; };
    for (int j = thread == 0 ? 0 : first; j < (thread == threads - 1 ? n : last); ++j) {
      for (int i = 0; i < n; ++i) {
        row(from, j)[i] = problem.initial_old()(i, j);
        row(to, j)[i] = problem.initial_new()(i, j);
      }
    }
    everyone.wait();
    int made_sweeps = 0;
    for (int sample = -1; sample < samples; ++sample) {
      const int count = sample < 0 ? 1 : sweeps;
      const Clock::time_point start = Clock::now();
      for (int k = 0; k < count; ++k, ++made_sweeps) {
        double sum = 0;
        for (int j = first; j < last; ++j) {
          sum += sweep_row(row(to, j), row(from, j - 1), row(from, j), row(from, j + 1), n);
        }
        sums[thread].of[made_sweeps % 2] = sum;
        everyone.wait();
        if (thread == 0) {
          double all = 0;
          for (const Sums& each : sums) all += each.of[made_sweeps % 2];
          made.residual = std::sqrt(all / (static_cast<double>(n) * n));
        }
        std::swap(from, to);
      }
      const double ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
      if (thread == 0 && sample >= 0) made.ms.push_back(ms / sweeps);
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(work, t);
  work(0);
  for (std::thread& each : others) each.join();
  if ((1 + samples * sweeps) % 2 == 1) made.field.swap(other);
  return made;
}

Timing time_if_right(const ThreadedSweeps& made, const Reference& reference, double residual) {
  const std::size_t n = reference.n();
  for (std::size_t j = 0; j < n; ++j) {
    const float* row = reference.row(static_cast<int>(j));
    if (std::memcmp(&made.field[j * n], row, n * sizeof(float)) != 0) return {};
  }
  const double rounding = std::ldexp(static_cast<double>(n * n + 4), -53) * residual;
  if (!(std::fabs(made.residual - residual) <= rounding)) return {};
  return summarize(made.ms);
}

}  // namespace validate
