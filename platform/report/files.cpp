// SPDX-License-Identifier: Apache-2.0
#include "platform/report/files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "platform/config/errors.h"

namespace cubevp::platform {

void write_file(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".tmp" + std::to_string(getpid());
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) {
    throw IoError(path + ": cannot be written: " + std::strerror(errno));
  }
  bool ok = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  ok = std::fflush(file) == 0 && ok;
  int error = errno;
  ok = std::fclose(file) == 0 && ok;
  if (ok && std::rename(temporary.c_str(), path.c_str()) != 0) {
    error = errno;
    ok = false;
  }
  if (!ok) {
    std::remove(temporary.c_str());
    throw IoError(path + ": cannot be written: " + std::strerror(error));
  }
}

void make_output_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    throw IoError(path + ": cannot be made: " + error.message());
  }
  // A test file says what permissions, read-only mounts and quotas will say later.
  const std::string probe = path + "/.probe" + std::to_string(getpid());
  std::FILE* file = std::fopen(probe.c_str(), "wb");
  if (file == nullptr) {
    throw IoError(path + ": cannot be written: " + std::strerror(errno));
  }
  std::fclose(file);
  std::remove(probe.c_str());
}

}  // namespace cubevp::platform
