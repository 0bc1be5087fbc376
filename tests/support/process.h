// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cubevp::test {

struct ProcessResult {
  int status = -1;  ///< exit status; 128 + signal when a signal ended it
  std::string out;
  std::string err;
};

/// Runs a program in `folder` and waits for its end. `interrupt_after_ms` > 0: sends SIGINT then.
ProcessResult run_process(const std::string& program, const std::vector<std::string>& args,
                          const std::string& folder, int interrupt_after_ms = 0);

/// Runs the platform's executable (environment variable CUBEVP_PLATFORM).
ProcessResult run_platform(const std::vector<std::string>& args, const std::string& folder,
                           int interrupt_after_ms = 0);

/// An empty folder that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a file in it and returns its path.
  std::string write(const std::string& name, const std::string& content) const;
  /// Paths of all files below it, relative, in order.
  std::vector<std::string> files() const;

 private:
  std::string path_;
};

/// A file's content; a test failure and "" when it cannot be read.
std::string read_file(const std::string& path);

}  // namespace cubevp::test
