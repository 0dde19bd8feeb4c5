#include "watch/races.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "memory/memory.h"
#include "memory/shared_memory.h"
#include "settings.h"

namespace cuda_on_cpu {
namespace {

constexpr std::size_t kWord = 4;

/// Whether it still holds what new memory is filled with.
bool looks_untouched(const char* p, std::size_t bytes) {
  return std::all_of(p, p + bytes, [](char c) { return static_cast<unsigned char>(c) == 0xff; });
}

/// Adds what `from` has seen to what `to` has.
void add_seen(auto* to, const auto& from) {
  for (const auto& [address, count] : from) {
    std::size_t& known = (*to)[address];
    known = std::max(known, count);
  }
}

/// The word at `offset` of a memory of `bytes` bytes. Words that were never accessed are all zero,
/// and take memory only when they are accessed.
Word& word_at(std::shared_ptr<Word>* words, std::size_t bytes, std::size_t offset) {
  if (!*words) {
    words->reset(static_cast<Word*>(std::calloc(bytes / kWord + 1, sizeof(Word))), std::free);
    if (!*words) fail({"other"}, "no memory to note the accesses to ", bytes, " bytes");
  }
  return words->get()[offset / kWord];
}

}  // namespace

// ---- memory -------------------------------------------------------------------------------------

void Races::memory_written(const char* begin, std::size_t bytes) {
  const Allocation* a = find_allocation(begin);
  if (!a || a->freed) return;
  const std::size_t first = begin - a->begin, end = std::min(first + bytes, a->bytes);
  for (std::size_t k = first / kWord * kWord; k < end; k += kWord) {
    word_at(&a->words, a->bytes, k).written = true;
  }
}

/// The word at `offset` bytes after the access's address.
Word& Races::word_of(const Block& block, const MemoryAccess& access, std::size_t offset) {
  const char* p = access.address + offset;
  if (access.shared) return word_at(&shared_, kSharedRoom, p - block.shared_memory_begin());
  if (access.in) return word_at(&access.in->words, access.in->bytes, p - access.in->begin);
  return word_at(&own_, &_end - &__data_start, p - &__data_start);
}

// ---- what orders accesses -----------------------------------------------------------------------

void Races::kernel_begins(const Kernel&) {
  ++launch_;
  grid_epoch_ = 0;
  publications_.clear();
  fences_.clear();
  before_atomics_.clear();
  same_value_written_ = {""};
  adds_up_ = false;
}

void Races::kernel_ends() {
  if (adds_up_ && !same_value_written_.kind.empty()) {
    fail(same_value_written_, same_value_written_.detail);
  }
  const Report& read = unwritten_read_;
  if (read.kind.empty()) return;
  fail(read, read.access, read.has("shared") ? " shared" : " global",
       " memory that nothing has written", read.array.empty() ? "" : ": ", read.array,
       read.has("in_flight") ? ", to which an asynchronous copy is still in flight" : "", " (",
       read.detail, ")");
}

void Races::block_ends(Block& block) {
  settle(block);
  blocks_.erase(&block);
  running_ = nullptr;
}

void Races::block_synchronises(Block& block) {
  settle(block);
  ++running_->epoch;
  for (const auto& [thread, seen] : running_->seen_by) add_seen(&running_->seen, seen);
  running_->seen_by.clear();
}

void Races::warp_synchronises(int number, unsigned lanes) {
  OfWarp& warp = running_->warps[number];
  Known together{};
  Seen seen;
  for (int lane = 0; lane < 32; ++lane) {
    if (!(lanes >> lane & 1)) continue;
    if (const auto& known = warp.known[lane]) {
      for (int k = 0; k < 32; ++k) together[k] = std::max(together[k], (*known)[k]);
    }
    const auto own = running_->seen_by.find(32 * number + lane);
    if (own != running_->seen_by.end()) add_seen(&seen, own->second);
  }
  for (int lane = 0; lane < 32; ++lane) {
    if (lanes >> lane & 1) together[lane] = ++warp.clock[lane];
  }
  const auto known = std::make_shared<const Known>(together);
  for (int lane = 0; lane < 32; ++lane) {
    if (!(lanes >> lane & 1)) continue;
    warp.known[lane] = known;
    if (!seen.empty()) running_->seen_by[32 * number + lane] = seen;
  }
}

/// This moment of the running thread.
Moment Races::moment(const Block& block) const {
  const int thread = block.running_thread();
  return {launch_,
          static_cast<std::uint32_t>(block.number()),
          grid_epoch_,
          running_->epoch,
          running_->warps[thread / 32].clock[thread % 32],
          running_->tick[thread],
          static_cast<std::uint16_t>(thread)};
}

/// What it does then, which ends the moment.
Races::Act Races::act(const Block& block) {
  const Moment now = moment(block);
  ++running_->tick[now.thread];
  return {now, running_->warps[now.thread / 32].known[now.thread % 32]};
}

/// Whether a block's threads did one before the other in every order: by the thread's own order, by
/// a barrier in between, or by an operation of the warp.
bool Races::precedes(const Moment& earlier, const Act& later) {
  if (earlier.block_epoch < later.block_epoch) return true;
  if (earlier.thread == later.thread) return earlier.tick <= later.tick;
  return earlier.thread / 32 == later.thread / 32 && later.known &&
         earlier.warp_clock < (*later.known)[earlier.thread % 32];
}

void Races::thread_fences(Block& block) {
  fences_[static_cast<std::uint32_t>(block.number())].push_back(act(block));
}

void Races::note_atomic(const Block& block, const MemoryAccess& access) {
  adds_up_ = true;
  const int thread = block.running_thread();
  const auto number = static_cast<std::uint32_t>(block.number());
  Publications& here = publications_[access.address];
  Seen& seen = running_->seen_by[thread];
  add_seen(&seen, here.seen);
  if (fences_.count(number)) {
    add_seen(&here.seen, running_->seen);
    add_seen(&here.seen, seen);
  }
  seen[access.address] = here.count;
  auto& [epoch, of_thread] = here.of_block[number];
  epoch = running_->epoch;
  of_thread[thread].push_back({here.count++, act(block)});
}

/// Whether a fence stands between the write `before` and the atomic after it: mostly one of the
/// thread that does the atomic, or the writer's own before a barrier.
bool Races::fenced(const Stamp& before, const Act& atomic) const {
  const auto fences = fences_.find(before.block);
  return fences != fences_.end() &&
         std::any_of(fences->second.begin(), fences->second.end(), [&](const Act& fence) {
           return precedes(before, fence) && precedes(fence, atomic);
         });
}

/// Whether one of the atomics that were seen came after `before`. `fenced_at`: null, or the
/// address of what another block wrote: only its own atomics need no fence then.
bool Races::published_among(const Stamp& before, const Seen& seen, const char* fenced_at) const {
  for (const auto& [address, count] : seen) {
    const bool needs_fence = fenced_at && !(before.atomic && address == fenced_at);
    const Publications& here = publications_.at(address);
    const auto found = here.of_block.find(before.block);
    if (found == here.of_block.end()) continue;
    // Only a thread of the same warp can have one after `before` without a barrier in between.
    const auto& [epoch, of_thread] = found->second;
    const bool barrier = epoch > before.block_epoch;
    const int warp_begin = before.thread / 32 * 32;
    const auto end = barrier ? of_thread.end() : of_thread.lower_bound(warp_begin + 32);
    for (auto at = barrier ? of_thread.begin() : of_thread.lower_bound(warp_begin); at != end;
         ++at) {
      const auto& atomics = at->second;
      // Of a thread's atomics the last one that was seen will do: it comes after all that an
      // earlier one comes after.
      if (!precedes(before, atomics.back().atomic)) continue;
      const auto unseen =
          std::partition_point(atomics.begin(), atomics.end(),
                               [seen = count](const auto& p) { return p.number < seen; });
      if (unseen == atomics.begin()) continue;
      const Act& last = std::prev(unseen)->atomic;
      if (precedes(before, last) && (!needs_fence || fenced(before, last))) return true;
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
      const auto& known = running_->warps[now.thread / 32].known[now.thread % 32];
      if (known && before.warp_clock < (*known)[before.thread % 32]) return true;
    }
  }
  return published(before, now, before.block == now.block ? nullptr : fenced_at);
}

// ---- accesses -----------------------------------------------------------------------------------

void Races::access(Block& block, const MemoryAccess& access) {
  look_again();
  note_comparison(block, access);
  adds_up_ |= access.kind == Access::write && access.bytes == sizeof(double) && !access.shared;
  const std::size_t skew = reinterpret_cast<std::uintptr_t>(access.address) % kWord;
  Stamp now{moment(block), 0, access.kind == Access::atomic, &*sites_.insert(access.site).first};
  for (std::size_t done = 0; done < access.bytes;) {
    const std::size_t from = done == 0 ? skew : 0;
    const std::size_t here = std::min(kWord - from, access.bytes - done);
    Word& word = word_of(block, access, done);
    now.bytes = static_cast<std::uint8_t>(((1u << here) - 1) << from);

    // Another block's shared memory stood in the same place, and is gone.
    auto counts = [&](const Stamp& before, const char* fenced_at = nullptr) {
      return before.launch == launch_ && before.bytes & now.bytes &&
             !(access.shared && before.block != now.block) && !(before.atomic && now.atomic) &&
             !ordered(before, now, fenced_at);
    };
    if (counts(word.write, access.address)) {
      const char* const verb_before = word.write.atomic ? "changed atomically" : "wrote";
      const Conflict conflict{word.write, verb_before, access, now.thread};
      if (access.kind == Access::read && word.write.atomic) {
        running_->suspicions.try_emplace(now.thread, conflict);
      } else if (word.write.atomic || access.kind != Access::write || access.of_library) {
        end(block, conflict, ordered(word.write, now));
      } else if (!second_write_.block) {
        second_write_ = {&block, conflict, {access.address, access.bytes}};
      }
    }
    if (now.atomic && !access.shared) {
      const Stamp& before = word.write;
      if (before.launch == launch_ && !before.atomic && before.block == now.block) {
        before_atomics_[access.address + done] = before;
      } else if (const auto at = before_atomics_.find(access.address + done);
                 at != before_atomics_.end() && counts(at->second, access.address)) {
        end(block, {at->second, "wrote", access, now.thread}, ordered(at->second, now));
      }
    }
    const bool seen_in_shared = word.write.launch == launch_ && word.write.block == now.block;
    const bool written = access.shared ? seen_in_shared : word.written || !access.in;
    // The result of an atomic may never be read. Then it stays unwritten.
    const bool stays_unwritten =
        now.atomic && access.uses && !written && !access.shared && !settings().strict;
    if (access.uses && !written && !stays_unwritten && unwritten_read_.kind.empty() &&
        looks_untouched(access.address + done, here)) {
      Report& read = unwritten_read_ = block.report("unwritten", access.site.line());
      read.access = verb(access.kind);
      read.detail = block.describe_running_thread();
      if (access.shared) {
        read.flags = "shared";
        read.array = describe_shared(access.address + done - block.shared_memory_begin());
        if (const PipelineCopy* copy = block.copy_in_flight_to(access.address + done)) {
          read.flags += " in_flight";
          read.other_line = copy->where.line;
        }
      }
    }
    if (access.kind == Access::read) {
      const bool keep =
          word.read.launch == launch_ && word.read.thread != now.thread && !ordered(word.read, now);
      (keep ? word.other_read : word.read) = now;
    } else {
      for (const Stamp& read : {word.read, word.other_read}) {
        if (!counts(read)) continue;
        const Conflict conflict{read, "read", access, now.thread};
        if (!now.atomic || read.block != now.block ||
            running_->just_read[read.thread] != access.address) {
          end(block, conflict);
        }
        running_->suspicions.try_emplace(read.thread, conflict);
      }
      if (access.kind == Access::copy) {  // it may arrive now, but is seen as a write when it does
        done += here;
        continue;
      }
      // A write of its own stays, until an atomic has published it: another thread's atomic may
      // come at any time. What the warp does in between orders its own lanes only.
      Moment before = moment(block);
      before.warp_clock = word.write.warp_clock;
      const bool unpublished = now.atomic && !word.write.atomic && before == word.write;
      if (!unpublished) word.write = now;
      if (!stays_unwritten) word.written = true;
      word.read.launch = word.other_read.launch = 0;
    }
    done += here;
  }
  // What a thread sees by an atomic comes before what it does next.
  if (access.kind == Access::atomic) note_atomic(block, access);
}

void Races::end(const Block& block, const Conflict& conflict, bool lacks_fence) const {
  const Report race = describe(block, conflict, lacks_fence);
  fail(race, race.detail);
}

Report Races::describe(const Block& block, const Conflict& conflict, bool lacks_fence) const {
  const auto& [before, verb_before, now, thread] = conflict;
  const bool same_block = before.block == block.number();
  const dim3 grid = block.kernel().config.grid;
  const uint3 other = {before.block % grid.x, before.block / grid.x % grid.y,
                       before.block / grid.x / grid.y};
  const Where where = before.site->line();
  Report race = block.report("race", now.site.line(), thread);
  race.access = verb(now.kind);
  race.other_line = where.line;
  race.other_thread = numbers(block.thread_index(before.thread));
  if (!same_block) race.other_block = numbers(other);
  race.flags = before.atomic           ? "other_atomic"
               : verb_before[0] == 'w' ? "other_writes"
                                       : "other_reads";
  if (block.kernel().blocks() > 1) race.flags += " several_blocks";
  if (now.shared) {
    race.flags += " shared";
    race.array = describe_shared(now.address - block.shared_memory_begin());
  }
  const std::string barrier = lacks_fence  ? "__threadfence before the atomic"
                              : same_block ? "barrier"
                                           : "order";
  race.detail =
      joined("race in ", now.shared ? "shared" : "global", " memory: thread (", race.thread, ") ",
             race.access, " what thread (", race.other_thread, ")",
             same_block ? "" : " of block " + text(other), " ", verb_before, " at ", where,
             ", with no ", barrier, " in between (kernel launched at ", block.kernel().config.where,
             ", block ", block.block_index(), now.shared ? ": " + race.array : "", ")");
  return race;
}

/// The block's threads end or meet: what was left open is decided now.
void Races::settle(const Block& block) {
  look_again();
  if (!running_->suspicions.empty()) end(block, running_->suspicions.begin()->second);
}

/// Is this the comparison that makes the running thread's last read harmless?
void Races::note_comparison(const Block& block, const MemoryAccess& access) {
  const int thread = block.running_thread();
  const char*& just_read = running_->just_read[thread];
  const auto suspicion = running_->suspicions.find(thread);
  if (access.compares && just_read == access.address) {
    if (suspicion != running_->suspicions.end()) running_->suspicions.erase(suspicion);
    for (std::size_t done = 0; done < access.bytes; done += kWord) {
      Word& word = word_of(block, access, done);
      for (Stamp* read : {&word.read, &word.other_read}) {
        if (read->block == block.number() && read->thread == thread) read->launch = 0;
      }
    }
  } else if (suspicion != running_->suspicions.end()) {
    end(block, suspicion->second);
  }
  just_read = access.kind == Access::read ? access.address : nullptr;
}

void Races::look_again() {
  if (!second_write_.block) return;
  const SecondWrite write = std::exchange(second_write_, {});
  const MemoryAccess& now = write.conflict.now;
  const bool same = std::memcmp(now.address, write.held.data(), write.held.size()) == 0;
  if (!same) end(*write.block, write.conflict);
  if (settings().strict && !now.shared && same_value_written_.kind.empty()) {
    same_value_written_ = describe(*write.block, write.conflict);
  }
}

}  // namespace cuda_on_cpu
