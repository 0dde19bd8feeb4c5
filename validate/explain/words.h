#pragma once

#include <set>
#include <string>
#include <vector>

namespace validate {

/// What a program is like, as far as it decides which mistakes it can have and which words fit it.
enum Trait : unsigned {
  kKernels = 1u << 0,         ///< the GPU sweeps
  kCopyKernel = 1u << 1,      ///< and copies
  kBlockSum = 1u << 2,        ///< cub::BlockReduce sums a block
  kTile = 1u << 3,            ///< in shared memory
  kSwaps = 1u << 4,           ///< pointers are exchanged, and no data is copied
  kChecks = 1u << 5,          ///< a residual only every kCheckEvery sweeps
  kCheckKernel = 1u << 6,     ///< kernels that add to the sum only if they are asked to
  kGraph = 1u << 7,           ///< a CUDA graph
  kStrips = 1u << 8,          ///< warps march up strips of the grid, and exchange by shuffles
  kShuffles = 1u << 9,        ///< shuffles
  kPitch = 1u << 10,          ///< padded rows
  kPasses = 1u << 11,         ///< several sweeps per trip to memory
  kRing = 1u << 12,           ///< rows that arrive while others are used
  kSlabs = 1u << 13,          ///< ranks, each of which numbers its rows from its own first one
  kStreams = 1u << 14,        ///< streams that wait for each other
  kLateSum = 1u << 15,        ///< the host reads a sum while the next pass runs
  kGivesRows = 1u << 17,      ///< the result, some rows at a time: the fields are on the GPU
  kWasteEnds = 1u << 18,      ///< what lies at a block's ends comes out wrong, and is not stored
  kMemcpy = 1u << 16,         ///< a call copies bytes: cudaMemcpy, memcpy
  kStoredParts = 1u << 19,    ///< parts of the sum are stored, and added up later
  kBlockConstant = 1u << 21,  ///< a block's shape is called kBlockX
  kPairs = 1u << 24,          ///< sums of two neighbours are kept for two points
  kOpenGroup = 1u << 23,      ///< NCCL's calls are grouped, and no group ends
};

/// How a trait is found: the steps whose solutions have it, and the name that says so in a file.
struct TraitRow {
  Trait trait;
  const char* name;      ///< as the words of the catalogue ask for it: {?tile|...}
  int from, until;       ///< the steps
  const char* evidence;  ///< a name in the file; with a * it may go on, and begin with a k
  enum How {
    kFile,    ///< the file says, if it is at hand
    kStep,    ///< the step says
    kEither,  ///< one of the two is enough
  } how;
};
const std::vector<TraitRow>& trait_rows();

/// Whether a name that is in `names` is the evidence.
bool holds_evidence(const std::set<std::string>& names, const char* evidence);

struct Patient;

/// What a program is like, and what its functions and variables are called: as in its file, if that
/// is at hand, else as in the step's solution.
class Words {
 public:
  explicit Words(const Patient& patient);
  bool has(unsigned traits) const { return (traits_ & traits) == traits; }
  bool has_any(unsigned traits) const { return (traits_ & traits) != 0; }
  /// The same by a trait's name; false if there is none.
  bool has(const std::string& name) const;

  /// Words of the catalogue that depend on the program, by their name: {sweep}, {formula} ... They
  /// may hold others. "": there is no such name.
  std::string say(const std::string& name) const;

  /// The text, without names of the step files that the program does not have.
  std::string in_own_names(std::string text) const;

  std::string sweep() const;  ///< the sweep's kernel, or its function
  std::string copy() const;
  std::string host() const;  ///< the host's function that launches the sweep
  bool launches_copy() const { return copy() != "copy_field" && has_line(copy() + "<<<"); }

 private:
  bool has_name(const std::string& name, bool guess) const;
  bool has_line(const std::string& code) const;
  std::string kernel(bool copies) const;
  std::string handover() const;
  std::string formula() const;
  std::string never_launched() const;

  int step_;
  const std::set<std::string>& names_;
  const std::string& source_;
  unsigned traits_ = 0;
};

}  // namespace validate
