// SPDX-License-Identifier: Apache-2.0
#include "platform/trace/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "platform/config/errors.h"

namespace cubevp::platform {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;

}  // namespace

OutputFile::OutputFile(std::string path)
    : path_(std::move(path)),
      temporary_(path_ + ".tmp" + std::to_string(getpid())),
      buffer_(kBufferBytes),
      file_(std::fopen(temporary_.c_str(), "wb")) {
  if (file_ == nullptr) {
    throw IoError(path_ + ": cannot be written: " + std::strerror(errno));
  }
  // The buffer is here.
  std::setvbuf(file_, nullptr, _IONBF, 0);
}

OutputFile::~OutputFile() {
  if (file_ != nullptr) {
    std::fclose(file_);
    std::remove(temporary_.c_str());
  }
}

void OutputFile::put(std::string_view text) {
  while (text.size() > buffer_.size() - used_) {
    const std::size_t part = buffer_.size() - used_;
    std::memcpy(buffer_.data() + used_, text.data(), part);
    used_ += part;
    text.remove_prefix(part);
    write_out();
  }
  std::memcpy(buffer_.data() + used_, text.data(), text.size());
  used_ += text.size();
}

void OutputFile::write_out() {
  const std::size_t written = std::fwrite(buffer_.data(), 1, used_, file_);
  if (written != used_) {
    fail(errno);
  }
  used_ = 0;
}

void OutputFile::close() {
  write_out();
  if (std::fclose(std::exchange(file_, nullptr)) != 0 ||
      std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    fail(errno);
  }
}

void OutputFile::fail(int error) {
  if (file_ != nullptr) {
    std::fclose(std::exchange(file_, nullptr));
  }
  std::remove(temporary_.c_str());
  throw IoError(path_ + ": cannot be written: " + std::strerror(error));
}

}  // namespace cubevp::platform
