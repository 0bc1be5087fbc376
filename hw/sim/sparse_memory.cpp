// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/sparse_memory.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace cubevp::sim {

void SparseMemory::check(std::uint64_t address, std::size_t bytes) const {
  if (bytes > bytes_ || address > bytes_ - bytes) {
    throw std::out_of_range("access of " + std::to_string(bytes) + " B at " +
                            std::to_string(address) + " is outside a memory of " +
                            std::to_string(bytes_) + " B");
  }
}

void SparseMemory::read(std::uint64_t address, void* data, std::size_t bytes) const {
  check(address, bytes);
  auto* out = static_cast<unsigned char*>(data);
  while (bytes > 0) {
    const std::size_t offset = address % kPageBytes;
    const std::size_t n = std::min(bytes, kPageBytes - offset);
    if (const auto it = pages_.find(address / kPageBytes); it != pages_.end()) {
      std::memcpy(out, it->second.data() + offset, n);
    } else {
      std::memset(out, fill_, n);
    }
    out += n;
    address += n;
    bytes -= n;
  }
}

SparseMemory::Page& SparseMemory::writable(std::uint64_t page) {
  Slot& slot = pages_[page];
  if (!slot.own) {
    slot.own = std::make_unique<Page>();
    if (slot.shared) {
      *slot.own = *slot.shared;
      slot.shared.reset();
    } else {
      slot.own->fill(fill_);
    }
  }
  return *slot.own;
}

void SparseMemory::write(std::uint64_t address, const void* data, std::size_t bytes) {
  check(address, bytes);
  const auto* in = static_cast<const unsigned char*>(data);
  while (bytes > 0) {
    const std::size_t offset = address % kPageBytes;
    const std::size_t n = std::min(bytes, kPageBytes - offset);
    std::memcpy(writable(address / kPageBytes).data() + offset, in, n);
    in += n;
    address += n;
    bytes -= n;
  }
}

void SparseMemory::share(std::uint64_t page, std::shared_ptr<const Page> content) {
  check(page * kPageBytes, kPageBytes);
  Slot& slot = pages_[page];
  slot.own.reset();
  slot.shared = std::move(content);
}

void SparseMemory::clear(unsigned char fill) {
  pages_.clear();
  fill_ = fill;
}

}  // namespace cubevp::sim
