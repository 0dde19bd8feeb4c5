// Two runs of a program that give different fields, or different residuals.

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "explain/looks/field_look.h"
#include "explain/looks/sum_look.h"
#include "explain/mistakes/families.h"
#include "run/text.h"
#include "source/source_code.h"

namespace validate {
namespace {

/// Those of `arrays` whose elements a function writes where threadIdx tells it to: as if each thread
/// wrote a part of them.
std::set<std::string> shared_out(const Function& function, const std::vector<std::string>& lines,
                                 const std::set<std::string>& arrays) {
  static const std::regex assigned(R"((\w+)((?:\s*\[[^\]]*\])*)\s*[+]?=([^=][^;,]*))");
  std::set<std::string> of_thread{"threadIdx"}, found;  // what is computed from it
  const auto is_of_thread = [&](const std::string& words) {
    const std::set<std::string> names = names_in(words);
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return of_thread.count(name) > 0; });
  };
  for (int line = function.first_line; line <= function.last_line; ++line) {
    const std::string& text = lines[line - 1];
    for (std::sregex_iterator next(text.begin(), text.end(), assigned), end; next != end; ++next) {
      const std::string name = (*next)[1], index = (*next)[2];
      if (index.empty() && is_of_thread((*next)[3])) of_thread.insert(name);
      if (arrays.count(name) > 0 && is_of_thread(index)) found.insert(name);
    }
  }
  return found;
}

/// An array of a kernel with barriers that is declared without __shared__, though its threads, or a
/// function that is given it, share out its elements. (A few rows, [3] say, may well be the thread's
/// own.)
Answer array_of_each_thread(const Evidence& evidence) {
  static const std::regex declared(R"(^\s*(?:float|double)\s+(\w+)\s*\[(?!1?\d\]\s*;).*\]\s*;)");
  const std::vector<std::string> lines = code_lines(evidence.source);
  const std::vector<Function> functions = functions_in(evidence.source);
  for (const Function& function : functions) {
    const std::string code = code_of(function, evidence.source);
    const bool waits = says(code, "__syncthreads") || says(code, ".sync()");
    if (!function.is_kernel || !waits || says(code, "union") || says(code, "struct")) continue;
    std::map<std::string, int> arrays;  // and their lines
    for (int line = function.first_line; line <= function.last_line; ++line) {
      std::smatch match;
      if (std::regex_search(lines[line - 1], match, declared)) arrays[match[1]] = line;
    }
    for (const auto& [array, line] : arrays) {
      const auto loads = [&, name = array](const Function& other) {
        if (!says(code, other.name + "(" + name + ",")) return false;
        const std::string& head = lines[other.first_line - 1];  // float* tile, ...
        const std::size_t bracket = head.find('(');
        const std::set<std::string> first =
            names_in(head.substr(bracket + 1, head.find(',') - bracket - 1));
        return bracket != std::string::npos && !shared_out(other, lines, first).empty();
      };
      if (!shared_out(function, lines, {array}).empty() ||
          std::any_of(functions.begin(), functions.end(), loads)) {
        return Answer("array_is_not_shared").with("line", line).with("array", array);
      }
    }
  }
  return {};
}

/// Two runs give different fields: which race it is, if a look at every access, or the program's
/// text, says that; else the entry `rule`.
Answer race_of(const Evidence& evidence, const char* rule) {
  if (evidence.finding.known()) {
    const Answer found = answer_of_finding(evidence);
    if (found.known()) return found;
  }
  const Words& words = evidence.words;
  const bool shared = evidence.finding.is_race() && evidence.finding.shared();
  const std::size_t first = evidence.source.find("cudaStreamCreate");
  const bool several = evidence.source.find("cudaStreamCreate", first + 1) != std::string::npos;
  // Where a look finds no race, it is none between the threads of a kernel.
  const bool no_tile = !words.has(kTile) || evidence.patient.watched;
  const bool streams = several || (no_tile && words.has(kStreams));
  return Answer(rule)
      .with("of_streams", streams && !shared)
      .with("of_ranks", evidence.wrong.run.ranks > 1);
}

/// It was wrong, and asked once more it is right; or it is wrong in one order alone, and no step
/// before 11 has a stream of its own as this program has.
Answer right_once_more(const Evidence& evidence) {
  const bool own_stream = evidence.patient.step < 11 && says(evidence.source, "cudaStreamCreate");
  const bool of_streams = evidence.wrong.run.order && own_stream && !evidence.finding.known();
  // Of a sum, which lines they are may be known.
  if (of_streams) {
    return Answer("race")
        .with("of_streams", true)
        .as(evidence.sum() ? Strength::kShape : Strength::kForbidden);
  }
  return evidence.right_once_more ? race_of(evidence, "race") : Answer();
}

/// Rows that arrive while others are used: where they meet may look like anything. Jobs by MPI, for
/// which the host waits, come first: what is wrong only by NCCL's calls is not waited for.
Answer race_in_ring(const FieldLook& look) {
  const bool changes = look.evidence.field_changes(look.first);
  const char* halos = look.evidence.wrong.run.halos;
  const bool by_nccl = !changes && halos && std::string(halos) == "nccl" && look.has(kStreams);
  if (!by_nccl && !(changes && look.points_differ())) return {};
  if (by_nccl) {
    Case by_mpi = look.evidence.wrong.run;
    const auto one = look.evidence.after(by_mpi.iterations);
    by_mpi.halos = "mpi";
    const auto other = look.evidence.patient.ask(by_mpi);
    if (one && other && one->field == other->field) return {};  // the same mistake in both ways
  }
  return race_of(look.evidence, "race_with_a_ring_or_streams")
      .with("by_nccl", by_nccl)
      .as(by_nccl ? Strength::kHistory : Strength::kModel);
}

Answer race_in_a_pass(const FieldLook& look) {
  if (!look.evidence.field_changes(look.first)) return {};
  return race_of(look.evidence, "race_in_a_pass").with("of_pass", true);
}

/// A race in a tile is one whatever the field looks like: on the CPU threads always meet in the same
/// way.
Answer two_fields(const FieldLook& look) {
  const Finding& finding = look.evidence.finding;
  const bool in_tile = finding.shared() && !finding.both_write() && look.has(kTile);
  const bool writers = !finding.shared() && finding.both_write();
  const bool found = finding.is_race() && (in_tile || writers);
  if (!found && !look.evidence.field_changes(look.first)) return {};
  return race_of(look.evidence, "race_in_the_field").as(Strength::kShape);
}

Answer two_residuals(const SumLook& look) {
  if (const Answer lost = lost_additions(look.evidence); lost.known()) return lost;
  if (!look.another_run_differs()) return {};
  const Evidence& all = look.evidence;
  const bool raced = all.finding.is_race();
  return Answer("race_or_something_unset")
      .with("unset", all.patient.watched && !raced)
      .as(Strength::kSymptom);
}

}  // namespace

// clang-format off
const char* const kRace =
    "{?by_nccl|by MPI, for which the host waits, it is right, and by NCCL's calls it is not|{?of_pass|In a pass of "
    "several, two runs|two runs of it} give different fields}: a race{?of_streams|. Another "
    "stream, or the host, uses too early what one stream writes|{?ring|. A row is used before it has arrived, or its "
    "place is refilled before the row was used| (is a barrier missing, or misplaced?)}}";
const std::vector<std::string> kRaceLooks = {
    "{?of_streams|what each stream waits for before {?of_pass|a pass|it goes on, and what is waited for before the sum "
    "is read}: all that the other stream did and that is used now (cudaStreamWaitEvent, for an event that was recorded "
    "after it; a wait for one that nothing records ends at once){?of_ranks|; and where {exchange} puts the rows that "
    "are received: in the halo, not in rows that another stream computes; and whether what computes the rows to be "
    "sent computes as many as are sent}|{?ring|{rows_arrive}|{?tile|__syncthreads() between the loads of the tile and "
    "the first read of it, outside of every `if`{?of_pass|, and in a loop over sweeps also between the last read and "
    "the next write of it (make check with RACES=1 names both lines)}; whether the tile is __shared__, and as large as "
    "the block's points with their halo; or shared memory that no thread has written|whether a thread reads what "
    "another one may not have written yet, or has overwritten already}}}",
    "{?!of_streams|{?ring|whether all 32 lanes reach each shuffle, and whether two warps store the same "
    "points|{?tile|whether each point is written by only one thread: no two blocks have the same rows or "
    "columns|whether the host waits for each kernel (cudaDeviceSynchronize) before it goes on}}}"};

const Family kRingMistakes = {
    {"race_with_a_ring_or_streams", Strength::kModel, with_any(kRing | kStreams), of_field<race_in_ring>, kRace,
     kRaceLooks},
};

const Family kRaceMistakes = {
    {"race", Strength::kForbidden, kAnyProgram, right_once_more, kRace, kRaceLooks},
    {"race_in_a_pass", Strength::kModel, without(kGraph), of_pass<race_in_a_pass>, kRace, kRaceLooks},
    {"array_is_not_shared", Strength::kForbidden, with(kKernels), array_of_each_thread,
     "at line {line} {array} is declared without __shared__: each thread has one of its own, and what it has not "
     "stored there itself may be anything",
     {"line {line}: __shared__ in front of it"}},
    {"race_in_the_field", Strength::kShape, with(kTile), of_field<two_fields>, kRace, kRaceLooks},
    {"race_or_something_unset", Strength::kShape, kAnyProgram, of_sum<two_residuals>,
     "the field is right, but two runs of it give different residuals: {?!unset|a race, or a variable that was never "
     "set|a look at every access finds no race, so most likely {?late_sum|{?streams|a rank's parts overlap, or }two "
     "checks share a sum, or one stream sets it to 0 while another adds, or copies it too early, or a variable is not "
     "set|a variable that was never set}}",
     {"{?unset|{?late_sum|how many checks may be in flight: each of them needs a sum of its own, on the GPU and on the "
      "host; and whether the fill that sets it to 0 comes before every kernel that adds to it, in the same stream or "
      "by a wait}|{shared_additions}}",
      "{?unset|{?late_sum|{?streams|whether a rank's parts overlap, so that two streams count the same row; and "
      "whether each part waits, before its pass, for what other streams did in the pass before, by an event that was "
      "recorded after it}}}",
      "whether a thread's own sum begins with 0, and so does every variable that goes into a sum; and whether the sum "
      "of all is set to 0 before each sweep{?checks| that adds to it}, all sizeof(double) bytes of it",
      "{?unset|{shared_additions}}"}},
};
// clang-format on

}  // namespace validate
