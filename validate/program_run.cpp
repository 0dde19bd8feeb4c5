#include "program_run.h"

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <system_error>

#include <lab/options.h>

#include "text.h"

namespace validate {

std::string launcher() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().string() + "/ranks";
}

std::string describe(const Case& run) {
  const std::string ranks =
      run.ranks > 0 ? format(", %d rank%s%s%s", run.ranks, run.ranks == 1 ? "" : "s",
                             run.halos ? ", LAB_HALOS=" : "", run.halos ? run.halos : "")
                    : "";
  if (run.tolerance > 0) {
    return format("%s, n = %d, --tolerance %.3g", lab::problem_name(run.problem), run.n,
                  run.tolerance) +
           ranks;
  }
  return format("%s, n = %d, %d iteration%s", lab::problem_name(run.problem), run.n, run.iterations,
                run.iterations == 1 ? "" : "s") +
         (run.check_every > 0 ? format(", --check-every %d", run.check_every) : "") + ranks;
}

std::string last_words(const ChildResult& child) {
  const std::string said = child.last_line();
  const std::size_t colon = said.find(": ");
  return colon < said.find(' ') ? said.substr(colon + 2) : said;
}

Run run_program(const std::string& program, const Case& run, bool hashed, const std::string& dir,
                double time_limit) {
  Run result;
  std::error_code ignored;
  std::filesystem::remove_all(dir, ignored);
  std::vector<std::string> command;
  if (run.ranks > 0) {
    command = {launcher(), std::to_string(run.ranks)};
    if (run.halos) command.insert(command.begin(), {"env", std::string("LAB_HALOS=") + run.halos});
  }
  command.push_back(program);
  auto add = [&](const char* option, const std::string& value) {
    command.insert(command.end(), {option, value});
  };
  add("--n", std::to_string(run.n));
  if (run.tolerance > 0) {
    add("--tolerance", format("%.17g", run.tolerance));
    add("--max-iterations", std::to_string(run.iterations));
  } else {
    add("--iterations", std::to_string(run.iterations));
  }
  add("--problem", lab::problem_name(run.problem));
  add("--record", dir);
  add("--record-field", hashed ? "rows" : "full");
  if (run.check_every > 0) add("--check-every", std::to_string(run.check_every));
  command.push_back("--quiet");
  result.child = run_child(command, time_limit);
  ChildResult& child = result.child;
  if (run.ranks > 0 && child.exit_code > 128 && child.exit_code < 128 + 32) {
    // What ended one rank, as a launcher tells it.
    child.signal = child.exit_code - 128;
  }
  const std::string said = last_words(child);
  if (!child.started) {
    result.error = program + ": " + child.output;
  } else if (child.timed_out) {
    result.error = format("it did not end within %.0f s: an endless loop, a deadlock, or very slow",
                          time_limit);
  } else if (child.signal != 0) {
    result.error = "it crashed: " + describe_signal(child.signal);
  } else if (child.exit_code > lab::kExitNotConverged) {
    result.error = format("it ended with exit code %d", child.exit_code) +
                   (said.empty() ? std::string(", and said nothing") : ": " + said);
  } else if (!std::filesystem::exists(dir, ignored) ||
             (std::filesystem::is_directory(dir, ignored) &&
              !std::filesystem::exists(
                  std::filesystem::symlink_status(dir + "/run.json", ignored)))) {
    result.error = format(
        "it ended with exit code %d before Run wrote its record: does main get to its end, where "
        "it calls run.finish?",
        child.exit_code);
  } else if (!read_record(dir, run.n, run.iterations, &result.record, &result.error)) {
    result.error = "its record is no use: " + result.error;
  } else if (run.ranks > 0 && result.record.ranks != run.ranks) {
    result.error = format(
        "%d ranks were started, and each knows of %d: they compute the same field "
        "side by side, and not together (where is lab::Ranks?)",
        run.ranks, result.record.ranks);
  } else if (run.tolerance == 0 && child.exit_code != 0 &&
             result.record.iterations == run.iterations &&
             !std::isnan(result.record.residuals.back().value)) {
    result.error = format("it made all %d iterations, and still ended with exit code %d",
                          run.iterations, child.exit_code);
  }
  return result;
}

std::vector<float> read_field(const std::string& dir, int n) {
  FieldReader reader;
  std::string error;
  std::vector<float> field;
  if (!reader.open(dir, n, &error)) return field;
  field.reserve(static_cast<std::size_t>(n) * n);
  for (int j = 0; j < n; ++j) {
    const float* row = reader.next_row();
    if (!row) return {};
    field.insert(field.end(), row, row + n);
  }
  return field;
}

}  // namespace validate
