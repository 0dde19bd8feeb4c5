#include "judge/check_step.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <utility>

#include <cuda_on_cpu/machine.h>

#include "judge/check_cycles.h"
#include "run/text.h"

namespace validate {
namespace {

constexpr const char* kByLuck =
    "The GPU was right by luck: the CPU, which looks at every access, finds this.";

/// What is tried besides the cases. Says in *not_tried if the step's own n cannot be.
Extent extent_of(const StepCheck& asked, std::string* not_tried) {
  Extent extent;
  extent.sizes = asked.cases.empty();
  extent.every_order = asked.every_order;
  if (!asked.at_hand.gpu || !extent.sizes) return extent;
  const int n = default_n(asked.built.empty() ? asked.program : asked.on_cpu);
  // The reference has two fields, and the program may need as much on the host.
  const double bytes = 16.0 * n * n;
  if (bytes > static_cast<double>(cuda_on_cpu::available_memory())) {
    *not_tried = format("n = %d, its own, was not tried: the reference needs %.1f GB of memory", n,
                        1e-9 * bytes);
  } else {
    extent.own_n = n;
  }
  return extent;
}

/// Seconds more for a GPU once the CPU knows that the program is wrong. A kernel that never ends is
/// not waited for, nor is nvcc.
constexpr std::chrono::seconds kMoreSeconds(5);

/// The verdict of a GPU on few runs, and of the CPU in its place on all of them. Each ends the
/// other's runs if the verdict is known without them.
Verdict check_on_both(const StepCheck& asked, const Extent& extent, const Progress& progress) {
  const std::vector<Case> usual = with_ranks(usual_cases(), asked.ranks);
  std::atomic<bool> gpu_unwanted = false, cpu_unwanted = false;
  std::atomic<bool> built = asked.built.empty();
  std::future<Verdict> on_gpu = std::async(std::launch::async, [&] {
    built = wait_for_build(asked.built, &gpu_unwanted);
    if (!built) {
      cpu_unwanted = true;
      return Verdict{Verdict::kNoProgram};
    }
    Extent few;
    few.own_n = extent.own_n;
    few.few_checks = true;
    few.explain = false;
    few.unwanted = &gpu_unwanted;
    return check_program(asked.program, cases_for_gpu(asked.ranks), asked.time_limit, progress, {},
                         few);
  });
  Extent all = extent;
  all.own_n = 0;
  all.every_order = true;
  all.unwanted = &cpu_unwanted;
  AtHand of_cpu = asked.at_hand;
  of_cpu.gpu = false;
  const Verdict cpu = check_program(asked.on_cpu, usual, asked.time_limit, quietly, of_cpu, all);
  const auto more = built ? kMoreSeconds : std::chrono::seconds(0);
  if (cpu.kind == Verdict::kByCycles || (cpu.kind == Verdict::kWrong && !cpu.too_slow &&
                                         on_gpu.wait_for(more) != std::future_status::ready)) {
    gpu_unwanted = true;
    on_gpu.wait();
    return cpu;
  }
  const Verdict gpu = on_gpu.get();
  if (gpu.kind != Verdict::kRight && gpu.kind != Verdict::kWrong) return gpu;
  const bool too_slow = cpu.too_slow && gpu.kind == Verdict::kRight;  // and no more than that
  if ((cpu.kind == Verdict::kWrong && !too_slow) ||
      (cpu.kind == Verdict::kRight && gpu.kind == Verdict::kRight)) {
    return verdict_of_both(gpu, cpu);
  }
  // The CPU does not say: the GPU has to.
  const bool known = gpu.kind == Verdict::kWrong;
  return check_program(asked.program, known ? std::vector<Case>{gpu.run} : usual, asked.time_limit,
                       progress, asked.at_hand, known ? Extent() : extent);
}

/// Short runs in which every access is looked at.
Verdict look(const StepCheck& asked, const Progress& progress,
             std::atomic<bool>* unwanted = nullptr, const std::atomic<bool>* decided = nullptr) {
  std::vector<Case> cases;
  for (const int n : asked.look_at) {
    cases.push_back({lab::ProblemKind::kProbe, n, asked.look_sweeps});
  }
  // One number of ranks will do.
  std::vector<int> ranks;
  if (!asked.ranks.empty()) {
    ranks = {std::min(3, *std::max_element(asked.ranks.begin(), asked.ranks.end()))};
  }
  Extent extent;
  extent.watched = true;
  extent.unwanted = unwanted;
  extent.decided = decided;
  return check_program(asked.at_hand.watched, with_ranks(cases, ranks), asked.time_limit, progress,
                       {asked.at_hand.source, ""}, extent);
}

}  // namespace

Verdict verdict_of_both(Verdict gpu, Verdict cpu) {
  if (cpu.kind == Verdict::kWrong) {
    if (gpu.kind == Verdict::kRight) cpu.details.push_back(kByLuck);
    return cpu;
  }
  gpu.remarks.push_back("The CPU, run instead of the GPU, agrees: " +
                        cpu.summary.substr(std::string("right: ").size()));
  for (const std::string& remark : cpu.remarks) {
    // Both may say of the program what it is.
    if (std::count(gpu.remarks.begin(), gpu.remarks.end(), remark) == 0) {
      gpu.remarks.push_back(remark);
    }
  }
  return gpu;
}

void add_look(bool on_gpu, Verdict found, Verdict* verdict) {
  if (found.kind == Verdict::kWrong) {
    if (on_gpu) found.details.push_back(kByLuck);
    *verdict = std::move(found);
  } else if (found.kind == Verdict::kRight) {
    verdict->remarks.push_back(kNothingSeen);
  }
}

Verdict check_step(const StepCheck& asked, const Progress& progress) {
  // Beside a GPU the CPU has nothing else to do. A program that is wrong is not looked at.
  std::atomic<bool> unwanted = false, decided = false;
  std::future<Verdict> beside;
  std::string not_tried;
  Extent extent = extent_of(asked, &not_tried);
  if (!asked.look_at.empty() && asked.at_hand.gpu) {
    beside =
        std::async(std::launch::async, [&] { return look(asked, quietly, &unwanted, &decided); });
  } else if (!asked.look_at.empty()) {
    extent.look = [&] { return look(asked, progress); };
  }
  const bool usual = asked.cases.empty();
  if ((!usual || asked.on_cpu.empty()) && !wait_for_build(asked.built)) {
    unwanted = decided = true;
    return {Verdict::kNoProgram};
  }
  Verdict verdict =
      usual && !asked.on_cpu.empty()
          ? check_on_both(asked, extent, progress)
          : check_program(asked.program,
                          with_ranks(usual ? usual_cases() : asked.cases, asked.ranks),
                          asked.time_limit, progress, asked.at_hand, extent);
  if (verdict.kind != Verdict::kRight) unwanted = decided = true;
  if (verdict.kind == Verdict::kByCycles) return check_cycles(asked, progress);
  if (!not_tried.empty()) verdict.remarks.push_back(not_tried);
  if (verdict.kind == Verdict::kRight && beside.valid()) add_look(true, beside.get(), &verdict);
  return verdict;
}

}  // namespace validate
