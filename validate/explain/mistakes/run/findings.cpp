// What a look at every access finds: a single access, barrier, launch or call that is wrong.

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <regex>
#include <string>

#include "explain/mistakes/families.h"
#include "explain/mistakes/run/found.h"
#include "run/steps.h"
#include "run/text.h"
#include "source/source_code.h"

namespace validate {
namespace {

/// An allocation that is too small for a field, as its number of bytes shows: rows without their
/// padding, or a single row.
Answer few_bytes_of_rows(const Found& found) {
  // Ranks, and coarser levels, have fields of other sizes.
  if (found.words.has(kSlabs) || found.evidence.patient.step >= kFirstCycleStep) return {};
  const Answer few = few_bytes(found.report, found.n, found.words.has(kPitch));
  return few.has("padding") || few.has("row") || few.has("points") ? few : Answer();
}

/// A pointer to floats to which a number of bytes is added: "block + bytes"; "": none.
std::string pointer_and_bytes(const std::string& source) {
  static const std::regex of_bytes(R"((\w+)=[^;]*\bsizeof\((?:float|Real)\)[^;]*;)");
  const std::string code = code_only(source);
  for (std::sregex_iterator at(code.begin(), code.end(), of_bytes), end; at != end; ++at) {
    std::string bytes = (*at)[1];
    if (const std::size_t type = bytes.rfind("size_t"); type != bytes.npos)
      bytes.erase(0, type + 6);
    std::smatch moved;
    const std::regex pointer("[;{}]\\*?[\\w.]+(?:\\[\\w+\\])?=(\\w+)\\+" + bytes + ";");
    if (std::regex_search(code, moved, pointer)) return moved[1].str() + " + " + bytes;
  }
  return "";
}

/// An access of a kernel beside what was allocated.
Answer outside(const Found& found) {
  const Scene& scene = found.scene;
  const std::string kernel = scene.function.empty() ? "a kernel" : scene.function;
  const std::string array = scene.array.empty() ? "what was allocated" : scene.array;
  const bool copies = says(scene.function, "copy");
  const bool sweeps = scene.function == found.words.sweep();
  int x = 0, y = 0;  // blockIdx * blockDim + threadIdx
  const bool has_place = std::sscanf(found.report.index.c_str(), "%d,%d", &x, &y) == 2;
  const bool launched = says(found.source, kernel + "<<<");
  const bool strips = found.words.has(kStrips), tile = found.words.has(kTile);
  const std::string line = code_at(found.source, found.report.line);
  Answer answer = found.answer("access_outside_of_an_array");
  answer.with("kernel", kernel)
      .with("copies", copies)
      .with("what", found.report.access + " " + found.finding.where())
      .with("named", as_name(array))
      .with("sweeps", sweeps)
      .with("indexed", says(line, "[") && !says(line, "_async"))
      .with("else", says(found.source, "} else"))
      .with("levels", found.evidence.patient.step >= kFirstCycleStep)
      .with("pitch_bytes", says(found.source, "cudaMallocPitch"))
      .with("partly", found.report.has("partly"))
      .with("moved", pointer_and_bytes(found.source))
      .with("stores", found.report.access == "writes")
      .with("floats", says(code_at(found.source, found.report.allocated_line), "float"))
      .with("doubles", says(code_at(found.source, found.report.allocated_line), "double"));
  if (has_place && scene.thread_per_point && (sweeps || copies)) {
    const int low = sweeps ? 1 : 0, high = found.n - 1 - low;
    const int i = x + scene.first_i, j = y + scene.first_j;
    answer.with("thread", format("i = %d, j = %d", i, j));
    if (std::min(i, j) < low || std::max(i, j) > high) {
      answer.rule = "thread_without_a_point";
      return answer;
    }
  }
  if (const Answer few = few_bytes_of_rows(found); few.known() && found.report.place != "before") {
    return few;
  }
  // What is far smaller than a field holds sums: one for each block, say.
  if (found.report.bytes > 0 && is_no_field(found.report, found.n)) {
    answer.rule = "index_outside_of_partial_sums";
    return answer.with("allocated", found.report.allocated_line);
  }
  if (found.words.has(kSlabs) && (sweeps || !launched)) {  // or what the sweep calls
    answer.rule = "row_outside_of_the_slab";
    return answer;
  }
  const bool lane = !launched && strips;  // a function that the sweep calls
  const bool launch = launched && !sweeps && !copies;
  answer.with("lane", lane).with("launch", launch);
  if (found.report.allocated_line > 0) answer.with("allocated", found.report.allocated_line);
  if (strips && (lane || launch || found.words.has(kSlabs))) return answer;
  return answer.with("block", tile && sweeps).with("bounds_too", sweeps && !strips && !tile);
}

/// Memory that nothing has written: of a tile, of a sum, or what a copy may have left out.
Answer unwritten(const Found& found) {
  const std::string& what = found.report.array;
  if ((found.words.has(kTile) || found.finding.shared()) && says(what, "[")) {
    const std::string code = code_only(found.source);
    const bool in_flight = found.report.has("in_flight");
    return found.answer("tile_entry_is_not_loaded")
        .with("entry", what)
        .with("copied", in_flight ? std::to_string(found.report.other_line) : "")
        .with("parts", says(code, "double" + what.substr(0, what.find('[')) + "["))
        .with("copies", says(code, "_memcpy_async"))
        .with("async", in_flight || (says(code, "_memcpy_async") && found.words.has(kRing)));
  }
  const bool atomic = found.report.access == "changes atomically";
  if (atomic && found.finding.shared()) {
    return found.answer("shared_sum_is_not_set").with("sum", what.empty() ? "shared memory" : what);
  }
  if (atomic) {
    if (Answer half = half_a_sum(found.source, found.evidence.sum()); half.known())
      return half.as(Strength::kForbidden);
    return found.answer("sum_is_not_set")
        .with("streams", says(found.source, "cudaMemset(") && says(found.source, "NonBlocking"));
  }
  if (!what.empty()) return {};
  return found.answer("reads_what_nothing_has_written")
      .with("levels", found.evidence.patient.step >= kFirstCycleStep);
}

/// What a header of the lab reports of a kernel that calls it: the starting values of a point that
/// does not exist.
Answer starting_values(const Found& found) {
  const Report& report = found.report;
  const std::string launch = between(report.words, "launched at ", ",");
  const std::size_t colon = launch.rfind(':');
  if (colon == std::string::npos) return {};
  return Answer(report.has("freed") ? "starting_values_are_freed"
                                    : "starting_value_beyond_the_grid")
      .with("line", launch.substr(colon + 1))
      .with("place", report.index)
      .as(Strength::kForbidden);
}

/// The kernel that still has the host's loops over all points, two up to n, in each of many threads;
/// "": none.
std::string kernel_of_all_points(const std::string& source) {
  static const std::regex loop(R"(for\(int(\w+)=[01];\1<=?n\b)");
  for (const Function& function : functions_in(source)) {
    const std::string code = code_of(function, source);
    const auto loops = std::sregex_iterator(code.begin(), code.end(), loop);
    if (function.is_kernel && std::distance(loops, std::sregex_iterator()) > 1) {
      return function.name;
    }
  }
  return "";
}

/// A loop that does not end in time, of a kernel or of the host, which may be seen to launch kernels
/// that take too long.
Answer endless(const Found& found) {
  const Report& report = found.report;
  const bool host = report.kind == "endless_host";
  const std::string all_points = host ? "" : kernel_of_all_points(found.source);
  static const std::regex given(R"((\w+)\s*=\s*(lab::)?parse_options\()"), a_main(R"(\bmain\()");
  std::smatch options;
  const std::string name =
      std::regex_search(found.source, options, given) ? options.str(1) : "\\w+";
  const std::regex of_options("\\b" + name + "\\.n\\b");
  const bool of_kernel = report.kind == "endless_kernel" || !all_points.empty();
  return found.answer(of_kernel ? "endless_loop_of_a_kernel" : "endless_loop")
      .with("kernel", all_points.empty() ? found.scene.function : all_points)
      .with("all_points", !all_points.empty())
      .with("host", host)
      .with("n_of_its_own",
            std::regex_search(found.source, a_main) && !std::regex_search(found.source, of_options))
      .with("threads", report.bytes > 64L * found.n * found.n ? std::to_string(report.bytes) : "")
      .with("main", report.other_line > 0 ? std::to_string(report.other_line) : "");
}

Answer answer_for(const Found& found) {
  const Finding& finding = found.finding;
  const Report& report = found.report;
  const std::string& file = report.file;
  const std::string ending = file.substr(std::min(file.rfind('.'), file.size()));
  if (ending == ".h") return starting_values(found);
  // Of the lab: a line of a file that the learner does not know.
  if (ending == ".cpp" && !says(file, "jacobi.cpp")) return {};
  if (!finding.known()) return {};
  if (finding.is_outside()) return outside(found);
  if (finding.is_race()) return answer_of_race(found);
  if (report.kind == "unwritten") return unwritten(found);
  if (report.kind.rfind("endless_", 0) == 0) return endless(found);
  const bool before = report.kind == "shared_before";
  if (before || report.kind == "shared_end") {
    return found.answer("outside_of_shared_memory")
        .with("before", before)
        .with("of_tile", found.words.has(kTile) && found.scene.array.find("tile") == 0);
  }
  if (report.kind == "freed") {
    const int before = std::atoi(report.detail.substr(report.detail.rfind(':') + 1).c_str());
    return found.answer("memory_is_freed_twice")
        .with("what", between(report.array, "(", ")"))
        .with("before", before)
        .with("reset", says(code_at(found.source, before), "cudaDeviceReset"));
  }
  static const std::map<std::string, const char*> kRules = {
      {"barrier", "barrier_is_not_reached_by_all"},
      {"shuffle", "barrier_is_not_reached_by_all"},
      {"host_early", "host_does_not_wait"},
      {"lane", "lane_takes_no_part"},
      {"mask", "lane_takes_no_part"},
      {"shape", "block_of_another_shape"},
      {"two_copies", "row_arrives_too_late"},
      {"misaligned", "misaligned_floats"},
      {"refused", "refused_launch_is_not_checked"},
      {"ended_variable", "copy_to_an_ended_variable"},
      {"own_variable", "sum_by_value"}};
  const auto rule = kRules.find(report.kind);
  if (rule == kRules.end()) return answer_of_call(found);
  return found.answer(rule->second)
      .with("writes", report.access == "writes")
      .with("part", report.bytes % 32 != 0)  // of a warp
      .with("in_block", report.bytes)
      .with("events", says(found.source, "cudaEventRecord("));
}

/// Whether it is something that no program may do: what follows from it is a matter of luck. A race
/// may do no harm, or harm that looks like something else (but a field with a race in its tile may
/// look like anything); a part of a tile that is missing, or bounds that are off by one, have a
/// look of their own in a wrong field.
bool is_forbidden(const Finding& finding, const Evidence& evidence) {
  if (finding.is_race()) {
    const bool ring = evidence.words.has(kRing);
    return finding.shared() && (finding.both_write() ? ring : !ring && evidence.wrong.field);
  }
  if (finding.is("unwritten")) {
    return finding.shared() && !evidence.wrong.field && evidence.subject != Subject::kFailure;
  }
  return !(finding.is_outside() || finding.is("shared_before")) || !evidence.wrong.field;
}

}  // namespace

Answer finding(const Evidence& evidence) {
  Answer looked = answer_of_finding(evidence);
  const bool looked_wins = looked.known() && looked.strength == Strength::kForbidden;
  if (looked_wins || evidence.subject != Subject::kFailure) return looked;
  const Report& report = evidence.report;
  const Finding own{report, evidence.wrong.run.n};
  Answer answer = answer_for({evidence, own});
  // Found when the kernel had ended.
  if (!answer.known() && report.kind == "padding" && report.place == "past") {
    answer = few_bytes(report, evidence.wrong.run.n);
  }
  if (!answer.known() && report.kind == "padding" && report.has("host")) {
    answer = Answer("host_writes_beside_an_array")
                 .with("before", report.place == "before")
                 .with("allocated", report.allocated_line);
  }
  return answer.known() ? answer.as(Strength::kForbidden) : looked;
}

Answer answer_of_finding(const Evidence& evidence) {
  Answer answer = answer_for({evidence, evidence.finding});
  if (!answer.known()) return answer;
  if (!answer.strength) {
    answer.as(is_forbidden(evidence.finding, evidence) ? Strength::kForbidden
                                                       : Strength::kHarmless);
  }
  return answer.with("finding", true);
}

Answer lost_additions(const Evidence& evidence) {
  const Answer found = answer_of_finding(evidence);
  for (const std::string rule : {"sum_without_an_atomic", "threads_write_one_place_in_the_sum",
                                 "threads_write_the_same_point"}) {
    if (!found.known() || found.rule != rule) continue;
    return Answer(found).with("field_is_right", true).as(Strength::kShape);
  }
  return {};
}

namespace {

/// A macro whose parameters lack their parentheses: whatever was found follows from that.
Answer bare_macro(const Evidence& evidence) {
  const BareMacro macro = bare_macro_in(evidence.source);
  if (macro.line == 0) return {};
  return Answer("macro_without_parentheses")
      .with("line", macro.line)
      .with("macro", macro.name)
      .with("parameter", macro.parameter);
}

}  // namespace

// clang-format off
const Family kFindingMistakes = {
    {"macro_without_parentheses", kForbidden, kAnyProgram, bare_macro,
     "line {line} defines the macro {macro}{?parameter|, in which {parameter} stands without parentheses: given a sum, "
     "such as {parameter} + 1, only a part of it is multiplied| as a sum without parentheses: where it is multiplied, "
     "or divided by, only a part of it is}",
     {"line {line}: {?parameter|({parameter}) in place of {parameter}, and the same for the others; or an inline "
      "function|parentheses around the sum; or a constant, constexpr int}, which needs none"}},
    {"barrier_is_not_reached_by_all", kForbidden, kAnyProgram, finding,
     "not all threads of {?barrier|the block|the warp} reach the {?barrier|barrier|shuffle} at line {line}: "
     "{?detail|others wait at line {detail}|some have returned before, or an `if` or a loop leads them around "
     "it}{?!barrier|{?part|. A block of this launch has {in_block} threads, no multiple of 32}}",
     {"{?detail|lines {line} and {detail}: at which of them only some of the threads get, through an `if` or a loop}",
      "each `return`, `if` and loop on the way to line {line}: threads without a point skip their work, not the "
      "{?barrier|barrier (a cub reduction has barriers inside)|shuffle; the block's shape in {host}: 32 lanes of a "
      "warp along x, before the number of warps; and how lane and warp are computed: x is counted first}"}},
    {"lane_takes_no_part", kForbidden, kAnyProgram, finding,
     "at line {line} {?detail|a lane asks for the value of lane {detail}, which takes no part in the shuffle|a lane "
     "calls a shuffle, and its own bit is not in the mask}{?part|. A block of this launch has {in_block} threads, no "
     "multiple of 32}",
     {"the mask, the first argument at line {line}: a bit for each lane of the warp that takes part, which is ~0u "
      "(0xffffffff) for all 32",
      "{?detail|the lane that is asked for: 0 to 31, and if a block's threads are no multiple of 32, its last warp has "
      "fewer}"}},
    {"block_of_another_shape", kForbidden, kAnyProgram, finding,
     "at line {line} {detail}",
     {"the block's shape in the launch in {host}, and the numbers of threads along x and y that cub::BlockReduce is "
      "made for: BlockReduce<double, threads along x, the algorithm, threads along y>"}},
    {"host_does_not_wait", kForbidden, kAnyProgram, finding,
     "at line {line} the host {does} {?array|{array}|that memory} before the GPU is done with it",
     {"what waits for the GPU between the launch (or the copy) and line {line}: cudaDeviceSynchronize(), "
      "{?of_ranks|ranks.wait, }or cudaEventSynchronize for an event recorded after it, in its stream",
      "{?writes|whether line {line} should still be there: if the kernel does what the host's loops did, they go}",
      "{?graph or events|whether that place belongs to the {?passes|check|pass} whose event was waited for. Each "
      "{?passes|check|pass} in flight needs a place of its own{?graph|, and a graph: a graph copies to the address "
      "that it was captured with}}"}},
    {"outside_of_shared_memory", kForbidden, kAnyProgram, finding,
     "line {line} {does} {?before|before the beginning|past the end} of {?array|{array}|an array in shared memory}",
     {"the size that {?array|{array}|it} is declared with: {?of_tile|a block's points and a halo on both sides, two "
      "more along x and along y; and the indices at line {line}: columns and rows of the tile, not of the block or the "
      "grid|an entry for each index that is used; and the index at that line, and the `if` or loop around it}",
      "{?!of_tile|the launch, if the index is made of threadIdx: does a block have the threads that the kernel is made "
      "for?}"}},
    {"row_arrives_too_late", kForbidden, kAnyProgram, finding,
     "line {line} copies to a place in shared memory to which an earlier copy may still be on its way",
     {"{?ring|{rows_arrive}|which place each copy goes to: one that was waited for, and has been read, before; of two "
      "buffers the other one each time; and whether each batch of copies ends with a __pipeline_commit(), and how many "
      "batches __pipeline_wait_prior leaves in flight}",
      "{?ring|the end of a march: __pipeline_wait_prior(0), if the warp's next march uses the same ring}"}},
    {"misaligned_floats", kForbidden, kAnyProgram, finding,
     "at line {line} several floats are accessed at once, at an address that is not a multiple of their size",
     {"{?strips|the first of a lane's columns: a multiple of 4 (the strip begins at one, and each lane has four)|the "
      "index of the first of them: it has to be a multiple of their number. A row of n floats begins at a multiple of "
      "4 only if n is one: for any n access one float at a time, or pad the rows}",
      "{?strips|idx: the pitch of a row is a multiple of 4 floats, even if n is not}"}},
    {"endless_loop_of_a_kernel", kForbidden, kAnyProgram, finding,
     "{?all_points|{kernel} still has the loops over all points, and every thread goes through the whole grid: that is "
     "too slow to wait for (it was around line {line})|a loop of the kernel around line {line} never ends for one of "
     "the threads, or takes far too long}",
     {"{?all_points|the loops in {kernel}: an `if` takes their place, and a thread's i and j come from blockIdx, "
      "blockDim and threadIdx, one point per thread|its condition, and what changes in each turn: by how much does its "
      "variable change, and does it reach the end for every thread?}",
      "{?!all_points|whether every thread goes through the whole grid: it should compute only its own points}",
      "{?!all_points|whether it waits for another block, which may begin only when this one has ended}"}},
    {"endless_loop", kForbidden, kAnyProgram, finding,
     "{?threads|the launch at line {line} has {threads} threads, far more than there are points, and takes too long|"
     "{?host|a loop of the host around line {line} never ends{?n_of_its_own|, or its grid is far too large}|the loop "
     "that launches the kernel of line {line} never ends}{?main|, or the one in main around line {main}}{?!host|, or "
     "what it launches takes far too long}}",
     {"{?n_of_its_own|where n comes from: it is options.n, what --n asks for; kDefaultN is only its default}",
      "{?threads|the launch grid: blocks, not points; together they cover the points: {launch_grid}|its condition, and "
      "what changes in each turn}",
      "{?host|{loop_condition}|{?!threads|which points each thread of the kernel goes over: only its own. In a loop "
      "over the whole grid the step is gridDim.x * blockDim.x}}"}},
    {"memory_is_freed_twice", kForbidden, kAnyProgram, finding,
     "{?reset|line {before}, cudaDeviceReset(), frees all that the program has on the GPU, {what} too|{what} is memory "
     "that was freed before: two pointers hold the same address, or one is freed twice}",
     {"{?reset|line {before}: it comes after the last cudaFree, or goes|free_fields: each pointer once}",
      "{?!reset|where a pointer is assigned to another one in main: then both are the same field; "
      "std::swap exchanges them}"}},
    {"refused_launch_is_not_checked", kForbidden, kAnyProgram, finding,
     "the launch at line {line} was refused ({detail}), and cudaGetLastError was not called",
     {"the grid and the block of that launch; and CUDA_CHECK(cudaGetLastError()) right after it, which reports it at "
      "once"}},
    // What may do no harm: if the numbers say more, they are believed.
    {"thread_without_a_point", kHarmless, kAnyProgram, finding,
     "{kernel} {what} {named}; a thread with {thread} {?sweeps|has no interior point|has no point of the grid}",
     {"line {line}, and the `if` around it in {kernel}: {?sweeps|its bounds are 1 to n - 2, for i and for j"
      "{?else|; its else also gets threads beyond the grid}|i < n && j < n}"}},
    {"index_outside_of_partial_sums", kHarmless, kAnyProgram, finding,
     "{kernel} {what} {named}{?thread|, in the thread with {thread}}",
     {"the index at line {line}, and how many bytes line {allocated} asks for: {?floats|those of all points that it "
      "holds|a place for each block (or thread) that has one}"}},
    {"row_outside_of_the_slab", kHarmless, with(kSlabs), finding,
     "{kernel} {what} {named}{?thread|, in the thread with {thread}}",
     {"line {line}, and how its row is counted: row j of the field is row j - held_begin of what the rank holds. Only "
      "rows held_begin to held_end - 1 are there, also for a march that fetches ahead",
      "the columns that a lane {?stores|stores|loads}, none of them past the row's end, padding included; and the rows "
      "that a warp marches through: the rank's own, without the halo ({shares}: the first rank's rows begin at 0, the "
      "last one's end at n)"}},
    {"access_outside_of_an_array", kHarmless, kAnyProgram, finding,
     "{kernel} {what} {named}{?thread|, in the thread with {thread}}{?partly|: several floats are accessed at once, "
     "and not all of them are there}",
     {"{?moved|the pointer {moved}: it moves by floats, as many as the field before it has, and not by bytes}",
      "{?partly|how many floats there are: n * n, or those of a row, need not be a multiple of as many as are accessed "
      "at once. The rest are accessed one by one}",
      "{?pitch_bytes|idx, and all that uses a pitch: cudaMallocPitch gives it in bytes, and a float has sizeof(float) "
      "of them}",
      "the index at line {line}{?!indexed|, or the pointer there (what it is set to, and where it moves on),"
      "}{?array| of {array}}{?sweeps or copies|, and the n that {kernel} is given}{?!sweeps|, and where the `if` or "
      "the loop around it ends}",
      "{?lane|the columns that a lane {?stores|stores|loads}, none of them past the row's end, padding included (the "
      "index of a float4* counts fours); and the rows that a warp loads, none of them beyond 0 and n - 1{?ring|. A "
      "group of rounds may go past the march's last one|: those that it sweeps end at n - 2}}",
      "{?levels|if stage 6 is not done yet: make check STEP=16 N=129, where each coarse point lies on a fine one}",
      "{?launch|the launch of {kernel} (how many blocks, which come first between <<< and >>>, and how many "
      "threads){?allocated|, and the bytes that line {allocated} allocates: {?doubles|a double for each block or "
      "thread that has a place there|{?slabs or of_ranks|as many rows as the rank holds|n * n floats for each "
      "field in it}, and a row's padding if it has one}}}",
      "{?slabs|{?lane|which rows are stored: those that the rank computes, from begin to end - 1; and }where a row is "
      "stored: row j of the field is row j - held_begin of what the rank holds}",
      "{?of_ranks|where row j of the field is in what the rank holds: less the first row that is there, which is one "
      "of the halo; how the rows are shared out: together the ranks have all n of them, also if n is no multiple of "
      "their number; and how many rows a rank allocates, and how many its kernel is given}",
      "{?block|what a block loads at the edge of the grid: only points that exist, 0 to n - 1; and the launch grid: n "
      "divided by the points that a block has, rounded up, and not by its threads if those are fewer}",
      "{?bounds_too|{bounds}}"}},
    {"tile_entry_is_not_loaded", kHarmless, kAnyProgram, finding,
     "{entry} is read at line {line}, but {?async|the copy that loads it need not have arrived, or goes to "
     "another place{?copied| (one to that place, asked for at line {copied}, is on its way)}|no thread has loaded it}",
     {"{?async|{?ring|{rows_arrive}; and the place where a row is loaded: the one of the row that was used last|what "
      "waits for the copies before they are read: __pipeline_commit() closes a batch of them, also an empty one, "
      "__pipeline_wait_prior(k) waits for all but the last k batches, and then comes __syncthreads(); and whether they "
      "are read from the place to which they were copied}|{?parts|which threads write the parts: each whose part is "
      "read, even if that is 0 (where each warp has one part, its lane 0); and how many the reduction "
      "reads|{tile_loads}{?copies|; and how many bytes each copy has}{?waste_ends|; and, of a tile with two buffers, "
      "which of them is loaded, which entries each sweep computes in the other one, and which it reads}}}",
      "{?!async|{?!parts|which point of the grid an entry is loaded from: blockIdx times the number of points that a "
      "block has (without the halo), plus the entry's own column or row, less the halo's width; and the `if` there, "
      "which leaves out only points beyond the grid}}",
      "{?!async|the index at line {line}: whether {entry} is the entry that is meant there{?!parts|; and the `if` "
      "around it: only threads that have a point (in a sweep, of the interior: 1 to n - 2)}}"}},
    {"shared_sum_is_not_set", kHarmless, kAnyProgram, finding,
     "line {line} adds to {sum}, but no thread has set it to 0",
     {"shared memory may hold anything at first: one thread of the block sets the sum to 0, and then a barrier "
      "follows, before the first thread adds to it"}},
    {"host_writes_beside_an_array", kForbidden, kAnyProgram, finding,
     "the host writes {?before|before|past the end of} the memory that line {allocated} allocates",
     {"idx: point (0, 0) has the place 0, point (n - 1, n - 1) the place n * n - 1; and the loops of the host, such as "
      "those in initialize_field: i and j from 0 to n - 1"}},
    {"sum_is_not_set", kHarmless, kAnyProgram, finding,
     "line {line} adds to memory that nothing has written",
     {"where the sum is set to 0, all sizeof(double) bytes of it: before the first kernel that adds to it, even if "
      "that sum is never read; and whether the kernel is given that sum, and no other address",
      "{?streams|whether it is set in the kernel's own stream, by cudaMemsetAsync: a stream that does not block does "
      "not wait for a cudaMemset in the default stream}"}},
    {"reads_what_nothing_has_written", kHarmless, kAnyProgram, finding,
     "line {line} reads what nothing has written{?array|, in {array}}",
     {"where {?array|{array}|that memory} is written before: all that line {line} reads, {?pitch|the padding of a row "
      "included, }and in the same place (cudaMemset and cudaMemcpy count bytes, and a float has sizeof(float) of "
      "them; a launch grid that is rounded down leaves out the last points){?pitch|; or whether it means that place: "
      "the row above is one padded row away, not n}",
      "{?levels|whether u, r and e of every level, also of the last one, are set before a kernel reads them|if "
      "pointers are exchanged: whether both fields got starting values. What a kernel calls f_old is each of them in "
      "turn}"}},
    {"starting_values_are_freed", kForbidden, kAnyProgram, finding,
     "the kernel launched at line {line} reads starting values whose memory is freed already",
     {"the lab::StartOnGpu whose value() the kernel is given: a variable of the function that launches the kernel, "
      "which lives until the kernel has ended (without a name it is gone at the end of its own line)"}},
    {"starting_value_beyond_the_grid", kHarmless, kAnyProgram, finding,
     "the kernel launched at line {line} asks for the starting value of a point beyond the grid: start(i, j) has "
     "values for i and j from 0 to n - 1",
     {"how that kernel computes i and j, and its `if` (or the end of its loop): the thread with blockIdx * blockDim + "
      "threadIdx = ({place}) is the one that was caught",
      "{?slabs|slab_of_rank: held_begin is at least 0, and held_end at most n}"}},
    {"threads_write_one_place_in_the_sum", kHarmless, kAnyProgram, finding,
     "{?field_is_right|the field is right; the residual is not: }at line {line} several threads write the same place "
     "in {target}, and what the last of them writes stays{who}",
     {"the index at line {line}: a place for each block (blockIdx.y * gridDim.x + blockIdx.x), or for each thread; or "
      "atomicAdd to one; or only one block that gets there"}},
    {"threads_write_the_same_point", kHarmless, kAnyProgram, finding,
     "two threads write the same place in {target} at line {line}{who}. Each point has to belong to one thread only",
     {"{?both|{both}: both store the same point, one where two sides meet, say. Then both have to store the same "
      "value, or one leaves it out}",
      "{?!loops|{?!both|idx: each point needs a place of its own in memory, and a row has n of them; and i and j of a "
      "thread: blockIdx * blockDim + threadIdx, along x and along y{?tile|; and which threads store: only those of the "
      "block's own points, and none of the halo}}}",
      "{?loops|{?!both|{?blocks|where a block's points begin: blockIdx times the number of points that a block has, "
      "which may be more than its threads; and |{?strips|where a warp's strip begins: as many columns after the "
      "previous warp's as a warp stores; and }}where a thread's loops begin, by how much they go on{?!strips| (over "
      "the whole grid: by gridDim * blockDim)}, and where they end, so that no two threads have the same "
      "points{?ring|; and where a warp's share of rows begins: where the previous one's ends, rounded in the same way; "
      "it stores rows j_begin to j_end - 1, and columns below n}}}",
      "{?loops|{?!both|{?four|the launch: a loop that advances by 4 is for a block of 4 threads}}}",
      "{?loops|{?!both|{?!strips|idx: each point needs a place of its own in memory}}}",
      "{?pitch|idx: a row that is stored four points at a time needs a pitch that is a multiple of 4, or its last "
      "store reaches into the next row}"}},
    {"sum_without_an_atomic", kHarmless, kAnyProgram, finding,
     "{?field_is_right|the field is right; the residual is not: }at line {line} several threads add to the same sum, "
     "each reads it, adds, and writes it back, and what another one has added meanwhile is lost",
     {"line {line}: atomicAdd"}},
    {"race_without_a_fence", kHarmless, kAnyProgram, finding,
     "a race: a block reads what another one has written, in {?array|{array}|global memory}, at {lines}, and may read "
     "it too early, because no __threadfence() comes before the atomic in between",
     {"__threadfence() between what a block writes and the atomic by which the other blocks learn of it"}},
    {"race_of_a_sweep_in_place", kHarmless, kAnyProgram, finding,
     "a race: a thread reads what a neighbour writes in the same sweep, in {?array|{array}|global memory}, at {lines}",
     {"{?adds|whether several threads add to one place: that takes an atomicAdd, or each place has one thread that "
      "gathers all its shares}",
      "{?!adds|which level's field is read there: the coarse correction is that of the coarser level}",
      "whether two threads have the same point: where a thread's first row is, if it has several",
      "{?!adds|{lines}: a thread that reads what its neighbours write in the same sweep is not helped by a barrier, "
      "which orders the threads of one block; a second array is a help, or points of two colours, one after the "
      "other}"}},
    {"race_between_levels", kHarmless, kAnyProgram, finding,
     "a race: one thread writes what another one reads, in {?array|{array}|global memory}, at {lines}, and nothing "
     "says which of them comes first",
     {"{?one_block|a barrier between the two lines: both threads are of one block, and __syncthreads() orders what "
      "they do, also in global memory. If threads of other blocks read there, too, no barrier helps: the new values "
      "need another array|what the two lines are meant to access: no barrier inside a kernel orders "
      "threads of different blocks}"}},
    {"race_in_global_memory", kHarmless, kAnyProgram, finding,
     "a race: one thread writes what another one reads, in {?array|{array}|global memory}, at {lines}, and nothing "
     "says which of them comes first",
     {"what {?one_line|line {line} is|the two lines are} meant to access: a sweep reads one field and writes the "
      "other, and these are two arguments of the launch, whose memory does not overlap",
      "{?whole_grid|if one kernel makes several sweeps: grid.sync() between them, because __syncthreads() orders the "
      "threads of one block only|{?one_block|if they are meant to access the same place, and no other block does: "
      "__syncthreads() in between, as both threads are of one block|that no barrier inside a kernel orders threads of "
      "different blocks}}"}},
    {"sum_is_overwritten", kHarmless, kAnyProgram, finding,
     "{?field_is_right|the field is right; the residual is not: }line {line} {?zero|sets to 0|overwrites} what other "
     "threads have added to (line {adds}). Which of them comes first is not determined",
     {"{?zero|where the sum is set to 0: in {host}, before the launch. In the kernel no barrier makes the other blocks "
      "wait for it|line {line}: atomicAdd there as well}"}},
    {"shared_sum_without_a_barrier", kHarmless, kAnyProgram, finding,
     "the field is right; the residual is not: threads of a block use {sum} at {lines} with no barrier in between, "
     "so a part of the sum is lost or read too early",
     {"{?adds|line {line}: atomicAdd, if each thread is to add its own to one sum}",
      "{?of_cub|__syncthreads() between two uses of cub's temporary storage: one reduction ends before the next one "
      "begins|__syncthreads() between setting a shared sum to 0, adding to it, and reading it; in a tree after each "
      "round, in which no thread may read what another one changes{?warp|; where one warp goes on alone, in an `if`, "
      "__syncwarp() in its place, also between reading and writing}}"}},
    {"race_in_shared_memory", kHarmless, kAnyProgram, finding,
     "a race: one thread of a block writes {place}, another one reads it, at {lines}, and no barrier says which of "
     "them comes first",
     {"{?async|__pipeline_wait_prior and __syncthreads(), in this order: a thread waits for its own copies first, then "
      "for the other threads; and in a loop a barrier between the last read of a place and the next copy to it}",
      "{?!async|__syncthreads() between writing shared memory and reading it; and if it is written again, in a loop, "
      "also between reading it and writing it again. If neighbours still have to read the old value, no barrier helps: "
      "the new one belongs in another array}"}},
    {"shared_place_is_written_twice", kHarmless, kAnyProgram, finding,
     "two threads write the same place in shared memory, {place}, at {lines}: a race",
     {"{?tile|{tile_loads}; and the size of the tile, two more along x and along y than a block has points}",
      "{?of_cub|cub's temporary storage: one for each warp (an array of them) or block that adds up at that time|the "
      "index at {lines}: a place for each thread (or warp) that writes, also if a block has several rows "
      "(threadIdx.y){?ring|, and within the warp's own ring}}"}},
};
// clang-format on

}  // namespace validate
