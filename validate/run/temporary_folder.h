#pragma once

#include <string>

namespace validate {

/// A temporary folder that is gone, with all that is in it, when this object is.
class TemporaryFolder {
 public:
  /// Below $TMPDIR, or /tmp. Removes folders there that were left by one of these programs that was
  /// killed. Throws std::runtime_error if it cannot be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int lock_ = -1;  ///< held while this object lives: what has none was left behind
};

}  // namespace validate
