#include "run/record.h"

#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>

#include <sys/stat.h>

namespace validate {
namespace {

/// How a message calls a file: by its name alone, as the folder is one of the lab's own.
std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// The whole of a regular file of at most max_bytes.
bool read_file(const std::string& path, std::size_t max_bytes, std::string* text,
               std::string* error) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    *error = file_name(path) + ": " + std::strerror(errno);
    return false;
  }
  if (!S_ISREG(status.st_mode) || static_cast<unsigned long long>(status.st_size) > max_bytes) {
    *error = file_name(path) + ": not a record (it should be a file of at most " +
             std::to_string(max_bytes) + " bytes)";
    return false;
  }
  text->resize(static_cast<std::size_t>(status.st_size));
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) {
    *error = file_name(path) + ": " + std::strerror(errno);
    return false;
  }
  const std::size_t got = std::fread(&(*text)[0], 1, text->size(), file);
  std::fclose(file);
  if (got != text->size()) {
    *error = file_name(path) + ": cannot be read";
    return false;
  }
  return true;
}

/// A JSON object of strings, numbers and nulls, one member a line, as the lab's Run writes it.
/// Returns what stands behind each key, without quotes.
std::map<std::string, std::string> read_flat_json(const std::string& text) {
  std::map<std::string, std::string> members;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t key = line.find('"');
    const std::size_t key_end = key == std::string::npos ? key : line.find('"', key + 1);
    const std::size_t colon = key_end == std::string::npos ? key_end : line.find(':', key_end);
    if (colon == std::string::npos) continue;
    std::string value = line.substr(colon + 1);
    const std::size_t first = value.find_first_not_of(" \"");
    if (first == std::string::npos) continue;
    const std::size_t last = value.find_last_not_of(" ,\"\r");
    members[line.substr(key + 1, key_end - key - 1)] = value.substr(first, last + 1 - first);
  }
  return members;
}

bool read_int(const std::string& text, int* value) {
  char* end = nullptr;
  errno = 0;
  const long long parsed = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || errno != 0 || parsed < INT_MIN || parsed > INT_MAX) {
    return false;
  }
  *value = static_cast<int>(parsed);
  return true;
}

/// A number, or `missing` where there is none (null).
double number_or(const std::map<std::string, std::string>& members, const char* key,
                 double missing) {
  const auto found = members.find(key);
  if (found == members.end()) return missing;
  char* end = nullptr;
  const double value = std::strtod(found->second.c_str(), &end);
  return end != found->second.c_str() && *end == '\0' ? value : missing;
}

}  // namespace

bool read_record(const std::string& dir, int n, int iterations, Record* record,
                 std::string* error) {
  *record = Record();
  std::string text;
  if (!read_file(dir + "/run.json", 64 << 10, &text, error)) return false;
  const auto members = read_flat_json(text);
  auto member = [&](const char* key) {
    const auto found = members.find(key);
    return found == members.end() ? std::string() : found->second;
  };
  record->step = member("step");
  record->device = member("device");
  record->problem = member("problem");
  if (!read_int(member("n"), &record->n) || !read_int(member("iterations"), &record->iterations)) {
    *error = "run.json: not the record of a run";
    return false;
  }
  if (record->n != n) {
    *error = "the record says n = " + std::to_string(record->n) +
             ", asked for was n = " + std::to_string(n);
    return false;
  }
  if (record->iterations > iterations) {
    *error = "it made " + std::to_string(record->iterations) + " iterations, asked for were " +
             std::to_string(iterations);
    return false;
  }
  record->full_field = member("field") == "full";
  if (!read_int(member("ranks"), &record->ranks)) record->ranks = 1;
  record->distance_to_exact = number_or(members, "distance_to_exact", -1);
  record->set_up_ms = number_or(members, "set_up_ms", 0);
  if (!read_int(member("iteration_samples"), &record->samples)) record->samples = 0;
  record->first_ms = number_or(members, "first_iteration_ms", 0);
  record->min_ms = number_or(members, "iteration_ms_min", 0);
  record->q1_ms = number_or(members, "iteration_ms_q1", 0);
  record->median_ms = number_or(members, "iteration_ms_median", 0);
  record->q3_ms = number_or(members, "iteration_ms_q3", 0);
  record->max_ms = number_or(members, "iteration_ms_max", 0);

  const std::string residuals = dir + "/residuals.csv";
  // "iteration,residual\n" in front, and less than 48 characters a line.
  const std::size_t max_bytes = 64 + 48 * static_cast<std::size_t>(iterations);
  if (!read_file(residuals, max_bytes, &text, error)) return false;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  if (line != "iteration,residual") {
    *error = file_name(residuals) + ": does not begin with 'iteration,residual'";
    return false;
  }
  int before = 0;
  while (std::getline(lines, line)) {
    Record::Residual residual{};
    const std::size_t comma = line.find(',');
    char* end = nullptr;
    if (comma != std::string::npos) residual.value = std::strtod(line.c_str() + comma + 1, &end);
    if (comma == std::string::npos || !read_int(line.substr(0, comma), &residual.iteration) ||
        end == line.c_str() + comma + 1 || *end != '\0' || residual.iteration < 1) {
      *error = file_name(residuals) + ": a bad line, '" + line.substr(0, 60) + "'";
      return false;
    }
    if (residual.iteration <= before) {
      *error = file_name(residuals) + ": iteration " + std::to_string(residual.iteration) +
               " is recorded after iteration " + std::to_string(before);
      return false;
    }
    before = residual.iteration;
    record->residuals.push_back(residual);
  }
  if (record->residuals.empty()) {
    *error = file_name(residuals) + ": holds no residual";
    return false;
  }
  if (before != record->iterations) {
    *error = file_name(residuals) + ": ends at iteration " + std::to_string(before) +
             ", the run at " + std::to_string(record->iterations);
    return false;
  }
  return true;
}

bool FieldReader::open(const std::string& dir, int n, std::string* error) {
  const std::string path = dir + "/field.f32";
  const std::size_t bytes = static_cast<std::size_t>(n) * n * sizeof(float);
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    *error = file_name(path) + ": " + std::strerror(errno);
    return false;
  }
  if (!S_ISREG(status.st_mode) || static_cast<std::size_t>(status.st_size) != bytes) {
    *error = file_name(path) + ": holds " + std::to_string(status.st_size) + " bytes, " +
             std::to_string(n) + " x " + std::to_string(n) + " floats are " + std::to_string(bytes);
    return false;
  }
  file_.reset(std::fopen(path.c_str(), "rb"));
  if (!file_) {
    *error = file_name(path) + ": " + std::strerror(errno);
    return false;
  }
  row_.resize(n);
  return true;
}

const float* FieldReader::next_row() {
  const std::size_t got = std::fread(row_.data(), sizeof(float), row_.size(), file_.get());
  return got == row_.size() ? row_.data() : nullptr;
}

bool read_row_hashes(const std::string& dir, int n, std::vector<std::uint64_t>* hashes,
                     std::string* error) {
  const std::string path = dir + "/rows.csv";
  std::string text;
  if (!read_file(path, 16 + 32 * static_cast<std::size_t>(n), &text, error)) return false;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  hashes->clear();
  bool good = true;
  while (good && std::getline(lines, line)) {
    int j = -1;
    unsigned long long hash = 0;
    char rest = 0;
    good = std::sscanf(line.c_str(), "%d,%16llx%c", &j, &hash, &rest) == 2 &&
           j == static_cast<int>(hashes->size());
    hashes->push_back(hash);
  }
  if (!good || static_cast<int>(hashes->size()) != n) {
    *error = file_name(path) + ": does not hold the hashes of " + std::to_string(n) + " rows";
    return false;
  }
  return true;
}

}  // namespace validate
