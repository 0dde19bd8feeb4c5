// Cycles over several grids: how much nearer each comes to the solution, and how fast.

#include <lab/problem.h>

#include "goals/measures.h"
#include "judge/check_cycles.h"
#include "reference/exact_solution.h"
#include "run/program_run.h"
#include "run/text.h"

namespace validate {
namespace {

/// The field that a run leaves, on the CPU if that is there: a start on a GPU takes a while.
std::vector<float> field_after(const Bench* bench, const Case& run) {
  const TemporaryFolder folder;
  const std::string dir = folder.path() + "/record";
  const std::string& program =
      bench->have.on_cpu.empty() ? bench->have.program : bench->have.on_cpu;
  std::string why_not = run_program(program, run, dir, bench->have.time_limit).error;
  std::vector<float> field;
  if (!why_not.empty() || !read_field(dir, run.n, &field, &why_not)) throw NotMeasurable(why_not);
  return field;
}

}  // namespace

Measured little_error_left(Bench* bench) {
  double most = 0;
  int at_n = 0;
  for (const int n : {33, 64, 100, 129, 130, 250, 521}) {
    const lab::Problem problem(lab::ProblemKind::kProbe, n);
    const std::vector<double> exact = exact_solution(problem);
    const auto error_after = [&](int cycles) {
      return error_of(field_after(bench, {problem.kind(), n, cycles}), exact);
    };
    const double left = left_by_a_cycle(error_after(kFrom), error_after(kTo));
    if (!(left <= most)) most = left, at_n = n;
  }
  return {most <= kMostLeft, format("%.3f at n = %d, and less at other sizes", most, at_n)};
}

Measured begins_near(Bench* bench) {
  // One V-cycle per level leaves six times the discretisation's own error; none, thousands.
  constexpr double kMost = 10;
  double most = 0;
  int at_n = 0;
  // What small levels lose of the start is large on a small grid only.
  for (const int n : {64, 521}) {
    const lab::Problem problem(lab::ProblemKind::kLaplace, n);
    const std::vector<double> exact = exact_solution(problem);
    const std::vector<float> best(exact.begin(), exact.end());
    const std::vector<float> field = field_after(bench, {problem.kind(), n, 1});
    const double ratio = problem.distance_to_exact(field.data(), 1, n) /
                         problem.distance_to_exact(best.data(), 1, n);
    if (!(ratio <= most)) most = ratio, at_n = n;
  }
  return {most <= kMost, format("after one cycle %.1f times as far from the solution as "
                                "the grid allows (n = %d; at most %.0f)",
                                most, at_n, kMost)};
}

Measured solves_in_few_copies(Bench* bench) {
  constexpr double kMost = 30;
  need_gpu(bench);
  const int n = bench->default_n(bench->have.program);
  const double ms = bench->milliseconds(bench->have.program, n, 1);
  const double copy_ms = 1e-6 * 2 * sizeof(float) * points(n) / bench->gpu().copy_gb_per_s;
  return {ms <= kMost * copy_ms,
          format("%.1f ms at n = %d, %.1f copies of the field", ms, n, ms / copy_ms)};
}

}  // namespace validate
