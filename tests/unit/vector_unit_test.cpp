// SPDX-License-Identifier: Apache-2.0
#include "hw/vector/vector_unit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hw/vector/vector_timing.h"
#include "tests/unit/engines_harness.h"

namespace cubevp::hw {
namespace {

using test::block;
using test::CommandSource;
using test::kCycle;
using test::PeBench;

struct VectorBench : PeBench {
  explicit VectorBench(bool keep_data = true)
      : PeBench(keep_data), unit("vector_unit", {}, shared) {
    checkers.bind(source.isock, unit.cmd_tsock);
    unit.mem_isock.bind(scratchpad.mem_tsocks[0]);
    leave_memory_open(1);
  }
  CommandSource source{"source", pool};
  VectorUnit unit;
  test::ProtocolCheckers checkers;
};

TEST(VectorUnit, ComputesInDescriptorOrder) {
  VectorBench bench;
  bench.put<float>(0, {1, 2, 3, 4, 5, 6});
  bench.put<float>(256, {10, 20});
  bench.source.add(
      test::vector(VectorOp::sub, 1, 6, {block(512, 2, 3), block(0, 2, 3), block(256, 2, 1)}));
  bench.source.add(test::vector(VectorOp::row_sum, 1, 2, {block(768, 2, 1), block(512, 2, 3)}));
  Command fill = test::vector(VectorOp::fill, 1, 0, {block(1024, 1, 2)});
  fill.scalar = 2.5F;
  bench.source.add(fill);
  sc_core::sc_start();
  EXPECT_EQ(bench.get<float>(512, 6), (std::vector<float>{-9, -8, -7, -16, -15, -14}));
  EXPECT_EQ(bench.get<float>(768, 2), (std::vector<float>{-24, -45}));
  EXPECT_EQ(bench.get<float>(1024, 2), (std::vector<float>{2.5F, 2.5F}));
}

TEST(VectorUnit, SoftmaxUpdateKeepsTheRunningState) {
  VectorBench bench;
  constexpr std::uint32_t rows = 3;
  constexpr std::uint32_t cols = 20;
  const auto scores = test::random_f32(rows * cols, 7);
  bench.put<float>(0, scores);
  const float m0 = 0.25F;
  const float l0 = 2.0F;
  bench.put<float>(8192, {m0, m0, m0});
  bench.put<float>(8448, {l0, l0, l0});
  bench.source.add(
      test::vector(VectorOp::softmax_update, 0b11101, 0b01110,
                   {block(4096, rows, cols), block(0, rows, cols), block(8192, rows, 1),
                    block(8448, rows, 1), block(8704, rows, 1)}));
  sc_core::sc_start();
  const auto m = bench.get<float>(8192, rows);
  const auto l = bench.get<float>(8448, rows);
  const auto alpha = bench.get<float>(8704, rows);
  for (std::uint32_t r = 0; r < rows; ++r) {
    double m_ref = m0;
    for (std::uint32_t c = 0; c < cols; ++c) {
      m_ref = std::max(m_ref, static_cast<double>(scores[r * cols + c]));
    }
    double l_ref = l0 * std::exp(m0 - m_ref);
    for (std::uint32_t c = 0; c < cols; ++c) {
      l_ref += std::exp(scores[r * cols + c] - m_ref);
    }
    EXPECT_EQ(m[r], static_cast<float>(m_ref));
    EXPECT_NEAR(l[r] / l_ref, 1.0, 1e-6);
    EXPECT_NEAR(alpha[r] / std::exp(m0 - m_ref), 1.0, 1e-6);
  }
}

TEST(VectorUnit, TakesTheTimeOfItsPassesAndCounts) {
  VectorBench bench;
  const Command exp = test::vector(VectorOp::exp, 1, 2, {block(0, 10, 100), block(8192, 10, 100)});
  const Command add = test::vector(VectorOp::add, 1, 6,
                                   {block(0, 10, 100), block(8192, 10, 100), block(8192, 10, 100)});
  const auto& first = bench.source.add(exp);
  const auto& second = bench.source.add(add);
  sc_core::sc_start();
  EXPECT_EQ(first.done, 32 * kCycle);  // ceil(1000 / 32)
  EXPECT_EQ(second.done, first.done + 16 * kCycle);
  const auto stats = bench.unit.stats();
  EXPECT_EQ(stats.busy_ps, 48 * kCycle);
  EXPECT_EQ(stats.ops, 2000U);
  EXPECT_EQ(stats.more.at("exp"), 1000U);
  EXPECT_EQ(bench.activity.spent_ps()[1], 48 * kCycle);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(VectorUnit, TimingOnlyTakesTheSameTime) {
  VectorBench bench(false);
  const auto& done = bench.source.add(
      test::vector(VectorOp::exp, 1, 2, {block(0, 10, 100), block(8192, 10, 100)}));
  sc_core::sc_start();
  EXPECT_EQ(done.done, 32 * kCycle);
}

TEST(VectorUnit, BadCommandsFailWithTheReason) {
  VectorBench bench;
  const auto& bad = bench.source.add(
      test::vector(VectorOp::add, 1, 6, {block(0, 2, 2), block(64, 2, 3), block(128, 2, 2)}));
  const auto& foreign = bench.source.add(test::send(block(0, 1, 1), Direction::east));
  sc_core::sc_start();
  EXPECT_NE(bad.fault.find("add: operand 1 (2x3 f32 at scratchpad 0x40) does not fit"),
            std::string::npos)
      << bad.fault;
  EXPECT_EQ(foreign.fault, "the vector unit was given a send");
}

}  // namespace
}  // namespace cubevp::hw
