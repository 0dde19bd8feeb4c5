#include "run/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace validate {
namespace {

constexpr const char* kName = "jacobi-validate-";
constexpr std::time_t kOldSeconds = 60;  // younger ones may not be locked yet

/// Opens the folder and locks it. Returns -1 if another process holds the lock, or locks do not
/// work here.
int open_locked(const std::string& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0 && flock(folder, LOCK_EX | LOCK_NB) == 0) return folder;
  if (folder >= 0) close(folder);
  return -1;
}

void remove_left_behind(const std::string& base) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(base, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = entry->path().string();
    struct stat status {};
    if (entry->path().filename().string().rfind(kName, 0) != 0 ||
        lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
        status.st_uid != geteuid() || std::time(nullptr) - status.st_mtime < kOldSeconds) {
      continue;
    }
    if (const int lock = open_locked(path); lock >= 0) {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
      close(lock);
    }
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  const char* named = std::getenv("TMPDIR");
  const std::string base = named && *named ? named : "/tmp";
  remove_left_behind(base);
  path_ = base + "/" + kName + "XXXXXX";
  if (!mkdtemp(&path_[0])) {
    throw std::runtime_error(path_ + ": " + std::strerror(errno) +
                             " (set TMPDIR to a folder that can be written)");
  }
  lock_ = open_locked(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

}  // namespace validate
