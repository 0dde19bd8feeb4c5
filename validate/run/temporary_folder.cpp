#include "run/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace validate {

TemporaryFolder::TemporaryFolder() {
  const char* named = std::getenv("TMPDIR");
  path_ = std::string(named && *named ? named : "/tmp") + "/jacobi-validate-XXXXXX";
  if (!mkdtemp(&path_[0])) {
    throw std::runtime_error(path_ + ": " + std::strerror(errno) +
                             " (set TMPDIR to a folder that can be written)");
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace validate
