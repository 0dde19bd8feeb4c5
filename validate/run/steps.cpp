#include "run/steps.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace validate {
std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, separator);) fields.push_back(field);
  return fields;
}

std::vector<Step> read_steps(const std::string& lab_root) {
  const std::string path = lab_root + "/lab/steps.tsv";
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  std::vector<Step> steps;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> fields = split(line, '\t');
    if (fields.size() != 7) {
      throw std::runtime_error(path +
                               ": not a step in seven fields with tabs between them: " + line);
    }
    const bool needs_ranks = fields[2] == "ranks";
    steps.push_back({fields[0], fields[1], fields[2] == "cuda" || needs_ranks, needs_ranks,
                     std::stoi(fields[3]), std::stoi(fields[4]), fields[5]});
  }
  return steps;
}

}  // namespace validate
