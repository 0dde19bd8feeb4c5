#include "clinic/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>

#include <lab/clinic_input.h>
#include <lab/exit_codes.h>

#include "run/child.h"
#include "run/program_run.h"
#include "run/temporary_folder.h"
#include "run/text.h"

namespace validate {
namespace {

/// The integers in a file; empty where it does not hold exactly `count` of them.
std::vector<int> read_integers(const std::string& path, std::size_t count) {
  std::error_code error;
  const std::size_t bytes = count * sizeof(int);
  std::vector<int> values(count);
  std::ifstream file(path, std::ios::binary);
  const bool read = std::filesystem::file_size(path, error) == bytes && !error &&
                    file.read(reinterpret_cast<char*>(values.data()), bytes);
  return read ? values : std::vector<int>{};
}

/// "element 70" or, in an array with rows, "element (i, j) = (6, 1)".
std::string name_of(std::size_t k, int pitch) {
  if (pitch == 0) return format("element %zu", k);
  return format("element (i, j) = (%zu, %zu)", k % pitch, k / pitch);
}

/// How the elements of a square result were exchanged; "" if that is nothing known.
std::string exchanged(const std::vector<int>& result, const std::vector<int>& expected, int pitch) {
  constexpr std::size_t kTile = 32;
  const std::size_t n = pitch;
  if (n == 0 || result.size() != n * n) return "";
  // Whether each element holds what belongs to another place, (i, j) -> place.
  const auto moved = [&](auto place) {
    for (std::size_t k = 0; k < result.size(); ++k) {
      const std::size_t from = place(k % n, k / n);
      if (from >= expected.size() || result[k] != expected[from]) return false;
    }
    return true;
  };
  if (moved([n](std::size_t i, std::size_t j) { return i * n + j; })) {
    return "each of them is what belongs to (j, i): i and j are exchanged";
  }
  if (moved([n](std::size_t i, std::size_t j) {
        return (j / kTile * kTile + i % kTile) * n + i / kTile * kTile + j % kTile;
      })) {
    return "each tile of 32 x 32 is in its place, but in it rows and columns are exchanged";
  }
  if (moved([n](std::size_t i, std::size_t j) {
        return (i / kTile * kTile + j % kTile) * n + j / kTile * kTile + i % kTile;
      })) {
    return "each tile of 32 x 32 is right, but tile (x, y) is where (y, x) belongs";
  }
  return "";
}

/// What all wrong elements have in common; "" if that is nothing known.
std::string pattern(const std::vector<int>& result, const std::vector<int>& expected,
                    const std::vector<std::size_t>& wrong, int pitch) {
  const auto all = [&wrong](auto has) { return std::all_of(wrong.begin(), wrong.end(), has); };
  if (all([&](std::size_t k) { return expected[k] == lab::kNotWritten; })) {
    return "all of them are padding, which must not be written: look at the guard";
  }
  if (all([&](std::size_t k) { return result[k] == lab::kNotWritten; })) {
    const std::size_t count = result.size(), first = wrong.front();
    std::string where;
    if (wrong.size() == count) {
      where = ": did a kernel run at all?";
    } else if (wrong.size() == count - first) {
      where = first < count / 2 ? ", all that follow the first one: are there enough blocks, and "
                                  "does each begin where the one before it ends?"
                                : ", all that follow the first one: does the launch grid round up?";
    } else if (pitch > 0 && all([&](std::size_t k) { return k % pitch >= first % pitch; })) {
      where = ", the last columns: does the launch grid round up?";
    }
    return "none of them was written" + where;
  }
  if (all([&](std::size_t k) { return result[k] == expected[k] + lab::kNotWritten; })) {
    return format("%d is what an output holds before a kernel writes it: was it set to 0 first?",
                  lab::kNotWritten);
  }
  if (all([&](std::size_t k) { return result[k] == lab::clinic_input(k); })) {
    return "they are the input, as it is";
  }
  // Of a few elements it would be chance.
  if (wrong.size() > 8) {
    if (all([&](std::size_t k) { return k % 2 == 0; })) return "all of them have an even index";
    if (all([&](std::size_t k) { return k % 2 == 1; })) return "all of them have an odd index";
  }
  return exchanged(result, expected, pitch);
}

/// What is wrong with `result`, compared with `expected`; "" if nothing is.
std::string compare_results(const std::vector<int>& result, const std::vector<int>& expected,
                            int pitch) {
  std::vector<std::size_t> wrong;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    if (result[k] != expected[k]) wrong.push_back(k);
  }
  if (wrong.empty()) return "";
  const std::size_t first = wrong.front();
  const auto text = [](int value) {
    return value == lab::kNotWritten ? std::string("not written") : std::to_string(value);
  };
  const std::string values =
      format("is %s and should be %s", text(result[first]).c_str(), text(expected[first]).c_str());
  std::string said = "the result " + values;
  if (expected.size() > 1) {
    said = format("%zu of %zu elements are wrong\n  the first: %s %s", wrong.size(),
                  expected.size(), name_of(first, pitch).c_str(), values.c_str());
  }
  const std::string common = pattern(result, expected, wrong, pitch);
  if (!common.empty()) said += "\n  " + common;
  return said;
}

/// Warps that a multiprocessor of compute capability 9.0 holds of a kernel, registers aside: 2048
/// threads, 32 blocks, and 228 kB of shared memory, of which a block takes 1 kB more than it asks
/// for (CUDA programming guide, technical specifications).
double resident_warps(const TraceRow& kernel) {
  const double warps = std::ceil(product(kernel.block) / 32);
  const double shared =
      std::atof(kernel.static_shared.c_str()) + std::atof(kernel.dynamic_shared.c_str());
  const double blocks =
      std::min({32.0, std::floor(64 / warps), std::floor(228.0 * 1024 / (shared + 1024))});
  return blocks * warps;
}

ClinicCount count_all(Bench* bench, const FromNvcc& from_nvcc) {
  ClinicCount count;
  count.n = kClinicN;
  count.from_nvcc = from_nvcc;
  for (const auto& [line, kernel] : bench->trace_watched(kClinicN, 1).kernels) {
    const auto add = [](const KernelCount::Accesses& from, KernelCount::Accesses* to) {
      to->threads += from.threads;
      to->requests += from.requests;
      to->sectors += from.sectors;
      to->bytes += from.bytes;
    };
    add(kernel.loads, &count.all.loads);
    add(kernel.stores, &count.all.stores);
    count.all.shared_requests += kernel.shared_requests;
    count.all.shared_passes += kernel.shared_passes;
    count.all.atomics += kernel.atomics;
  }
  for (const TraceRow& row : bench->trace_watched(kClinicN, 1).table("kernels")) {
    count.blocks = std::max(count.blocks, product(row.grid));
    count.threads = std::max(count.threads, product(row.grid) * product(row.block));
    const double warps = resident_warps(row);
    if (count.resident_warps == 0 || warps < count.resident_warps) count.resident_warps = warps;
  }
  return count;
}

/// Of the lines of PTX, which ones lie between a label and a later branch back to it.
std::vector<bool> lines_of_loops(const std::vector<std::string>& lines) {
  std::vector<bool> in_loop(lines.size(), false);
  std::map<std::string, std::size_t> labels;
  static const std::regex label("^(\\$\\S+):"), branch("\\sbra(?:\\.uni)?\\s+(\\$[^;\\s]+)");
  for (std::size_t k = 0; k < lines.size(); ++k) {
    std::smatch name;
    if (std::regex_search(lines[k], name, label)) labels[name[1]] = k;
    if (!std::regex_search(lines[k], name, branch)) continue;
    const auto at = labels.find(name[1]);
    if (at != labels.end()) std::fill(in_loop.begin() + at->second, in_loop.begin() + k, true);
  }
  return in_loop;
}

}  // namespace

FromNvcc read_from_nvcc(const std::string& folder) {
  FromNvcc found;
  if (folder.empty()) return found;
  std::ifstream log(folder + "/log"), ptx(folder + "/kernel.ptx");
  if (!log || !ptx) throw NotMeasurable("nvcc left no log and kernel.ptx in " + folder);
  found = {0, 0, 0};
  for (std::string line; std::getline(log, line);) {
    if (!says(line, "bytes stack frame")) continue;
    found.stack_bytes = std::max(found.stack_bytes, std::atoi(line.c_str()));
  }
  std::vector<std::string> lines;
  for (std::string line; std::getline(ptx, line);) lines.push_back(line);
  const std::vector<bool> in_loop = lines_of_loops(lines);
  const bool no_loop = std::find(in_loop.begin(), in_loop.end(), true) == in_loop.end();
  for (std::size_t k = 0; k < lines.size(); ++k) {
    static const std::regex division("\\s(div|rem)\\.[su]"), doubles("^\\s+[@a-z].*\\.f64");
    found.divisions += (in_loop[k] || no_loop) && std::regex_search(lines[k], division);
    found.doubles += std::regex_search(lines[k], doubles);
  }
  return found;
}

std::string what_is_wrong(const ClinicKernel& kernel, const std::string& program, int n,
                          double time_limit) {
  const TemporaryFolder folder;
  const ChildResult child = run_child({program, "--n", std::to_string(n), "--iterations", "1",
                                       "--quiet", "--record", folder.path()},
                                      time_limit);
  if (!child.started) throw NotMeasurable(child.output);
  if (child.timed_out) return format("it was ended after %.0f s: does a loop end?", time_limit);
  if (child.signal != 0) return "it crashed: " + describe_signal(child.signal);
  if (child.exit_code == lab::kExitNoGpu || child.exit_code == lab::kExitCannotWrite) {
    throw NotMeasurable(last_words(child));
  }
  if (child.exit_code != 0) return last_words(child);
  const std::vector<int> expected = kernel.expected(n);
  const std::vector<int> result = read_integers(folder.path() + "/result.i32", expected.size());
  if (result.empty()) return format("its result does not have %zu elements", expected.size());
  return compare_results(result, expected, kernel.pitch(n));
}

GoalCount measure_clinic_goals(const ClinicKernel& kernel, Bench* bench,
                               const FromNvcc& from_nvcc) {
  GoalCount count;
  for (const ClinicGoal& goal : kernel.goals) {
    count.tell(goal.goal, goal.advice, [&] { return goal.measure(count_all(bench, from_nvcc)); });
  }
  return count;
}

}  // namespace validate
