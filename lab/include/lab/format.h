#pragma once

#include <cstdarg>
#include <cstdio>
#include <string>

namespace lab {

/// The text that std::printf would print, its first 4095 characters.
__attribute__((format(printf, 1, 2))) inline std::string format(const char* pattern, ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

}  // namespace lab
