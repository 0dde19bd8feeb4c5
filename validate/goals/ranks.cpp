#include "goals/measures.h"
#include "run/text.h"

namespace validate {
namespace {

constexpr int kJobCheck = 48, kJobChecks = 2, kJobSweeps = kJobCheck * kJobChecks;
constexpr int kJobN = 128;

// Step 15's own n. At n = 16384 the time depends on whether the rest's warps make a whole number of
// shares per strip (guide 15).
constexpr int kScalingN = 32768, kScalingSweeps = 1920, kTracedSweeps = 320;

/// What each of two ranks, which has one neighbour, does in kJobSweeps sweeps and the checks among
/// them: a run with more checks less one with fewer.
double per_rank(Bench* bench, const char* table, const std::string& name,
                double TraceRow::*member = &TraceRow::count) {
  const auto job = [&](int times) -> const Trace& {
    return bench->trace_job(kJobN, times * kJobSweeps, kJobCheck);
  };
  return difference(job, table, name, member) / 2;
}

}  // namespace

Measured exchange_before_passes(Bench* bench) {
  const double messages = per_rank(bench, "libraries", "ncclSend");
  const double bytes = per_rank(bench, "libraries", "ncclSend", &TraceRow::bytes);
  if (messages == 0) return {false, "ncclSend is not called"};
  const double sweeps = kJobSweeps / messages, rows = bytes / messages / (kJobN * sizeof(float));
  return {sweeps >= 4 && rows <= 1.1 * sweeps,
          format("%.3g rows to each neighbour, every %.3g sweeps", rows, sweeps)};
}

Measured nothing_through_host(Bench* bench) {
  double bytes = 0;
  for (const char* host : {"pageable", "pinned"}) {
    for (const char* gpu : {"device", "device static", "managed", "managed static"}) {
      for (const std::string& copy :
           {format("memcpy %s to %s", host, gpu), format("memcpy %s to %s", gpu, host)}) {
        bytes += per_rank(bench, "copies", copy, &TraceRow::bytes);
      }
    }
  }
  const double a_sweep = bytes / kJobSweeps;
  return {a_sweep <= sizeof(double),
          format("%.3g bytes per sweep and rank between a GPU and its host", a_sweep)};
}

Measured sums_at_checks(Bench* bench) {
  double sums = 0;
  for (const char* call : {"ncclAllReduce", "Ranks::sum"}) {
    sums += per_rank(bench, "libraries", call);
  }
  return {sums > 0 && sums <= kJobChecks,
          format("%.3g in %d checks, and %d sweeps", sums, kJobChecks, kJobSweeps)};
}

Measured exchange_beside_kernel(Bench* bench) {
  const double several = per_rank(bench, "beside kernels", "ncclSend");
  const double one = per_rank(bench, "beside a kernel", "ncclSend");
  const double none = per_rank(bench, "beside no kernel", "ncclSend");
  const double all = several + one + none, waits = per_rank(bench, "waits", "");
  if (all == 0) return {false, "ncclSend is not called"};
  // An exchange may run alongside the rest of its own pass, and alongside that of the next one if
  // the host does not wait between the two.
  if (none == 0 && several < 0.5 * all && waits < all) {
    return {false, format("%.3g of %.3g may run alongside the rest of the next pass", several, all),
            "The next pass's rest waits for this exchange. It should wait for ends_done as this "
            "pass records it: after the ends, and before the exchange."};
  }
  return {none <= 0.01 * all,
          format("%.3g of %.3g have a kernel that need not wait for them", several + one, all)};
}

Measured parts_beside_each_other(Bench* bench) {
  const double beside = per_rank(bench, "beside a kernel", "kernel");
  const double alone = per_rank(bench, "beside no kernel", "kernel");
  if (beside + alone == 0) return {false, "all kernels are in one stream"};
  return {beside >= alone, format("%.3g of %.3g kernels need not wait for another stream's", beside,
                                  beside + alone)};
}

Measured exchange_starts_beside_kernel(Bench* bench) {
  const int ranks = bench->ranks_with_gpus();
  const Trace& trace = bench->trace_on_gpus(ranks, kScalingN, kTracedSweeps);
  const double all = trace.total("exchanges", "");
  const double beside = trace.total("exchanges", "started beside a kernel");
  if (all == 0) throw NotMeasurable("the tracer saw no exchange by NCCL");
  // Of 20 exchanges of the solution 18 or 19 do, and with one stream none (two H100s, CUDA 13.0).
  return {beside >= 0.75 * all,
          format("on the time line %.0f of %.0f start while another kernel runs, on %d GPUs "
                 "at n = %d",
                 beside, all, ranks, kScalingN)};
}

Measured host_waits_late(Bench* bench) {
  const double waits = per_rank(bench, "waits", "");
  const double idle = per_rank(bench, "waits", "no kernels left");
  return {idle == 0,
          format("in %d checks and %d sweeps the host waits %.3g times; after %.3g of them "
                 "the GPU has nothing left to do",
                 kJobChecks, kJobSweeps, waits, idle),
          waits > kJobChecks
              ? "It waits more often than once per check: what waits in a pass "
                "(cudaDeviceSynchronize, ranks.wait, a copy that is not asynchronous)?"
              : ""};
}

Measured scales(Bench* bench) {
  const int ranks = bench->ranks_with_gpus();
  const std::string& program = bench->have.program;
  const double one = bench->milliseconds(program, kScalingN, kScalingSweeps, 1);
  const double all = bench->milliseconds(program, kScalingN, kScalingSweeps, ranks);
  const double efficiency = one / all / ranks;
  return {efficiency >= 0.85, format("%d GPUs: %.3g times as fast as one, %.3g %% of %d, at n = %d",
                                     ranks, one / all, 100 * efficiency, ranks, kScalingN)};
}

}  // namespace validate
