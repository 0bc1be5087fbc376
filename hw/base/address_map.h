// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hw/base/ids.h"

namespace cubevp {

/// A system-wide byte address: bits 47..40 cube, 39..36 region, 35..0 offset.
using Address = std::uint64_t;

enum class Region : std::uint8_t { hbm = 0, scratchpad = 1, sfr = 2, message_queue = 3 };

/// Offsets inside the regions:
///  - hbm: the stack's capacity is cut into one slab of equal size for each NoC stop, in PE order;
///    slab p is the memory beside PE p (see hw/hbm for channels, banks and rows);
///  - scratchpad: bits 35..28 PE, 27..0 byte in its scratchpad;
///  - sfr: byte offset in the cube's register block;
///  - message_queue: bits 35..28 PE, 27..25 window (0..3 the direction the data comes from on the
///    pe axis, 4..7 the same on the cube axis), 24 credit, 23..0 byte in the window.
inline constexpr int kOffsetBits = 36;
inline constexpr int kPeShift = 28;
inline constexpr int kWindowShift = 25;
inline constexpr Address kCreditBit = Address{1} << 24;
inline constexpr std::uint32_t kMaxCubes = 256;

struct DecodedAddress {
  CubeId cube{};
  std::uint8_t region = 0;  // a Region, or a value that names none
  std::uint64_t offset = 0;
};

constexpr Address make_address(CubeId cube, Region region, std::uint64_t offset) {
  return (Address{index(cube)} << 40) | (Address{static_cast<std::uint8_t>(region)} << 36) | offset;
}
constexpr Address scratchpad_address(CubeId cube, PeId pe, std::uint64_t offset) {
  return make_address(cube, Region::scratchpad, (Address{index(pe)} << kPeShift) | offset);
}
/// The window of PE `pe` that receives what comes from its logical neighbour in direction `from`.
constexpr Address message_window_address(CubeId cube, PeId pe, RankAxis axis, Direction from,
                                         std::uint64_t offset = 0) {
  const std::uint64_t window =
      static_cast<std::uint64_t>(index(from)) + (axis == RankAxis::cube ? kDirections : 0);
  return make_address(cube, Region::message_queue,
                      (Address{index(pe)} << kPeShift) | (window << kWindowShift) | offset);
}
constexpr DecodedAddress decode(Address address) {
  return {static_cast<CubeId>((address >> 40) & 0xffffff),
          static_cast<std::uint8_t>((address >> 36) & 0xf), address & ((Address{1} << 36) - 1)};
}
/// PE of a scratchpad or message-queue offset.
constexpr PeId pe_of_offset(std::uint64_t offset) {
  return static_cast<PeId>(offset >> kPeShift);
}

constexpr const char* region_name(std::uint8_t region) {
  constexpr const char* names[] = {"hbm", "scratchpad", "sfr", "message_queue"};
  return region < 4 ? names[region] : "unmapped";
}

}  // namespace cubevp
