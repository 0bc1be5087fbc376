// SPDX-License-Identifier: Apache-2.0
#include "hw/base/address_map.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include "hw/base/ids.h"

namespace cubevp {
namespace {

constexpr CubeId cube(std::uint32_t n) {
  return static_cast<CubeId>(n);
}
constexpr PeId pe(std::uint32_t n) {
  return static_cast<PeId>(n);
}

// --- addresses: bits 47..40 cube, 39..36 region, 35..0 offset ----------------------------------

TEST(AddressMap, FieldsLieWhereTheMapSays) {
  EXPECT_EQ(make_address(cube(0), Region::hbm, 0), 0U);
  EXPECT_EQ(make_address(cube(1), Region::hbm, 0), 0x0100'0000'0000U);
  EXPECT_EQ(make_address(cube(0), Region::scratchpad, 0), 0x0010'0000'0000U);
  EXPECT_EQ(make_address(cube(0), Region::sfr, 0x50), 0x0020'0000'0050U);
  EXPECT_EQ(make_address(cube(255), Region::message_queue, 0xf'ffff'ffff), 0xff3f'ffff'ffffU);
  EXPECT_EQ(scratchpad_address(cube(2), pe(7), 0x1234), 0x0210'7000'1234U);
}

TEST(AddressMap, EveryCubeRegionAndCornerOfAnOffsetComesBack) {
  const std::uint64_t offsets[] = {0, 1, 0xfff, 0x1'0000'0000, 0xf'ffff'ffff};
  std::set<Address> seen;
  for (std::uint32_t c = 0; c < kMaxCubes; ++c) {
    for (const Region region :
         {Region::hbm, Region::scratchpad, Region::sfr, Region::message_queue}) {
      for (const std::uint64_t offset : offsets) {
        const Address address = make_address(cube(c), region, offset);
        EXPECT_TRUE(seen.insert(address).second) << address;
        const DecodedAddress d = decode(address);
        ASSERT_EQ(index(d.cube), c);
        ASSERT_EQ(d.region, static_cast<std::uint8_t>(region));
        ASSERT_EQ(d.offset, offset);
      }
    }
  }
}

TEST(AddressMap, EveryPeOfAScratchpadOffsetComesBack) {
  for (std::uint32_t p = 0; p < 256; ++p) {
    const DecodedAddress d = decode(scratchpad_address(cube(3), pe(p), 0xfff'ffff));
    ASSERT_EQ(index(d.cube), 3U);
    ASSERT_EQ(d.region, static_cast<std::uint8_t>(Region::scratchpad));
    ASSERT_EQ(index(pe_of_offset(d.offset)), p);
    ASSERT_EQ(d.offset & 0xfff'ffff, 0xfff'ffffU);
  }
}

TEST(AddressMap, MessageWindowsAreApartByPeAxisAndDirection) {
  // Bits 35..28 PE, 27..25 window (axis, direction), 24 credit, 23..0 byte.
  EXPECT_EQ(message_window_address(cube(0), pe(0), RankAxis::pe, Direction::east), 0x30'0000'0000U);
  EXPECT_EQ(message_window_address(cube(0), pe(0), RankAxis::pe, Direction::west), 0x30'0200'0000U);
  EXPECT_EQ(message_window_address(cube(0), pe(0), RankAxis::cube, Direction::east),
            0x30'0800'0000U);
  EXPECT_EQ(message_window_address(cube(1), pe(5), RankAxis::cube, Direction::south, 0xffffff),
            0x0130'5eff'ffffU);
  EXPECT_EQ(kCreditBit, 0x0100'0000U);
  std::set<Address> seen;
  for (std::uint32_t p = 0; p < 8; ++p) {
    for (const RankAxis axis : {RankAxis::pe, RankAxis::cube}) {
      for (int d = 0; d < kDirections; ++d) {
        const Address a = message_window_address(cube(4), pe(p), axis, static_cast<Direction>(d));
        EXPECT_TRUE(seen.insert(a).second);
        EXPECT_TRUE(seen.insert(a | kCreditBit).second);
        EXPECT_EQ(index(pe_of_offset(decode(a | kCreditBit).offset)), p);
      }
    }
  }
}

TEST(AddressMap, WhatDoesNotExistDecodesToNothingThatDoes) {
  // A cube beyond the eighth bit is no alias of an existing one.
  EXPECT_EQ(index(decode(Address{1} << 48).cube), 256U);
  EXPECT_EQ(index(decode(~Address{0}).cube), 0xffffffU);
  EXPECT_EQ(decode(0x0050'0000'0000).region, 5);
  EXPECT_STREQ(region_name(decode(0x0050'0000'0000).region), "unmapped");
  EXPECT_STREQ(region_name(0), "hbm");
  EXPECT_STREQ(region_name(1), "scratchpad");
  EXPECT_STREQ(region_name(2), "sfr");
  EXPECT_STREQ(region_name(3), "message_queue");
  EXPECT_STREQ(region_name(15), "unmapped");
}

// --- directions and orders ---------------------------------------------------------------------

TEST(Directions, NamesAndOpposites) {
  const std::string names[] = {"E", "W", "N", "S"};
  const Direction others[] = {Direction::west, Direction::east, Direction::south, Direction::north};
  for (int d = 0; d < kDirections; ++d) {
    EXPECT_EQ(to_string(static_cast<Direction>(d)), names[d]);
    EXPECT_EQ(opposite(static_cast<Direction>(d)), others[d]);
  }
  EXPECT_EQ(to_string(RankAxis::pe), "pe");
  EXPECT_EQ(to_string(RankAxis::cube), "cube");
}

TEST(SnakeOrder, TheCubesEightPes) {
  // 0 1 2 3
  // 7 6 5 4
  const GridPos expected[] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {3, 1}, {2, 1}, {1, 1}, {0, 1}};
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(snake_position(i, 4), expected[i]) << i;
    EXPECT_EQ(snake_index(expected[i], 4), i);
  }
}

TEST(SnakeOrder, NeighboursInOrderAreNeighboursInTheGrid) {
  for (int width = 1; width <= 9; ++width) {
    std::set<std::pair<int, int>> seen;
    for (int i = 0; i < 7 * width; ++i) {
      const GridPos here = snake_position(i, width);
      const GridPos next = snake_position(i + 1, width);
      ASSERT_TRUE(here.x >= 0 && here.x < width);
      ASSERT_EQ(std::abs(here.x - next.x) + std::abs(here.y - next.y), 1) << width << ' ' << i;
      ASSERT_EQ(snake_index(here, width), i);
      ASSERT_TRUE(seen.insert({here.x, here.y}).second);
      ASSERT_TRUE(here != next);
    }
  }
}

}  // namespace
}  // namespace cubevp
