// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace cubevp::platform {

/// A configuration that cannot be used: exit status 2. Holds everything that is wrong with it, one
/// line each: `file:line:column: dotted.key: expected <what>, got "<what was there>"`.
class ConfigError : public std::runtime_error {
 public:
  explicit ConfigError(std::vector<std::string> lines);
  explicit ConfigError(const std::string& line) : ConfigError(std::vector<std::string>{line}) {}

  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

/// A file that is missing or cannot be read or written: exit status 4.
class IoError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace cubevp::platform
