#include "races.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "../report.h"
#include "../shared_memory.h"

namespace cuda_on_cpu {
namespace {

constexpr std::size_t kWord = 4;

/// The word's bytes from `begin` to `end` (counted from the word's first), as bits.
std::uint8_t byte_bits(std::ptrdiff_t begin, std::ptrdiff_t end) {
  std::uint8_t bits = 0;
  for (std::ptrdiff_t b = std::max<std::ptrdiff_t>(begin, 0); b < std::min<std::ptrdiff_t>(end, 4);
       ++b) {
    bits |= 1u << b;
  }
  return bits;
}

/// Whether the thread of both has neither synchronised nor done an atomic in between.
template <class Stamp>
bool same_moment(const Stamp& a, const Stamp& b) {
  return a.launch == b.launch && a.block == b.block && a.thread == b.thread &&
         a.block_epoch == b.block_epoch && a.grid_epoch == b.grid_epoch &&
         a.warp_clock == b.warp_clock && a.tick == b.tick;
}

/// Whether it still holds what new memory is filled with.
bool looks_untouched(const char* p, std::size_t bytes) {
  return std::all_of(p, p + bytes, [](char c) { return static_cast<unsigned char>(c) == 0xff; });
}

}  // namespace

// ---- memory -------------------------------------------------------------------------------------

Races::Words Races::new_words(std::size_t count) {
  Words words(static_cast<Word*>(std::calloc(count, sizeof(Word))));
  if (!words && count > 0) fail("no memory to note the accesses to %zu bytes", count * kWord);
  return words;
}

void Races::memory_allocated(const char* begin, std::size_t bytes) {
  regions_[begin] = {bytes, new_words((bytes + kWord - 1) / kWord)};
  last_region_ = nullptr;
}

void Races::memory_released(const char* begin) {
  regions_.erase(begin);
  last_region_ = nullptr;
}

void Races::memory_written(const char* begin, std::size_t bytes) {
  auto region = regions_.upper_bound(begin);
  if (region == regions_.begin()) return;
  --region;
  const std::size_t offset = begin - region->first;
  if (offset >= region->second.bytes) return;
  const std::size_t end = std::min(offset + bytes, region->second.bytes);
  for (std::size_t k = offset / kWord; k * kWord < end; ++k) region->second.words[k].written = true;
}

/// The word at `offset` bytes behind the access's address; null where nobody keeps a record of it.
Races::Word* Races::find_word(const Block& block, const MemoryAccess& access, std::size_t offset) {
  const char* p = access.address + offset;
  if (access.shared) {
    if (!shared_) shared_ = new_words(kSharedRoom / kWord);
    return &shared_[(p - block.shared_memory_begin()) / kWord];
  }
  if (!last_region_ || p < last_begin_ || p >= last_begin_ + last_region_->bytes) {
    auto region = regions_.upper_bound(p);
    if (region == regions_.begin()) return nullptr;
    --region;
    if (p >= region->first + region->second.bytes) return nullptr;
    last_begin_ = region->first;
    last_region_ = &region->second;
  }
  return &last_region_->words[(p - last_begin_) / kWord];
}

// ---- what orders accesses -----------------------------------------------------------------------

void Races::kernel_begins() {
  ++launch_;
  grid_epoch_ = 0;
  publications_.clear();
  fences_.clear();
}

void Races::kernel_ends() {
  if (!unwritten_read_) return;
  const UnwrittenRead& read = first_unwritten_read_;
  fail("%s: %s %s memory that nothing has written%s (%s)", text(read.access.site.line()).c_str(),
       verb(read.access.kind), read.access.shared ? "shared" : "global", read.place.c_str(),
       read.who.c_str());
}

void Races::block_resumes(Block& block) { running_ = &blocks_[&block]; }
void Races::block_ends(Block& block) {
  look_again();
  blocks_.erase(&block);
  running_ = nullptr;
}

void Races::block_synchronises(Block&) {
  look_again();
  ++running_->epoch;
  for (const auto& [thread, seen] : running_->seen_by) {
    for (const auto& [address, count] : seen) {
      std::size_t& known = running_->seen[address];
      known = std::max(known, count);
    }
  }
  running_->seen_by.clear();
}
void Races::grid_synchronises() { ++grid_epoch_; }

void Races::warp_synchronises(Block&, int number, unsigned lanes) {
  OfWarp& warp = running_->warps[number];
  std::array<std::uint32_t, 32> together{};
  for (int lane = 0; lane < 32; ++lane) {
    if (!(lanes >> lane & 1)) continue;
    warp.known[lane][lane] = ++warp.clock[lane];
    for (int k = 0; k < 32; ++k) together[k] = std::max(together[k], warp.known[lane][k]);
  }
  for (int lane = 0; lane < 32; ++lane) {
    if (lanes >> lane & 1) warp.known[lane] = together;
  }
}

void Races::thread_fences(const Block& block) {
  const int thread = block.running_thread();
  const Fence fence{running_->epoch, ++running_->tick[thread]};
  running_->last_fence[thread] = fence;
  fences_[block.number() * kMaxThreads + thread].push_back(fence);
}

void Races::note_atomic(const Block& block, const MemoryAccess& access) {
  const int thread = block.running_thread();
  Publications& here = publications_[access.address];
  running_->seen_by[thread][access.address] = here.count;
  const auto fence = running_->last_fence.find(thread);
  const Fence last = fence == running_->last_fence.end() ? Fence{} : fence->second;
  here.of_block[static_cast<std::uint32_t>(block.number())].push_back(
      {here.count++, running_->epoch, running_->tick[thread]++, static_cast<std::uint16_t>(thread),
       last.block_epoch, last.tick});
}

/// Whether a fence stands between the write `before` and the atomic after it: a fence of the thread
/// that does the atomic, or the writer's own before a barrier.
bool Races::fenced(const Stamp& before, const Publication& p) const {
  if (p.fence_epoch > before.block_epoch) return true;
  if (p.thread == before.thread && p.fence_tick > before.tick) return true;
  const auto own = fences_.find(std::uint64_t{before.block} * kMaxThreads + before.thread);
  if (own == fences_.end()) return false;
  return std::any_of(own->second.begin(), own->second.end(), [&](const Fence& fence) {
    return fence.tick > before.tick && fence.block_epoch < p.block_epoch;
  });
}

/// Whether one of the atomics that somebody has seen came after `before`. `fenced_at`: null, or the
/// address of what another block wrote: only its own atomics need no fence then.
bool Races::published_among(const Stamp& before, const Seen& seen, const char* fenced_at) const {
  for (const auto& [address, count] : seen) {
    const bool needs_fence = fenced_at && !(before.atomic && address == fenced_at);
    const Publications& here = publications_.at(address);
    const auto found = here.of_block.find(before.block);
    if (found == here.of_block.end()) continue;
    for (const Publication& p : found->second) {
      if (p.number >= count) break;
      if ((p.block_epoch > before.block_epoch ||
           (p.thread == before.thread && p.tick >= before.tick)) &&
          (!needs_fence || fenced(before, p))) {
        return true;
      }
    }
  }
  return false;
}

/// ... that the running thread has seen, or one that it has met at a barrier since.
bool Races::published(const Stamp& before, const Stamp& now, const char* fenced_at) const {
  const auto own = running_->seen_by.find(now.thread);
  return published_among(before, running_->seen, fenced_at) ||
         (own != running_->seen_by.end() && published_among(before, own->second, fenced_at));
}

/// `fenced_at`: the address of what is accessed, if `before` is a write.
bool Races::ordered(const Stamp& before, const Stamp& now, const char* fenced_at) const {
  if (before.launch != now.launch) return true;  // kernels run one after the other
  if (before.grid_epoch < now.grid_epoch) return true;
  if (before.block == now.block) {
    if (before.thread == now.thread || before.block_epoch < now.block_epoch) return true;
    if (before.thread / 32 == now.thread / 32) {
      const OfWarp& warp = running_->warps[now.thread / 32];
      if (before.warp_clock < warp.known[now.thread % 32][before.thread % 32]) return true;
    }
  }
  return published(before, now, before.block == now.block ? nullptr : fenced_at);
}

// ---- accesses -----------------------------------------------------------------------------------

std::uint32_t Races::number_of(const Site& site) {
  if (!site.return_address) {
    for (std::uint32_t k = 0; k < sites_.size(); ++k) {
      if (sites_[k] == site) return k;
    }
  } else if (const auto found = site_numbers_.find(site.return_address);
             found != site_numbers_.end()) {
    return found->second;
  }
  const auto number = static_cast<std::uint32_t>(sites_.size());
  sites_.push_back(site);
  if (site.return_address) site_numbers_[site.return_address] = number;
  return number;
}

Races::Stamp Races::stamp(const Block& block, const MemoryAccess& access, std::uint8_t bytes) {
  const int thread = block.running_thread();
  Stamp s;
  s.launch = launch_;
  s.block = static_cast<std::uint32_t>(block.number());
  s.block_epoch = running_->epoch;
  s.warp_clock = running_->warps[thread / 32].clock[thread % 32];
  s.tick = running_->tick[thread];
  s.site = number_of(access.site);
  s.thread = static_cast<std::uint16_t>(thread);
  s.grid_epoch = grid_epoch_;
  s.bytes = bytes;
  s.atomic = access.kind == Access::atomic;
  return s;
}

void Races::access(Block& block, const MemoryAccess& access) {
  look_again();
  const std::size_t skew = reinterpret_cast<std::uintptr_t>(access.address) % kWord;
  Stamp now = stamp(block, access, 0);
  for (std::size_t done = 0; done < access.bytes;) {
    const std::size_t from = done == 0 ? skew : 0;
    const std::size_t here = std::min(kWord - from, access.bytes - done);
    Word* word = find_word(block, access, done);
    if (!word) break;
    now.bytes = byte_bits(from, from + here);

    // Another block's shared memory stood in the same place, and is gone.
    auto counts = [&](const Stamp& before, const char* fenced_at = nullptr) {
      return before.launch == launch_ && before.bytes & now.bytes &&
             !(access.shared && before.block != now.block) && !(before.atomic && now.atomic) &&
             !ordered(before, now, fenced_at);
    };
    if (counts(word->write, access.address)) {
      const bool atomic = word->write.atomic || now.atomic;
      if (atomic || access.kind == Access::read || !access.shared || access.of_library) {
        report(block, now.thread, word->write, word->write.atomic ? "changed atomically" : "wrote",
               access, ordered(word->write, now));
      }
      if (!second_write_.block) {
        second_write_ = {&block, word->write, access, now.thread, {access.address, access.bytes}};
      }
    }
    const bool seen_in_shared = word->write.launch == launch_ && word->write.block == now.block;
    const bool written = access.shared ? seen_in_shared : word->written;
    if (access.uses && !written && !unwritten_read_ &&
        looks_untouched(access.address + done, here)) {
      unwritten_read_ = true;
      const std::string place =
          access.shared
              ? ": " + describe_shared(access.address + done - block.shared_memory_begin())
              : "";
      first_unwritten_read_ = {access, place, block.describe_running_thread()};
    }
    if (access.kind == Access::read) {
      const bool keep = word->read.launch == launch_ && word->read.thread != now.thread &&
                        !ordered(word->read, now);
      (keep ? word->other_read : word->read) = now;
    } else {
      if (counts(word->read)) report(block, now.thread, word->read, "read", access);
      if (counts(word->other_read)) report(block, now.thread, word->other_read, "read", access);
      // A write of its own stays, until an atomic has published it: another thread's atomic may
      // come at any time.
      const bool unpublished = now.atomic && !word->write.atomic && same_moment(word->write, now);
      if (!unpublished) word->write = now;
      word->written = true;
      word->read.launch = word->other_read.launch = 0;
    }
    done += here;
  }
  // What a thread sees by an atomic comes before what it does next.
  if (access.kind == Access::atomic) note_atomic(block, access);
}

void Races::report(const Block& block, int thread, const Stamp& before, const char* verb_before,
                   const MemoryAccess& now, bool lacks_fence) const {
  const bool same_block = before.block == block.number();
  const dim3 grid = block.kernel().config.grid;
  const uint3 other = {before.block % grid.x, before.block / grid.x % grid.y,
                       before.block / grid.x / grid.y};
  const std::string place =
      now.shared ? ": " + describe_shared(now.address - block.shared_memory_begin()) : "";
  fail(
      "%s: race in %s memory: thread %s %s what thread %s%s %s at %s, and no %s in between "
      "(kernel launched at %s, block %s%s)",
      text(now.site.line()).c_str(), now.shared ? "shared" : "global",
      text(block.thread_index(thread)).c_str(), verb(now.kind),
      text(block.thread_index(before.thread)).c_str(),
      same_block ? "" : (" of block " + text(other)).c_str(), verb_before,
      text(sites_[before.site].line()).c_str(),
      lacks_fence  ? "__threadfence before the atomic"
      : same_block ? "barrier"
                   : "order",
      text(block.kernel().config.where).c_str(), text(block.block_index()).c_str(), place.c_str());
}

void Races::look_again() {
  if (!second_write_.block) return;
  const SecondWrite write = std::exchange(second_write_, {});
  if (std::memcmp(write.access.address, write.held.data(), write.held.size()) != 0) {
    report(*write.block, write.thread, write.before, "wrote", write.access);
  }
}

}  // namespace cuda_on_cpu
