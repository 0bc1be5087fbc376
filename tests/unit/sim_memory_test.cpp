// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/sparse_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "hw/sim/byte_access.h"
#include "hw/sim/payload.h"

namespace cubevp::sim {
namespace {

using Bytes = std::vector<unsigned char>;

Bytes read(const SparseMemory& memory, std::uint64_t address, std::size_t n) {
  Bytes data(n, 0xee);
  memory.read(address, data.data(), n);
  return data;
}

Bytes counting(std::size_t n) {
  Bytes data(n);
  for (std::size_t i = 0; i < n; ++i) {
    data[i] = static_cast<unsigned char>(i * 7 + 1);
  }
  return data;
}

TEST(SparseMemory, KeepsWhatIsWrittenAndOnlyThat) {
  SparseMemory memory(std::uint64_t{48} << 30);
  EXPECT_EQ(memory.pages(), 0U);
  EXPECT_EQ(read(memory, (std::uint64_t{48} << 30) - 4, 4), Bytes(4, 0));
  const Bytes data = counting(10000);  // three pages and a bit
  const std::uint64_t at = (std::uint64_t{40} << 30) + 4000;
  memory.write(at, data.data(), data.size());
  EXPECT_EQ(memory.pages(), 4U);
  EXPECT_EQ(read(memory, at, data.size()), data);
  EXPECT_EQ(read(memory, at - 3, 4), (Bytes{0, 0, 0, data[0]}));
  EXPECT_EQ(read(memory, at + data.size() - 1, 3), (Bytes{data.back(), 0, 0}));
}

TEST(SparseMemory, AccessesBeyondTheEndThrow) {
  SparseMemory memory(8192);
  unsigned char byte = 1;
  EXPECT_NO_THROW(memory.write(8191, &byte, 1));
  EXPECT_NO_THROW(memory.read(8192, &byte, 0));
  EXPECT_THROW(memory.write(8192, &byte, 1), std::out_of_range);
  EXPECT_THROW(memory.read(~std::uint64_t{0}, &byte, 1), std::out_of_range);
  Bytes data(8193);
  EXPECT_THROW(memory.write(0, data.data(), data.size()), std::out_of_range);
  EXPECT_THROW(memory.read(1, data.data(), 8192), std::out_of_range);
  EXPECT_THROW(memory.share(2, std::make_shared<SparseMemory::Page>()), std::out_of_range);
}

TEST(SparseMemory, SharedPagesAreCopiedWhenWritten) {
  auto content = std::make_shared<SparseMemory::Page>();
  content->fill(0x11);
  SparseMemory one(1 << 20);
  SparseMemory two(1 << 20);
  one.share(3, content);
  two.share(3, content);
  two.share(5, content);
  const std::uint64_t at = 3 * SparseMemory::kPageBytes;
  EXPECT_EQ(read(one, at + 10, 2), Bytes(2, 0x11));
  const unsigned char changed = 0x22;
  one.write(at + 10, &changed, 1);
  EXPECT_EQ(read(one, at + 9, 3), (Bytes{0x11, 0x22, 0x11}));
  EXPECT_EQ(read(two, at + 9, 3), Bytes(3, 0x11));
  EXPECT_EQ(read(two, 5 * SparseMemory::kPageBytes + 10, 1), Bytes(1, 0x11));
  EXPECT_EQ((*content)[10], 0x11);
  EXPECT_EQ(content.use_count(), 3);  // ours, and two of the second memory
  // What was written is replaced by what is shared later.
  one.share(3, content);
  EXPECT_EQ(read(one, at + 10, 1), Bytes(1, 0x11));
}

TEST(SparseMemory, ClearingSetsWhatUnwrittenBytesRead) {
  SparseMemory memory(1 << 20);
  const Bytes data = counting(16);
  memory.write(0, data.data(), data.size());
  memory.clear(0xff);
  EXPECT_EQ(memory.pages(), 0U);
  EXPECT_EQ(read(memory, 0, 2), Bytes(2, 0xff));
  memory.write(1, data.data(), 1);
  EXPECT_EQ(read(memory, 0, 3), (Bytes{0xff, data[0], 0xff}));
  memory.clear();
  EXPECT_EQ(read(memory, 1, 1), Bytes(1, 0));
}

// --- bytes of a payload (IEEE 1666-2011, 14.17 and 14.18) --------------------------------------

struct Access {
  Access(tlm::tlm_command command, Bytes& data, unsigned streaming_width, Bytes enables = {})
      : byte_enables(std::move(enables)) {
    set_access(payload, command, 0, data.data(), data.size());
    payload.set_streaming_width(streaming_width);
    if (!byte_enables.empty()) {
      payload.set_byte_enable_ptr(byte_enables.data());
      payload.set_byte_enable_length(static_cast<unsigned>(byte_enables.size()));
    }
  }
  void run(Bytes& memory) {
    access_bytes(
        payload,
        [&](std::uint64_t offset, unsigned char* data, std::size_t n) {
          std::copy_n(memory.begin() + static_cast<std::ptrdiff_t>(offset), n, data);
        },
        [&](std::uint64_t offset, const unsigned char* data, std::size_t n) {
          std::copy_n(data, n, memory.begin() + static_cast<std::ptrdiff_t>(offset));
        });
  }
  Bytes byte_enables;
  tlm::tlm_generic_payload payload;
};

TEST(ByteAccess, PlainAccessesMoveAllBytes) {
  Bytes memory(8, 0);
  Bytes data = {1, 2, 3, 4};
  Access(tlm::TLM_WRITE_COMMAND, data, 4).run(memory);
  EXPECT_EQ(memory, (Bytes{1, 2, 3, 4, 0, 0, 0, 0}));
  Bytes back(8, 9);
  Access(tlm::TLM_READ_COMMAND, back, 8).run(memory);
  EXPECT_EQ(back, memory);
  Bytes unset = {7, 7};
  Access(tlm::TLM_WRITE_COMMAND, unset, 0).run(memory);  // width 0: not set, all of it
  EXPECT_EQ(memory, (Bytes{7, 7, 3, 4, 0, 0, 0, 0}));
  Access(tlm::TLM_IGNORE_COMMAND, data, 4).run(memory);
  EXPECT_EQ(memory, (Bytes{7, 7, 3, 4, 0, 0, 0, 0}));
}

TEST(ByteAccess, ByteEnablesRepeatOverTheData) {
  Bytes memory(6, 0);
  Bytes data = {1, 2, 3, 4, 5, 6};
  Access(tlm::TLM_WRITE_COMMAND, data, 6, {0xff, 0, 0}).run(memory);
  EXPECT_EQ(memory, (Bytes{1, 0, 0, 4, 0, 0}));
  Bytes back(6, 9);
  Access(tlm::TLM_READ_COMMAND, back, 6, {0, 0xff}).run(memory);
  EXPECT_EQ(back, (Bytes{9, 0, 9, 4, 9, 0}));
}

TEST(ByteAccess, AStreamingWidthWrapsTheAddress) {
  Bytes memory(4, 0);
  Bytes data = {1, 2, 3, 4, 5, 6};
  Access(tlm::TLM_WRITE_COMMAND, data, 2).run(memory);
  EXPECT_EQ(memory, (Bytes{5, 6, 0, 0}));
  Bytes back(5, 9);
  Access(tlm::TLM_READ_COMMAND, back, 2).run(memory);
  EXPECT_EQ(back, (Bytes{5, 6, 5, 6, 5}));
  Bytes some = {7, 8, 9, 10};
  Access(tlm::TLM_WRITE_COMMAND, some, 2, {0xff, 0xff, 0xff, 0}).run(memory);
  EXPECT_EQ(memory, (Bytes{9, 8, 0, 0}));
}

}  // namespace
}  // namespace cubevp::sim
