// SPDX-License-Identifier: Apache-2.0
#include "hw/command_processor/scoreboard.h"

#include <gtest/gtest.h>

#include "hw/command_processor/composite.h"
#include "hw/numerics/gemm.h"
#include "tests/unit/engines_harness.h"

namespace cubevp::hw {
namespace {

using test::block;
using test::in_hbm;

// A command that reads and writes the given blocks.
Command touching(std::initializer_list<Operand> reads, std::initializer_list<Operand> writes) {
  Command c;
  for (const Operand& o : reads) {
    c.reads = static_cast<std::uint8_t>(c.reads | 1U << c.operand_count);
    c.operands[c.operand_count++] = o;
  }
  for (const Operand& o : writes) {
    c.writes = static_cast<std::uint8_t>(c.writes | 1U << c.operand_count);
    c.operands[c.operand_count++] = o;
  }
  return c;
}

bool second_waits(const Command& first, const Command& second) {
  Scoreboard board;
  board.insert({1, 0}, first);
  board.insert({2, 0}, second);
  EXPECT_TRUE(board.ready({1, 0}));
  const bool waits = !board.ready({2, 0});
  EXPECT_EQ(board.blocked_by({2, 0}).command, waits ? 1U : 0U);
  board.remove({1, 0});
  EXPECT_TRUE(board.ready({2, 0}));
  return waits;
}

TEST(Scoreboard, OnlyReadsMayShareBytes) {
  const Operand a = block(0, 4, 16);
  EXPECT_FALSE(second_waits(touching({a}, {}), touching({a}, {})));
  EXPECT_TRUE(second_waits(touching({}, {a}), touching({a}, {})));
  EXPECT_TRUE(second_waits(touching({a}, {}), touching({}, {a})));
  EXPECT_TRUE(second_waits(touching({}, {a}), touching({}, {a})));
}

TEST(Scoreboard, NeighboursDoNotConflictAndOneSharedByteDoes) {
  const Operand a = block(0, 1, 16);
  EXPECT_FALSE(second_waits(touching({}, {a}), touching({block(64, 1, 16)}, {})));
  EXPECT_TRUE(second_waits(touching({}, {a}), touching({block(63, 1, 16)}, {})));
}

TEST(Scoreboard, AStridedBlockCountsFromItsFirstByteToItsLast) {
  const Operand columns = test::strided(block(0, 4, 2), 64);  // bytes 0 .. 199
  EXPECT_TRUE(second_waits(touching({}, {columns}), touching({block(16, 1, 4)}, {})));
  EXPECT_TRUE(second_waits(touching({}, {columns}), touching({block(196, 1, 1)}, {})));
  EXPECT_FALSE(second_waits(touching({}, {columns}), touching({block(200, 1, 1)}, {})));
}

TEST(Scoreboard, ScratchpadAndMemoryAreDifferentBytes) {
  EXPECT_FALSE(
      second_waits(touching({}, {block(0, 1, 16)}), touching({in_hbm(block(0, 1, 16))}, {})));
  EXPECT_TRUE(second_waits(touching({}, {in_hbm(block(0, 1, 16))}),
                           touching({in_hbm(block(0, 1, 16))}, {})));
}

TEST(Scoreboard, EmptyBlocksConflictWithNothing) {
  EXPECT_FALSE(second_waits(touching({}, {block(0, 0, 16)}), touching({block(0, 4, 16)}, {})));
}

TEST(Scoreboard, UntrackedWritesHoldWritersBackButNotReaders) {
  const Operand a = block(0, 4, 16);
  Command untracked = touching({}, {a});
  untracked.untracked = true;
  EXPECT_FALSE(second_waits(untracked, touching({a}, {})));
  EXPECT_TRUE(second_waits(untracked, touching({}, {a})));
  EXPECT_TRUE(second_waits(touching({a}, {}), untracked));
  EXPECT_TRUE(second_waits(touching({}, {a}), untracked));
}

TEST(Scoreboard, WaitsForEveryEarlierConflict) {
  Scoreboard board;
  const Operand a = block(0, 1, 16);
  board.insert({1, 0}, touching({a}, {}));
  board.insert({2, 0}, touching({a}, {}));
  board.insert({3, 0}, touching({}, {a}));
  board.insert({4, 0}, touching({a}, {}));
  board.remove({1, 0});
  EXPECT_FALSE(board.ready({3, 0}));
  board.remove({2, 0});
  EXPECT_TRUE(board.ready({3, 0}));
  EXPECT_FALSE(board.ready({4, 0}));
  board.remove({3, 0});
  EXPECT_TRUE(board.ready({4, 0}));
  board.remove({4, 0});
  EXPECT_EQ(board.size(), 0U);
}

// --- composites -----------------------------------------------------------------------------

Command composite(const Operand& c, const Operand& a, const Operand& b, std::uint32_t tile_rows,
                  std::uint64_t staging) {
  Command k = test::gemm(c, a, b);
  k.opcode = Opcode::composite;
  k.composite = {tile_rows, staging};
  return k;
}

TEST(Composite, PartsWaitForTheirBufferOnly) {
  const Command k =
      composite(block(0, 8, 64), block(4096, 8, 48), in_hbm(block(0, 48, 64)), 16, 65536);
  const CompositeExpansion tiles(k);
  ASSERT_EQ(tiles.tiles(), 3U);
  Scoreboard board;
  board.insert({1, 0}, touching({}, {block(4096, 8, 48)}));  // gives operand 1
  board.insert({2, 0}, k);
  for (std::uint32_t i = 0; i < 3; ++i) {
    board.insert({2, 1 + 2 * i}, tiles.load(i));
    board.insert({2, 2 + 2 * i}, tiles.gemm(i));
  }
  board.insert({3, 0}, touching({block(0, 8, 64)}, {}));
  EXPECT_TRUE(board.ready({2, 1}));
  EXPECT_TRUE(board.ready({2, 3}));
  EXPECT_FALSE(board.ready({2, 5}));
  board.remove({2, 1});
  EXPECT_FALSE(board.ready({2, 2})) << "operand 1 is still to come";
  board.remove({1, 0});
  EXPECT_TRUE(board.ready({2, 2}));
  board.remove({2, 3});
  EXPECT_TRUE(board.ready({2, 4})) << "gemms of one composite do not wait for each other";
  board.remove({2, 2});
  EXPECT_TRUE(board.ready({2, 5}));
  board.remove({2, 5});
  board.remove({2, 4});
  board.remove({2, 6});
  EXPECT_FALSE(board.ready({3, 0}));
  board.remove({2, 0});
  EXPECT_TRUE(board.ready({3, 0}));
}

// One tile of 16 rows in a staging for two: the second buffer is waited for, and never used.
TEST(Composite, MayEndBeforeWhatOnlyItsUnusedStagingWaitsFor) {
  const Command k =
      composite(block(0, 8, 16), block(4096, 8, 64), in_hbm(block(0, 16, 64)), 16, 65536);
  const CompositeExpansion tiles(k);
  ASSERT_EQ(tiles.tiles(), 1U);
  Scoreboard board;
  const Operand second_buffer = block(65536 + 16 * 64 * 4, 1, 64);
  board.insert({1, 0}, touching({}, {second_buffer}));
  board.insert({2, 0}, k);
  board.insert({2, 1}, tiles.load(0));
  board.insert({2, 2}, tiles.gemm(0));
  EXPECT_FALSE(board.ready({2, 0}));
  EXPECT_TRUE(board.ready({2, 1}));
  board.remove({2, 1});
  EXPECT_TRUE(board.ready({2, 2}));
  board.remove({2, 2});
  board.remove({2, 0});
  board.insert({3, 0}, touching({second_buffer}, {}));
  EXPECT_EQ(board.blocked_by({3, 0}).command, 1U);
  board.remove({1, 0});
  EXPECT_TRUE(board.ready({3, 0}));
  board.remove({3, 0});
  EXPECT_EQ(board.size(), 0U);
}

TEST(Composite, TilesCoverEveryStoredRowOnce) {
  for (const bool transposed : {false, true}) {
    for (const std::uint32_t tile_rows : {1U, 7U, 16U, 100U}) {
      const std::uint32_t rows = 50;
      const std::uint32_t cols = 24;
      Operand b = test::strided(in_hbm(block(1000, rows, cols)), 128);
      b.transposed = transposed;
      const Operand a = block(0, 3, transposed ? cols : rows);
      const Operand c = block(4096, 3, transposed ? rows : cols);
      Command k = composite(c, a, b, tile_rows, 65536);
      k.epilogue.mask = {true, 0, 1, 10, 2, 0};
      const CompositeExpansion tiles(k);
      std::uint32_t row = 0;
      for (std::uint32_t i = 0; i < tiles.tiles(); ++i) {
        const Command load = tiles.load(i);
        const Command gemm = tiles.gemm(i);
        EXPECT_EQ(load.operands[1].address, 1000 + row * 128U);
        EXPECT_EQ(load.operands[0].address, 65536 + (i % 2) * tile_rows * 4U * cols);
        EXPECT_EQ(gemm.operands[2].address, load.operands[0].address);
        EXPECT_EQ(gemm.operands[2].transposed, transposed);
        if (transposed) {
          EXPECT_EQ(gemm.operands[0].address, 4096 + row * 4U);
          EXPECT_EQ(gemm.operands[0].row_stride_bytes, 4 * rows);
          EXPECT_EQ(gemm.epilogue.mask.first_key, 10 + 2 * row);
          EXPECT_FALSE(gemm.from_accumulators || gemm.to_accumulators);
        } else {
          EXPECT_EQ(gemm.operands[1].address, row * 4U);
          EXPECT_EQ(gemm.operands[1].cols, load.operands[0].rows);
          EXPECT_EQ(gemm.from_accumulators, i != 0);
          EXPECT_EQ(gemm.to_accumulators, i + 1 != tiles.tiles());
        }
        row += load.operands[0].rows;
      }
      EXPECT_EQ(row, rows);
    }
  }
}

TEST(Composite, SayWhatIsWrong) {
  const Operand b = in_hbm(block(0, 48, 64));
  const Command good = composite(block(0, 8, 64), block(4096, 8, 48), b, 16, 65536);
  EXPECT_EQ(composite_error(good, 1 << 20), "");
  Command bad = good;
  bad.composite.tile_rows = 0;
  EXPECT_EQ(composite_error(bad, 1 << 20), "composite: tile_rows is 0");
  bad = good;
  bad.composite.staging_address = (1 << 20) - 8191;
  EXPECT_NE(composite_error(bad, 1 << 20).find("staging of 8192 bytes"), std::string::npos);
  bad = good;
  bad.operands[2].space = Space::scratchpad;
  EXPECT_NE(composite_error(bad, 1 << 20).find("is not in hbm"), std::string::npos);
}

}  // namespace
}  // namespace cubevp::hw
