#pragma once

#include <string>

namespace validate {

/// A temporary folder that is gone, with all that is in it, when this object is.
class TemporaryFolder {
 public:
  /// Below $TMPDIR, or /tmp. Throws std::runtime_error if it cannot be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace validate
