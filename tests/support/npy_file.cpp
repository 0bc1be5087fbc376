// SPDX-License-Identifier: Apache-2.0
#include "tests/support/npy_file.h"

#include <fstream>

namespace cubevp::test {

void write_npy(const std::string& path, const std::string& descr, const std::string& shape,
               const std::string& bytes) {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  // Magic, version and length take 10 bytes; the data begins at a multiple of 64.
  header.append(64 - (10 + header.size() + 1) % 64, ' ');
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file << "\x93NUMPY" << '\x01' << '\0' << static_cast<char>(header.size() & 0xffU)
       << static_cast<char>(header.size() >> 8U) << header << bytes;
}

void write_npy_f16(const std::string& path, const std::vector<std::int64_t>& shape,
                   const std::vector<std::uint16_t>& bits) {
  std::string text = "(";
  std::size_t count = 1;
  for (const std::int64_t n : shape) {
    text += std::to_string(n) + ", ";
    count *= static_cast<std::size_t>(n);
  }
  text += ")";
  std::string bytes(count * 2, '\0');
  for (std::size_t i = 0; i < bits.size() && i < count; ++i) {
    bytes[2 * i] = static_cast<char>(bits[i] & 0xffU);
    bytes[2 * i + 1] = static_cast<char>(bits[i] >> 8U);
  }
  write_npy(path, "<f2", text, bytes);
}

}  // namespace cubevp::test
