#include "explain/words.h"

#include <algorithm>
#include <climits>
#include <map>
#include <regex>

#include "explain/diagnosis.h"
#include "run/steps.h"
#include "run/text.h"
#include "source/source_code.h"

namespace validate {
namespace {

constexpr int kLast = INT_MAX;

/// Step 16 begins with this one: a tile, and a sum over each block.
constexpr int kBeforeCycles = 10;

const std::vector<TraitRow> kRows = {
    {kKernels, "kernels", 4, kLast, "__global__", TraitRow::kEither},
    {kCopyKernel, "copy_kernel", 5, 9, "copy_field_kernel", TraitRow::kStep},
    {kBlockSum, "block_sum", 8, 12, "BlockReduce", TraitRow::kFile},
    {kTile, "tile", 9, 11, "tile*", TraitRow::kFile},
    {kSwaps, "swaps", 10, kLast, "swap", TraitRow::kStep},
    {kGivesRows, "gives_rows", 10, kLast, "StartOnGpu", TraitRow::kStep},
    {kChecks, "checks", 11, kLast, "check_every", TraitRow::kEither},
    {kCheckKernel, "check_kernel", 11, 11, "kCheck", TraitRow::kFile},
    {kGraph, "graph", 11, 11, "cudaGraph*", TraitRow::kFile},
    {kShuffles, "shuffles", 12, kLast, "__shfl*", TraitRow::kFile},
    {kPitch, "pitch", 12, kLast, "pitch*", TraitRow::kFile},
    {kPasses, "passes", 13, kLast, "level*", TraitRow::kFile},
    {kWasteEnds, "waste_ends", 13, kLast, "level*", TraitRow::kStep},
    {kRing, "ring", 13, kLast, "ring*", TraitRow::kFile},
    {kSlabs, "slabs", 14, kLast, "held_begin", TraitRow::kFile},
    {kOpenGroup, "open_group", 14, kLast, "ncclGroupStart", TraitRow::kFile},
    {kStreams, "streams", 15, kLast, "cudaStreamWaitEvent", TraitRow::kFile},
    {kBlockConstant, "block_constant", 4, 11, "kBlockX", TraitRow::kFile},
    {kMemcpy, "memcpy", 8, kLast, "cudaMemcpy*", TraitRow::kFile},
    {kPairs, "pairs", 13, kLast, "pairs", TraitRow::kFile},
};

// clang-format off
const std::map<std::string, const char*> kPhrases = {
    {"bounds",
     "{?strips|which columns and rows keep their old values in {sweep} and in what it calls: those of the boundary, 0 "
     "and n - 1, and no others; and with which column each strip, or block, begins{?ring|; and which rounds of a march "
     "keep them: all that come near a boundary}|the bounds of i and j in {sweep}: 1 to n - 2{?slabs or of_ranks|, and "
     "of j those of the rank's own rows}}"},
    {"launch_grid",
     "{?block_constant|(n + kBlockX - 1) / kBlockX blocks|enough blocks along x for n columns, and enough along y "
     "for n rows}"},
    {"tile_loads",
     "how threads share out the tile's entries: each is loaded once, halo included. In a loop over the entries a "
     "thread begins with its own number in the block, and goes on by the number of threads"},
    {"rows_arrive",
     "the ring: whether each row has arrived when it is read (__pipeline_commit closes a batch of copies, and "
     "__pipeline_wait_prior leaves a number of batches in flight), is read from the place to which it was copied, and "
     "is not overwritten before"},
    {"update_line", "the line that computes value in {sweep}"},
    {"change_line", "the line that computes change in {sweep}"},
    {"put_together", "how {sweep} and what it calls put a point's neighbours together"},
    {"ends_of_strips",
     "what the first and the last lane of a warp take for the points beyond their strip, where a shuffle has no "
     "lane to ask{?passes|; and which columns a strip stores: all except kHalo at each of its ends (kKept)}"},
    {"march",
     "{?passes|the rows that a warp marches through: from as many below its first one as a pass has sweeps, to as "
     "many above its last one|the rows that a warp loads: from the one below its first row, to the one above its "
     "last; and how they move up when a row is done: the old centre becomes south, then the old north becomes "
     "centre}"},
    {"stored_parts",
     "how many of the stored parts are copied and added up: one per block, gridDim.x * gridDim.y of them, and "
     "cudaMemcpy counts bytes (sizeof(double) each); and whether the sums of all warps of the kernel that adds them up "
     "are put together"},
    {"who_adds",
     "the `if` around what adds to the sum in {sweep}: {?block_sum or shuffles|it chooses one thread of each block "
     "(or warp), by threadIdx only, and does not choose among blocks|each thread with an interior point adds its "
     "change, or passes it to its block's sum}"},
    {"loop_condition",
     "the condition of the loop in main: residual > options.tolerance && iteration < options.max_iterations, and "
     "iteration goes up in each turn"},
    {"order_of_rows",
     "the order at that line: the destination and its pitch, the source and its pitch, then the width of a row, all "
     "three in bytes, and the number of rows"},
    {"order_of_launch",
     "the order between <<< and >>>: the launch grid first, then the block (in the wrong order, a small n may still "
     "give a correct result)"},
    {"sizes_of_launch",
     "the sizes between <<< and >>>: at least one block (between integers n / 1024 may be 0: round up), and at most "
     "1024 threads per block, all directions multiplied"},
    {"starts_in_main",
     "the calls of initialize_field in main: f_old gets problem.initial_old(), f_new problem.initial_new()"},
    {"ask_the_cpu", "make check with RACES=1: it needs no GPU, and names the line, the block and the thread"},
    {"shared_additions",
     "each addition to a sum that several threads share: atomicAdd; each barrier around a sum in shared memory; and "
     "whether no thread sets to 0 what others add to"},
    {"sum_over_ranks",
     "the sum over all ranks: {?mpi|ranks.sum|ncclAllReduce (one value, ncclDouble, ncclSum){?!nccl|, or without "
     "NCCL ranks.sum}}, before the host reads the sum"},
    {"rows_held",
     "{shares}: on both sides the rank holds as many rows beyond its own as a pass has sweeps; and whether "
     "memory is allocated for all of them"},
    {"once",
     "whether the coarse correction is added to the first sweep's e once: it does not take the place of that e, and "
     "is not added to what the cycle before has left there (e of every level begins with 0 in each cycle)"},
    {"left_out",
     "{?iteration|in iteration {iteration} }{?by_sweep|{?both|neither sweep nor copy (or swap) reaches|the sweep "
     "leaves out}|the sweep is right, but the copy (or swap) leaves out} {points}; old values stay there"},
};
// clang-format on

/// A name of the step files, what of a text is replaced if a program has no such name, and by what.
struct UsualName {
  const char *name, *pattern, *phrase;
};
const UsualName kUsualNames[] = {
    {"copy_field", R"(copy_field\(f_old, f_new, n\))", "the copy of the new field to the old one"},
    {"copy_field", R"(\bcopy_field\b)", "the copy"},
    {"initialize_field", R"(\binitialize_field\b)", "what fills a field with its starting values"},
    {"allocate_fields", R"(\ballocate_fields\b)", "the function that allocates the fields"},
    {"free_fields", R"(\bfree_fields\b)", "the function that frees the fields"},
    {"idx", "; and an index that is written without idx: it needs idx's formula", ""},
    {"idx", R"(\bidx\(i, j, n\))", "j * n + i"},
    {"idx", R"(\bidx\(j, i, n\))", "i * n + j"},
    {"idx", R"(\bidx\(0, j, n\))", "j * n"},
    {"idx", R"(\bidx\b)", "the index"},
    {"value", "line that computes value", "line that computes the new value"},
    {"change", "line that computes change", "line that computes the change"},
    {"f_old", R"(\bf_old\b)", "the old field"},
    {"f_new", R"(\bf_new\b)", "the new field"},
};

}  // namespace

const std::vector<TraitRow>& trait_rows() { return kRows; }

bool holds_evidence(const std::set<std::string>& names, const char* evidence) {
  const std::string text = evidence;
  if (text.back() != '*') return names.count(text) > 0;
  const std::regex begin("^k?" + text.substr(0, text.size() - 1), std::regex::icase);
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return std::regex_search(name, begin); });
}

Words::Words(const Patient& patient)
    : step_(patient.step < kFirstCycleStep ? patient.step : kBeforeCycles),
      names_(patient.names),
      source_(patient.source) {
  const bool file = !names_.empty();
  for (const TraitRow& row : kRows) {
    const bool of_step = step_ >= row.from && step_ <= row.until;
    const bool in_file = file && holds_evidence(names_, row.evidence);
    const bool is = row.how == TraitRow::kStep     ? of_step
                    : row.how == TraitRow::kEither ? of_step || in_file
                    : file                         ? in_file
                                                   : of_step;
    if (is) traits_ |= row.trait;
  }
  // From step 12 on, a file's strips exchange what they need by shuffles; one with a tile has none,
  // and one of a point for each thread, say, has neither.
  const bool exchanges =
      holds_evidence(names_, "__shfl_up*") || (has(kShuffles) && names_.count("float4") > 0);
  const bool tile_in_file =
      file && (has(kTile) || (!exchanges && !source_.empty() && has_line("__shared__ float")));
  const bool late = step_ >= 12;
  traits_ &= ~(kTile | kStrips);
  if (tile_in_file || (!late && step_ >= 9)) traits_ |= kTile;
  if (late && !tile_in_file && (!file || exchanges)) traits_ |= kStrips;
  if (!has(kStrips)) traits_ &= ~(kPasses | kRing);
  // A file of an early step may exchange its fields, too, and have no copy at all.
  const auto copies = [](const std::string& name) {
    return says(name, "opy") || name == "memcpy" || says(name, "DeviceToDevice");
  };
  if (!source_.empty() && std::none_of(names_.begin(), names_.end(), copies) &&
      (names_.count("swap") || has_line("=1-") || has_line("^=1"))) {
    traits_ |= kSwaps;
  }
  // Before, a pitch is that of a tile.
  if (step_ < 12 && !holds_evidence(names_, "cudaMallocPitch") && !names_.count("cudaMemcpy2D")) {
    traits_ &= ~kPitch;
  }
  const bool no_atomic = file && names_.count("__global__") && !holds_evidence(names_, "atomic*");
  if (no_atomic) traits_ |= kStoredParts;
  if (has_name("cudaMemcpyAsync", step_ == 11 || step_ >= 15)) traits_ |= kLateSum;
  if (!file || names_.count("ncclGroupEnd")) traits_ &= ~kOpenGroup;
  if (names_.count("memcpy")) traits_ |= kMemcpy;
  if (!file) traits_ &= ~kMemcpy;
  if (!file && !has(kStrips)) traits_ |= kBlockConstant;
}

bool Words::has(const std::string& name) const {
  static const std::map<std::string, Trait> kTraits = [] {
    std::map<std::string, Trait> all = {
        {"strips", kStrips}, {"stored_parts", kStoredParts}, {"late_sum", kLateSum}};
    for (const TraitRow& row : kRows) all[row.name] = row.trait;
    return all;
  }();
  const auto at = kTraits.find(name);
  return at != kTraits.end() && has(at->second);
}

bool Words::has_name(const std::string& name, bool guess) const {
  return names_.empty() ? guess : names_.count(name) > 0;
}

bool Words::has_line(const std::string& code) const {
  return source_.empty() || code_only(source_).find(code_only(code)) != std::string::npos;
}

std::string Words::kernel(bool copies) const {
  struct Kernel {
    std::string name;
    bool copies, has_quarter;
  };
  std::vector<Kernel> kernels;
  for (const Function& function : functions_in(source_)) {
    const std::string &name = function.name, code = code_of(function, source_);
    const auto is = [&](std::initializer_list<const char*> parts) {
      return std::any_of(parts.begin(), parts.end(),
                         [&](const char* part) { return says(name, part); });
    };
    if (!function.is_kernel ||
        is({"init", "start", "fill", "sum", "reduc", "residual", "norm", "zero"}) ||
        (!kernels.empty() && kernels.back().name == name)) {
      continue;
    }
    kernels.push_back(
        {name, is({"copy", "swap", "update_old"}), says(code, "0.25") || says(code, "/4")});
  }
  // Whatever their names are, of two kernels the one with the factor 1/4 sweeps.
  if (kernels.size() == 2 && !kernels[0].copies && !kernels[1].copies &&
      kernels[0].has_quarter != kernels[1].has_quarter) {
    kernels[kernels[0].has_quarter].copies = true;
  }
  const auto wanted = [&](const Kernel& kernel) { return kernel.copies == copies; };
  if (std::count_if(kernels.begin(), kernels.end(), wanted) != 1) return "";
  return std::find_if(kernels.begin(), kernels.end(), wanted)->name;
}

std::string Words::sweep() const {
  if (!has(kKernels)) return has_name("jacobi_sweep", true) ? "jacobi_sweep" : "the sweep";
  const std::string usual =
      has_name("jacobi_pass_kernel", has(kPasses)) ? "jacobi_pass_kernel" : "jacobi_sweep_kernel";
  if (has_name(usual, true)) return usual;
  const std::string own = kernel(false);
  return own.empty() ? "the sweep" : own;
}

std::string Words::copy() const {
  if (has(kCopyKernel) && has_name("copy_field_kernel", true)) return "copy_field_kernel";
  const std::string own = has(kCopyKernel) ? kernel(true) : "";
  return own.empty() ? "copy_field" : own;
}

std::string Words::host() const {
  const std::string usual = has_name("jacobi_pass", has(kPasses))    ? "jacobi_pass"
                            : has_name("jacobi_sweeps", step_ >= 11) ? "jacobi_sweeps"
                                                                     : "jacobi_sweep";
  if (has_name(usual, true)) return usual;
  const std::string kernel = sweep(), launch = kernel == "the sweep" ? "<<<" : kernel + "<";
  std::set<std::string> own;
  for (const Function& function : functions_in(source_)) {
    if (!function.is_kernel && says(code_of(function, source_), launch)) own.insert(function.name);
  }
  return own.size() == 1 ? *own.begin() : "the function that launches the kernel";
}

std::string Words::handover() const {
  if (!has(kSwaps)) return "copy_field(f_old, f_new, n) in main";
  // The learner's may exchange copies, or have another name.
  if (step_ >= 11 && has_line("std::swap(*f_old,*f_new)")) {
    return "std::swap(*f_old, *f_new) in {host}";
  }
  if (step_ >= 11) {
    return has_line("std::swap(f_old,f_new)")
               ? "std::swap(f_old, f_new) (in a function it must reach main's own pointers)"
           : host().rfind("jacobi_", 0) == 0 ? "the exchange of the two fields in {host}"
                                             : "the exchange of the two fields";
  }
  return has_name("swap", true) ? "std::swap(f_old, f_new)" : "the exchange of the two fields";
}

std::string Words::formula() const {
  const bool waits = has_name("wait_for", step_ == 11);
  const std::string line = waits ? "return std::sqrt(*pass.host_sum / (double(n) * n))"
                                 : "residual = std::sqrt(squares / (double(n) * n))";
  // The learner's own may have other words.
  if (!has_line(line)) {
    for (const Function& function : functions_in(source_)) {
      if (says(code_of(function, source_), "sqrt(")) {
        return "the formula of the residual in " + function.name;
      }
    }
    return "the formula of the residual";
  }
  return line + (waits ? " in wait_for" : " in main");
}

std::string Words::never_launched() const {
  if (!has(kKernels)) return "the loops in {sweep}";
  return "the launch of {sweep} in {host}: that it is there, is accepted (cudaGetLastError() right "
         "after it), has enough blocks, and, in a stream of its own, is waited for; and the `if` "
         "in the kernel{?strips|, and which rows a warp stores: all of "
         "its own, with no row left out between two warps}";
}

std::string Words::in_own_names(std::string text) const {
  for (const auto& [name, pattern, phrase] : kUsualNames) {
    if (!has_name(name, true)) text = std::regex_replace(text, std::regex(pattern), phrase);
  }
  return text;
}

std::string Words::say(const std::string& name) const {
  if (name == "sweep") return sweep();
  if (name == "copy") return copy();
  if (name == "host") return host();
  if (name == "handover") return handover();
  if (name == "formula") return formula();
  if (name == "never_launched") return never_launched();
  const bool ranks = has_name("exchange_halos", true), shares = has_name("slab_of_rank", true);
  if (name == "exchange") return ranks ? "exchange_halos" : "the exchange of rows";
  if (name == "shares") return shares ? "slab_of_rank" : "which rows each rank has";
  const auto phrase = kPhrases.find(name);
  return phrase != kPhrases.end() ? phrase->second : "";
}

}  // namespace validate
