// Points that keep a value that they had: the sweep, or the copy, leaves them out.

#include <algorithm>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "explain/looks/field_look.h"
#include "explain/mistakes/families.h"
#include "run/text.h"
#include "source/source_code.h"

namespace validate {
namespace {

/// Fewer columns than that are no strip.
constexpr std::size_t kNarrowestStrip = 8;

/// Whether only the points are right whose two indices come of one: of the same threadIdx, of the
/// same blockIdx, or of both. Says which; "" otherwise.
std::string same_index(const FieldLook& look) {
  auto only = [&](auto chosen) {
    return look.all_of(look.interior(),
                       [&](int i, int j) { return look.inside.has(i, j) != chosen(i, j); });
  };
  if (only([](int i, int j) { return i == j; })) {
    return "only the points with i == j are reached: i and j come from the same blockIdx and the "
           "same threadIdx";
  }
  for (int block : {8, 16, 32, 64}) {
    if (2 * block > look.n) break;
    if (only([&](int i, int j) { return i % block == j % block; })) {
      return format(
          "only the points with i %% %d == j %% %d are reached: i and j come from the same "
          "threadIdx",
          block, block);
    }
    if (only([&](int i, int j) { return i / block == j / block; })) {
      return format(
          "only the blocks of %d x %d points on the diagonal are reached: i and j come from the "
          "same blockIdx",
          block, block);
    }
  }
  return "";
}

/// Whether what is left out lies behind as many blocks as there would be if each stored all that it
/// reads; in passes of several sweeps it stores fewer lines.
bool counted_by_width(const FieldLook& look) {
  const Lines& lines = look.pattern.columns.at.empty() ? look.pattern.rows : look.pattern.columns;
  if (!look.has(kWasteEnds) || lines.kind != Lines::kRange || lines.at.back() != look.n - 2) {
    return false;
  }
  const auto fits = [&](int width) {
    const int blocks = (look.n + width - 1) / width, stored = lines.at.front() / blocks;
    return blocks * stored == lines.at.front() && stored < width && 2 * stored >= width;
  };
  const int widths[] = {256, 128, 64, 32, 16};
  return std::any_of(std::begin(widths), std::end(widths), fits);
}

/// Lines that are left out at an end of the grid: which entry that is; nullptr: none of these. Sets
/// in the answer what its words need.
const char* left_out_at_an_end(const FieldLook& look, bool on_gpu, Answer* answer) {
  const Pattern& pattern = look.pattern;
  if (pattern.kind != Pattern::kColumns && pattern.kind != Pattern::kRows &&
      pattern.kind != Pattern::kUnion) {
    return nullptr;
  }
  const std::vector<int>& ends = pattern.columns.at;
  if (look.has(kStrips) && !ends.empty() && ends.size() < kNarrowestStrip) {
    // A launch grid that is too small leaves out whole strips.
    answer->with("of_strips", true);
    return "bounds_leave_out_lines";
  }
  const std::vector<int>& first_left_out = pattern.kind == Pattern::kRows ? pattern.rows.at : ends;
  if (on_gpu && pattern.kind != Pattern::kUnion && first_left_out.front() / 2 == 512) {
    return "points_beyond_1024_threads";
  }
  const int before_columns = pattern.columns.blocks_before();
  const int before_rows = pattern.rows.blocks_before();
  if (on_gpu && counted_by_width(look)) return "blocks_counted_by_what_they_read";
  if (on_gpu && (before_columns > 0 || pattern.kind == Pattern::kRows) &&
      (before_rows > 0 || pattern.kind == Pattern::kColumns)) {
    const int block = std::max(before_columns, before_rows);
    answer->with("launch", true);
    if (block >= 64 && first_left_out.front() == block) answer->with("row", block);
    // Larger blocks than that are rare, and other mistakes leave out as much.
    if (block <= 32) {
      const int end = look.n - look.n % block;
      std::vector<std::string> blocks;  // their shape is not known
      for (const int size : {8, 16, 32}) {
        if (look.n - look.n % size == end) blocks.push_back(std::to_string(size));
      }
      answer->with("end", end).with("blocks", join(blocks));
      return "launch_grid_is_rounded_down";
    }
  }
  auto near_an_end = [](const Lines& lines) {
    return lines.at.empty() ||
           (lines.at.size() <= 2 && (lines.at.front() == 1 || lines.at.back() == lines.n - 2));
  };
  if (!near_an_end(pattern.columns) || !near_an_end(pattern.rows)) return nullptr;
  // Several rows at the end of all marches may be those of a warp that is not there.
  if (look.has(kStrips) && pattern.rows.at.size() > 1) answer->with("launch", true);
  return "bounds_leave_out_lines";
}

/// How far the blocks lie apart that leave out the same few lines between any two; 0: no such lines.
int apart(const std::vector<int>& lines) {
  int first = 0, next = 0;  // of the lines between two blocks
  for (std::size_t k = 1; k < lines.size() && next == 0; ++k) {
    if (lines[k] != lines[k - 1] + 1) first = lines[0], next = lines[k];
  }
  const int period = next - first;
  if (period <= 0) return 0;
  for (int line : lines) {
    if (line >= first + period && !std::count(lines.begin(), lines.end(), line - period)) return 0;
  }
  return period;
}

/// Rows (or columns) that are left out because a block does not reach all of its 32, or begins too
/// few, or too many, after the block before it: which entry that is; nullptr: none.
const char* left_out_by_blocks(const FieldLook& look, Answer* answer) {
  constexpr int kBlock = 32;  // or fewer, where a block overlaps the next
  const Pattern& pattern = look.pattern;
  if (pattern.kind != Pattern::kColumns && pattern.kind != Pattern::kRows) return nullptr;
  const bool of_rows = pattern.kind == Pattern::kRows;
  const Lines& lines = of_rows ? pattern.rows : pattern.columns;
  const auto is_power = [](int k) { return k > 0 && (k & (k - 1)) == 0; };
  answer->with("lines", of_rows ? "rows" : "columns").with("letter", of_rows ? "y" : "x");
  if (lines.kind == Lines::kPeriodic && lines.period == kBlock) {
    const int threads = lines.classes.front();
    if (!is_power(threads) || lines.classes.back() != kBlock - 1 ||
        threads + lines.classes.size() != kBlock) {
      return nullptr;
    }
    const std::string code = code_only(look.evidence.source), letter = of_rows ? "y" : "x";
    const std::string thread = "threadIdx." + letter, block = "blockDim." + letter;
    answer->with("threads", threads)
        .with("product", says(code, thread + "*" + block) || says(code, block + "*" + thread));
    return "threads_have_one_point_each";
  }
  if (const int period = apart(lines.at);
      period > kBlock && lines.at.front() > 1 && lines.at.front() <= kBlock) {
    answer->with("by", counted(period, of_rows ? "row" : "column"))
        .with("apart", true)
        .with("reached", lines.at.front());
    return "blocks_overlap";
  }
  // As many as one block has are left where blockIdx has no part in the index.
  const int reached = lines.at.front();
  if (lines.kind != Lines::kRange || lines.at.back() != look.n - 2 || is_power(reached)) {
    return nullptr;
  }
  for (const int block : {kBlock, 16, 8}) {
    const int blocks = (look.n + block - 1) / block, rest = reached - block;
    if (blocks < 3 || rest % (blocks - 1) != 0 || !is_power(rest / (blocks - 1))) continue;
    answer->with("by", counted(rest / (blocks - 1), of_rows ? "row" : "column"))
        .with("reached", block);
    return "blocks_overlap";
  }
  return nullptr;
}

/// Whether a kernel returns in or after a loop.
bool returns_from_a_loop(const FieldLook& look) {
  const std::string& source = look.evidence.source;
  const std::vector<Function> functions = functions_in(source);
  return std::any_of(functions.begin(), functions.end(), [&](const Function& function) {
    const std::string code = code_of(function, source);
    const std::size_t loop = std::min(code.find("for("), code.find("while("));
    return function.is_kernel && code.find("return;", std::min(loop, code.size())) != code.npos;
  });
}

/// Whether that kernel has a loop over the launch grid, so that a grid of any size would do.
bool strides_over_the_grid(const std::string& kernel, const std::string& source) {
  const std::vector<Function> functions = functions_in(source);
  return std::any_of(functions.begin(), functions.end(), [&](const Function& function) {
    return function.name == kernel && says(code_of(function, source), "gridDim");
  });
}

/// The line of a launch that is given one and the same field twice, and its name; 0: there is none.
int one_field_for_both(const FieldLook& look, std::string* name) {
  static const std::regex cast(R"(const_cast<[^>]*>\((\w+)\))");
  for (const Queued& each : queued_in(look.evidence.source)) {
    if (!each.launch || each.arguments.size() < 2) continue;
    *name = std::regex_replace(each.arguments[0], cast, "$1");
    if (*name == std::regex_replace(each.arguments[1], cast, "$1")) return each.line;
  }
  return 0;
}

/// Points that are left out by the sweep, by the copy, or by both.
Answer left_out(const FieldLook& look, bool sweep, bool copy) {
  // If fields are swapped, no point is copied.
  const bool by_sweep = sweep || look.has(kSwaps), by_copy = copy && !look.has(kSwaps);
  const bool on_gpu = look.has(by_sweep ? kKernels : kCopyKernel);
  const bool all = look.pattern.kind == Pattern::kAll, later = look.first > 1;
  const Finding& race = look.evidence.finding;
  Answer answer;
  answer.with("by_sweep", by_sweep)
      .with("both", by_sweep && by_copy)
      .with("on_gpu", on_gpu)
      .with("of_strips", by_sweep && look.has(kStrips))
      .with("points", look.pattern.words())
      .with("ranks", look.evidence.wrong.run.ranks > 1)
      .with("twice", race.is_race() && race.both_write() && !race.shared()
                         ? std::to_string(race.report.line)
                         : "")
      .with("returns", returns_from_a_loop(look))
      .with("strides", strides_over_the_grid(by_sweep ? look.words.sweep() : look.words.copy(),
                                             look.evidence.source))
      .with("same", on_gpu ? same_index(look) : "");
  // What happens later only was right before.
  if (later) answer.with("iteration", look.first);
  const bool draw = look.pattern.kind == Pattern::kOther && !answer.has("same");
  if (draw && !look.pattern.is_one_point()) answer.with("draw", true);
  // Old values in lines without any order may be those that a thread reads before they are written.
  const auto no_order = [](const Lines& lines) {
    const std::vector<int>& some = lines.classes;
    return lines.kind == Lines::kOther ||
           (!some.empty() && some.back() - some.front() >= static_cast<int>(some.size()));
  };
  const bool disorder = no_order(look.pattern.rows) || no_order(look.pattern.columns);
  const bool races = race.is_race() && !race.both_write();
  if (draw || (races && (disorder || race.shared()))) answer.as(Strength::kSymptom);
  std::string field;
  if (const int line = all ? one_field_for_both(look, &field) : 0; line > 0) {
    answer.with("line", line).with("field", field).rule = "one_field_for_both";
  } else if (all && by_sweep && races && !race.shared()) {
    answer.with("line", race.report.line).rule = "one_field_for_both";
  } else if (answer.has("same")) {
    answer.rule = "both_indices_of_one";
  } else if (const char* end = left_out_at_an_end(look, on_gpu, &answer)) {
    answer.rule = end;
  } else if (const char* blocks =
                 on_gpu && !look.has(kStrips) ? left_out_by_blocks(look, &answer) : nullptr) {
    answer.rule = blocks;
  } else {
    answer.with("not_called", later && all);
    answer.with("by_bytes", by_copy && look.has(kMemcpy) && !look.words.launches_copy());
    answer.rule = !by_sweep           ? "copy_leaves_out_points"
                  : !on_gpu           ? "bounds_leave_out_lines"
                  : all               ? "sweep_reaches_no_point"
                  : look.has(kStrips) ? "strips_leave_out_points"
                                      : "threads_leave_out_points";
  }
  return answer;
}

}  // namespace

Answer kept_values(const FieldLook& look) {
  if (!look.interior_only()) return {};
  auto all_hold = [&](const Field& field) {
    return look.all_of(look.inside, [&](int i, int j) {
      return look.near(look.at(field, i, j), look.at(look.found, i, j));
    });
  };
  const bool hidden = all_hold(look.hidden), before = all_hold(look.before);
  if (!hidden && !before) return {};
  if (look.has(kSwaps) && look.pattern.kind == Pattern::kAll &&
      look.residual_is_right(look.first)) {
    return Answer("new_field_is_dropped").with("iteration", look.first);
  }
  if (hidden) return left_out(look, true, false);
  // The change of points that are not swept is missing in the residual.
  return left_out(look, !look.residual_is_right(look.first), true);
}

// clang-format off
const char* const kLaunch =
    "{?launch|{?!strides|the launch grid in {?by_sweep|{host}|copy_field}{?both| and in copy_field}: round it up, "
    "{launch_grid}{?row|; or, if a block has a whole row, the loop over its points: without one, each thread has one "
    "point}{?strips|; and what {sweep} itself divides, rows by blocks or warps}}}";
const char* const kPointsOfThreads =
    "which points the threads of {?by_sweep|{sweep}|{copy}} have: i and j from blockIdx, blockDim and threadIdx, the "
    "`if` there, and the loop over a thread's points{?returns| (a `return` in it ends the thread, with all its points "
    "to come)}{?strides|: it begins with the thread's, or warp's, number in the launch grid, goes on by how many of "
    "them there are, and ends with the last point}{?twice|. Two threads store the same point at line {twice}}";
const char* const kBlocksOfPoints =
    "the launch in {?by_sweep|{host}|copy_field}{?both| and in copy_field}: its grid, its block, and the n that it "
    "gives the kernel (in a dim3 x, for the columns, comes first; a kernel with a single index has only x)";

const Family kLeftOutMistakes = {
    {"new_field_is_dropped", Strength::kModel, with(kSwaps), of_field<kept_values>,
     "iteration {iteration} computes the correct new field (its residual is right), but that field does not become the "
     "old one: the result is the previous field",
     {"whether {handover} comes after each sweep, whatever the iteration's number; and which field run.finish "
      "copies"}},
    {"one_field_for_both", Strength::kModel, with(kKernels), of_field<kept_values>,
     "{?field|the launch at line {line} gets {field} as both fields|the sweep writes the field that it reads (line "
     "{line})}, so the other one keeps its values",
     {"{?field|line {line}|the launch of {sweep} in {host}}: the field that is written, and the field that is read"}},
    {"both_indices_of_one", Strength::kModel, kAnyProgram, of_field<kept_values>,
     "the {?by_sweep|sweep|copy} leaves out most points: {same}",
     {"how i and j are computed in {?by_sweep|{sweep}|{copy}}: with blocks in two directions i from blockIdx.x, "
      "blockDim.x and threadIdx.x, j from blockIdx.y, blockDim.y and threadIdx.y; with a single number k, i = k % n "
      "and j = k / n"}},
    {"launch_grid_is_rounded_down", Strength::kModel, kAnyProgram, of_field<kept_values>,
     "{left_out}. They lie beyond {end}, the last multiple of {blocks}{?!strides|, as if the launch grid were rounded "
     "down}",
     {kLaunch, "{?strides|" + std::string(kPointsOfThreads) + "}",
      "{?on_gpu|{?!strides|a `return`, or an `if`, in {?by_sweep|{sweep}|{copy}}: a thread without a point leaves out "
      "its own work, and not that of its block; and how i and j are computed: blockIdx and threadIdx begin at 0}}"}},
    {"blocks_counted_by_what_they_read", Strength::kModel, with(kWasteEnds), of_field<kept_values>,
     "{left_out}. The number of blocks, or strips, is right for blocks that store all that they read; but each "
     "leaves its halo out",
     {"how many blocks, or strips, there are in {host}: n divided by what one of them stores, without its halo, "
      "rounded up"}},
    {"points_beyond_1024_threads", Strength::kModel, with(kKernels), of_field<kept_values>,
     "{left_out}: beyond 1024 points, as many as a block can have threads",
     {"the loop over a thread's points in {?by_sweep|{sweep}|{copy}}: it goes on by as many points as the block has "
      "threads, up to the end of the row"}},
    {"bounds_leave_out_lines", Strength::kModel, kAnyProgram, of_field<kept_values>,
     "{left_out}",
     {kLaunch,
      "{?of_strips|{bounds}; and how many strips there are: rounded up|the bounds of i and j in "
      "{?by_sweep|{sweep}|{copy}}{?both| and in copy_field}: {?by_sweep|the interior is 1 to n - 2{?tile|; which "
      "points of its tile a block stores}|it goes over all points, 0 to n - 1}{?on_gpu|; and the launch in "
      "{?by_sweep|{host}|copy_field}{?both| and in copy_field}: whether it has a thread for each of them}}"}},
    {"threads_have_one_point_each", Strength::kModel, with(kKernels), of_field<kept_values>,
     "{left_out}: of each block's 32 {lines} only the first {threads} are reached",
     {"{?product|what blockDim.{letter} multiplies in {?by_sweep|{sweep}|{copy}}: blockIdx.{letter}, and to that "
      "threadIdx.{letter} is added|what blockIdx.{letter} is multiplied by in {?by_sweep|{sweep}|{copy}}: as many "
      "{lines} as a block has points; or the loop over a thread's points: it ends with the block's last one, and each "
      "turn goes on by as many {lines} as the block has threads}"}},
    {"blocks_overlap", Strength::kModel, with(kKernels), of_field<kept_values>,
     "{left_out}. {?apart|Each block begins {by} after the previous one and reaches {reached}|As if each block began "
     "only {by} after the previous one and reached {reached}: the blocks overlap}",
     {"what blockIdx.{letter} is multiplied by in {?by_sweep|{sweep}|{copy}}: the number of {lines} that a block has "
      "(blockDim.{letter} is its number of threads, which may be fewer; gridDim.{letter} is the number of blocks)"}},
    {"sweep_reaches_no_point", Strength::kModel, with(kKernels), of_field<kept_values>,
     "{left_out}{?checks|; or no sweep has ended when its result is used}",
     {"{never_launched}",
      "{?graph|which fields a graph reads and writes: those from the time when it was captured}",
      "{?checks|how many sweeps {host} performs: as many as it is asked for, even if it is only one}"}},
    {"strips_leave_out_points", Strength::kModel, with(kStrips), of_field<kept_values>,
     "{left_out}",
     {kLaunch,
      "{?ranks|which rows keep their values in the sweeps of a pass: 0 and n - 1 of the whole field, and no other row "
      "of a rank; and }which columns a lane has, and which rows a warp marches through and stores in {sweep}: j_begin "
      "and j_end, with no row left out between two warps{?ring|, and all rows of the track in some share}; and the "
      "launch (grid and block) in {host}{?slabs|; and which rows each rank has, and how they are divided (at its ends, "
      "where it has a neighbour, and the rest): together all of them}"}},
    {"threads_leave_out_points", Strength::kModel, with(kKernels), of_field<kept_values>,
     "{left_out}", {kLaunch, kPointsOfThreads,
      "{?tile|{?checks|{?!graph|which points of its tile a block stores: all but a halo as wide as a pass has "
      "sweeps}}}",
      "{?!launch|" + std::string(kBlocksOfPoints) + "}"}},
    {"copy_leaves_out_points", Strength::kModel, without(kSwaps), of_field<kept_values>,
     "{left_out}",
     {"{?not_called|whether copy_field is called in each iteration, whatever the iteration's number}", kLaunch,
      "{?by_bytes|the number of bytes, where the field is copied: n * n * sizeof(float) (cudaMemcpy2D: a width "
      "of n * sizeof(float))}",
      std::string("{?!by_bytes|{?on_gpu|") + kPointsOfThreads + "|the loops in {copy}}}",
      std::string("{?!by_bytes|{?on_gpu|{?!launch|") + kBlocksOfPoints + "}}}"}},
};
// clang-format on

}  // namespace validate
