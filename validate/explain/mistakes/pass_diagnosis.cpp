// What is wrong with a field where several sweeps make one pass, and each sweep by itself is right:
// what a pass alone can get wrong shows in how many sweeps it makes, and in where it is wrong.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "explain/diagnosis_parts.h"
#include "run/text.h"

namespace validate {
namespace {

constexpr int kMaxRememberedN = 300;

/// Whether the last residual is that of sweep `sweep`.
bool ends_with_residual_of(const Observation& seen, int sweep, Sweeps* sweeps) {
  const double residual = sweeps->residual(sweep);
  return !seen.residuals.empty() &&
         std::fabs(seen.residuals.back().value - residual) <= 1e-6 * residual;
}

/// Whether the field is the right one of another number of sweeps.
Diagnosis ask_for_other_count(int n, int asked, const Words& words, Sweeps* sweeps,
                              const Observation& seen) {
  const bool graph = words.has_graph();
  const Field& found = seen.field;
  const int too_many = n <= kMaxRememberedN ? 64 : 3;  // a field for each of them is kept
  for (int more = 1; more <= std::max(asked, too_many); ++more) {
    for (int made : {asked - more, asked + more}) {
      if (made < 0 || made > asked + too_many) continue;
      if (!agree(sweeps->after(made), found, n, std::max(asked, made))) continue;
      // Sweeps of a graph have pointers of their own: where main's are others, some seem to be
      // missing.
      if (graph && made == asked - 1) {
        return {
            format("After %d sweep%s the field is that of %d: of the two fields "
                   "the other one is taken for the new one",
                   asked, asked == 1 ? "" : "s", made),
            {"where main's pointers change roles: after an odd number of sweeps, and only then; "
             "a graph keeps the pointers that it was captured with"}};
      }
      if (graph && made < asked) return {};
      if (made < asked && ends_with_residual_of(seen, asked, sweeps)) {
        return {format("After %d sweeps the residual is right, and the field is "
                       "that of %d: a pass is made, and its result does not "
                       "become the old field",
                       asked, made),
                {words.handover() + ": once after each pass, however many sweeps it has (twice is "
                                    "as good as never)"}};
      }
      return {format("Of %d sweeps, %d are made: a pass makes %s than it counts, or %s", asked,
                     made, made < asked ? "fewer" : "more",
                     made < asked ? "the sweeps that are left, fewer than a pass has, are not "
                                    "all made"
                                  : "a whole pass is made where fewer sweeps are left"),
              {"the loops over the sweeps of a pass, and over the passes: how many are made, how "
               "many are counted, and how many are left"}};
    }
  }
  return {};
}

/// Whether the residuals of the first passes are those of so many sweeps a pass, and more are
/// counted, or fewer: a graph that was captured with another number of them.
Diagnosis ask_for_sweeps_of_a_graph(Interview* interview, Sweeps* right) {
  constexpr int kMost = 64;
  const Observation* seen = interview->after(interview->run().iterations);
  if (!seen || seen->residuals.size() < 2) return {};
  const auto &first = seen->residuals[0], &second = seen->residuals[1];
  if (second.iteration != 2 * first.iteration) return {};
  const auto is_of = [&](const Record::Residual& found, int sweeps) {
    const double residual = right->residual(sweeps);
    return std::fabs(found.value - residual) <= 1e-6 * residual;
  };
  for (int made = 1; made <= kMost; ++made) {
    if (made == first.iteration || !is_of(first, made) || !is_of(second, 2 * made)) continue;
    return {format("After %d sweeps that are counted the residual is that of sweep "
                   "%d, after %d that of sweep %d: a launch of a graph goes %d sweep%s "
                   "on",
                   first.iteration, made, second.iteration, 2 * made, made, made == 1 ? "" : "s"),
            {"with how many sweeps the graphs are captured: as many as the loop in main counts for "
             "a launch; that the fields change roles after each of them; and how often each is "
             "launched"}};
  }
  return {};
}

/// Whether the field stays as it was for one sweep more than the first wrong one: then sweeps are
/// left out. (Where the two fields are mixed up it is right again after an even number.)
Diagnosis ask_for_the_rest(Interview* interview, int sweeps, Sweeps* right) {
  const int made = sweeps - 1, n = interview->run().n;
  bool computed = true;  // sweep `sweeps`, each time
  for (int asked : {sweeps, sweeps + 1}) {
    const Observation* seen = interview->after(asked);
    if (!seen || !agree(right->after(made), seen->field, n, asked)) return {};
    computed &= ends_with_residual_of(*seen, sweeps, right);
  }
  if (computed) {
    return {format("Where several sweeps are made one by one, each reads the field "
                   "after sweep %d again: the new field does not become the old "
                   "one between them",
                   made),
            {Words(interview->patient()).handover() +
             ": after each sweep, also between those of a graph"}};
  }
  return {format("After %d sweeps, and after %d, the field is that of %d: fewer "
                 "sweeps than a pass has are counted, and not made",
                 sweeps, sweeps + 1, made),
          {"the loop in main: the sweeps that are left at the end, fewer than a graph was captured "
           "with, are made one by one"}};
}

/// Whether only points near the boundary are wrong, no farther from it than the sweeps reach.
Diagnosis ask_about_boundary_in_between(const Cells& cells, int sweeps) {
  const int n = cells.n();
  if (n <= 4 * sweeps + 4) return {};
  // Near a corner a point is beside two sides: the fewest that all wrong points are beside.
  std::vector<int> beside;  // of each point a bit for west, east, south, north
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      if (!cells.has(i, j)) continue;
      const int away[4] = {i, n - 1 - i, j, n - 1 - j};
      int near = 0;
      for (int k = 0; k < 4; ++k) near |= (away[k] <= sweeps) << k;
      if (near == 0) return {};
      beside.push_back(near);
    }
  }
  int fewest = 15;
  const auto count = [](int sides) {
    return (sides & 1) + (sides >> 1 & 1) + (sides >> 2 & 1) + (sides >> 3 & 1);
  };
  for (int some = 1; some < 15; ++some) {
    const bool all = std::all_of(beside.begin(), beside.end(), [&](int b) { return b & some; });
    if (all && count(some) < count(fewest)) fewest = some;
  }
  bool side[4] = {};  // west, east, south, north
  for (int k = 0; k < 4; ++k) side[k] = !beside.empty() && (fewest >> k & 1);
  const char* const kSides[4] = {"column i = 0", "column i = n - 1", "row j = 0", "row j = n - 1"};
  std::vector<std::string> sides;
  for (int k = 0; k < 4; ++k) {
    if (side[k]) sides.push_back(kSides[k]);
  }
  if (sides.empty()) return {};
  const std::string where = sides.size() == 4 ? "the boundary" : "the boundary's " + join(sides);
  return {"In a pass of several, only points beside " + where +
              " are wrong: in one of the sweeps in between " + where +
              (sides.size() % 4 > 1 ? " do not keep their values, or what is beside them keeps its "
                                      "own"
                                    : " does not keep its values, or what is beside it keeps its "
                                      "own"),
          {"where the boundary's points keep their values, and only they: after every sweep of a "
           "pass, not only after the last one; each sweep is a row behind the one before it"}};
}

/// What lies at the same places of every strip, or of every chunk of rows: one number of lines from
/// one group of neighbouring lines to the next. 0: they do not lie so.
int distance_of_groups(const std::vector<int>& lines, int widest) {
  std::vector<int> begins;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    if (k == 0 || lines[k] > lines[k - 1] + widest) begins.push_back(lines[k]);
  }
  if (begins.empty()) return 0;
  if (begins.size() == 1) return begins[0];
  const int distance = begins[1] - begins[0];
  for (std::size_t k = 2; k < begins.size(); ++k) {
    if (begins[k] - begins[k - 1] != distance) return 0;
  }
  return distance > 2 * widest ? distance : 0;
}

/// "the rows j = 5..6, 11 are"
std::string group_words(const std::vector<int>& lines, char letter) {
  std::vector<std::string> groups;
  int first = lines[0];
  for (std::size_t k = 1; k <= lines.size(); ++k) {
    if (k < lines.size() && lines[k] == lines[k - 1] + 1) continue;
    const int last = lines[k - 1];
    groups.push_back(last == first ? format("%d", first) : format("%d..%d", first, last));
    if (k < lines.size()) first = lines[k];
  }
  const bool many = groups.size() > 4;
  if (many) groups.resize(4);
  const char* const one = letter == 'i' ? "column" : "row";
  if (lines.size() == 1) return format("the %s %c = %d is", one, letter, lines[0]);
  std::string words = format("the %ss %c = ", one, letter);
  for (std::size_t k = 0; k < groups.size(); ++k) words += (k ? ", " : "") + groups[k];
  return words + (many ? " ..." : "") + " are";
}

/// Whether only columns at the ends of strips are wrong, or only rows at the ends of what a warp
/// marches through.
Diagnosis ask_about_ends(const Cells& cells, int sweeps) {
  if (cells.boundary().count() > 0) return {};
  const int n = cells.n(), widest = 2 * sweeps;
  std::vector<int> columns, rows;  // with a wrong point
  for (int k = 1; k < n - 1; ++k) {
    bool in_column = false, in_row = false;
    for (int other = 1; other < n - 1; ++other) {
      in_column |= cells.has(k, other);
      in_row |= cells.has(other, k);
    }
    if (in_column) columns.push_back(k);
    if (in_row) rows.push_back(k);
  }
  if (columns.size() < rows.size() && distance_of_groups(columns, widest) > 0) {
    return {"In a pass of several, only " + group_words(columns, 'i') +
                " wrong: they lie where two strips meet. With each sweep a warp knows one "
                "column less at both ends of its strip, and these are stored all the same",
            {"kHalo: at least as many columns at each end of a strip as a pass has sweeps; and "
             "which columns a strip stores (kKept), from where on"}};
  }
  if (rows.size() < columns.size() && distance_of_groups(rows, widest) > 0) {
    return {"In a pass of several, only " + group_words(rows, 'j') +
                " wrong: they lie where one warp's rows end and another's begin",
            {"the rows that a warp marches through: from as many below its first one as a pass has "
             "sweeps, to as many above its last one"}};
  }
  return {};
}

/// Whether only the rows and columns are wrong where tiles meet that go through several sweeps.
Diagnosis ask_about_tiles(const Cells& cells, int sweeps) {
  if (cells.boundary().count() > 0) return {};
  const int n = cells.n();
  std::vector<int> lines[2];  // columns and rows that are wrong nearly everywhere
  std::vector<bool> is_line[2] = {std::vector<bool>(n), std::vector<bool>(n)};
  for (int k = 1; k < n - 1; ++k) {
    int wrong[2] = {};
    for (int other = 1; other < n - 1; ++other) {
      wrong[0] += cells.has(k, other);
      wrong[1] += cells.has(other, k);
    }
    for (int which : {0, 1}) {
      if (2 * wrong[which] < n) continue;
      is_line[which][k] = true;
      lines[which].push_back(k);
    }
  }
  for (int which : {0, 1}) {
    if (distance_of_groups(lines[which], 2 * sweeps) == 0) return {};
  }
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      if (cells.has(i, j) && !is_line[0][i] && !is_line[1][j]) return {};
    }
  }
  return {"In a pass of several, only " + group_words(lines[0], 'i') + " wrong, and " +
              group_words(lines[1], 'j') +
              ": there tiles meet. With each sweep a block knows one point less on each side of "
              "its tile, and these are stored all the same",
          {"the halo of a tile: on each side at least as many points as a pass has sweeps; and "
           "which points of its tile a block stores"}};
}

}  // namespace

Diagnosis diagnose_borders(const Wrong& wrong, const Patient& patient) {
  Interview interview(wrong.run, patient);
  const int n = wrong.run.n, ranks = wrong.run.ranks, sweeps = wrong.first_iteration;
  const Observation* seen = sweeps > 0 && ranks > 1 ? interview.after(sweeps) : nullptr;
  if (!seen) return {};
  const lab::Problem problem(wrong.run.problem, n, 1);
  Sweeps right(n, field_of(problem.initial_old(), n));
  const Cells cells = differing(right.after(sweeps), seen->field, n, sweeps);
  std::vector<int> rows;
  bool south = false, north = false;  // of a border
  for (int j = 0; j < n; ++j) {
    bool in_row = false;
    for (int i = 0; i < n; ++i) in_row |= cells.has(i, j);
    if (!in_row) continue;
    rows.push_back(j);
    bool near = false;
    for (int r = 1; r < ranks; ++r) {
      const int border = static_cast<int>(static_cast<long long>(n) * r / ranks);
      const int away = j < border ? border - 1 - j : j - border;
      if (away >= sweeps) continue;
      near = true;
      (j < border ? south : north) = true;
    }
    if (!near) return {};
  }
  if (rows.empty()) return {};
  const std::string side = south && north ? "" : south ? " to the south" : " to the north";
  const Words words(patient);
  Diagnosis diagnosis;
  diagnosis.cause =
      "only " + group_words(rows, 'j') +
      format(" wrong after %d sweep%s: ", sweeps, sweeps == 1 ? "" : "s") +
      (rows.size() == 1 ? "it lies" : "they lie") + " beside the borders between ranks" + side +
      (sweeps > 1 ? ". The halo that is there in the beginning does; what comes later is not what "
                    "the neighbour's rows hold then"
                  : ". What is in the halo before the first pass is not what the neighbour's rows "
                    "hold then");
  diagnosis.look_at = {
      words.exchange() +
      ": rows of which field (that which the next pass reads), which rows, how many (as many as "
      "the next pass has sweeps), where they are put, and whether it is done before every pass"};
  // What was right in the first sweep keeps no row that it should not.
  if (sweeps == 1) {
    diagnosis.look_at.push_back(
        "which rows keep their values in the sweeps of a pass: rows 0 and n - 1 of the whole "
        "field, and no other row of a rank's");
  } else if (words.has_streams()) {
    diagnosis.look_at.push_back(
        "what the exchange waits for (the kernel that makes the rows to be sent), and what waits "
        "for it");
  }
  if (words.leaves_group_open() && interview.run().halos &&
      std::string(interview.run().halos) == "nccl") {
    diagnosis.look_at = {
        "ncclGroupEnd: what stands behind ncclGroupStart is sent and received when the group ends, "
        "and not before"};
  }
  return diagnosis;
}

bool found_in_shared(const Patient& patient) {
  return patient.finding.kind == Finding::kRace && patient.finding.shared;
}

Diagnosis diagnose_pass(const Wrong& wrong, Interview* interview) {
  const Observation* seen = interview->after(wrong.first_iteration);
  if (!seen) return {};
  const int n = wrong.run.n, sweeps = wrong.first_iteration;
  const lab::Problem problem(wrong.run.problem, n, 1);
  Sweeps right(n, field_of(problem.initial_old(), n));
  const Words words(interview->patient());
  if (words.has_graph()) {
    for (const Diagnosis& known : {ask_for_sweeps_of_a_graph(interview, &right),
                                   ask_for_the_rest(interview, sweeps, &right)}) {
      if (known.known()) return known;
    }
  }
  Diagnosis diagnosis = ask_for_other_count(n, sweeps, words, &right, *seen);
  if (diagnosis.known() || words.has_graph()) return diagnosis;
  if (field_changes(interview, sweeps)) {
    if (words.has_streams() && !found_in_shared(interview->patient())) {
      return {"In a pass of several, two runs give different fields: a race",
              {"what each stream waits for before a pass: for all that the other one did in the "
               "pass before and that is read now (cudaStreamWaitEvent, for an event that was "
               "recorded behind it)"}};
    }
    return {"In a pass of several, two runs give different fields: a race",
            {words.has_ring()
                 ? "the ring: whether a row's place is filled anew before the row was used, and "
                   "whether a row is used before it has arrived (the number that "
                   "__pipeline_wait_prior leaves under way)"
                 : "whether something is read that another thread may not have written yet, or has "
                   "overwritten already"}};
  }
  const Cells cells = differing(right.after(sweeps), seen->field, n, sweeps);
  diagnosis = ask_about_boundary_in_between(cells, sweeps);
  if (diagnosis.known()) return diagnosis;
  diagnosis = ask_about_ends(cells, sweeps);
  return diagnosis.known() ? diagnosis : ask_about_tiles(cells, sweeps);
}

}  // namespace validate
