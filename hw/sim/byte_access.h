// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <tlm>

namespace cubevp::sim {

/// Moves the bytes of a payload as IEEE 1666 defines it, byte enables and streaming included.
///   read(offset, data, bytes):  from the memory, offset counted from the payload's address
///   write(offset, data, bytes): to the memory
template <class Read, class Write>
void access_bytes(tlm::tlm_generic_payload& payload, const Read& read, const Write& write) {
  unsigned char* data = payload.get_data_ptr();
  const std::size_t bytes = payload.get_data_length();
  const unsigned char* enables = payload.get_byte_enable_ptr();
  const std::size_t enable_bytes = payload.get_byte_enable_length();
  const std::size_t width = payload.get_streaming_width() == 0
                                ? bytes
                                : std::min<std::size_t>(bytes, payload.get_streaming_width());
  const auto move = [&](std::uint64_t offset, std::size_t at, std::size_t n) {
    if (payload.is_read()) {
      read(offset, data + at, n);
    } else if (payload.is_write()) {
      write(offset, data + at, n);
    }
  };
  if (enables == nullptr && width == bytes) {
    move(0, 0, bytes);
    return;
  }
  for (std::size_t i = 0; i < bytes; ++i) {
    if (enables == nullptr || enables[i % enable_bytes] == TLM_BYTE_ENABLED) {
      move(i % width, i, 1);
    }
  }
}

}  // namespace cubevp::sim
