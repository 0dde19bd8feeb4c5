// The kernels of the clinic: what each must compute, bit for bit, and what counts as reached. A
// goal counts what the kernels do to memory, not how they are written.

#include "clinic/kernels.h"

#include <algorithm>

#include <lab/clinic_input.h>

#include "run/text.h"

namespace validate {
namespace {

using lab::clinic_input;

constexpr int kSummedArrays = 16, kRounds = 16;
/// What rows are rounded up to.
constexpr int kNoRows = 0, kRowsOfN = 1, kWholeLines = 32;

std::size_t square(int n) { return std::size_t(n) * n; }

/// A result of n x n elements: value(k) gives element k.
template <typename Value>
std::vector<int> each(int n, Value value) {
  std::vector<int> result(square(n));
  for (std::size_t k = 0; k < result.size(); ++k) result[k] = value(k);
  return result;
}

std::vector<int> filled(int n) {
  const int pitch = (n + kWholeLines - 1) / kWholeLines * kWholeLines;
  std::vector<int> result(std::size_t(n) * pitch, lab::kNotWritten);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) result[std::size_t(j) * pitch + i] = 1000 * j + i;
  }
  return result;
}

std::vector<int> transposed(int n) {
  return each(n, [n](std::size_t k) { return clinic_input(k % n * n + k / n); });
}

std::vector<int> scaled(int n) {
  return each(n, [](std::size_t k) { return 2 * clinic_input(k) + 1; });
}

std::vector<int> summed(int n) {
  return each(n, [n](std::size_t k) {
    int sum = 0;
    for (int a = 0; a < kSummedArrays; ++a) sum += clinic_input(a * square(n) + k);
    return sum;
  });
}

std::vector<int> looked_up(int n) {
  return each(n, [](std::size_t k) {
    int value = clinic_input(k);
    for (int r = 0; r < kRounds; ++r) {
      value = clinic_input(k % 2 == 0 ? value : lab::kClinicValues - 1 - value);
    }
    return value;
  });
}

std::vector<int> most_frequent(int n) {
  constexpr int kClasses = 8, kValues = 16;
  return each(n, [n](std::size_t k) {
    int bins[kClasses] = {};
    for (int v = 0; v < kValues; ++v) ++bins[clinic_input(v * square(n) + k) % kClasses];
    return *std::max_element(bins, bins + kClasses);
  });
}

std::vector<int> reversed_in_groups(int n) {
  constexpr std::size_t kGroup = 64;
  return each(n, [n](std::size_t k) {
    const std::size_t from = k / kGroup * kGroup + kGroup - 1 - k % kGroup;
    return from < square(n) ? clinic_input(from) : 0;
  });
}

std::vector<int> weighed(int n) {
  constexpr int kWeighed = 64;
  return each(n, [n](std::size_t k) {
    int sum = 0;
    for (std::size_t r = k; r < k + kWeighed; ++r) sum += int(r % n + 3 * (r / n));
    return sum;
  });
}

std::vector<int> advanced(int n) {
  constexpr int kSteps = 256;
  return each(n, [](std::size_t k) {
    int value = clinic_input(k);
    for (int s = 0; s < kSteps; ++s) value = (value * 613 + 1) & 1023;
    return value;
  });
}

std::vector<int> sum_of_squares(int n) {
  int sum = 0;
  for (std::size_t k = 0; k < square(n); ++k) {
    const int rest = clinic_input(k) % 8;
    sum += rest * rest;
  }
  return {sum};
}

/// How many sectors move for 32 elements: 4 if the accesses are coalesced.
Measured coalesced(const KernelCount::Accesses& accesses) {
  if (accesses.requests == 0) return {false, "there are none in a kernel"};
  const double sectors = sectors_per_request(accesses);
  return {sectors <= 5, format("%.2f sectors per 32 elements", sectors)};
}

Measured coalesced_loads(const ClinicCount& count) { return coalesced(count.all.loads); }
Measured coalesced_stores(const ClinicCount& count) { return coalesced(count.all.stores); }

Measured full_store_requests(const ClinicCount& count) {
  const double lanes = count.all.stores.threads / count.all.stores.requests;
  return {lanes >= 16, format("%.1f lanes per store request", lanes)};
}

Measured full_load_requests(const ClinicCount& count) {
  const double lanes = count.all.loads.threads / count.all.loads.requests;
  return {lanes >= 30, format("%.1f lanes per load request", lanes)};
}

Measured many_blocks(const ClinicCount& count) {
  return {count.blocks >= 32, format("%.0f block%s", count.blocks, count.blocks == 1 ? "" : "s")};
}

Measured no_bank_conflicts(const ClinicCount& count) {
  const KernelCount& all = count.all;
  if (all.shared_requests == 0) return {true, "no kernel uses shared memory"};
  const double passes = all.shared_passes / all.shared_requests;
  return {passes <= 1.1, format("%.2f passes per request", passes)};
}

/// How many values of 4 bytes are accessed per element of the result.
Measured at_most(double most, const KernelCount::Accesses& accesses, const ClinicCount& count,
                 const char* what) {
  if (accesses.requests == 0) return {false, format("no kernel has %s", what)};
  const double each = accesses.bytes / sizeof(int) / count.elements();
  return {each <= most + 0.01, format("%.2f %s per element", each, what)};
}

Measured one_load_per_element(const ClinicCount& count) {
  // What a library does inside is not counted.
  if (count.all.loads.requests == 0) return {true, "no loads but those of a library"};
  return at_most(1, count.all.loads, count, "loads");
}

Measured no_array_between(const ClinicCount& count) {
  const double each = count.all.stores.threads / count.elements();
  return {each <= 0.01, format("%.2f stores per element", each)};
}

Measured few_atomics(const ClinicCount& count) {
  const double each = count.all.atomics / count.elements();
  return {each <= 1.0 / 128, format("%.4f atomics per element", each)};
}

/// What nvcc said; it cannot be measured where nvcc was not asked.
Measured none_by_nvcc(int found, const char* words) {
  if (found < 0) throw NotMeasurable("needs nvcc, which tells what it made of the kernel");
  return {found == 0, format(words, found)};
}

Measured many_warps(const ClinicCount& count) {
  return {count.resident_warps >= 32,
          format("%.0f warps per multiprocessor", count.resident_warps)};
}

Measured many_threads(const ClinicCount& count) {
  return {count.threads >= count.elements() / 4,
          format("%.0f threads for %.0f elements", count.threads, count.elements())};
}

// clang-format off
const std::vector<ClinicKernel>& kernels() {
  static const std::vector<ClinicKernel> table = {
      {"first_kernel", filled, kWholeLines,
       {{"the lanes of a warp work: 16 or more of them store at a time", full_store_requests,
         "A block needs 32 threads along x or a multiple, and each its own element."},
        {"the launch grid has 32 blocks or more, for all multiprocessors to have work", many_blocks,
         "The number of blocks follows from n: the elements divided by the block's, rounded up."},
        {"stores are coalesced: at most 5 sectors per 32 elements", coalesced_stores,
         "Neighbours in threadIdx.x need neighbours in memory, so x belongs to i."}}},
      {"transpose", transposed, kRowsOfN,
       {{"loads are coalesced: at most 5 sectors per 32 elements", coalesced_loads,
         "Neighbours in threadIdx.x need neighbours in `in`."},
        {"stores are coalesced: at most 5 sectors per 32 elements", coalesced_stores,
         "Let the block turn its tile in shared memory, so that it can store rows."},
        {"shared memory has no bank conflicts: at most 1.1 passes per request", no_bank_conflicts,
         "32 lanes that want one column of the tile want one bank. How long could a row be?"}}},
      {"strides", scaled, kNoRows,
       {{"loads are coalesced: at most 5 sectors per 32 elements", coalesced_loads,
         "In one round, how far apart are the elements of two neighbouring threads?"},
        {"stores are coalesced: at most 5 sectors per 32 elements", coalesced_stores,
         "In one round, how far apart are the elements of two neighbouring threads?"}}},
      {"redundant_access", summed, kNoRows,
       {{"each value is loaded once: 16 loads per element of the sum",
         [](const ClinicCount& of) { return at_most(kSummedArrays, of.all.loads, of, "loads"); },
         "`out[k] +=` also reads. A local variable needs no memory."},
        {"each sum is stored once",
         [](const ClinicCount& of) { return at_most(1, of.all.stores, of, "stores"); },
         "`out[k] +=` writes in every round. A local variable needs no memory."}}},
      {"divergence", looked_up, kNoRows,
       {{"warps do not diverge: 30 lanes or more take part in a load", full_load_requests,
         "In which order would the elements have to go to the threads?"},
        {"each element goes one way: at most 17 loads",
         [](const ClinicCount& of) { return at_most(1 + kRounds, of.all.loads, of, "loads"); },
         "A lane that goes both ways does twice the work. Choose the index, not the result."}}},
      {"local_memory", most_frequent, kNoRows,
       {{"no local memory: nvcc reports a stack frame of 0 bytes",
         [](const ClinicCount& of) {
           return none_by_nvcc(of.from_nvcc.stack_bytes, "%d bytes of stack frame");
         },
         "An array is in registers if every index is known when the compiler has unrolled the "
         "loops."}}},
      {"arithmetic", weighed, kRowsOfN,
       {{"no double precision: 0 instructions with doubles in the PTX",
         [](const ClinicCount& of) {
           return none_by_nvcc(of.from_nvcc.doubles, "%d instructions with doubles in the PTX");
         },
         "0.5 is a double, and makes doubles of its neighbours. 0.5f is a float."},
        {"no division of integers in a loop: 0 there in the PTX",
         [](const ClinicCount& of) {
           return none_by_nvcc(of.from_nvcc.divisions,
                               "%d divisions of integers in a loop of the PTX");
         },
         "A launch grid with a y knows i and j. And the next element is one step on."}}},
      {"occupancy", reversed_in_groups, kNoRows,
       {{"32 warps or more fit on a multiprocessor of an H200", many_warps,
         "It has 228 kB of shared memory, and room for 2048 threads in at most 32 blocks."}}},
      {"roofline_corners", advanced, kNoRows,
       {{"the launch has a thread for every 4 elements, or more", many_threads,
         "The number of blocks follows from n, not from the GPU."}}},
      {"libraries", sum_of_squares, kNoRows,
       {{"at most one atomic addition per 128 elements", few_atomics,
         "cub::BlockReduce sums the block. One of its threads adds the sum to the result."},
        {"no array between two kernels: 0 stores per element", no_array_between,
         "The kernel that sums can also square."},
        {"each element is loaded once", one_load_per_element,
         "Every kernel that reads an array loads it once more. Keep the value in a variable."}}},
  };
  return table;
}
// clang-format on

}  // namespace

const ClinicKernel* find_clinic_kernel(const std::string& name) {
  const auto found = std::find_if(kernels().begin(), kernels().end(),
                                  [&](const ClinicKernel& kernel) { return kernel.name == name; });
  return found == kernels().end() ? nullptr : &*found;
}

}  // namespace validate
