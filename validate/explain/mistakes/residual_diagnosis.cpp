// What is wrong with the residuals of a field that is right: formulas and sums that are not the
// right ones, and give exactly what was found.

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "explain/diagnosis_parts.h"
#include "run/text.h"
#include "source/source_code.h"

namespace validate {
namespace {

constexpr int kIterationsLookedAt = 10;

/// The squared changes of one right sweep, and what the program said of it.
struct Sweep {
  double found;                 ///< the program's residual
  double right;                 ///< the residual
  std::vector<float> changes;   ///< n x n
  std::vector<double> columns;  ///< squared changes, summed along each column
  std::vector<double> rows;
  double total = 0, magnitudes = 0, plain = 0, largest = 0, new_squares = 0;
  double signed_squares = 0;     ///< squares with the sign of the change
  double whole = 0;              ///< squares of the changes without what is behind their point
  double against_hidden = 0;     ///< squared changes against what the new field held before
  double against[3][3] = {};     ///< changes against the point at (di - 1, dj - 1), [dj][di]
  double of_nothing = 0;         ///< between the two fields, before the sweep
  double against_exchanged = 0;  ///< against point (j, i)
  double sides[3] = {};  ///< of [dj][1] those at the boundary's columns, i = 0 and i = n - 1

  double found_sum(int n) const { return found * found * n * n; }
};

Sweep make_sweep(const Field& before, const Field& after, const Field& hidden, int n, double found,
                 double right) {
  Sweep sweep;
  sweep.found = found;
  sweep.right = right;
  sweep.changes.resize(before.size());
  sweep.columns.assign(n, 0.0);
  sweep.rows.assign(n, 0.0);
  for (int j = 1; j < n - 1; ++j) {
    for (int dj = 0; dj < 3; ++dj) {
      for (int i : {0, n - 1}) {
        const std::size_t k = static_cast<std::size_t>(j) * n + i;
        const float other = after[k] - before[k + static_cast<std::size_t>(dj) * n - n];
        sweep.sides[dj] += static_cast<double>(other) * other;
      }
    }
    for (int i = 1; i < n - 1; ++i) {
      const std::size_t k = static_cast<std::size_t>(j) * n + i;
      const float change = after[k] - before[k];
      const double square = static_cast<double>(change) * change;
      sweep.changes[k] = change;
      sweep.columns[i] += square;
      sweep.rows[j] += square;
      sweep.total += square;
      sweep.magnitudes += std::fabs(change);
      sweep.plain += change;
      const double from_hidden = after[k] - hidden[k];
      sweep.against_hidden += from_hidden * from_hidden;
      const double unswept = hidden[k] - before[k];
      sweep.of_nothing += unswept * unswept;
      const double exchanged = after[k] - before[static_cast<std::size_t>(i) * n + j];
      sweep.against_exchanged += exchanged * exchanged;
      for (int dj = 0; dj < 3; ++dj) {
        for (int di = 0; di < 3; ++di) {
          const float other = after[k] - before[k + static_cast<std::size_t>(dj) * n + di - n - 1];
          sweep.against[dj][di] += static_cast<double>(other) * other;
        }
      }
      sweep.largest = std::max(sweep.largest, std::fabs(static_cast<double>(change)));
      sweep.new_squares += static_cast<double>(after[k]) * after[k];
      sweep.signed_squares += std::copysign(square, change);
      sweep.whole += std::trunc(change) * std::trunc(change);
    }
  }
  return sweep;
}

/// What every hypothesis is held against.
struct Look {
  Words words;
  int n = 0;
  std::vector<Sweep> sweeps;    ///< the first few
  bool is_float = false;        ///< the residual or the sum is a float: fewer digits to agree in
  int ranks = 0;                ///< of the job, where it is one
  const char* halos = nullptr;  ///< how they are asked to exchange
  Finding finding = {};         ///< of a look at every access
  bool watched = false;         ///< there was one
  std::string source = {};      ///< the program's text; "": not at hand
  /// Whether another run, its threads in another order, says the same residuals.
  std::function<bool()> again = {};
  bool single = false;  ///< parts of the sum may have been added up in float
  double tolerance() const { return single ? 2e-6 : is_float ? 4e-7 : 1e-9; }
  bool equal(double a, double b) const { return std::fabs(a - b) <= tolerance() * std::fabs(b); }

  /// Whether `predict` gives the residual of every sweep.
  template <typename Predict>
  bool explained(Predict predict) const {
    return std::all_of(sweeps.begin(), sweeps.end(),
                       [&](const Sweep& s) { return equal(s.found, predict(s)); });
  }
  /// The same for the sum of the squares, from which the residual comes.
  template <typename Predict>
  bool sum_explained(Predict predict) const {
    return std::all_of(sweeps.begin(), sweeps.end(), [&](const Sweep& s) {
      const double predicted = predict(s);
      return std::fabs(s.found_sum(n) - predicted) <= 2 * tolerance() * predicted;
    });
  }
};

/// Whether a number is a float, or was computed from a sum that is one.
bool looks_like_float(const Sweep& sweep, int n) {
  const double sum = sweep.found_sum(n);
  const double rounded = static_cast<float>(sum);
  return static_cast<double>(static_cast<float>(sweep.found)) == sweep.found ||
         std::fabs(sum - rounded) <= 4e-15 * sum;
}

constexpr const char* kStoredParts =
    "how many of the stored parts are copied and added up: one of each block, gridDim.x * "
    "gridDim.y "
    "of them, and cudaMemcpy counts bytes (sizeof(double) each)";

// ---- What a look at every access found

/// Threads that share a sum in shared memory, and do not wait for one another.
Diagnosis ask_about_shared_sum(const Look& look) {
  const Finding& finding = look.finding;
  if (finding.kind != Finding::kRace || !finding.shared) return {};
  const bool of_array = finding.what.find('[') != std::string::npos;
  if (of_array && finding.both_write && finding.other_line == finding.line &&
      code_at(look.source, finding.line).find("+=") == std::string::npos) {
    return {"the field is right; the residual is not: several threads of a block write " +
                finding.what +
                format(" at line %d, and what the last of them writes stays", finding.line),
            {format("the index at line %d: a place for each thread that writes there. A block with "
                    "several rows of threads needs threadIdx.y in it, too",
                    finding.line)}};
  }
  const bool of_cub =
      look.words.has_block_sum() && !of_array && finding.what.find("storage") != std::string::npos;
  const std::string lines = finding.other_line > 0 && finding.other_line != finding.line
                                ? format("lines %d and %d", finding.other_line, finding.line)
                                : format("line %d", finding.line);
  return {"the field is right; the residual is not: threads of a block use " +
              (finding.what.empty() ? std::string("shared memory") : finding.what) + " at " +
              lines + " with no barrier in between, so a part of the sum is lost or read too early",
          {of_cub ? "__syncthreads() between two uses of cub's temporary storage: one reduction "
                    "ends before the next one "
                    "begins"
                  : "__syncthreads() between setting a shared sum to 0, adding to it, and reading "
                    "it; in a tree after each "
                    "round"}};
}

/// A sum that reaches the host at an address that is no longer there.
Diagnosis ask_about_host_address(const Look& look) {
  Diagnosis lost = ask_about_lost_local(look.source);
  if (lost.known()) lost.cause = "the field is right; the residual is not: " + lost.cause;
  return lost;
}

/// A thread that writes the sum, while others add to it by an atomic.
Diagnosis ask_about_plain_write(const Look& look) {
  const Finding& finding = look.finding;
  if (finding.plain_line == 0 || finding.shared) return {};
  const std::string code = code_at(look.source, finding.plain_line);
  const bool sets_to_zero = code.find("=0;") != std::string::npos ||
                            code.find("=0.0;") != std::string::npos ||
                            code.find("=0.;") != std::string::npos;
  const int adds = finding.plain_line == finding.line ? finding.other_line : finding.line;
  // A counter is none of the sum.
  const std::set<std::string> names = names_in(code);
  const std::string whole = code_only(look.source);
  for (const std::string& name : names_in(code_at(look.source, adds))) {
    if (names.count(name) == 0) continue;
    bool counter = false;
    for (const char* type : {"unsigned", "int", "unsignedint"}) {
      counter |= whole.find(std::string("__device__") + type + name) != std::string::npos ||
                 whole.find(std::string(type) + "*" + name) != std::string::npos;
    }
    if (!counter) continue;
    return {format("the field is right; the residual is not: line %d sets %s back while other "
                   "blocks still count with it (line %d)",
                   finding.plain_line, name.c_str(), adds),
            {"the number that " + name +
             " is compared with: of all blocks, gridDim.x * gridDim.y; only the last of them sets "
             "it back"}};
  }
  return {format("the field is right; the residual is not: line %d %s what other threads have "
                 "added to (line %d). Which of them comes first nobody knows",
                 finding.plain_line, sets_to_zero ? "sets to 0" : "overwrites", adds),
          {sets_to_zero ? "where the sum is set to 0: in " + look.words.host() +
                              ", before the launch. In the kernel no barrier makes the other "
                              "blocks wait for it"
                        : format("line %d: atomicAdd there, too", finding.plain_line)}};
}

// ---- Residuals that are no numbers, or always the same

/// A copy, or a fill, of the four bytes of a float, where the sum is a double.
Diagnosis ask_about_half_a_sum(const Look& look) {
  const std::string code = code_only(look.source);
  for (const Queued& work : queued_in(look.source)) {
    const bool fill = work.call.find("Memset") != std::string::npos;
    if (work.launch || work.arguments.size() < 3 || work.arguments[2] != "sizeof(float)") continue;
    const std::string& sum = work.arguments[fill ? 0 : 1];
    if (code.find("float*" + sum) != std::string::npos) continue;
    return {
        format("the field is right; the residual is not: line %d %s 4 bytes of %s, as many as a "
               "float has; a double has 8",
               work.line, fill ? "sets" : "copies", sum.c_str()),
        {format("the number of bytes at line %d: sizeof(double); a copy has a double at both ends",
                work.line)}};
  }
  return {};
}

Diagnosis ask_whether_numbers(const Look& look) {
  constexpr std::size_t kMostLooks = 2;
  const bool none = std::any_of(look.sweeps.begin(), look.sweeps.end(),
                                [](const Sweep& s) { return std::isnan(s.found); });
  const bool infinite = std::all_of(look.sweeps.begin(), look.sweeps.end(),
                                    [](const Sweep& s) { return std::isinf(s.found); });
  if (infinite) {
    return {
        "the residual is infinite, though the field is right: it is divided by 0, or the residual "
        "of before, which begins at infinity, is a part of it",
        {look.words.formula() + ", and what " + look.words.sweep() + " adds up"}};
  }
  if (!none) return {};
  if (Diagnosis shared = ask_about_shared_sum(look); shared.known()) return shared;
  if (Diagnosis half = ask_about_half_a_sum(look); half.known()) return half;
  Diagnosis diagnosis;
  diagnosis.symptom = true;  // an access that is found to be wrong says more
  diagnosis.cause =
      "the residual is not a number, though the field is right: either something that is added to "
      "the sum is none, or the sum itself was never set to 0, or the formula makes one of it";
  // The likeliest first.
  std::vector<std::string>& look_at = diagnosis.look_at;
  const std::string wait =
      "whether the host waits for the copy of the sum before it reads it: cudaEventSynchronize, "
      "for an event that was recorded behind that copy";
  const std::string place =
      "; and that it reads the place where that copy puts it: the sum of this pass, not another's";
  const bool late = look.words.reads_sum_late();
  const std::string adds =
      "who adds the block's sum: the first thread alone has it from cub::BlockReduce, the others "
      "have nothing";
  // A sum that nobody set would have been found.
  const bool all_set = look.watched && !look.finding.known();
  // Nothing was read that no thread had written: it is the host that reads nothing.
  if (late && (all_set || !look.words.waits_for_events())) look_at.push_back(wait + place);
  if (look.words.has_block_sum() && all_set) look_at.push_back(adds);
  look_at.push_back(
      "where the sum is set to 0 before each sweep, all sizeof(double) bytes of it; a thread's own "
      "sum, and one in shared memory, too: what nobody has set may be anything");
  if (late && !all_set && look.words.waits_for_events()) look_at.push_back(wait + place);
  if (look.words.has_block_sum() && !all_set) look_at.push_back(adds);
  if (look.words.has_pitch()) {
    look_at.push_back(
        "the padding of the rows: whether initialize_field writes it, or the sum leaves it out");
  }
  look_at.push_back(look.words.formula() +
                    ": no root of less than 0, no 0 / 0, and no product of whole numbers that is "
                    "too large for an int");
  if (look_at.size() > kMostLooks) look_at.resize(kMostLooks);
  return diagnosis;
}

/// Where the right residual is 0, all that is found is what the sum began with.
Diagnosis ask_about_nothing(const Look& look) {
  for (const Sweep& sweep : look.sweeps) {
    if (sweep.right != 0 || !(sweep.found > 0)) return {};
  }
  return {
      format("no point changes here, so every residual is 0; found is %.3g: the sum does not "
             "begin with 0",
             look.sweeps[0].found),
      {"where each sum begins, that of all and a thread's own: it is set to 0.0 (cudaMemset sets "
       "single bytes, and only 0 makes a 0.0 of 8 of them)"}};
}

/// Residuals that are the one before once more, and right ones between them: they are not computed
/// (or not fetched) anew in each iteration.
Diagnosis ask_about_repeated(const Look& look) {
  std::vector<std::string> repeated;
  std::size_t right = 0;
  for (std::size_t k = 0; k < look.sweeps.size(); ++k) {
    const bool again = k > 0 && look.sweeps[k].found == look.sweeps[k - 1].found;
    if (again) repeated.push_back(format("%zu", k + 1));
    right += !again && look.equal(look.sweeps[k].found, look.sweeps[k].right);
    if (!again && !look.equal(look.sweeps[k].found, look.sweeps[k].right)) return {};
  }
  if (repeated.empty() || right < 2) return {};
  const bool many = repeated.size() > 4;
  if (many) repeated.resize(4);
  return {"the residual of iteration " + join(repeated, "and") + (many ? " (and others)" : "") +
              " is that of the iteration before once more, in every digit: there it is not "
              "computed, or not fetched, anew",
          {std::string("what stands around the line that computes the residual: whether it is "
                       "done in each iteration") +
           (look.words.reads_sum_late()
                ? "; and whether the place on the host that is read is the one that this sum was "
                  "copied to"
                : "")}};
}

Diagnosis ask_whether_they_change(const Look& look) {
  const double first = look.sweeps[0].found;
  if (look.explained([](const Sweep&) { return 0.0; })) {
    for (Diagnosis order : {ask_about_streams(look.source), ask_about_order_of_sum(look.source)}) {
      if (!order.known()) continue;
      order.cause = "every residual is 0: " + order.cause;
      return order;
    }
    Diagnosis diagnosis{
        "every residual is 0, though the field changes. Either the change is taken when the new "
        "value has replaced the old one, or the sum stays 0 (nothing is added, or to a copy of "
        "it), or the host reads "
        "it before the kernel has added to it or after it was set back, or the formula makes 0 of "
        "it",
        {"the line that computes change in " + look.words.sweep() +
             ": value minus the old field's point",
         std::string("what is added to the sum") +
             (look.words.has_strips() ? ": what the lanes of a warp have together, by one of them"
                                      : "") +
             "; what the host reads of it when the sweep has ended; and " + look.words.formula() +
             ": a whole number divided by a whole number loses what is behind the point"}};
    diagnosis.symptom = true;  // an access that is found to be wrong says more
    if (look.words.has_strips()) std::swap(diagnosis.look_at[0], diagnosis.look_at[1]);
    if (look.words.has_check_kernel()) {
      diagnosis.cause += ". Or nothing was ever added to the sum";
      diagnosis.look_at.insert(
          diagnosis.look_at.begin(),
          "whether the kernel that adds to the sum, the one with kCheck, is launched: for the last "
          "sweep before each check (with --check-every 1 for each)");
    }
    return diagnosis;
  }
  if (look.sweeps.size() > 1 && look.explained([&](const Sweep&) { return first; })) {
    Diagnosis diagnosis{"every iteration says the same residual, though the field changes",
                        {"where residual is computed anew in the loop of main, and from what"}};
    if (first == 1) {
      diagnosis.look_at.push_back(look.words.formula() +
                                  ": 1 / 2 between integers is 0, and any number to the power of "
                                  "0 is 1");
    }
    return diagnosis;
  }
  if (const Diagnosis repeated = ask_about_repeated(look); repeated.known()) return repeated;
  // Each iteration says the one before; the first has none to say.
  bool late = look.sweeps.size() > 1;
  for (std::size_t k = 1; k < look.sweeps.size(); ++k) {
    late &= look.equal(look.sweeps[k].found, look.sweeps[k - 1].right);
  }
  if (late) {
    return {
        "each iteration says the residual of the one before",
        {"the order in the loop of main: sweep, residual, then run.record(++iteration, "
         "residual); and in " +
         look.words.host() + ": first the sweep, then what adds up its changes or copies them"}};
  }
  bool early = look.sweeps.size() > 2;
  for (std::size_t k = 0; k + 1 < look.sweeps.size(); ++k) {
    early &= look.equal(look.sweeps[k].found, look.sweeps[k + 1].right);
  }
  if (early) {
    return {"each iteration says the residual of the one after it",
            {look.words.reads_sum_late()
                 ? "whose sum is read in the loop of main: that of the pass before, not that of "
                   "the pass that was launched last; and which number of sweeps it is recorded with"
                 : "the order in the loop of main: sweep, residual, then run.record(++iteration, "
                   "residual), which iteration begins at 0"}};
  }
  return {};
}

// ---- Formulas

struct Formula {
  const char* cause;
  std::function<double(const Sweep&, double)> residual;  // of the sweep and n
};

Diagnosis ask_for_formula(const Look& look) {
  using std::sqrt;
  static const Formula kFormulas[] = {
      {"the root is missing: it is the mean of the squares",
       [](const Sweep& s, double n) { return s.total / (n * n); }},
      {"neither divided by n * n, nor is the root taken: it is the sum of the squares",
       [](const Sweep& s, double) { return s.total; }},
      {"it is not divided by n * n: it is the root of the sum (squares / n * n divides by n and "
       "multiplies by it again: "
       "(n * n) in brackets)",
       [](const Sweep& s, double) { return sqrt(s.total); }},
      {"n * n stands outside of the root: the root is divided by n * n, not by n",
       [](const Sweep& s, double n) { return sqrt(s.total) / (n * n); }},
      {"it is divided by n under the root, not by n * n",
       [](const Sweep& s, double n) { return sqrt(s.total / n); }},
      {"it is divided by (n - 2) * (n - 2), the number of interior points, not by n * n",
       [](const Sweep& s, double n) { return sqrt(s.total) / (n - 2); }},
      {"it is divided by (n - 1) * (n - 1), not by n * n",
       [](const Sweep& s, double n) { return sqrt(s.total) / (n - 1); }},
      {"it is divided by n * (n - 2), not by n * n",
       [](const Sweep& s, double n) { return sqrt(s.total / (n * (n - 2))); }},
      {"it is divided by n * (n - 1), not by n * n",
       [](const Sweep& s, double n) { return sqrt(s.total / (n * (n - 1))); }},
      {"the root is taken twice", [](const Sweep& s, double) { return sqrt(s.right); }},
      {"the logarithm of it is taken (log10)",
       [](const Sweep& s, double) { return std::log10(s.right); }},
      {"the logarithm of it is taken", [](const Sweep& s, double) { return std::log(s.right); }},
      {"the changes are not squared, so that plus and minus cancel",
       [](const Sweep& s, double n) { return sqrt(s.plain) / n; }},
      {"the changes are not squared, so that plus and minus cancel, and no root is taken: it is "
       "their mean",
       [](const Sweep& s, double n) { return s.plain / (n * n); }},
      {"the changes are not squared: it is the root of their mean magnitude",
       [](const Sweep& s, double n) { return sqrt(s.magnitudes) / n; }},
      {"the changes are not squared: it is their mean magnitude",
       [](const Sweep& s, double n) { return s.magnitudes / (n * n); }},
      {"the changes are not squared: it is the sum of their magnitudes",
       [](const Sweep& s, double) { return s.magnitudes; }},
      {"it is the largest change, not the root of the mean square",
       [](const Sweep& s, double) { return s.largest; }},
      {"it is the largest change divided by n, not the root of the mean square",
       [](const Sweep& s, double n) { return s.largest / n; }},
      {"of each change only the whole number counts: it is an int, or abs() makes one of it",
       [](const Sweep& s, double n) { return sqrt(s.whole) / n; }},
      {"the squares keep the sign of their change, so that plus and minus cancel",
       [](const Sweep& s, double n) { return sqrt(s.signed_squares) / n; }},
      {"the new values are squared and added, not the changes",
       [](const Sweep& s, double n) { return sqrt(s.new_squares) / n; }},
  };
  for (const Formula& formula : kFormulas) {
    const double n = look.n;
    if (!look.explained([&](const Sweep& s) { return formula.residual(s, n); })) continue;
    return {std::string("the field is right, the residual's formula is not: ") + formula.cause,
            {look.words.formula() + ", and what " + look.words.sweep() + " adds up"}};
  }
  return {};
}

/// The change of a point against another point's old value.
Diagnosis ask_for_other_point(const Look& look) {
  if (look.sum_explained([](const Sweep& s) { return s.against_exchanged; })) {
    return {
        "the field is right, but the change is taken against the old value of point (j, i): its "
        "index has i and j exchanged",
        {"the line that computes change in " + look.words.sweep()}};
  }
  for (int dj = 0; dj < 3; ++dj) {
    for (int di = 0; di < 3; ++di) {
      if (di == 1 && dj == 1) continue;
      // Where lanes have the boundary's points, too, these are in the sum.
      const auto and_sides = [&](const Sweep& s) { return s.against[dj][di] + s.sides[dj]; };
      if (!look.sum_explained([&](const Sweep& s) { return s.against[dj][di]; }) &&
          (di != 1 || !look.sum_explained(and_sides))) {
        continue;
      }
      return {format("the field is right, but the change is taken against the old value of point "
                     "(i%+d, j%+d), not of the point itself",
                     di - 1, dj - 1),
              {"the line that computes change in " + look.words.sweep()}};
    }
  }
  return {};
}

/// The change of a point against what stood there in the new field.
Diagnosis ask_for_other_field(const Look& look) {
  if (look.sweeps[0].of_nothing > 0 &&
      look.sum_explained([](const Sweep& s) { return s.of_nothing; })) {
    return {
        "the field is right, but the residual is that of the two fields before the sweep: the "
        "changes are added up before they are made",
        {"the order in " + look.words.host() +
         ": first the sweep, then what subtracts one field from the other"}};
  }
  if (look.sweeps.size() < 2 || look.equal(look.sweeps[0].against_hidden, look.sweeps[0].total)) {
    return {};
  }
  if (!look.sum_explained([](const Sweep& s) { return s.against_hidden; })) return {};
  return {
      "the field is right, but the change is taken against what the new field held before the "
      "sweep, not against the old field",
      {"the line that computes change in " + look.words.sweep() +
       ": value minus the old field's point"}};
}

/// A sum that is too large by the same number in each iteration: it did not begin with 0.
Diagnosis ask_for_offset(const Look& look) {
  for (const bool running : {false, true}) {
    double least = INFINITY, most = -INFINITY, before = 0, largest = 0;
    for (const Sweep& sweep : look.sweeps) {
      before = running ? before + sweep.total : sweep.total;
      const double offset = sweep.found_sum(look.n) - before;
      least = std::min(least, offset);
      most = std::max(most, offset);
      largest = std::max(largest, before);
    }
    // As exact as the residuals' digits.
    if (!std::isfinite(most) || !(least > 1e-8 * largest) || most - least > 1e-11 * largest)
      continue;
    return {format("each sum of squared changes is too large by the same %.6g: it does not begin "
                   "with 0",
                   most) +
                (running ? ", and is never set back" : ""),
            {look.words.host() + ": the sum is set to 0, all of it, before each sweep"}};
  }
  return {};
}

Diagnosis ask_whether_running(const Look& look) {
  if (look.sweeps.size() < 2) return {};
  double before = 0;
  const bool running = look.sum_explained([&](const Sweep& s) { return before += s.total; });
  // Two sums that take turns; in each the sum over all ranks stays, or only the rank's own part.
  bool in_turn = false;
  for (const int ranks : {1, std::max(1, look.ranks)}) {
    double other = 0;
    before = 0;
    in_turn |= look.sweeps.size() > 2 && look.sum_explained([&](const Sweep& s) {
      std::swap(before, other);
      return before = ranks * before + s.total;
    });
  }
  if (in_turn) {
    return {"there are two sums, which take turns, and each still holds what it held the last time",
            {"where a sum is set to 0 for its next turn: behind the copy that takes it to the "
             "host, in the same stream"}};
  }
  if (const Diagnosis offset = ask_for_offset(look); offset.known()) return offset;
  if (!running) return {};
  return {"the sum is never set back: each residual holds those of all iterations before",
          {look.words.host() + ": the sum is set to 0 before each sweep"}};
}

/// What makes one sum of those of all ranks.
std::string sum_over_ranks(const Look& look) {
  const std::string halos = look.halos ? look.halos : "";
  const std::string nccl = "ncclAllReduce (one value, ncclDouble, ncclSum)", mpi = "ranks.sum";
  return "the sum over all ranks: " +
         (halos == "nccl"  ? nccl
          : halos == "mpi" ? mpi
                           : nccl + ", or without NCCL " + mpi) +
         ", before the host reads the sum";
}

/// The value of a constant in the program's text: a whole number, or a product of such and of
/// other constants. 0: it has none.
long constant_in(const std::string& source, const std::string& name) {
  std::smatch found;
  const std::string code = code_only(source);
  if (!std::regex_search(code, found, std::regex("constexprint" + name + "=([0-9A-Za-z_*]+);"))) {
    return 0;
  }
  long product = 1;
  std::string factor;
  for (const char c : found[1].str() + "*") {
    if (c != '*') {
      factor += c;
      continue;
    }
    const bool number = !factor.empty() && std::isdigit(static_cast<unsigned char>(factor[0]));
    product *= number ? std::atol(factor.c_str()) : factor == name ? 0 : constant_in(code, factor);
    factor.clear();
  }
  return product;
}

/// The points of a rank's rows, by which the sum is divided under the root; "": it is not.
std::string rows_words(const Look& look, double times) {
  if (look.ranks < 2) return "";
  const double n = look.n, rows = std::round(n / times);
  const int fewest = look.n / look.ranks;
  if (rows >= fewest && rows < n && std::fabs(times - n / rows) <= 1e-7 * times) {
    return format("under the root the sum is divided by n * %.0f, %s, and not by n * n", rows,
                  rows <= fewest + 1 ? "the points of one rank's rows"
                                     : "as of the rows that one rank holds");
  }
  for (const int own : {fewest, fewest + 1}) {
    if (std::fabs(std::sqrt(times) - n / own) > 1e-7 * n / own) continue;
    return format(
        "under the root the sum is divided by %d * %d, and not by n * n: %d is the number "
        "of one rank's rows",
        own, own, own);
  }
  return "";
}

/// What the sum is divided by, as its root is 1 / `times` of the right one: "" if that is no number
/// with a meaning.
std::string divisor_words(const Look& look, double times) {
  const auto is = [&](double value) { return std::fabs(times - value) <= 1e-7 * value; };
  if (const std::string rows = rows_words(look, times); !rows.empty()) return rows;
  const double whole = std::round(1 / times);
  if (whole < 2 || whole > 4096 || !is(1 / whole)) return "";
  const double root = std::round(std::sqrt(whole));
  const bool square = root * root == whole;
  const std::string by = format("%.0f", square ? root : whole);
  const double divisor = square ? root : whole;
  const bool of_ranks = look.ranks > 1 && divisor == look.ranks;
  return (square ? "it is divided by " : "under the root it is divided by ") + by + " as well" +
         (of_ranks ? ", as many as there are ranks"
          : divisor == constant_in(look.source, "kCheckEvery")
              ? ", the sweeps from one residual to the next. It is that of one sweep"
              : "");
}

/// Of a job: whether the ranks' sums are combined, and not by adding them.
Diagnosis ask_about_ranks(const Look& look) {
  if (look.ranks < 2 || look.sweeps.size() < 2) return {};
  const auto of_rank = [&](const Sweep& s, int rank) {
    const auto border = [&](int r) {
      return static_cast<int>(static_cast<long long>(look.n) * r / look.ranks);
    };
    return std::accumulate(s.rows.begin() + border(rank), s.rows.begin() + border(rank + 1), 0.0);
  };
  const auto over_ranks = [&](const Sweep& s, double begin, auto combined) {
    for (int r = 0; r < look.ranks; ++r) begin = combined(begin, of_rank(s, r));
    return begin;
  };
  struct Other {
    const char* cause;
    std::function<double(const Sweep&)> sum;
  };
  const Other others[] = {
      {"of the ranks' sums the largest is taken, and they are not added up",
       [&](const Sweep& s) {
         return over_ranks(s, 0, [](double a, double b) { return std::max(a, b); });
       }},
      {"of the ranks' sums the smallest is taken, and they are not added up",
       [&](const Sweep& s) {
         return over_ranks(s, s.total, [](double a, double b) { return std::min(a, b); });
       }},
      {"the ranks' sums are multiplied with each other, and not added up",
       [&](const Sweep& s) { return over_ranks(s, 1, [](double a, double b) { return a * b; }); }},
      {"each rank takes the root of its own sum, and these roots are added up: first the sums are "
       "added, then comes one root",
       [&](const Sweep& s) {
         return std::pow(over_ranks(s, 0, [](double a, double b) { return a + std::sqrt(b); }), 2);
       }},
  };
  for (const Other& other : others) {
    if (!look.sum_explained(other.sum)) continue;
    // Rank 0 may have the largest one each time.
    if (look.sum_explained([&](const Sweep& s) { return of_rank(s, 0); })) return {};
    return {std::string("the field is right; the residual is not: ") + other.cause,
            {sum_over_ranks(look)}};
  }
  return {};
}

Diagnosis ask_for_factor(const Look& look) {
  if (look.sweeps.size() < 2) return {};
  bool mean = true;
  for (std::size_t k = 0; k < look.sweeps.size(); ++k) {
    mean &= look.equal(look.sweeps[k].found * static_cast<double>(k + 1), look.sweeps[k].right);
  }
  if (mean) {
    return {"the residual of iteration k is the right one divided by k", {look.words.formula()}};
  }
  if (look.sweeps[0].found == 1 &&
      look.explained([&](const Sweep& s) { return s.right / look.sweeps[0].right; })) {
    return {"each residual is divided by the first one, so the first is 1", {look.words.formula()}};
  }
  const double factor = look.sweeps[0].found / look.sweeps[0].right;
  if (!(factor > 0) || !look.explained([&](const Sweep& s) { return factor * s.right; })) return {};
  // Right in this run, and wrong in another: a race.
  if (std::fabs(factor - 1) < 1e-6) return {};
  const double times = factor * factor, whole = std::round(times);
  if (whole >= 2 && whole <= 65536 && std::fabs(times - whole) < std::min(1e-2, 1e-6 * whole)) {
    if (look.ranks > 1 && whole == look.ranks) {
      const std::string points = divisor_words(look, times);
      return {
          format("every squared change is counted %.0f times, and there are as many ranks", whole) +
              (points.empty() ? "" : "; or " + points),
          {sum_over_ranks(look) + ": once, of what each rank has of its own rows",
           look.words.formula()}};
    }
    const double root = std::round(std::sqrt(whole));
    if (look.ranks > 1 && root == look.ranks && root * root == whole) {
      return {format("the residual is multiplied by %.0f, and there are as many ranks", root),
              {look.words.formula() + ": the sum over all ranks is that of the whole field"}};
    }
    return {format("every squared change is counted %.0f times", whole) +
                (root * root == whole
                     ? format(", or the residual is multiplied by %.0f behind the root", root)
                     : ""),
            {"which threads add to the sum: each change once, and a block's (or a warp's) sum by "
             "one thread alone; whether " +
                 look.words.sweep() + " is launched once a sweep" +
                 (whole >= 1024 ? ", and each thread goes over its own points alone" : "") +
                 (look.words.has_strips() ? ", and no two warps have the same strip" : "") +
                 (look.words.has_shuffles() ? "; the shuffles' offsets, 16, 8, 4, 2, 1: one of 32 "
                                              "gives each lane its own value once more"
                                            : ""),
             look.words.formula()}};
  }
  const std::string known = divisor_words(look, times);
  return {format("the residual is always %.6g times the right one: ", factor) +
              (known.empty() ? "its divisor, or a factor, is another" : known),
          {look.words.formula() + ", and what " + look.words.sweep() + " adds up"}};
}

// ---- Parts of the sum

/// Some of the lines along one direction: [first, last], or with a period their remainders.
struct Part {
  int period = 0;  // 0: none
  int first, last;
  enum Kind { kOnly, kLeftOut, kTwice } kind;
};

/// Of lines that are left out, says that there are only the others, where these are neighbours.
void turn_around(int begin, int end, Part* part) {
  if (part->first == begin) {
    *part = {part->period, part->last + 1, end, Part::kOnly};
  } else if (part->last == end) {
    *part = {part->period, begin, part->first - 1, Part::kOnly};
  }
}

/// Whether each sweep's sum is that of the lines alone, of all others, or of all and these once
/// more.
bool is_part(const Look& look, const std::vector<double>& lines, Part::Kind kind) {
  for (std::size_t k = 0; k < look.sweeps.size(); ++k) {
    const double total = look.sweeps[k].total;
    const double expected = kind == Part::kOnly      ? lines[k]
                            : kind == Part::kLeftOut ? total - lines[k]
                                                     : total + lines[k];
    const double bound = 2 * look.tolerance() * expected + 1e-13 * total;
    if (!(expected > 0) || !(lines[k] > 0) ||
        std::fabs(look.sweeps[k].found_sum(look.n) - expected) > bound) {
      return false;
    }
  }
  return true;
}

/// Looks for lines of which the sum consists, which it lacks, or which it holds twice. `sums` are
/// each sweep's sums along the lines (of a period: of the lines with that remainder).
bool find_part(const Look& look, const std::vector<std::vector<double>>& sums, int begin, int end,
               Part* part) {
  const std::size_t count = look.sweeps.size();
  for (int first = begin; first <= end; ++first) {
    std::vector<double> sum(count, 0.0);
    for (int last = first; last <= end; ++last) {
      for (std::size_t k = 0; k < count; ++k) sum[k] += sums[k][last];
      if (first == begin && last == end) continue;  // all of it
      for (Part::Kind kind : {Part::kOnly, Part::kLeftOut, Part::kTwice}) {
        if (!is_part(look, sum, kind)) continue;
        *part = {part->period, first, last, kind};
        // The fewer are named: "only the last row is there", not "97 rows are left out".
        if (kind == Part::kLeftOut && 2 * (last - first + 1) > end - begin + 1) {
          turn_around(begin, end, part);
        }
        return true;
      }
    }
  }
  return false;
}

std::vector<double> fold(const std::vector<double>& lines, int period) {
  std::vector<double> result(period, 0.0);
  for (std::size_t k = 0; k < lines.size(); ++k) result[k % period] += lines[k];
  return result;
}

/// The rank whose rows alone, all of them, are in the sum; -1: there is none.
int rank_of(const Look& look, const Part& part, char letter) {
  if (part.kind != Part::kOnly || part.period != 0 || letter != 'j') return -1;
  for (int r = 0; look.ranks > 1 && r < look.ranks; ++r) {
    const auto border = [&](int rank) {
      return static_cast<int>(static_cast<long long>(look.n) * rank / look.ranks);
    };
    if (part.first == std::max(1, border(r)) &&
        part.last == std::min(look.n - 1, border(r + 1)) - 1) {
      return r;
    }
  }
  return -1;
}

std::string lines_words(const Part& part, char letter) {
  const char* many = letter == 'i' ? "columns" : "rows";
  if (part.period == 0) {
    if (part.first == part.last) {
      return format("the %s %c = %d", letter == 'i' ? "column" : "row", letter, part.first);
    }
    return format("the %s %c = %d..%d", many, letter, part.first, part.last);
  }
  if (part.first == part.last) {
    return format("the %s with %c %% %d == %d", many, letter, part.period, part.first);
  }
  return format("the %s with %c %% %d from %d to %d", many, letter, part.period, part.first,
                part.last);
}

/// What keeps all threads but some from adding.
std::string who_adds(const Look& look) {
  return "the `if` around what adds to the sum in " + look.words.sweep() + ": " +
         (look.words.has_block_sum() || look.words.has_shuffles()
              ? "it chooses one thread of each block (or warp), by threadIdx alone, and no block"
              : "each thread with an interior point adds its change, or brings it to a sum of its "
                "block");
}

Diagnosis describe_part(const Look& look, const Part& part, char letter) {
  Diagnosis diagnosis;
  const std::string lines = lines_words(part, letter);
  const bool one = part.period == 0 && part.first == part.last;
  const std::string be = one ? " is" : " are";
  diagnosis.cause = part.kind == Part::kLeftOut ? lines + be + " left out of the sum"
                    : part.kind == Part::kTwice ? lines + be + " in the sum twice"
                                                : "only " + lines + be + " in the sum";
  if (const int rank = rank_of(look, part, letter); rank >= 0) {
    diagnosis.cause += format(", those of rank %d; the field is right everywhere", rank);
    diagnosis.look_at = {sum_over_ranks(look)};
    return diagnosis;
  }
  diagnosis.cause += "; the field is right everywhere";
  if (part.kind == Part::kTwice) {
    diagnosis.look_at = {"which points the threads (or loops) of " + look.words.sweep() +
                         " have: some are computed twice, by two threads or by one"};
    if (look.words.has_block_sum() && part.period > 0) {
      diagnosis.look_at.push_back(
          "which threads add the block's sum: the first alone (threadIdx.x == 0 && threadIdx.y == "
          "0); others hold parts of it");
    }
    return diagnosis;
  }
  if (!look.words.sweep_on_gpu()) {
    diagnosis.look_at = {
        "where the sum is set to 0 in jacobi_sweep (once, before both loops), and "
        "where it is added to"};
  } else if (look.words.has_strips() && letter == 'i' && part.period == 4) {
    diagnosis.look_at = {"what a lane adds to its own sum: the changes of all four of its points"};
  } else if ((part.period > 0 || look.words.has_strips()) && letter == 'i') {
    diagnosis.look_at = {
        std::string("how the lanes of a warp (threadIdx.x) bring in their part: ") +
        (look.words.has_shuffles()
             ? "a shuffle's offsets are 16, 8, 4, 2, 1"
             : "a sum over threads that halves its distance goes on down to 1")};
  } else if (part.period > 0) {
    diagnosis.look_at = {
        std::string("how the warps of a block (threadIdx.y) bring in their part") +
        (look.words.has_block_sum() || look.words.has_shuffles()
             ? ""
             : " (a sum over threads that halves its distance begins with half of the block's)") +
        ", and a thread all of its points: its own sum is 0 before the first of them"};
  } else {
    if (look.words.has_stored_parts()) {
      diagnosis.look_at = {kStoredParts};
    } else {
      diagnosis.look_at = {who_adds(look) +
                           (look.words.has_block_sum() || look.words.has_shuffles()
                                ? "; also those without a point must reach the reduction"
                                : "")};
    }
  }
  return diagnosis;
}

Diagnosis ask_for_lines(const Look& look) {
  const int n = look.n;
  std::vector<int> periods = {0, 2, 4, 8, 16, 32, 64, 128, 256};
  for (int period = 3; period < 40; ++period) {
    if ((period & (period - 1)) != 0) periods.push_back(period);
  }
  for (int period : periods) {
    if (2 * period > n) continue;
    for (char letter : {'j', 'i'}) {
      std::vector<std::vector<double>> sums;
      for (const Sweep& sweep : look.sweeps) {
        const std::vector<double>& lines = letter == 'i' ? sweep.columns : sweep.rows;
        sums.push_back(period == 0 ? lines : fold(lines, period));
      }
      Part part;
      part.period = period;
      const int begin = period == 0 ? 1 : 0, end = period == 0 ? n - 2 : period - 1;
      if (find_part(look, sums, begin, end, &part)) return describe_part(look, part, letter);
    }
  }
  return {};
}

/// Threads that add their own sum so far for each of their points, and not once at the end: the
/// first of a thread's points counts as often as it has points.
Diagnosis ask_for_running_sums(const Look& look) {
  const int n = look.n;
  for (const char letter : {'i', 'j'}) {
    for (const int block : {n, 32, 16, 8, 4, 64, 128}) {
      for (const int stride : {1, 4, 8, 2, 16}) {
        if (stride >= block) continue;
        // Of each line: how many points its thread still has, this one included.
        std::vector<int> left(n, 0);
        for (int k = n - 2; k >= 1; --k) {
          const int next = k + stride;
          left[k] = 1 + (next < n - 1 && next / block == k / block ? left[next] : 0);
        }
        const auto of_last = [&](const Sweep& s) {
          double sum = 0;
          for (int k = 1; k < n - 1; ++k) {
            if (left[k] == 1) sum += letter == 'i' ? s.columns[k] : s.rows[k];
          }
          return sum;
        };
        if (look.sum_explained(of_last)) {
          return {"of each thread's points only the last one is in the sum",
                  {"what a thread does with each change in " + look.words.sweep() +
                   ": += to a sum of its own, which is 0 before the first of its points"}};
        }
        if (!look.sum_explained([&](const Sweep& s) {
              double sum = 0;
              for (int k = 1; k < n - 1; ++k) {
                sum += left[k] * (letter == 'i' ? s.columns[k] : s.rows[k]);
              }
              return sum;
            })) {
          continue;
        }
        return {
            "what a thread has summed up so far is added for each of its points, so the first "
            "ones count several times",
            {"where a thread's own sum is added to the sum of all in " + look.words.sweep() +
             ": once, behind the loop over its points"}};
      }
    }
  }
  return {};
}

/// Some lanes of each warp have their own part several times: they ask a lane that is not there, or
/// beyond the shuffle's width, and get their own value.
Diagnosis ask_for_some_lanes(const Look& look) {
  constexpr int kWarpSize = 32;
  if (!look.words.has_shuffles()) return {};
  struct Lanes {
    int first, last;
  };
  for (const Lanes lanes : {Lanes{0, 0}, {31, 31}, {0, 1}, {0, 3}, {0, 7}, {0, 15}}) {
    for (int times = 2; times <= kWarpSize; times *= 2) {
      const bool fits = look.sum_explained([&](const Sweep& s) {
        double sum = 0;
        for (int i = 0; i < look.n; ++i) {
          if (i % kWarpSize >= lanes.first && i % kWarpSize <= lanes.last) sum += s.columns[i];
        }
        return times * sum;
      });
      if (!fits) continue;
      const std::string which =
          lanes.first == lanes.last
              ? format("lane %d of each warp is in the sum (the columns with i %% %d == %d)",
                       lanes.first, kWarpSize, lanes.first)
              : format(
                    "lanes %d to %d of each warp are in the sum (the columns with i %% %d up to "
                    "%d)",
                    lanes.first, lanes.last, kWarpSize, lanes.last);
      return {
          "only " + which +
              format(", %d times: a shuffle that asks a lane that is not there, or one beyond "
                     "its width, gives a lane its own value",
                     times),
          {"the shuffles: __shfl_down_sync brings the sum to lane 0, __shfl_up_sync to lane 31; "
           "their width (32, if none is given), their offsets (16, 8, 4, 2, 1); and which lane "
           "adds it"}};
    }
  }
  return {};
}

/// One thread of each block adds what it has itself, and no more.
Diagnosis ask_for_one_thread(const Look& look) {
  const int n = look.n;
  for (int block_x : {8, 16, 32, 64, 128, 256}) {
    for (int block_y : {1, 2, 4, 8, 16, 32}) {
      const bool fits = look.sum_explained([&](const Sweep& s) {
        double sum = 0;
        for (int j = 0; j < n; j += block_y) {
          for (int i = 0; i < n; i += block_x) {
            const double change = s.changes[static_cast<std::size_t>(j) * n + i];
            sum += change * change;
          }
        }
        return sum;
      });
      if (!fits) continue;
      return {format("only the points with i %% %d == 0 and j %% %d == 0 are in the sum, those of "
                     "the first thread of each block",
                     block_x, block_y),
              {"what the first thread adds: the sum of the block, not its own"}};
    }
  }
  return {};
}

/// Whether each sweep's sum is the squared change of a single point.
Diagnosis ask_for_one_point(const Look& look) {
  const int n = look.n;
  if (look.sweeps.size() < 2) return {};
  for (int j = 1; j < n - 1; ++j) {
    for (int i = 1; i < n - 1; ++i) {
      const bool fits = look.sum_explained([&](const Sweep& s) {
        const double change = s.changes[static_cast<std::size_t>(j) * n + i];
        return change * change;
      });
      if (!fits) continue;
      if (look.again && !look.again()) {
        return {format("only one point's change is in the sum, that of point (%d, %d); in another "
                       "run it is another's: what the last thread writes stays",
                       i, j),
                {"what each thread does with its change: atomicAdd to the sum, not sum = ..."}};
      }
      return {format("only the change of point (%d, %d) is in the sum: a single thread of the "
                     "whole grid adds",
                     i, j),
              {who_adds(look)}};
    }
  }
  return {};
}

/// Whether each sweep's sum is that of one block.
Diagnosis ask_for_one_block(const Look& look) {
  const int n = look.n;
  for (int block_x : {32, 16, 8, 64, 128, 256}) {
    for (int block_y : {32, 16, 8, 4, 1}) {
      std::string which;
      std::size_t fits = 0;
      bool largest = true;  // it is the one with the largest sum, in each sweep
      for (const Sweep& sweep : look.sweeps) {
        const double found = sweep.found_sum(n);
        bool fit = false;
        double most = 0;
        for (int y = 0; y < n; y += block_y) {
          for (int x = 0; x < n; x += block_x) {
            double sum = 0;
            for (int j = y; j < std::min(n, y + block_y); ++j) {
              for (int i = x; i < std::min(n, x + block_x); ++i) {
                const double change = sweep.changes[static_cast<std::size_t>(j) * n + i];
                sum += change * change;
              }
            }
            most = std::max(most, sum);
            if (fit || !(sum > 0) || std::fabs(sum - found) > 2 * look.tolerance() * sum) continue;
            fit = true;
            which = format("(%d, %d)", x / block_x, y / block_y);
          }
        }
        fits += fit;
        largest &= std::fabs(most - found) <= 2 * look.tolerance() * most;
      }
      if (fits < look.sweeps.size() || fits < 2) continue;
      const bool stored = look.words.has_stored_parts();
      std::string only = format("only one block of %d x %d points, block %s, is in the sum",
                                block_x, block_y, which.c_str());
      if (stored && which == "(0, 0)") return {only, {kStoredParts}};
      if (largest && fits > 3) {
        return {only + ", the one with the most: a maximum is taken, and no sum",
                {"what becomes of the blocks' sums: they are added up, by atomicAdd or "
                 "cub::DeviceReduce::Sum"}};
      }
      if (!look.again || look.again()) {
        return {only + ", in another order of the threads as well: no other block adds to it",
                {who_adds(look)}};
      }
      return {only + ": the last to write wins",
              {"what the first thread of a block does with the block's sum: atomicAdd(sum, "
               "block_sum), not sum = ..."}};
    }
  }
  return {};
}

/// Whether only the first blocks are in the sum, row after row of them.
Diagnosis ask_for_first_blocks(const Look& look) {
  const int n = look.n;
  if (look.sweeps.size() < 2) return {};
  for (const auto& [block_x, block_y] : {std::pair{32, 32},
                                         {16, 16},
                                         {32, 8},
                                         {32, 4},
                                         {64, 4},
                                         {128, 1},
                                         {256, 1},
                                         {8, 8},
                                         {32, 16},
                                         {64, 16}}) {
    const int across = (n + block_x - 1) / block_x, up = (n + block_y - 1) / block_y;
    std::vector<std::vector<double>> sums;  // of each sweep, up to each block
    for (const Sweep& sweep : look.sweeps) {
      std::vector<double> blocks(static_cast<std::size_t>(across) * up, 0.0);
      for (int j = 1; j < n - 1; ++j) {
        for (int i = 1; i < n - 1; ++i) {
          const double change = sweep.changes[static_cast<std::size_t>(j) * n + i];
          blocks[static_cast<std::size_t>(j / block_y) * across + i / block_x] += change * change;
        }
      }
      std::partial_sum(blocks.begin(), blocks.end(), blocks.begin());
      sums.push_back(std::move(blocks));
    }
    const int all = across * up;
    for (int count = 1; count < all; ++count) {
      bool fits = true;
      for (std::size_t k = 0; fits && k < sums.size(); ++k) {
        const double sum = sums[k][count - 1];
        fits = sum > 0 && sum < look.sweeps[k].total * (1 - 1e-7) &&
               std::fabs(look.sweeps[k].found_sum(n) - sum) <= 2 * look.tolerance() * sum;
      }
      if (!fits) continue;
      return {
          format("only the first %d of %d blocks (%d x %d points each) are in the sum", count, all,
                 block_x, block_y),
          {format("the loop (or the threads) that add up what blocks have stored: all of them, "
                  "gridDim.x * gridDim.y, %s",
                  (count & (count - 1)) == 0 ? "also where there are more than a block has threads"
                                             : "from the first to the last, and no other entry")}};
    }
  }
  return {};
}

/// The sums of the points of threads that have the same place in their block, [y][x].
std::vector<double> by_thread(const Sweep& sweep, int n, int threads_x, int threads_y) {
  std::vector<double> sums(static_cast<std::size_t>(threads_x) * threads_y, 0.0);
  for (int j = 1; j < n - 1; ++j) {
    for (int i = 1; i < n - 1; ++i) {
      const double change = sweep.changes[static_cast<std::size_t>(j) * n + i];
      sums[static_cast<std::size_t>(j % threads_y) * threads_x + i % threads_x] += change * change;
    }
  }
  return sums;
}

/// Whether one thread of each block is missing in the sum; or all lanes of each warp add what a
/// shuffle has left with them.
Diagnosis ask_for_threads(const Look& look) {
  constexpr int kWarpSize = 32;
  for (const auto& threads : {std::pair{32, 4},
                              {32, 8},
                              {32, 32},
                              {16, 16},
                              {32, 1},
                              {64, 4},
                              {128, 1},
                              {256, 1},
                              {8, 8},
                              {32, 16},
                              {32, 2}}) {
    const int x = threads.first, y = threads.second;  // of a block
    std::vector<std::vector<double>> sums;
    for (const Sweep& sweep : look.sweeps) sums.push_back(by_thread(sweep, look.n, x, y));
    const auto fits = [&](auto predict) {
      for (std::size_t k = 0; k < sums.size(); ++k) {
        const double predicted = predict(sums[k], look.sweeps[k]);
        const double bound = 2 * look.tolerance() * predicted + 1e-13 * look.sweeps[k].total;
        if (!(predicted > 0) || std::fabs(look.sweeps[k].found_sum(look.n) - predicted) > bound) {
          return false;
        }
      }
      return sums.size() > 1;
    };
    for (std::size_t k = 0; k < sums[0].size(); ++k) {
      if (sums[0][k] <= 1e-9 * look.sweeps[0].total ||
          !fits([k](const auto& of, const Sweep& s) { return s.total - of[k]; })) {
        continue;
      }
      return {format("the points of one thread of each block are left out of the sum: of thread "
                     "(%d, %d) of %d x %d",
                     static_cast<int>(k) % x, static_cast<int>(k) / x, x, y),
              {"where the threads' sums are added up: of all of the block's threads, the first and "
               "the last one, too"}};
    }
    if (x != kWarpSize) continue;
    // What each lane has after shuffles downwards by 16, 8, 4, 2 and 1, in terms of what all had.
    std::vector<std::vector<int>> has(kWarpSize, std::vector<int>(kWarpSize, 0));
    for (int lane = 0; lane < kWarpSize; ++lane) has[lane][lane] = 1;
    for (int offset = kWarpSize / 2; offset > 0; offset /= 2) {
      const auto before = has;
      for (int lane = 0; lane < kWarpSize; ++lane) {
        const int other = lane + offset < kWarpSize ? lane + offset : lane;
        for (int k = 0; k < kWarpSize; ++k) has[lane][k] += before[other][k];
      }
    }
    for (const bool first_row : {false, true}) {
      const auto of_all = [&](const std::vector<double>& of, const Sweep&) {
        double sum = 0;
        for (int row = 0; row < (first_row ? 1 : y); ++row) {
          for (int lane = 0; lane < kWarpSize; ++lane) {
            for (int k = 0; k < kWarpSize; ++k) {
              sum += has[lane][k] * of[static_cast<std::size_t>(row) * x + k];
            }
          }
        }
        return sum;
      };
      if (!fits(of_all)) continue;
      return {std::string("all 32 lanes of ") + (first_row ? "a block's first warp" : "each warp") +
                  " add what the shuffles have left with them, and only lane 0 has the warp's sum",
              {"the `if` around what adds: threadIdx.x == 0, of each warp"}};
    }
  }
  return {};
}

/// Whether the largest of each block's threads is in the sum, and not what all of them have.
Diagnosis ask_for_largest_threads(const Look& look) {
  const int n = look.n;
  for (const auto& [block_y, threads_y] :
       {std::pair{32, 4}, {32, 32}, {8, 8}, {32, 8}, {16, 16}, {4, 4}}) {
    const int block_x = block_y == 16 ? 16 : 32;
    const auto largest = [&, by = block_y, ty = threads_y](const Sweep& s) {
      double sum = 0;
      for (int y = 0; y < n; y += by) {
        for (int x = 0; x < n; x += block_x) {
          std::vector<double> threads(static_cast<std::size_t>(block_x) * ty, 0.0);
          for (int j = y; j < std::min(n, y + by); ++j) {
            for (int i = x; i < std::min(n, x + block_x); ++i) {
              const double change = s.changes[static_cast<std::size_t>(j) * n + i];
              threads[static_cast<std::size_t>((j - y) % ty) * block_x + i - x] += change * change;
            }
          }
          sum += *std::max_element(threads.begin(), threads.end());
        }
      }
      return sum;
    };
    if (!look.sum_explained(largest)) continue;
    return {
        "of each block only the largest of its threads' sums is in the sum: a maximum is taken "
        "where they are to be added",
        {"how the threads' sums of a block become one in " + look.words.sweep() +
         ": by additions"}};
  }
  return {};
}

/// The blocks that are not full, at the end of each row and column of blocks.
Diagnosis ask_for_whole_blocks(const Look& look) {
  const int n = look.n;
  for (int block : {32, 16, 64, 8, 128}) {
    const int end = n - n % block;
    if (end == 0 || end == n) continue;
    const bool fits = look.sum_explained([&](const Sweep& s) {
      double sum = 0;
      for (int j = 0; j < end; ++j) {
        for (int i = 0; i < end; ++i) {
          const double change = s.changes[static_cast<std::size_t>(j) * n + i];
          sum += change * change;
        }
      }
      return sum;
    });
    if (!fits) continue;
    return {format("the blocks at the end that are not full (i or j from %d on) are left out of "
                   "the sum, though the field is right there",
                   end),
            {"whether threads without a point still bring 0 to the reduction, and the first thread "
             "of such a block still adds its sum"}};
  }
  return {};
}

// ---- Precision, races, and what else can be said

Diagnosis ask_for_integer(const Look& look) {
  std::size_t whole = 0;
  for (const Sweep& sweep : look.sweeps) {
    const double sum = sweep.found_sum(look.n);
    whole += sum >= 1;
    if (sum == 0) continue;  // nothing is left of what is below 1
    if (!(sum >= 1) || std::fabs(sum - std::round(sum)) > 1e-9) return {};
    if (std::fabs(sum - sweep.total) > 2 * static_cast<double>(look.n) * look.n) return {};
  }
  if (whole < 2) return {};
  return {
      "the sum of the squared changes is a whole number in every iteration: somewhere on its way "
      "it is an integer",
      {"the types of the sum, from " + look.words.sweep() + " to main: double"}};
}

Diagnosis ask_for_float(const Look& look) {
  if (!look.is_float || look.sweeps.size() < 2) return {};
  double error = 0;
  bool serial[2] = {true, true};
  for (const Sweep& sweep : look.sweeps) {
    error = std::max(error, std::fabs(sweep.found / sweep.right - 1));
    for (int order = 0; order < 2; ++order) {
      float sum = 0;
      for (int a = 1; a < look.n - 1; ++a) {
        for (int b = 1; b < look.n - 1; ++b) {
          const int i = order ? a : b, j = order ? b : a;
          const float change = sweep.changes[static_cast<std::size_t>(j) * look.n + i];
          sum += change * change;
        }
      }
      serial[order] &= std::fabs(sweep.found_sum(look.n) - sum) <= 2e-7 * sum;
    }
  }
  if (!(error < 1e-2)) return {};
  const std::string how = serial[0] || serial[1] ? "one float adds up all squares one after another"
                                                 : "the sum is a float, and many numbers are added "
                                                   "to it one after another";
  return {
      how + format(": it has 24 bits, and loses what is small beside it (off by %.1g here; more "
                   "on a larger grid)",
                   error),
      {"the type of the sum, all the way from " + look.words.sweep() + " to main: double"}};
}

/// Whether the numbers have nothing to do with the right ones: far too large or too small, and each
/// by another factor.
bool is_wild(const Look& look) {
  constexpr double kFar = 1e6;
  double least = INFINITY, most = 0;
  bool far = false;
  for (const Sweep& sweep : look.sweeps) {
    if (!(sweep.found > 0) || !(sweep.right > 0)) continue;
    const double factor = sweep.found / sweep.right;
    far |= factor > kFar || factor < 1 / kFar;
    least = std::min(least, factor);
    most = std::max(most, factor);
  }
  return far && most > kFar * least && std::isfinite(most);
}

/// Numbers so small that they are no sum of changes: some bytes of one, or what stood in memory.
Diagnosis ask_about_bytes(const Look& look) {
  constexpr double kNoSum = 1e-60;
  const bool tiny = std::all_of(look.sweeps.begin(), look.sweeps.end(),
                                [&](const Sweep& s) { return s.found < kNoSum * s.right; });
  const bool any = std::any_of(look.sweeps.begin(), look.sweeps.end(),
                               [](const Sweep& s) { return s.found > 0; });
  if (!any || (!tiny && !is_wild(look))) return {};
  if (Diagnosis half = ask_about_half_a_sum(look); half.known()) return half;
  return {
      format("the field is right, and the residual is a number like %.2g: no sum of changes, but "
             "some bytes of one, or what stood in memory before",
             look.sweeps[0].found),
      {"how the sum reaches the host: cudaMemcpy(&host_sum, sum, sizeof(double), "
       "cudaMemcpyDeviceToHost), the destination first, and all 8 bytes of a double",
       "whether all that add to the sum, and all that read it, take it for a double"}};
}

/// Threads that add to one sum in global memory, and not by an atomic.
Diagnosis ask_about_lost_additions(const Look& look) {
  const Finding& finding = look.finding;
  const std::string code = code_at(look.source, finding.line);
  const std::size_t adds = code.find("+=");
  if (finding.kind != Finding::kRace || finding.shared || finding.other_line != finding.line) {
    return {};
  }
  // Places of an array that blocks (or threads) are to have for themselves.
  if (finding.both_write && adds == std::string::npos && code.find("]=") != std::string::npos) {
    return {format("the field is right; the residual is not: at line %d several threads write the "
                   "same place, and what the last of them writes stays",
                   finding.line),
            {format("the index at line %d: a place for each block (blockIdx.y * gridDim.x + "
                    "blockIdx.x), or for each thread; or atomicAdd to one",
                    finding.line)}};
  }
  if (adds == std::string::npos || code.rfind('[', adds) != std::string::npos) return {};
  Diagnosis lost = diagnose_global_race(finding, look.source);
  if (lost.known()) lost.cause = "the field is right; the residual is not: " + lost.cause;
  return lost;
}

/// Whether another run says another residual: by more than the order of a sum in double changes.
Diagnosis ask_about_race(const Look& look, Interview* interview, int iterations) {
  Case run = interview->run();
  run.iterations = iterations;
  Observation other;
  if (!interview->patient().run_again(run, &other)) return {};
  bool differ = false;
  for (std::size_t k = 0; k < look.sweeps.size() && k < other.residuals.size(); ++k) {
    const double one = look.sweeps[k].found;
    differ |=
        std::fabs(other.residuals[k].value - one) > (look.is_float ? 1e-4 : 1e-9) * std::fabs(one);
  }
  if (!differ) return {};
  const std::string differ_words =
      "the field is right, but two runs of it give different residuals";
  const std::string unset =
      "whether a thread's own sum begins with 0, and every variable that a sum is made of";
  const std::string shared =
      "each addition to a sum that several threads share: atomicAdd; each barrier around a sum in "
      "shared memory; and whether no thread sets to 0 what others add to";
  const Patient& patient = interview->patient();
  if (const Diagnosis streams = ask_about_streams(patient.source); streams.known()) return streams;
  if (const Diagnosis lines = diagnose_global_race(patient.finding, patient.source);
      lines.known()) {
    return {differ_words + ": " + lines.cause, lines.look_at};
  }
  if (patient.finding.kind == Finding::kRace) {
    return {differ_words +
                ": a race. Threads add to the same sum at the same time, and some of it is lost",
            {shared}};
  }
  Diagnosis guess{differ_words + ": a race, or a variable that nobody set", {shared, unset}};
  if (patient.watched) {
    guess = {
        differ_words +
            ": a variable that nobody set, most likely, as a look at every access finds no race",
        {unset, shared}};
  }
  guess.symptom = true;
  return guess;
}

/// Whether the first ones are right, and what comes later is not.
Diagnosis ask_about_the_last(const Look& look) {
  constexpr double kWrong = 1e-6;  // from there on a residual is called wrong
  std::size_t right = 0;
  while (right < look.sweeps.size() &&
         std::fabs(look.sweeps[right].found / look.sweeps[right].right - 1) <= kWrong)
    ++right;
  if (right == 0) return {};
  const std::string rest = right == look.sweeps.size()
                               ? std::string("a later one is not")
                               : format("that of iteration %zu is not", right + 1);
  Diagnosis diagnosis;
  diagnosis.symptom = true;
  diagnosis.cause =
      format("the field is right, and so %s the first %s; %s", right == 1 ? "is" : "are",
             right == 1 ? "residual" : format("%zu residuals", right).c_str(), rest.c_str());
  const bool nothing_later =
      right < look.sweeps.size() &&
      std::all_of(look.sweeps.begin() + static_cast<std::ptrdiff_t>(right), look.sweeps.end(),
                  [](const Sweep& s) { return s.found == 0; });
  if (nothing_later) {
    diagnosis.cause += format(": from iteration %zu on they are 0", right + 1);
    diagnosis.look_at.push_back(
        "what the first sweep leaves behind that the next one needs as it was: a counter of blocks "
        "that are done is set back to 0, say, by the last of them");
  } else if (look.words.reads_sum_late()) {
    diagnosis.look_at.push_back(
        "whether the host waits for the copy of a sum before it reads it, for each sum, that of "
        "the last check, too: an event that was recorded behind the copy; and whether each pass "
        "under way has a place of its own for it on the host");
  }
  if (diagnosis.look_at.empty()) {
    diagnosis.look_at.push_back(
        "what a sum holds before the points of a sweep are added to it, each time");
  }
  return diagnosis;
}

Diagnosis say_too_little_or_too_much(const Look& look) {
  const double part = look.sweeps[0].found_sum(look.n) / look.sweeps[0].total;
  if (!std::isfinite(part)) return {};
  const std::string where =
      (look.ranks > 1 ? sum_over_ranks(look) + "; and " : "") + "the sum in " + look.words.sweep() +
      ": each point's change * change once" +
      (look.words.has_block_sum()  ? ", each block's sum added by the first of its "
                                     "threads, which alone has it"
       : look.words.has_shuffles() ? ", each warp's sum added by one lane"
                                   : "");
  if (part < 1) {
    Diagnosis diagnosis{
        format("the field is right, and the sum of the squared changes too small (%.3g of it in "
               "iteration 1). Either some points do not get into it, or something else is added "
               "up, or what follows is another formula",
               part),
        {where + (look.words.has_streams()
                      ? "; and whether all launches of a pass add to it, the ends' and the rest's"
                      : "")}};
    if (look.words.has_stored_parts()) diagnosis.look_at.push_back(kStoredParts);
    diagnosis.symptom = true;
    return diagnosis;
  }
  const std::string own_rows =
      look.ranks > 1 ? "; of a rank its own rows, and none of its halo, which are a neighbour's"
                     : "";
  Diagnosis diagnosis{
      format("the field is right, and the sum of the squared changes too large (%.4g times what "
             "it should be in iteration 1). Either some are added more than once, or something "
             "else is added up, or what follows is another formula",
             part),
      {where}};
  if (look.words.has_strips()) {
    diagnosis.look_at.push_back(
        "the points that are in the sum: those alone that the warp stores, and none of the rows' "
        "padding" +
        own_rows);
  }
  diagnosis.symptom = true;
  return diagnosis;
}

}  // namespace

Diagnosis diagnose_residual(const Wrong& wrong, Interview* interview) {
  const Observation* seen = interview->after(wrong.run.iterations);
  if (!seen) return {};
  const Patient& patient = interview->patient();
  Look look{Words(patient),
            wrong.run.n,
            {},
            true,
            wrong.run.ranks,
            interview->run().halos,
            patient.finding,
            patient.watched,
            patient.source};
  const lab::Problem problem(wrong.run.problem, look.n, 1);
  Sweeps right(look.n, field_of(problem.initial_old(), look.n));
  // What the new field holds before sweep k: a copy makes both fields the same, a swap does not.
  const Field start_new = field_of(problem.initial_new(), look.n);
  auto held_before = [&](int k) -> const Field& {
    if (k == 1) return start_new;
    return right.after(look.words.swaps() ? k - 2 : k - 1);
  };
  for (const Record::Residual& residual : seen->residuals) {
    const int k = residual.iteration;
    // Iteration after iteration, as every step says them that has no --check-every.
    if (k != static_cast<int>(look.sweeps.size()) + 1 || k > kIterationsLookedAt) break;
    look.sweeps.push_back(make_sweep(right.after(k - 1), right.after(k), held_before(k), look.n,
                                     residual.value, right.residual(k)));
    look.is_float &= looks_like_float(look.sweeps.back(), look.n);
  }
  if (look.sweeps.empty()) return {};
  look.again = [&look, interview, seen] {
    return !ask_about_race(look, interview, seen->iterations).known();
  };
  using Question = Diagnosis (*)(const Look&);
  for (Question question :
       {ask_about_host_address, ask_about_plain_write,   ask_about_bytes,
        ask_whether_numbers,    ask_about_nothing,       ask_whether_they_change,
        ask_for_formula,        ask_for_other_field,     ask_for_other_point,
        ask_whether_running,    ask_about_ranks,         ask_for_factor,
        ask_about_shared_sum,   ask_for_some_lanes,      ask_for_lines,
        ask_for_running_sums,   ask_for_one_thread,      ask_for_one_point,
        ask_for_one_block,      ask_for_whole_blocks,    ask_for_first_blocks,
        ask_for_threads,        ask_for_largest_threads, ask_for_integer,
        ask_for_float}) {
    Diagnosis diagnosis = question(look);
    if (!diagnosis.known()) continue;
    // Parts that others have overwritten: which ones is a matter of who comes last.
    if ((question == ask_for_lines || question == ask_for_some_lanes) &&
        ask_about_race(look, interview, seen->iterations).known()) {
      if (const Diagnosis lost = ask_about_lost_additions(look); lost.known()) return lost;
      diagnosis.cause += ". Another run has other parts: a race";
      if (look.words.has_streams() && look.finding.kind != Finding::kRace) {
        diagnosis.look_at = {
            "the stream in which the parts of the sum are added up, over the ranks, too: what it "
            "waits for (cudaStreamWaitEvent) before it reads what another stream has added"};
        return diagnosis;
      }
      diagnosis.look_at = {
          "each place that several threads add to, in shared memory too: atomicAdd, or a place for "
          "each thread; and whether one is set to 0 while others add to it already"};
    }
    return diagnosis;
  }
  if (patient.finding.kind == Finding::kRace && patient.finding.both_write &&
      !patient.finding.shared) {
    Diagnosis twice = diagnose_finding(patient.finding, look.n, patient);
    if (twice.known() && look.sweeps[0].found > look.sweeps[0].right) return twice;
  }
  const Diagnosis lost = ask_about_lost_additions(look);
  if (lost.known()) return lost;
  Diagnosis race = ask_about_race(look, interview, seen->iterations);
  if (race.known()) return race;
  look.single = true;
  Diagnosis formula = ask_for_formula(look);
  if (formula.known()) {
    formula.cause += ". Besides, parts of the sum are added up in float: right is double";
    return formula;
  }
  const Diagnosis late = ask_about_the_last(look);
  return late.known() ? late : say_too_little_or_too_much(look);
}

Diagnosis diagnose_sum_of_pass(const Wrong& wrong, Interview* interview) {
  if (wrong.run.n > kMaxDiagnosedN) return {};
  const Observation* seen = interview->after(wrong.run.iterations);
  if (!seen) return {};
  const int n = wrong.run.n;
  auto any = [seen](auto is) {
    return std::any_of(seen->residuals.begin(), seen->residuals.end(),
                       [is](const auto& r) { return is(r.value); });
  };
  // What nothing has written is not a number on the CPU, and 0 on most GPUs.
  const bool no_number = any([](double value) { return std::isnan(value); });
  const Words words(interview->patient());
  if (words.reads_sum_late() && (no_number || any([](double value) { return value == 0; }))) {
    return {
        format("the field is right, and the residual is %s: the host reads a place that no "
               "sum has come to",
               no_number ? "not a number" : "0"),
        {"for each pass where its sum is copied to on the host, by a graph too, and which "
         "place is read when that pass is over: the same one; and that all of it is copied, "
         "sizeof(double) bytes",
         "where the sum is set to 0, all sizeof(double) bytes of it; and whether the sweeps that "
         "are left at the end, fewer than a pass has, are made, and their changes summed"}};
  }
  const lab::Problem problem(wrong.run.problem, n, 1);
  Sweeps right(n, field_of(problem.initial_old(), n));
  struct Other {
    const char* cause;
    std::function<double(int, int)> residual;  // of a pass from one sweep to another
  };
  const Other others[] = {
      {"the changes of all sweeps of a pass are in the sum, and not the last one's alone",
       [&](int first, int last) {
         double sum = 0;
         for (int k = first; k <= last; ++k) sum += right.residual(k) * right.residual(k);
         return std::sqrt(sum);
       }},
      {"the residual of a pass is that of its first sweep, not of its last",
       [&](int first, int) { return right.residual(first); }},
      {"the residual of a pass is that of the sweep before its last",
       [&](int first, int last) { return right.residual(std::max(first, last - 1)); }},
      {"the residual of a pass is that of one sweep more than is counted",
       [&](int, int last) { return right.residual(last + 1); }},
  };
  struct Factor {
    const char* cause;
    std::function<double(double)> of;  // the sweeps from one residual to the next
  };
  const Factor factors[] = {
      {"the residual is divided by the number of sweeps since the one before",
       [](double k) { return 1 / k; }},
      {"under the root, the sum is divided by the number of sweeps since the residual before",
       [](double k) { return 1 / std::sqrt(k); }},
      {"the residual is multiplied by the number of sweeps since the one before",
       [](double k) { return k; }},
      {"under the root, the sum is multiplied by the number of sweeps since the residual before",
       [](double k) { return std::sqrt(k); }},
  };
  for (const Factor& factor : factors) {
    int before = 0;
    bool fits = !seen->residuals.empty();
    for (const Record::Residual& residual : seen->residuals) {
      const double predicted =
          factor.of(residual.iteration - before) * right.residual(residual.iteration);
      fits &= std::fabs(residual.value - predicted) <= 1e-6 * predicted;
      before = residual.iteration;
    }
    if (fits && before > 1) {
      return {std::string(factor.cause) + ". It is that of one sweep, the last one",
              {words.formula()}};
    }
  }
  const std::vector<std::string> look_at = {
      "which sweep's changes are in the sum: those of the last one before a check alone, neither "
      "of an earlier pass nor of an earlier sweep of the last pass; how many sweeps a pass makes, "
      "and the sweeps that are left at the end, fewer than a pass has"};
  for (const Other& other : others) {
    int before = 0;
    bool fits = !seen->residuals.empty();
    for (const Record::Residual& residual : seen->residuals) {
      const double predicted = other.residual(before + 1, residual.iteration);
      fits &= std::fabs(residual.value - predicted) <= 1e-6 * predicted;
      before = residual.iteration;
    }
    if (!fits) continue;
    return {other.cause, look_at};
  }
  // An earlier sweep, not the same one of each pass.
  {
    int before = 0, sweep = 0, counted = 0;
    bool fits = !seen->residuals.empty();
    for (const Record::Residual& residual : seen->residuals) {
      int made = residual.iteration - 1;
      const auto is_of = [&](int k) {
        return std::fabs(residual.value - right.residual(k)) <= 1e-6 * right.residual(k);
      };
      while (made > before && !is_of(made)) --made;
      const bool one_sweep = residual.iteration == before + 1 && is_of(residual.iteration);
      fits &= made > before || one_sweep;
      if (sweep == 0 && !one_sweep) sweep = made, counted = residual.iteration;
      before = residual.iteration;
    }
    if (fits && sweep > 0) {
      return {format("the residual after %d sweeps is that of sweep %d, and not of the last one",
                     counted, sweep),
              {"which of the passes between two checks adds its changes to the sum: the last one, "
               "in which the last sweep is"}};
    }
  }
  // Some of the sweeps between two checks: of each pass its last one, or all of the last pass.
  bool more = !seen->residuals.empty();
  int before = 0;
  for (const Record::Residual& residual : seen->residuals) {
    const double last = right.residual(residual.iteration);
    const double all = others[0].residual(before + 1, residual.iteration);
    const bool one_sweep = residual.iteration == before + 1;
    more &= one_sweep || (residual.value > last * (1 + 1e-6) && residual.value < all);
    before = residual.iteration;
  }
  if (!more) return {};
  return {
      "the residual is too large, as the changes of more sweeps than the last one before a check "
      "are in the sum",
      look_at};
}

}  // namespace validate
