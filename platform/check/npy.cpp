// SPDX-License-Identifier: Apache-2.0
#include "platform/check/npy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "platform/check/tensors.h"

namespace cubevp::platform {
namespace {

constexpr std::string_view kMagic{"\x93NUMPY", 6};
constexpr std::size_t kMaxHeaderBytes = 1 << 20;
constexpr std::size_t kAlignment = 64;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw InputError(path + ": " + what);
}

struct Header {
  NpyType type = NpyType::f16;
  std::vector<std::int64_t> shape;
};

/// Reader of the header's text, a Python dictionary of three literals.
class HeaderParser {
 public:
  HeaderParser(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  Header parse() {
    bool seen_descr = false;
    bool seen_order = false;
    bool seen_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string_literal();
      expect(':');
      if (key == "descr") {
        header_.type = element_type();
        seen_descr = true;
      } else if (key == "fortran_order") {
        if (boolean()) {
          fail(path_, "expected an array in C order, got Fortran order");
        }
        seen_order = true;
      } else if (key == "shape") {
        header_.shape = tuple();
        seen_shape = true;
      } else {
        corrupt("unknown key '" + key + "'");
      }
      if (!accept(',') && peek() != '}') {
        corrupt("expected ',' or '}'");
      }
    }
    if (!seen_descr || !seen_order || !seen_shape) {
      corrupt("descr, fortran_order or shape is missing");
    }
    skip_space();
    if (at_ != text_.size()) {
      corrupt("text after the dictionary");
    }
    return header_;
  }

 private:
  [[noreturn]] void corrupt(const std::string& why) const {
    fail(path_, "corrupt .npy header: " + why);
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) {
      ++at_;
    }
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) {
      return false;
    }
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) {
      corrupt(std::string("expected '") + c + "'");
    }
  }
  std::string string_literal() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') {
      corrupt("expected a quoted string");
    }
    const std::size_t end = text_.find(quote, ++at_);
    if (end == std::string_view::npos) {
      corrupt("a string does not end");
    }
    const std::string value(text_.substr(at_, end - at_));
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      skip_space();
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    corrupt("expected True or False");
  }
  NpyType element_type() {
    if (peek() == '[') {
      fail(path_, "expected element type <f2, <f4 or <f8, got a structured type");
    }
    const std::string name = string_literal();
    for (const NpyType type : {NpyType::f16, NpyType::f32, NpyType::f64}) {
      if (name == descr(type)) {
        return type;
      }
    }
    fail(path_, "expected element type <f2, <f4 or <f8, got " + name);
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> extents;
    expect('(');
    while (!accept(')')) {
      extents.push_back(integer());
      if (!accept(',') && peek() != ')') {
        corrupt("expected ',' or ')' in the shape");
      }
    }
    return extents;
  }
  std::int64_t integer() {
    if (peek() < '0' || peek() > '9') {
      corrupt("expected a size in the shape");
    }
    std::int64_t value = 0;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      if (value > (std::numeric_limits<std::int64_t>::max() - 9) / 10) {
        corrupt("a size of the shape is too large");
      }
      value = value * 10 + (text_[at_++] - '0');
    }
    return value;
  }

  const std::string& path_;
  std::string_view text_;
  std::size_t at_ = 0;
  Header header_;
};

/// Bytes of the array's elements, or nothing when they cannot be counted.
std::optional<std::uint64_t> data_bytes(const Header& header) {
  std::uint64_t bytes = size_bytes(header.type);
  for (const std::int64_t extent : header.shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) {
      return std::nullopt;
    }
  }
  return bytes;
}

Header read_header(const std::string& path, std::ifstream& file) {
  char start[8];
  if (!file.read(start, sizeof start) || std::string_view(start, kMagic.size()) != kMagic) {
    fail(path, "not a .npy file: expected it to start with \\x93NUMPY");
  }
  const int version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3) {
    fail(path, fmt::format("expected .npy format version 1, 2 or 3, got {}.{}", version,
                           static_cast<int>(static_cast<unsigned char>(start[7]))));
  }
  unsigned char field[4] = {};
  if (!file.read(reinterpret_cast<char*>(field), version == 1 ? 2 : 4)) {
    fail(path, "corrupt .npy header: the file ends in it");
  }
  std::size_t length = 0;
  for (int i = 3; i >= 0; --i) {
    length = length << 8 | field[i];
  }
  if (length > kMaxHeaderBytes) {
    fail(path, fmt::format("corrupt .npy header: its length is {} bytes", length));
  }
  std::string text(length, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(length))) {
    fail(path, "corrupt .npy header: the file ends in it");
  }
  const Header header = HeaderParser(path, text).parse();
  if (header.shape.empty() || header.shape.size() > 4) {
    fail(path, fmt::format("expected 1 to 4 dimensions, got {}", header.shape.size()));
  }
  return header;
}

/// A file under a temporary name that becomes `path` on success, and vanishes otherwise.
class ReplacedFile {
 public:
  explicit ReplacedFile(const std::string& path) : path_(path), temporary_(path + ".tmpXXXXXX") {
    descriptor_ = ::mkstemp(temporary_.data());
    if (descriptor_ < 0) {
      fail_with_errno();
    }
  }
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;
  ~ReplacedFile() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
      ::unlink(temporary_.c_str());
    }
  }

  void write(const void* data, std::size_t bytes) {
    const char* next = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t written = ::write(descriptor_, next, bytes);
      if (written < 0 && errno == EINTR) {
        continue;
      }
      if (written < 0) {
        fail_with_errno();
      }
      next += written;
      bytes -= static_cast<std::size_t>(written);
    }
  }
  void commit() {
    // mkstemp makes the file private; give it what an ordinary new file would have.
    const mode_t mask = ::umask(0);
    ::umask(mask);
    const int descriptor = descriptor_;
    if (::fchmod(descriptor, 0666 & ~mask) != 0) {
      fail_with_errno();
    }
    descriptor_ = -1;
    if (::close(descriptor) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
      const int reason = errno;
      ::unlink(temporary_.c_str());
      errno = reason;
      fail_with_errno();
    }
  }

 private:
  [[noreturn]] void fail_with_errno() const {
    fail(path_, std::string("cannot write: ") + std::strerror(errno));
  }

  const std::string& path_;
  std::string temporary_;
  int descriptor_ = -1;
};

}  // namespace

double NpyArray::at(std::size_t i) const {
  const std::byte* element = data.data() + i * size_bytes(type);
  switch (type) {
    case NpyType::f16: {
      std::uint16_t bits;
      std::memcpy(&bits, element, sizeof bits);
      return double_from_f16(bits);
    }
    case NpyType::f32: {
      float value;
      std::memcpy(&value, element, sizeof value);
      return value;
    }
    case NpyType::f64:
      break;
  }
  double value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

NpyArray read_npy(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    fail(path, std::string("cannot read: ") + std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    fail(path, "cannot read: not a regular file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    fail(path, std::string("cannot read: ") + std::strerror(errno));
  }
  Header header = read_header(path, file);
  const std::optional<std::uint64_t> expected = data_bytes(header);
  const auto rest = static_cast<std::uint64_t>(status.st_size - file.tellg());
  // Compared before anything is allocated: the shape of a broken file may say anything.
  if (!expected || *expected != rest) {
    fail(path, fmt::format("expected {} bytes of data for shape {} of {}, got {} ({})",
                           expected ? std::to_string(*expected) : "more than 2^64",
                           describe(header.shape), descr(header.type), rest,
                           expected && rest > *expected ? "trailing bytes" : "truncated"));
  }
  NpyArray array{header.type, std::move(header.shape), std::vector<std::byte>(*expected)};
  if (!file.read(reinterpret_cast<char*>(array.data.data()),
                 static_cast<std::streamsize>(*expected))) {
    fail(path, std::string("cannot read: ") + std::strerror(errno));
  }
  return array;
}

void write_npy(const std::string& path, const NpyArray& array) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                   descr(array.type), describe(array.shape));
  const std::size_t before = kMagic.size() + 4;
  header.append(kAlignment - 1 - (before + header.size()) % kAlignment, ' ');
  header += '\n';
  std::string start(kMagic);
  start += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
            static_cast<char>(header.size() >> 8)};
  ReplacedFile file(path);
  file.write(start.data(), start.size());
  file.write(header.data(), header.size());
  file.write(array.data.data(), array.data.size());
  file.commit();
}

}  // namespace cubevp::platform
