// The code for all cores: its field and its residual are the reference's for any number of threads,
// and what differs from the reference gets no time.

#include "ladder/all_cores.h"

#include <sched.h>

#include <cuda_on_cpu/machine.h>
#include <gtest/gtest.h>
#include <lab/problem.h>

#include "reference/reference.h"

namespace {

using lab::Problem;
using lab::ProblemKind;
using validate::Reference;
using validate::sweep_on_threads;
using validate::ThreadedSweeps;
using validate::time_if_right;

constexpr int kSamples = 3, kSweeps = 2, kAllSweeps = 1 + kSamples * kSweeps;

double sweep(Reference* reference, int sweeps) {
  double residual = 0;
  for (int k = 0; k < sweeps; ++k) residual = reference->sweep();
  return residual;
}

class AllCoresTest : public ::testing::TestWithParam<int> {};

TEST_P(AllCoresTest, agrees_with_the_reference_at_awkward_sizes) {
  const int threads = GetParam();
  for (int n : {3, 34, 100, 257}) {
    if (threads > n - 2) continue;
    const Problem problem(ProblemKind::kProbe, n);
    Reference reference(problem, 1);
    const double residual = sweep(&reference, kAllSweeps);
    const ThreadedSweeps made = sweep_on_threads(problem, threads, kSamples, kSweeps);
    EXPECT_EQ(made.ms.size(), static_cast<std::size_t>(kSamples));
    EXPECT_TRUE(time_if_right(made, reference, residual).measured()) << "n = " << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, AllCoresTest, ::testing::Values(1, 2, 3, 7, 16));

TEST(AllCoresTest, after_an_even_number_of_sweeps_the_field_is_the_other_one) {
  const Problem problem(ProblemKind::kProbe, 50);
  Reference reference(problem, 1);
  const double residual = sweep(&reference, 4);
  EXPECT_TRUE(time_if_right(sweep_on_threads(problem, 2, 3, 1), reference, residual).measured());
}

TEST(AllCoresTest, what_is_wrong_gets_no_time) {
  const Problem problem(ProblemKind::kProbe, 50);
  Reference reference(problem, 1);
  const double residual = sweep(&reference, kAllSweeps);
  ThreadedSweeps made = sweep_on_threads(problem, 2, kSamples, kSweeps);
  EXPECT_FALSE(time_if_right(made, reference, 1.001 * residual).measured());
  made.field[49 * 50 + 48] += 1e-6f;
  EXPECT_FALSE(time_if_right(made, reference, residual).measured());
}

TEST(AllCoresTest, a_small_grid_gets_few_threads) {
  EXPECT_EQ(validate::useful_threads(64, 16), 1);
  EXPECT_EQ(validate::useful_threads(3, 16), 1);
  EXPECT_EQ(validate::useful_threads(2048, 16), 16);
}

TEST(AllCoresTest, counts_the_processors_that_this_process_may_use) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(cuda_on_cpu::usable_cores(), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int k = 0; k < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++k) {
    if (CPU_ISSET(k, &before)) CPU_SET(k, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(cuda_on_cpu::usable_cores(), 1);
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
