#include "explain/finding.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "run/text.h"
#include "source/source_code.h"

namespace validate {
namespace {

bool holds(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

/// The name that ends before `end`.
std::string name_before(const std::string& text, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && in_name(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

/// Where a line goes on behind __launch_bounds__(...); 0: it has none.
std::size_t behind_launch_bounds(const std::string& line) {
  const std::size_t at = line.find("__launch_bounds__"), end = line.find(')', at);
  return at == std::string::npos || end == std::string::npos ? 0 : end + 1;
}

/// The first = of a line that compares nothing; npos: there is none.
std::size_t assignment_in(const std::string& line) {
  std::size_t k = line.find('=');
  while (k != std::string::npos &&
         (line[k + 1] == '=' || (k > 0 && std::strchr("=<>!", line[k - 1])))) {
    k = line.find('=', k + 1);
  }
  return k;
}

/// The array that a line reads, or writes, if there is but one: "f_old" of x = f_old[k].
std::string array_of(const std::string& line, bool writes) {
  // The place that __pipeline_memcpy_async(&ring[...], from, ...) writes is not what it reads.
  if (!writes && line.find("__pipeline_memcpy_async") != std::string::npos) return "";
  const std::size_t assigned = assignment_in(line);
  std::string found;
  for (std::size_t k = line.find('['); k != std::string::npos; k = line.find('[', k + 1)) {
    const std::string name = name_before(line, k);
    if (name.empty() || (assigned != std::string::npos && writes != (k < assigned))) continue;
    if (!found.empty() && found != name) return "";
    found = name;
  }
  return found;
}

}  // namespace

Finding read_finding(const std::string& said_by_program) {
  Finding finding;
  // Of a job: "rank 0: ...".
  std::string words = said_by_program;
  const std::size_t first = words.find(": ");
  if (words.rfind("rank ", 0) == 0 && first != std::string::npos) words.erase(0, first + 2);
  // "FILE:LINE: ..."
  const std::size_t colon = words.find(':');
  if (colon == std::string::npos || colon > words.find(' ')) return finding;
  char* end = nullptr;
  const long line = std::strtol(words.c_str() + colon + 1, &end, 10);
  if (line <= 0 || *end != ':' || end[1] != ' ') return finding;
  finding.words = words;
  finding.line = static_cast<int>(line);
  const std::string said = end + 2;
  finding.kind = Finding::kOther;
  if (said.rfind("race in ", 0) == 0) {
    finding.kind = Finding::kRace;
    const std::size_t place = said.rfind("): ");
    if (place != std::string::npos) finding.what = said.substr(place + 3, said.size() - place - 4);
    finding.both_write = holds(said, " writes what thread ") && holds(said, " wrote at ");
    finding.shared = said.rfind("race in shared memory", 0) == 0;
    finding.other_line = std::atoi(between(said, " at line ", ",").c_str());
    if (holds(said, " writes what thread ") && holds(said, " changed atomically at ")) {
      finding.plain_line = finding.line;
    } else if (holds(said, " changes atomically what thread ") && holds(said, " wrote at ")) {
      finding.plain_line = finding.other_line;
    }
  } else if (holds(said, "memory that nothing has written")) {
    finding.kind = Finding::kUnwritten;
    finding.shared = holds(said, "shared memory that nothing has written");
    finding.what = between(said, "nothing has written: ", " (");
  } else if (holds(said, "the launch was refused (")) {
    finding.kind = Finding::kRefused;
    finding.what = between(said, "refused (", ")");
  } else if (holds(said, "barrier not reached by all threads") ||
             holds(said, "waits here for the others of its mask")) {
    finding.kind = Finding::kBarrier;
    finding.what = holds(said, "barrier not reached") ? "barrier" : "shuffle";
  } else if (holds(said, " is made for a block of ")) {
    finding.kind = Finding::kShape;
    finding.what = said.substr(0, said.find(" ("));
  } else if (said.rfind("host code ", 0) == 0 && holds(said, " may not have ended: wait for it")) {
    finding.kind = Finding::kHostEarly;
    finding.what = said.rfind("host code writes", 0) == 0 ? "writes" : "reads";
    finding.allocated_at = std::atoi(between(said, " gave at line ", ",").c_str());
  } else if (holds(said, " shared memory ") && holds(said, "past the end of a variable")) {
    finding.kind = Finding::kSharedEnd;
    finding.what = said.substr(0, said.find(' '));
  } else if (said.rfind("the address of a float4", 0) == 0 ||
             holds(said, " at an address that is no multiple of ")) {
    finding.kind = Finding::kMisaligned;
  } else if (holds(said, "still runs here") || holds(said, "are still launched here")) {
    finding.kind = Finding::kEndless;
    finding.what = said.rfind("host code", 0) == 0         ? "host"
                   : said.rfind("still runs here", 0) == 0 ? "kernel"
                                                           : "launches";
    finding.other_line = std::atoi(between(said, "called at line ", ")").c_str());
  } else if (holds(said, "(freed already at ")) {
    finding.kind = Finding::kFreedTwice;
    finding.what = between(said, "(", ")");
  } else if (holds(said, "kernel launched at ") && !holds(said, "shared memory")) {
    for (const char* where : {"just behind the end of", "past the end of", "bytes before"}) {
      const std::size_t at = said.find(where);
      if (at == std::string::npos) continue;
      finding.kind = Finding::kOutOfBounds;
      finding.what = said.substr(0, at) + where;
    }
    finding.allocated_at = std::atoi(between(said, " gave at line ", " ").c_str());
    finding.has_place = std::sscanf(between(said, "threadIdx is (", ")").c_str(), "%d,%d",
                                    &finding.x, &finding.y) == 2;
  }
  return finding;
}

Scene scene_of(const Finding& finding, const std::string& source) {
  Scene scene;
  const std::vector<std::string> lines = code_lines(source);
  if (finding.line < 1 || finding.line > static_cast<int>(lines.size())) return scene;
  std::string text;    // of the function
  bool begun = false;  // its name comes on a later line
  for (int k = 0; k < finding.line; ++k) {
    const std::string& line = lines[k];
    const std::size_t begin = behind_launch_bounds(line), bracket = line.find('(', begin);
    const bool begins = begun || (!line.empty() && in_name(line[0]));
    begun = bracket == std::string::npos && (begun || begin > 0);
    const std::string name =
        begins && bracket != std::string::npos ? name_before(line, bracket) : "";
    if (!name.empty() && name.rfind("__", 0) != 0) {
      scene.function = name;
      text.clear();
    }
    text += line + "\n";
  }
  const std::string code = code_only(text);
  scene.thread_per_point = holds(code, "i=blockIdx.x*blockDim.x+threadIdx.x") &&
                           holds(code, "j=blockIdx.y*blockDim.y+threadIdx.y");
  scene.array = array_of(lines[finding.line - 1], finding.what.rfind("writes", 0) == 0);
  if (scene.array.empty()) scene.array = allocated_in(source, finding.allocated_at);
  return scene;
}

}  // namespace validate
