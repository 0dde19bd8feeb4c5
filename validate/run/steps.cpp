#include "run/steps.h"

#include <cstdio>
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
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> fields = split(line, '\t');
    int n = 0, iterations = 0;
    char rest = 0;  // behind a number
    if (fields.size() != 7 || std::sscanf(fields[3].c_str(), "%d%c", &n, &rest) != 1 ||
        std::sscanf(fields[4].c_str(), "%d%c", &iterations, &rest) != 1) {
      throw std::runtime_error(path + ":" + std::to_string(number) +
                               ": not a step in seven fields with tabs between them");
    }
    const bool needs_ranks = fields[2] == "ranks";
    steps.push_back({fields[0], fields[1], fields[2] == "cuda" || needs_ranks, needs_ranks, n,
                     iterations, fields[5], fields[6] == "-" ? "" : fields[6]});
  }
  return steps;
}

}  // namespace validate
