#include "run/text.h"

#include <cstddef>
#include <cstdio>

#include <unistd.h>

namespace validate {

std::string join(const std::vector<std::string>& parts, const std::string& last) {
  std::string text;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (k > 0) text += k + 1 == parts.size() ? " " + last + " " : ", ";
    text += parts[k];
  }
  return text;
}

std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const std::size_t at = text.find(before);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + before.size(), end = text.find(after, begin);
  return end == std::string::npos ? "" : text.substr(begin, end - begin);
}

void show_progress(const std::string& what) {
  if (isatty(STDERR_FILENO)) std::fprintf(stderr, "\r\033[K%s", what.c_str());
}

std::string point_from_here(int di, int dj) {
  const auto offset = [](int by) { return by == 0 ? std::string() : format("%+d", by); };
  return "(i" + offset(di) + ", j" + offset(dj) + ")";
}

}  // namespace validate
