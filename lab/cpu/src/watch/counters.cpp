#include "watch/counters.h"

#include <algorithm>
#include <fstream>
#include <tuple>
#include <vector>

#include "report.h"
#include "run/block.h"

namespace cuda_on_cpu {
namespace {

constexpr std::uintptr_t kSector = 32;  // bytes: the least that global memory moves
constexpr int kBanks = 32;              // of shared memory, 4 bytes wide each

/// The units of that many bytes that the lanes from `first` to before `end` touch, each once.
std::vector<std::uintptr_t> touched(const MemoryAccess* const* accesses, int first, int end,
                                    std::uintptr_t unit) {
  std::vector<std::uintptr_t> units;
  for (int k = first; k < end; ++k) {
    const auto begin = reinterpret_cast<std::uintptr_t>(accesses[k]->address);
    const std::uintptr_t last = (begin + accesses[k]->bytes - 1) / unit;
    for (std::uintptr_t u = begin / unit; u <= last; ++u) units.push_back(u);
  }
  std::sort(units.begin(), units.end());
  units.erase(std::unique(units.begin(), units.end()), units.end());
  return units;
}

/// In how many passes shared memory serves the lanes: in one pass each bank gives one word. Wide
/// accesses go by halves (8 bytes) or quarters (16 bytes) of the warp. Adds those passes that bank
/// conflicts cost to *conflicts.
int count_wavefronts(const MemoryAccess* const* accesses, int count, std::uint64_t* conflicts) {
  const int words_each = std::max<int>(1, static_cast<int>(accesses[0]->bytes / 4));
  const int lanes_each = std::max(1, 32 / words_each);
  int wavefronts = 0;
  for (int first = 0; first < count; first += lanes_each) {
    const int end = std::min(count, first + lanes_each);
    int in_bank[kBanks] = {};
    int most = 1;
    for (const std::uintptr_t word : touched(accesses, first, end, 4)) {
      most = std::max(most, ++in_bank[word % kBanks]);
    }
    wavefronts += most;
    *conflicts += most - 1;
  }
  return wavefronts;
}

}  // namespace

void Counters::kernel_begins(Where launched_at, std::uint64_t blocks) {
  running_ = &kernels_[{launched_at.file, launched_at.line}];
  ++running_->launches;
  running_->blocks += blocks;
}

void Counters::request(const MemoryAccess* const* accesses, int count) {
  const MemoryAccess& first = *accesses[0];
  Count& c = running_->places[{first.site, first.kind}];
  c.first = first;
  ++c.requests;
  c.threads += count;
  const std::pair block(running_->launches, Block::current()->number());
  c.blocks += block != c.block;
  c.block = block;
  if (first.kind == Access::atomic) {
    for (int k = 0; k < count; ++k) ++c.atomics[accesses[k]->address];
  }
  if (first.shared) {
    c.wavefronts += count_wavefronts(accesses, count, &c.conflicts);
  } else {
    c.sectors += touched(accesses, 0, count, kSector).size();
  }
}

bool Counters::write(const std::string& path) const {
  std::ofstream file(path);
  file << "file\tline\tkernel_line\tlaunches\tspace\taccess\tbytes\trequests\tthreads\t"
          "sectors\twavefronts\tconflicts\taddresses\tmost_at_one_address\tblocks\tlaunched_"
          "blocks\n";
  for (const auto& [launch, kernel] : kernels_) {
    // A line can access memory at several places in the code.
    std::map<std::tuple<std::string, int, bool, Access, std::size_t>, Count> lines;
    for (const auto& [place, count] : kernel.places) {
      const Where where = place.first.line();
      Count& sum = lines[{file_name(where.file), where.line, count.first.shared, count.first.kind,
                          count.first.bytes}];
      sum.requests += count.requests;
      sum.threads += count.threads;
      sum.sectors += count.sectors;
      sum.wavefronts += count.wavefronts;
      sum.conflicts += count.conflicts;
      sum.blocks = std::max(sum.blocks, count.blocks);
      for (const auto& [address, times] : count.atomics) sum.atomics[address] += times;
    }
    for (const auto& [key, c] : lines) {
      const auto& [name, line, shared, access, bytes] = key;
      std::uint64_t most = 0;
      for (const auto& [address, times] : c.atomics) most = std::max(most, times);
      const char* kind = access == Access::read    ? "load"
                         : access == Access::write ? "store"
                         : access == Access::copy  ? "copy"
                                                   : "atomic";
      file << name << '\t' << line << '\t' << launch.second << '\t' << kernel.launches << '\t'
           << (shared ? "shared" : "global") << '\t' << kind << '\t' << bytes << '\t' << c.requests
           << '\t' << c.threads << '\t' << c.sectors << '\t' << c.wavefronts << '\t' << c.conflicts
           << '\t' << c.atomics.size() << '\t' << most << '\t' << c.blocks << '\t' << kernel.blocks
           << '\n';
    }
  }
  file.close();
  return bool(file);
}

}  // namespace cuda_on_cpu
