#include "run/record.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

#include <sys/stat.h>

#include "run/text.h"

namespace validate {
namespace {

/// Calls the file by its name alone: the folder is one of the lab's own. Returns false.
bool refuse(std::string* error, const std::string& path, const std::string& why) {
  *error = path.substr(path.rfind('/') + 1) + ": " + why;
  return false;
}

bool read_bytes(const std::string& path, std::size_t bytes, void* to, std::string* error) {
  std::ifstream file(path, std::ios::binary);
  return file.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes)) ||
         refuse(error, path, "cannot be read");
}

/// The whole of a regular file of at most max_bytes.
bool read_file(const std::string& path, std::size_t max_bytes, std::string* text,
               std::string* error) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return refuse(error, path, std::strerror(errno));
  if (!S_ISREG(status.st_mode) || static_cast<unsigned long long>(status.st_size) > max_bytes) {
    return refuse(error, path,
                  format("not a record (it should be a file of at most %zu bytes)", max_bytes));
  }
  text->resize(static_cast<std::size_t>(status.st_size));
  return read_bytes(path, text->size(), &(*text)[0], error);
}

/// What stands behind a key of the JSON that the lab's Run writes, one member a line, without
/// quotes; "": it is not there.
std::string member(const std::string& json, const std::string& key) {
  std::string value = between(json, "\"" + key + "\":", "\n");
  value.erase(value.find_last_not_of(" ,\"\r") + 1);
  return value.erase(0, value.find_first_not_of(" \""));
}

bool read_int(const std::string& text, int* value) {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, *value);
  return error == std::errc() && stopped == end;
}

bool read_head(const std::string& dir, int n, int iterations, Record* record, std::string* error) {
  std::string text;
  if (!read_file(dir + "/run.json", 64 << 10, &text, error)) return false;
  record->step = member(text, "step");
  if (!read_int(member(text, "n"), &record->n) ||
      !read_int(member(text, "iterations"), &record->iterations)) {
    *error = "run.json: not the record of a run";
  } else if (record->n != n) {
    *error = format("the record says n = %d, but n = %d was asked for", record->n, n);
  } else if (record->iterations > iterations) {
    *error =
        format("it performed %d iterations, but %d were asked for", record->iterations, iterations);
  }
  if (!read_int(member(text, "ranks"), &record->ranks)) record->ranks = 1;
  if (!read_int(member(text, "iteration_samples"), &record->samples)) record->samples = 0;
  const auto ms = [&](const char* key) { return std::strtod(member(text, key).c_str(), nullptr); };
  record->q1_ms = ms("iteration_ms_q1");
  record->median_ms = ms("iteration_ms_median");
  record->q3_ms = ms("iteration_ms_q3");
  return error->empty();
}

bool read_residual(const std::string& line, Record::Residual* residual) {
  const std::size_t comma = line.find(',');
  if (comma == std::string::npos) return false;
  char* end = nullptr;
  residual->value = std::strtod(line.c_str() + comma + 1, &end);
  return read_int(line.substr(0, comma), &residual->iteration) && residual->iteration >= 1 &&
         end != line.c_str() + comma + 1 && *end == '\0';
}

}  // namespace

bool read_record(const std::string& dir, int n, int iterations, Record* record,
                 std::string* error) {
  *record = Record();
  error->clear();
  if (!read_head(dir, n, iterations, record, error)) return false;
  const std::string path = dir + "/residuals.csv";
  std::string text, line;
  // "iteration,residual\n" in front, and less than 48 characters a line.
  if (!read_file(path, 64 + 48 * static_cast<std::size_t>(iterations), &text, error)) return false;
  std::istringstream lines(text);
  std::getline(lines, line);
  if (line != "iteration,residual") {
    return refuse(error, path, "does not begin with 'iteration,residual'");
  }
  int before = 0;
  while (std::getline(lines, line)) {
    Record::Residual residual{};
    if (!read_residual(line, &residual)) {
      return refuse(error, path, "a bad line, '" + line.substr(0, 60) + "'");
    }
    if (residual.iteration <= before) {
      return refuse(
          error, path,
          format("iteration %d is recorded after iteration %d", residual.iteration, before));
    }
    before = residual.iteration;
    record->residuals.push_back(residual);
  }
  const std::vector<Record::Residual>& all = record->residuals;
  if (all.empty() && iterations > 0) return refuse(error, path, "holds no residual");
  if (all.size() > 1 && all[0].iteration == 2 && all[1].iteration == 3) {
    return refuse(error, path, "begins with iteration 2, and then has each one");
  }
  return before == record->iterations ||
         refuse(error, path,
                format("ends at iteration %d, the run at %d", before, record->iterations));
}

bool read_field(const std::string& dir, int n, std::vector<float>* field, std::string* error) {
  const std::string path = dir + "/field.f32";
  const std::size_t points = static_cast<std::size_t>(n) * n, bytes = points * sizeof(float);
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return refuse(error, path, std::strerror(errno));
  if (!S_ISREG(status.st_mode) || static_cast<std::size_t>(status.st_size) != bytes) {
    return refuse(error, path,
                  format("holds %lld bytes, %d x %d floats are %zu",
                         static_cast<long long>(status.st_size), n, n, bytes));
  }
  field->resize(points);
  return read_bytes(path, bytes, field->data(), error);
}

}  // namespace validate
