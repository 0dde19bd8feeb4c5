// What ranks exchange: rows at their borders, and what the lab's own part of it says.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "explain/mistakes/families.h"
#include "run/text.h"
#include "source/source_code.h"

namespace validate {
namespace {

/// Whether row j of `found` is what a sweep makes of `before`, with row `other` of `from` in the
/// place of its neighbour to the south (or to the north).
bool row_is_made_with(const Field& from, int other, bool south, const Field& before,
                      const Field& found, int n, int j, const Near& near) {
  const auto row = [n](const Field& field, int k) {
    return &field[static_cast<std::size_t>(k) * n];
  };
  const float *middle = row(before, j), *taken = row(from, other), *made = row(found, j);
  const float* opposite = row(before, south ? j + 1 : j - 1);
  for (int i = 1; i < n - 1; ++i) {
    const double sum = static_cast<double>(middle[i + 1]) + opposite[i] + middle[i - 1] + taken[i];
    if (!near(0.25 * sum, made[i])) return false;
  }
  return true;
}

/// What the first row of a rank found in the halo below it, or the last one in the halo above it: a
/// row that was another one, or the same one of another time. `sweeps` is the first wrong iteration.
Answer held_by_halo(const Evidence& evidence, Sweeps* right, const Field& found, int row,
                    bool below) {
  const Case& run = evidence.wrong.run;
  const int n = run.n, sweeps = evidence.wrong.first_iteration, halo = below ? row - 1 : row + 1;
  const Field before = right->after(sweeps - 1);
  const Field start_new = field_of(lab::Problem(run.problem, n).initial_new(), n);
  const Near near(largest_of(before), sweeps);
  for (int age = 0; age <= 2; ++age) {  // as the sweep before left it, older, or of the other field
    if (age == 1 && sweeps < 2) continue;
    const Field& from = age == 0 ? before : age == 1 ? right->after(sweeps - 2) : start_new;
    for (int away = 0; away < 2 * n; ++away) {
      const int held = halo + (away % 2 ? 1 : -1) * ((away + 1) / 2);
      if (held < 0 || held >= n) continue;
      // Between streams an old state may come of a missing wait as well.
      if (held == halo && (age == 0 || evidence.words.has(kStreams))) continue;
      if (!row_is_made_with(from, held, below, before, found, n, row, near)) continue;
      return Answer("halo_holds_another_row")
          .with("row", row)
          .with("halo", halo)
          .with("held", held)
          .with("same", held == halo)
          .with("below", below);
    }
  }
  return {};
}

/// Whether only rows near the borders between ranks are wrong.
Answer borders(const Evidence& evidence) {
  constexpr int kMostLevels = 64;
  const Wrong& wrong = evidence.wrong;
  const int n = wrong.run.n, ranks = wrong.run.ranks, sweeps = wrong.first_iteration;
  if (evidence.subject != Subject::kBorders || sweeps <= 0 || ranks <= 1) return {};
  const auto seen = evidence.after(sweeps);
  if (!seen) return {};
  Sweeps right(lab::Problem(wrong.run.problem, n));
  const Cells cells = differing(right.after(sweeps), seen->field, n, sweeps);
  std::vector<int> rows;
  bool south = false, north = false;  // of a border
  bool far = false;                   // farther away than the sweeps reach
  for (int j = 0; j < n; ++j) {
    bool in_row = false, near = false, adjoins = !rows.empty() && rows.back() == j - 1;
    for (int i = 0; i < n; ++i) in_row |= cells.has(i, j);
    if (!in_row) continue;
    rows.push_back(j);
    for (int r = 1; r < ranks; ++r) {
      const int border = first_row(n, r, ranks);
      const int away = j < border ? border - 1 - j : j - border;
      adjoins |= away == 0 || (j < border && away < kMostLevels);
      if (away >= sweeps) continue;
      near = true;
      (j < border ? south : north) = true;
    }
    if (!near && !adjoins) return {};
    far |= !near;
  }
  if (rows.empty()) return {};
  if (far) return Answer("own_rows_are_received").with("rows", lines_that_are(rows, 'j'));
  const bool nccl = wrong.run.halos && std::string(wrong.run.halos) == "nccl";
  const bool open_group = nccl && evidence.words.has(kOpenGroup);
  for (int r = 1; sweeps <= 2 && !open_group && r < ranks; ++r) {
    const int border = first_row(n, r, ranks);
    for (const bool below : {true, false}) {
      const int row = below ? border : border - 1;
      if (std::count(rows.begin(), rows.end(), row) == 0) continue;
      Answer held = held_by_halo(evidence, &right, seen->field, row, below);
      if (!held.known()) continue;
      return held.with("rows", lines_that_are(rows, 'j')).with("first", sweeps == 1);
    }
  }
  return Answer("rows_beside_the_borders")
      .with("rows", lines_that_are(rows, 'j'))
      .with("sweeps", counted(sweeps, "sweep"))
      .with("they", rows.size() == 1 ? "it lies" : "they lie")
      .with("south", south)
      .with("north", north)
      .with("first", sweeps == 1)
      .with("deep", sweeps > 3)  // more than passes of one sweep each, which are right
      .with("group", open_group);
}

/// What the lab's own part of an exchange reports, of what a rank hands over to it.
Answer exchange(const Evidence& evidence) {
  const cuda_on_cpu::Report& report = evidence.report;
  const Case& run = evidence.wrong.run;
  static const std::map<std::string, const char*> kRules = {
      {"exchange_memory", "halo_outside_of_memory"},
      {"nccl_memory", "halo_outside_of_memory"},
      {"exchange_rank", "no_such_neighbour"},
      {"no_owner", "rows_of_no_rank"},
      {"waits_nccl", "nccl_calls_wait_for_each_other"},
      {"waits_halos", "neighbour_makes_no_exchange"},
      {"waits_sum", "some_ranks_add_no_sum"}};
  const auto rule = kRules.find(report.kind);
  if (rule == kRules.end()) return {};
  if (report.kind == "nccl_memory" && !says(report.array, "ncclSend") &&
      !says(report.array, "ncclRecv")) {
    return {};
  }
  // A stream that is created without the flag.
  const std::vector<std::string> lines = code_lines(evidence.source);
  const bool blocking = std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return says(line, "cudaStreamCreate") && !says(line, "NonBlocking");
  });
  // If some of the rows are there, it is not the place that is another.
  return Answer(rule->second)
      .with("sent", report.has("sent") || says(report.array, "ncclSend"))
      .with("some", report.bytes > 0)
      .with("blocking", blocking)
      .with("uneven", run.n % std::max(run.ranks, 1) != 0 && !says(evidence.error, "rank -1"))
      .with("said", report.detail);
}

}  // namespace

// clang-format off
const Family kExchangeMistakes = {
    {"halo_outside_of_memory", Strength::kForbidden, kAnyProgram, exchange,
     "the rows of a halo lie outside of what the rank has memory for: those that are {?sent|sent|received}",
     {"{?some|{rows_held}}",
      "{exchange}: {?sent|the first row that is sent|the first row that is received into} ({?slabs|row j of the field "
      "is row j - held_begin of what the rank holds|of the rows that the rank holds}){?!sent|: to the south the rows "
      "before its own first row, to the north the rows after its last one}; how many values, which are not bytes; and "
      "that the first rank has no neighbour to the south, the last one none to the north",
      "{?!some|{rows_held}}"}},
    {"no_such_neighbour", Strength::kForbidden, kAnyProgram, exchange,
     "{said}: no rank has that number",
     {"{?uneven|{shares}: the last rank's rows end at n, even if n is not a multiple of the number of ranks}",
      "{exchange}: rank() - 1 is to the south, rank() + 1 to the north; and the first rank has no neighbour to the "
      "south, the last one none to the north"}},
    {"rows_of_no_rank", Strength::kForbidden, kAnyProgram, exchange,
     "some rows belong to no rank",
     {"{shares}: each row belongs to one rank: where one rank's rows end, the next one's begin, the first rank's begin "
      "at 0, the last one's end at n",
      "ranks.finish in main: it is given the rows that this rank computes, from the first one to the one after the "
      "last; and every rank calls it, rank 0 and all others"}},
    {"nccl_calls_wait_for_each_other", Strength::kForbidden, kAnyProgram, exchange,
     "a call of NCCL waits for one of another rank that does not come, or comes later",
     {"ncclSend and ncclRecv: all of a rank's calls between ncclGroupStart and ncclGroupEnd, because outside of a "
      "group each may wait for the other rank's; and for each ncclSend an ncclRecv of the neighbour",
      "whether all ranks make the same calls, in the same order, including the sum's",
      "{?blocking|the stream of the exchange: without cudaStreamNonBlocking what goes into the default stream, such as "
      "the copy in ranks.finish, waits for it}"}},
    {"neighbour_makes_no_exchange", Strength::kForbidden, kAnyProgram, exchange,
     "a rank waits for an exchange in which its neighbour takes no part",
     {"{exchange}: before every pass each of two neighbours has the other one in its list, and the only condition is "
      "that there is a neighbour",
      "whether all ranks perform the same number of passes: sweeps and residual are the same on each"}},
    {"some_ranks_add_no_sum", Strength::kForbidden, kAnyProgram, exchange,
     "some ranks wait for a sum over all ranks, or have reached the end, and others have not",
     {"the call of ncclAllReduce or ranks.sum: all ranks make it, at the same checks, and no `if` chooses among them",
      "the condition of the loop in main: what it depends on is the same on every rank"}},
    {"halo_holds_another_row", Strength::kModel, kAnyProgram, borders,
     "only {rows} wrong, next to the borders between ranks: for example, in the halo {?below|below|above} row {row}, "
     "the place of row {halo} {?same|still holds an old state of that row|holds row {held}}",
     {"{exchange}: {?same|rows of which field are sent and received (the one that the next pass reads), where received "
      "rows are put (next to the rank's own, as many as the pass has sweeps), and whether it is done before every "
      "pass|the first row that is sent to the {?below|north: a rank's last rows, as many as the pass has sweeps, up to "
      "end - 1|south: a rank's own first rows, from begin on}; and the place where it is received}",
      "{?!same|if that is right: up to which row a march fetches, those of the halo too, and not only its own}",
      "{?same|{?!first|if the rows received are for several sweeps: which rows of the halo each sweep computes anew "
      "(all that the next one before an exchange reads)}}"}},
    {"own_rows_are_received", Strength::kShape, kAnyProgram, borders,
     "only {rows} wrong: they begin at the borders between ranks, and reach farther than the sweeps so far. So a rank "
     "has lost rows of its own: what is received is put in their place, or its rows are not counted from the same row "
     "everywhere",
     {"{exchange}: how many rows are received before each pass, the second and later ones included (as many as this "
      "pass has sweeps), and that they end with row begin - 1, or begin with row end",
      "which row is row 0 of what a rank holds: the same one, held_begin, where rows are filled, read, stored, sent "
      "and copied to the result (only in start(i, j) j is the row of the whole field)"}},
    {"rows_beside_the_borders", Strength::kShape, kAnyProgram, borders,
     "only {rows} wrong after {sweeps}: {they} next to the borders between ranks{?!north|, south of them}{?!south|, "
     "north of them}. {?first|In the first pass|In a pass of several sweeps, or in a later one,} what a rank takes for "
     "its neighbour's rows is not what they hold",
     {"{?group|ncclGroupEnd: what comes after ncclGroupStart is sent and received when the group ends, and not "
      "before|{exchange}: which rows (sent to the {?north|north the last ones before end}{?south|{?north|, to the "
      "}south those from begin on}), how many (at least as many as the next pass has sweeps, each with its padding), "
      "{?first||of which field (the one that the next pass reads), }where they are put, and whether it is done before "
      "every pass}",
      "{?!group|{?first|which rows a pass reads: those of the halo, too, as many as it has sweeps; and which rows keep "
      "their values in the sweeps of a pass: rows 0 and n - 1 of the whole field, and "
      "no other row of a rank|{?streams|what the exchange waits for (the kernels that compute the rows to be sent, "
      "all of them), and what waits for it|{?deep|which rows of the halo each sweep computes anew: all that the next "
      "sweep before an exchange reads}}}}"}},
};
// clang-format on

}  // namespace validate
