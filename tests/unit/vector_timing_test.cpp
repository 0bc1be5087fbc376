// SPDX-License-Identifier: Apache-2.0
#include "hw/vector/vector_timing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/engines_harness.h"

namespace cubevp::hw {
namespace {

using test::block;

std::int64_t up(double value) {
  return static_cast<std::int64_t>(std::ceil(value));
}

class VectorTimingGrid : public testing::TestWithParam<std::tuple<int, int>> {
 protected:
  std::uint32_t rows() const { return static_cast<std::uint32_t>(std::get<0>(GetParam())); }
  std::uint32_t cols() const { return static_cast<std::uint32_t>(std::get<1>(GetParam())); }
  double n() const { return static_cast<double>(rows()) * cols(); }
  /// Rows one after the other over 64 lanes, then a tree of 6 levels.
  std::int64_t reduction() const { return rows() * up(cols() / 64.0) + 6; }
  Operand full() const { return block(0, rows(), cols()); }
  Operand per_row() const { return block(0, rows(), 1); }
  std::int64_t cycles(VectorOp op, std::initializer_list<Operand> operands) const {
    const Command c = test::vector(op, 1, 0, operands);
    EXPECT_EQ(vector_error(c, 4 << 20), "");
    return vector_cycles(VectorConfig{}, c).cycles;
  }
};

TEST_P(VectorTimingGrid, ElementwiseIsOnePassOverTheLanes) {
  EXPECT_EQ(cycles(VectorOp::fill, {full()}), up(n() / 64));
  EXPECT_EQ(cycles(VectorOp::cast, {full(), full()}), up(n() / 64));
  EXPECT_EQ(cycles(VectorOp::add, {full(), full(), per_row()}), up(n() / 64));
  EXPECT_EQ(cycles(VectorOp::where, {full(), full(), full(), full()}), up(n() / 64));
}

TEST_P(VectorTimingGrid, ExponentialsAndDivisionsHaveTheirOwnRate) {
  EXPECT_EQ(cycles(VectorOp::exp, {full(), full()}), up(n() / 32));
  EXPECT_EQ(cycles(VectorOp::div, {full(), full(), full()}), up(n() / 32));
  EXPECT_EQ(vector_cycles(VectorConfig{}, test::vector(VectorOp::exp, 1, 2, {full(), full()})).exps,
            static_cast<std::uint64_t>(n()));
}

TEST_P(VectorTimingGrid, ReductionsPayTheTreeOnce) {
  EXPECT_EQ(cycles(VectorOp::row_max, {per_row(), full()}), reduction());
  EXPECT_EQ(cycles(VectorOp::row_sum, {per_row(), full()}), reduction());
}

TEST_P(VectorTimingGrid, SoftmaxUpdateIsTheSumOfItsPasses) {
  const std::int64_t by_row = up(rows() / 64.0);
  const std::int64_t row_max = reduction();
  const std::int64_t new_max = by_row;
  const std::int64_t alpha = by_row + up(rows() / 32.0);
  const std::int64_t p = up(n() / 32);
  const std::int64_t sum = reduction();
  const std::int64_t l = by_row;
  EXPECT_EQ(cycles(VectorOp::softmax_update, {full(), full(), per_row(), per_row(), per_row()}),
            row_max + new_max + alpha + p + sum + l);
}

TEST_P(VectorTimingGrid, NormalizeTakesOneReciprocalARow) {
  EXPECT_EQ(cycles(VectorOp::normalize, {full(), full(), per_row()}),
            up(rows() / 32.0) + up(n() / 64));
}

TEST_P(VectorTimingGrid, SoftmaxIsTheSumOfItsPasses) {
  EXPECT_EQ(cycles(VectorOp::softmax, {full(), full()}),
            2 * reduction() + up(n() / 32) + up(rows() / 32.0) + up(n() / 64));
}

INSTANTIATE_TEST_SUITE_P(Shapes, VectorTimingGrid,
                         testing::Combine(testing::Values(1, 8, 33, 128),
                                          testing::Values(1, 63, 64, 65, 512)));

TEST(VectorTiming, MergeOfOneQueryOfEightHeadsIsAboutFortyCycles) {
  const Command merge = test::vector(VectorOp::merge_mlo, 0b111, 0b111111,
                                     {block(0, 8, 1), block(0, 8, 1), block(0, 8, 128),
                                      block(0, 8, 1), block(0, 8, 1), block(0, 8, 128)});
  EXPECT_EQ(vector_error(merge, 1 << 20), "");
  // max, 2 sub, 2 exp, l by mul and fma: 7; O by mul and fma: 2 * 1024 / 64.
  EXPECT_EQ(vector_cycles(VectorConfig{}, merge).cycles, 7 + 32);
}

TEST(VectorTiming, NoElementsNoCycles) {
  EXPECT_EQ(vector_cycles(VectorConfig{},
                          test::vector(VectorOp::row_max, 1, 2, {block(0, 0, 1), block(0, 0, 9)}))
                .cycles,
            0);
}

TEST(VectorTiming, ShapesThatDoNotFitAreNamed) {
  const auto error = [](const Command& c) { return vector_error(c, 1 << 20); };
  EXPECT_NE(error(test::vector(VectorOp::add, 1, 6, {block(0, 2, 2), block(0, 2, 2)}))
                .find("expected 3 operands, got 2"),
            std::string::npos);
  EXPECT_NE(error(test::vector(VectorOp::row_sum, 1, 2, {block(0, 3, 1), block(0, 2, 4)}))
                .find("3x1 f32 at scratchpad 0x0"),
            std::string::npos);
  EXPECT_NE(error(test::vector(VectorOp::copy, 1, 2, {block(0, 2, 2), block(1 << 20, 2, 2)}))
                .find("reaches beyond the scratchpad's 1048576 bytes"),
            std::string::npos);
  EXPECT_NE(
      error(test::vector(VectorOp::sub, 1, 6, {block(0, 2, 4), block(0, 2, 4), block(0, 1, 4)})),
      "");
  EXPECT_EQ(
      error(test::vector(VectorOp::sub, 1, 6, {block(0, 2, 4), block(0, 2, 4), block(0, 1, 1)})),
      "");
}

}  // namespace
}  // namespace cubevp::hw
