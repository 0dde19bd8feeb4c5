#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "report.h"
#include "run/block.h"
#include "watch/access.h"

namespace cuda_on_cpu {

/// A thread, and how far it had come. `launch` 0: no thread.
struct Moment {
  std::uint32_t launch = 0;
  std::uint32_t block;
  std::uint32_t grid_epoch;   // how often the grid had synchronised
  std::uint32_t block_epoch;  // how often the block had
  std::uint32_t warp_clock;   // how often the thread had synchronised with its warp
  std::uint32_t tick;         // how many atomics and fences the thread had done
  std::uint16_t thread;

  bool operator==(const Moment&) const = default;
};
/// When and where a word was accessed.
struct Stamp : Moment {
  std::uint8_t bytes;  // of the word's four, as bits
  bool atomic;
  const Site* site;
};
/// A word of 4 bytes: its last writer, and two readers since (of different threads, if it had
/// any).
struct Word {
  Stamp write, read, other_read;
  bool written = false;
};

/// Finds accesses that nothing orders: two threads, the same bytes, at least one writes, and not
/// both are atomic. What orders accesses of one kernel: the block's barrier, a warp's operations,
/// the grid's barrier, and an atomic on the same address in between (one comes after the first
/// access, the other one before the second). Between blocks, what the first one wrote also needs a
/// fence between the write and the atomic. It does not depend on which thread happened to come
/// first.
///
/// Also finds reads, and atomics, of memory that nothing has written.
class Races {
 public:
  /// A copy or a fill, made for the host.
  void memory_written(const char* begin, std::size_t bytes);

  void kernel_begins(const Kernel& kernel);
  void kernel_ends();
  void block_resumes(Block& block) { running_ = &blocks_[&block]; }
  void block_ends(Block& block);
  void block_synchronises(Block& block);
  void grid_synchronises() { ++grid_epoch_; }
  /// The running thread has come to a fence for all blocks.
  void thread_fences(Block& block);
  void warp_synchronises(int warp, unsigned lanes);

  /// Ends the program, with both lines, if the access races with one before it.
  void access(Block& block, const MemoryAccess& access);

 private:
  /// Up to which clock a lane knows what each lane of its warp has done.
  using Known = std::array<std::uint32_t, 32>;
  /// A thread's atomic or fence, and what of its warp came before it.
  struct Act : Moment {
    std::shared_ptr<const Known> known;  // null: nothing of the other lanes
  };
  /// How many of the publications at each address were seen.
  using Seen = std::unordered_map<const char*, std::size_t>;
  /// An atomic on an address publishes what came before it: whoever does a later atomic there may
  /// rely on that.
  struct Publication {
    std::size_t number;  // the atomics at this address are counted
    Act atomic;
  };
  struct OfOneBlock {
    std::uint32_t epoch;  // of the last one
    std::map<int, std::vector<Publication>> of_thread;
  };
  struct Publications {
    std::size_t count = 0;
    std::unordered_map<std::uint32_t, OfOneBlock> of_block;
    Seen seen;  // elsewhere, by threads that fenced before they published here
  };
  struct OfWarp {
    Known clock{};
    std::array<std::shared_ptr<const Known>, 32> known;  // of each lane
  };
  /// Two accesses that nothing orders.
  struct Conflict {
    Stamp before;
    const char* verb_before;
    MemoryAccess now;
    int thread;  ///< of `now`
  };
  struct OfBlock {
    std::uint32_t epoch = 0;
    std::array<OfWarp, kMaxWarps> warps{};
    std::array<const char*, kMaxThreads> just_read{};  // by each thread's last access, if a read
    // Plain reads that race with an atomic, by the thread that read. They do no harm if it next
    // compares what it read with what is there, and changes it in the same step, as a loop around
    // atomicCAS does.
    std::map<int, Conflict> suspicions;
    std::array<std::uint32_t, kMaxThreads> tick{};
    std::unordered_map<int, Seen> seen_by;  // each thread, since the block's last barrier
    Seen seen;                              // all of them, before it
  };
  /// Two threads that write the same memory: no harm is done if the second one writes what is there
  /// already, as when all of them set a sum to 0, or two write the same corner of a field. The
  /// second one writes right after it was looked at.
  struct SecondWrite {
    const Block* block = nullptr;  ///< null: there is none to be looked at again
    Conflict conflict;
    std::string held;  ///< what stood there before it
  };

  Word& word_of(const Block& block, const MemoryAccess& access, std::size_t offset);
  Moment moment(const Block& block) const;
  Act act(const Block& block);
  bool ordered(const Stamp& before, const Stamp& now, const char* fenced_at = nullptr) const;
  bool published(const Stamp& before, const Stamp& now, const char* fenced_at) const;
  bool published_among(const Stamp& before, const Seen& seen, const char* fenced_at) const;
  bool fenced(const Stamp& before, const Act& atomic) const;
  static bool precedes(const Moment& earlier, const Act& later);
  void note_atomic(const Block& block, const MemoryAccess& access);
  Report describe(const Block& block, const Conflict& conflict, bool lacks_fence = false) const;
  [[noreturn]] void end(const Block& block, const Conflict& conflict,
                        bool lacks_fence = false) const;
  void look_again();
  void settle(const Block& block);
  void note_comparison(const Block& block, const MemoryAccess& access);

  // Of the block's shared memory, and of the program's own variables. An allocation has its own.
  std::shared_ptr<Word> shared_, own_;
  std::map<const Block*, OfBlock> blocks_;
  OfBlock* running_ = nullptr;
  std::unordered_map<const char*, Publications> publications_;
  std::unordered_map<std::uint32_t, std::vector<Act>> fences_;  // of each block
  // The plain writes that atomics of the same block came after: those of other blocks need not.
  std::unordered_map<const char*, Stamp> before_atomics_;
  std::set<Site> sites_;
  std::uint32_t launch_ = 0;
  std::uint32_t grid_epoch_ = 0;
  SecondWrite second_write_;
  Report same_value_written_{""};  // in this kernel: the first time
  bool adds_up_ = false;           // in this kernel: an atomic, or a double is stored
  Report unwritten_read_{""};      // the first one; its detail is the thread
};

}  // namespace cuda_on_cpu
