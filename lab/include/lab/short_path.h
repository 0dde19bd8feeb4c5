#pragma once

#include <cstring>

namespace lab {

/// The part of a source file's path that a learner knows: from exercises/ or solutions/ on, and of
/// any other file its name.
inline const char* short_path(const char* file) {
  for (const char* folder : {"exercises/", "solutions/"}) {
    if (const char* found = std::strstr(file, folder)) return found;
  }
  const char* slash = std::strrchr(file, '/');
  return slash ? slash + 1 : file;
}

}  // namespace lab
