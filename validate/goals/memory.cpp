#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "goals/measures.h"
#include "run/text.h"
#include "source/source_code.h"

namespace validate {
namespace {

/// What kernels do in one iteration: a run of 3 less a run of 1, so that what is done before the
/// first does not count.
struct Iteration {
  double stores = 0;   // of threads, in global memory
  double copied = 0;   // values of 4 bytes, by cudaMemcpy
  double by_host = 0;  // those to or from the host's own memory, or copied by the host
  double swapped = 0;  // launches with other pointers than the last time
};

Iteration one_iteration(Bench* bench) {
  Iteration iteration;
  for (const int k : {1, 3}) {
    const double sign = k == 1 ? -0.5 : 0.5;
    for (const auto& [line, kernel] : bench->trace_watched(kCountedN, k).kernels) {
      iteration.stores += sign * kernel.stores.bytes / sizeof(float);
    }
    const Trace& trace = bench->trace_watched(kCountedN, k);
    for (const TraceRow& copy : trace.table("copies")) {
      const bool host = says(copy.name, "pageable") || copy.name == "memcpy host to host";
      if (copy.name == "memset") continue;
      (host ? iteration.by_host : iteration.copied) += sign * copy.bytes / sizeof(float);
    }
    iteration.swapped += sign * trace.total("arguments", "");
  }
  return iteration;
}

/// A sweep writes the interior, a copy the boundary too: both are one field.
std::string fields_written(double fields) {
  const double whole = std::round(fields);
  if (std::abs(fields - whole) <= 5.0 / kCountedN) fields = whole;
  return format("the GPU writes %.3g field%s per iteration", fields, fields == 1 ? "" : "s");
}

/// "sum, once (allocated at exercises/08_cub_reduction/jacobi.cu:43)".
std::string touched_words(const std::string& allocated_at, double count) {
  const std::size_t colon = allocated_at.rfind(':');
  std::string source, name;
  if (colon != std::string::npos && read_text(allocated_at.substr(0, colon), &source)) {
    name = allocated_in(source, std::atoi(allocated_at.c_str() + colon + 1));
  }
  const std::string times = count < 1.5 ? "once" : format("%.0f times", count);
  return name.empty() ? "what is allocated at " + allocated_at + ", " + times
                      : name + ", " + times + " (allocated at " + allocated_at + ")";
}

/// Whether host code leaves the fields alone in an iteration, and touches other memory fewer than
/// `least` times.
Measured left_to_gpu(Bench* bench, double least, const std::string& what) {
  // A run of 1 and a run of 3: two iterations between them.
  const auto runs = [&](int times) -> const Trace& {
    return bench->trace_watched(kCountedN, 2 * times - 1);
  };
  std::vector<std::string> touched;
  // By the line that allocates it ("solutions/08_cub_reduction/jacobi.cu:47"). Such a page moves to
  // the CPU.
  for (const TraceRow& row : runs(2).table("host accesses")) {
    const double count = difference(runs, "host accesses", row.name) / 2;
    // Memory that also holds the sum, say, may be touched for it.
    const bool fields = std::fmod(row.bytes, points(kCountedN) * sizeof(float)) == 0;
    if (count >= (fields ? 0.5 : least)) touched.push_back(touched_words(row.name, count));
  }
  return {touched.empty(), touched.empty()
                               ? "host code touches no " + what + " in an iteration"
                               : "in each iteration host code touches " + join(touched)};
}

/// Sectors for 32 floats; 0: a few values per block, which are no traffic.
double sectors_of_traffic(const KernelCount::Accesses& all) {
  return all.threads < 0.1 * points(kCountedN) ? 0 : sectors_per_request(all);
}

}  // namespace

Measured fields_managed(Bench* bench) {
  const Trace& trace = bench->trace(bench->have.program, kCountedN, 2);
  const double bytes = trace.total("allocations", "managed", &TraceRow::bytes);
  const double field = points(kCountedN) * sizeof(float);
  return {bytes >= 2 * field,
          format("managed memory for %.3g fields of floats, at n = %d%s", bytes / field, kCountedN,
                 bytes > 2.5 * field ? ": 2 are enough" : "")};
}

Measured everything_freed(Bench* bench) {
  const Trace& trace = bench->trace(bench->have.program, 128, 2);
  double allocated = 0, freed = 0;
  for (const char* kind : {"managed", "device"}) {
    allocated += trace.total("allocations", kind);
    freed += trace.total("frees", kind);
  }
  return {freed >= allocated, format("%.0f of %.0f allocations", freed, allocated)};
}

Measured sweep_on_gpu(Bench* bench) {
  constexpr double kFewThreads = kCountedN / 4.0;  // a quarter of a thread for each row
  const Iteration iteration = one_iteration(bench);
  const double share = iteration.stores / interior(kCountedN);
  double threads = 0;
  for (const TraceRow& row : bench->trace_watched(kCountedN, 1).table("kernels")) {
    threads = std::max(threads, product(row.grid) * product(row.block));
  }
  if (share >= 0.99 && threads < kFewThreads) {
    return {false, format("the largest launch has %.0f thread%s", threads, threads == 1 ? "" : "s"),
            "The loops run in the kernel as they did on the CPU, in each thread. Let the "
            "launch grid take their place: a thread for each point."};
  }
  return {
      share >= 0.99,
      format("kernels write %.3g %% of the interior in each iteration", 100 * std::min(1.0, share)),
      share >= 0.01 ? "The rest is written by host code, in a loop or a copy: one launch per sweep "
                      "writes the whole interior."
                    : ""};
}

std::string large_launch(Bench* bench) {
  constexpr int kN = 1024, kWarp = 32;  // whole warps are launched
  constexpr double kFarMore = 4;
  std::map<int, double> blocks;  // of the launch at each line
  for (const TraceRow& row : bench->trace(bench->have.on_cpu, kN, 1).table("kernels")) {
    blocks[std::atoi(row.name.substr(row.name.rfind(':') + 1).c_str())] = product(row.grid);
    const double warps = product(row.grid) * std::ceil(product(row.block) / kWarp);
    const double times = warps * kWarp / points(kN);
    if (times < kFarMore) continue;
    return format(
        "at n = %d %s is launched with %s blocks of %s threads, whose warps (of 32) have "
        "room for %.0f times as many threads as there are points. The first value in "
        "<<<...>>> is a number of blocks, and a block should fill its warps",
        kN, row.name.c_str(), row.grid.c_str(), row.block.c_str(), times);
  }
  for (const auto& [line, kernel] : bench->trace_watched(kCountedN, 1).kernels) {
    if (kernel.blocks < kFarMore * kernel.busy_blocks) continue;
    // As many for any n: on a larger grid all have points.
    if (kernel.blocks == kernel.launches * blocks[line]) continue;
    return format(
        "at n = %d %s is launched with %.0f blocks, of which %.0f have a point. Where threads "
        "have several points each, fewer blocks are enough",
        kCountedN, kernel.name.c_str(), kernel.blocks / kernel.launches,
        kernel.busy_blocks / kernel.launches);
  }
  return "";
}

std::string scattered_accesses(Bench* bench) {
  constexpr double kFarMore = 10;  // halos, and rows that begin anywhere, take up to 7
  for (const auto& [line, kernel] : bench->trace_watched(kCountedN, 1).kernels) {
    const double load = sectors_of_traffic(kernel.loads);
    const double store = sectors_of_traffic(kernel.stores);
    if (std::max(load, store) < kFarMore) continue;
    return format(
        "at n = %d %s %s %.3g sectors of 32 bytes for each 32 floats, and 4 are enough where "
        "neighbours in threadIdx.x are neighbours in memory. make count shows it line by line",
        kCountedN, kernel.name.c_str(), load > store ? "loads" : "stores", std::max(load, store));
  }
  return "";
}

/// A learner who swaps the pointers, as step 10 does, has no copy to make.
Measured copy_on_gpu(Bench* bench) {
  const Iteration iteration = one_iteration(bench);
  const double fields = (iteration.stores + iteration.copied) / interior(kCountedN);
  if (fields >= 0.99 && fields < 1.1 && iteration.swapped >= 0.99) {
    return {true, "there is none: the pointers are swapped"};
  }
  // A copy writes the boundary, too.
  const bool copies = iteration.stores / points(kCountedN) > 0.999;
  std::string advice;
  if (fields >= 0.99 && fields < 1.98 && copies) {
    advice =
        "A kernel writes the whole field, including its boundary: that is the copy. So the sweep "
        "is not done by a kernel: launch one, as in step 04.";
  } else if (iteration.by_host / interior(kCountedN) > 0.99) {
    advice =
        "The host copies it: cudaMemcpyHostToHost, or memory of its own. A kernel copies on the "
        "GPU, or a cudaMemcpy from device to device.";
  } else if (fields < 0.01) {
    advice = "Neither the sweep nor the copy is done by a kernel.";
  }
  std::string found = fields_written(fields);
  constexpr double kFarTooMany = 4;
  if (fields > 2.5) {
    found +=
        "; 2 would do: does each thread have points of its own? In a grid-stride loop the step "
        "is gridDim.x * blockDim.x";
  }
  return {fields >= 1.98 && fields < kFarTooMany, found, advice};
}

Measured no_copy(Bench* bench) {
  const Iteration iteration = one_iteration(bench);
  const double fields = (iteration.stores + iteration.copied) / interior(kCountedN);
  const double by_host = iteration.by_host / interior(kCountedN);
  if (by_host >= 0.01) {
    return {false,
            format("%.2g of a field goes between the GPU and the host's memory in each "
                   "iteration",
                   by_host),
            "Nothing in the loop needs the field on the host: copy it after the loop."};
  }
  return {fields >= 0.99 && fields < 1.1, fields_written(fields)};
}

/// An access now and then, as to a sum, is none of a field.
Measured fields_stay(Bench* bench) {
  return left_to_gpu(bench, 0.01 * interior(kCountedN), "field");
}

Measured migration_stopped(Bench* bench) {
  constexpr int kIterations = 20;
  need_gpu(bench, "needs a GPU: no page moves here");
  const auto runs = [&](int times) -> const Trace& {
    return bench->trace(bench->have.program, 0, times * kIterations);
  };
  const double field = points(bench->default_n(bench->have.program)) * sizeof(float);
  const double bytes = difference(runs, "migration", "", &TraceRow::bytes) / kIterations;
  return {bytes < 0.01 * field,
          format("%.2g MB per iteration, %.2g %% of a field", 1e-6 * std::max(0.0, bytes),
                 100 * std::max(0.0, bytes) / field)};
}

Measured sum_stays(Bench* bench) { return left_to_gpu(bench, 0.5, "managed memory"); }

Measured coalesced(Bench* bench) {
  constexpr double kMost = 6;
  int n = kCountedN;
  for (const auto& [line, kernel] : bench->trace_watched(n, 1).kernels) {
    // Threads that share out any number of points have several of them on a larger grid only.
    if (kernel.blocks >= 2 * kernel.busy_blocks) n = 4 * kCountedN;
  }
  std::vector<std::string> each, far;
  double loads = 0;
  for (const auto& [line, kernel] : bench->trace_watched(n, 1).kernels) {
    const double load = sectors_of_traffic(kernel.loads);
    const double store = sectors_of_traffic(kernel.stores);
    if (load + store == 0) continue;
    loads = std::max(loads, load);
    each.push_back(kernel.name + format(": %.3g per load, %.3g per store", load, store));
    if (std::max(load, store) > kMost) far.push_back(kernel.name);
  }
  if (loads == 0) throw NotMeasurable("no kernel reads a field");
  std::string found;
  for (const std::string& kernel : each) found += (found.empty() ? "" : "; ") + kernel;
  std::string advice;
  if (!far.empty() && far.size() < each.size()) {
    advice =
        "One idx has to serve all kernels: neighbours in i are neighbours in memory "
        "(std::size_t(j) * n + i); and in each kernel neighbours in threadIdx.x have neighbouring "
        "i, with 32 threads or more along x in a block. make count STEP=06 shows, line by line, "
        "where that does not hold in " +
        join(far) + ".";
  }
  return {far.empty(), found + format(" (n = %d; 4 is the minimum)", n), advice};
}

Measured beyond_l2(Bench* bench) {
  const int n = bench->default_n(bench->have.program);
  const double fields = 2 * points(n) * sizeof(float);
  constexpr double kMiB = 1 << 20, kLeast = 4 * kMiB;  // of a T4
  if (!bench->have.on_gpu && fields < 4 * kLeast) {
    return {false, format("n = %d: %.1f MB, and even a T4's L2 cache has %.1f MB", n, 1e-6 * fields,
                          1e-6 * kLeast)};
  }
  need_gpu(
      bench,
      format(
          "needs a GPU; at n = %d both fields have %.0f MB, and 4 times the L2 cache are %.0f MB "
          "on an H200, %.0f MB on an H100 and %.0f MB on an A100%s",
          n, 1e-6 * fields, 240 * 1e-6 * kMiB, 200 * 1e-6 * kMiB, 160 * 1e-6 * kMiB,
          fields < 160 * kMiB ? ": n is too small for each of them" : ""));
  const double l2 = bench->gpu().l2_bytes;
  return {fields >= 4 * l2, format("n = %d: %.0f MB, and the cache has %.0f MB: %.3g times", n,
                                   1e-6 * fields, 1e-6 * l2, fields / l2)};
}

Measured one_atomic_a_block(Bench* bench) {
  double atomics = 0, blocks = 0, largest = 0;
  std::map<std::string, double> of_kernel;  // by the end of its name in the trace: ":84"
  for (const auto& [line, kernel] : bench->trace_watched(kCountedN, 1).kernels) {
    atomics += of_kernel[format(":%d", line)] = kernel.atomics;
  }
  for (const TraceRow& kernel : bench->trace_watched(kCountedN, 1).table("kernels")) {
    const double launched = product(kernel.grid) * kernel.count;
    const std::size_t at = kernel.name.rfind(':');
    largest = std::max(largest, launched);
    if (at != std::string::npos && of_kernel[kernel.name.substr(at)] > 0) blocks += launched;
  }
  if (largest == 0) throw NotMeasurable("no kernel was launched");
  if (blocks == 0) blocks = largest;  // none of them adds atomically
  // Who counts the blocks that are done may add a few: one for each row of blocks, say.
  return {atomics <= 1.5 * blocks, format("%.4g per block, %.3g per point", atomics / blocks,
                                          atomics / interior(kCountedN))};
}

Measured tile_in_shared_memory(Bench* bench) {
  double stores = 0;
  for (const auto& [line, kernel] : bench->trace_watched(kCountedN, 1).kernels) {
    stores = std::max(stores, kernel.shared_values / kernel.launches / interior(kCountedN));
  }
  return {stores >= 0.9, format("%.3g values per point are put there", stores)};
}

Measured fewer_loads(Bench* bench) {
  // Without a tile a sweep loads each point and its four neighbours.
  constexpr double kWithout = 5;
  double loads = 0, requests = 0;
  for (const auto& [line, kernel] : bench->trace_watched(kCountedN, 1).kernels) {
    // The copy loads each point once, and the sweep more often.
    const double each = kernel.launches * interior(kCountedN);
    loads = std::max(loads, kernel.loads.bytes / sizeof(float) / each);
    requests = std::max(requests, 32 * kernel.loads.requests / each);
  }
  if (loads == 0) throw NotMeasurable("no kernel reads a field");
  return {loads <= 0.5 * kWithout,
          format("%.3g loads per point (%.0f without a tile); %.3g requests for 32 points "
                 "(%.0f)",
                 loads, kWithout, requests, kWithout)};
}

}  // namespace validate
