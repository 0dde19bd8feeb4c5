#include "text.h"

#include <cstdarg>
#include <cstddef>
#include <cstdio>

namespace validate {

std::string format(const char* pattern, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

std::string join(const std::vector<std::string>& parts, const std::string& last) {
  std::string text;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (k > 0) text += k + 1 == parts.size() ? " " + last + " " : ", ";
    text += parts[k];
  }
  return text;
}

}  // namespace validate
