// SPDX-License-Identifier: Apache-2.0
#include "hw/gemm/gemm_timing.h"

#include <gtest/gtest.h>

namespace cubevp::hw {
namespace {

// Tiles counted one by one, without a division.
std::int64_t count_blocks(std::int64_t n, std::int64_t block) {
  std::int64_t blocks = 0;
  for (std::int64_t i = 0; i < n; i += block) {
    ++blocks;
  }
  return blocks;
}

class GemmTimingGrid : public testing::TestWithParam<std::tuple<int, int, int>> {};

TEST_P(GemmTimingGrid, BlockDataflowStepsOncePerBlock) {
  const auto [m, n, k] = GetParam();
  GemmConfig config;
  const GemmCycles cycles = gemm_cycles(config, {m, n, k});
  EXPECT_EQ(cycles.steps, count_blocks(m, 8) * count_blocks(n, 32) * count_blocks(k, 16));
  EXPECT_EQ(cycles.fill, 32);
}

TEST_P(GemmTimingGrid, SystolicArraysChargeEveryFold) {
  const auto [m, n, k] = GetParam();
  GemmConfig config;
  config.rows = 16;
  config.cols = 8;
  config.dataflow = Dataflow::output_stationary;
  EXPECT_EQ(gemm_cycles(config, {m, n, k}).steps,
            count_blocks(m, 16) * count_blocks(n, 8) * (16 + 8 + k - 2));
  config.dataflow = Dataflow::weight_stationary;
  EXPECT_EQ(gemm_cycles(config, {m, n, k}).steps,
            count_blocks(k, 16) * count_blocks(n, 8) * (2 * 16 + 8 + m - 2));
}

TEST_P(GemmTimingGrid, OverlappedFillIsPaidByTheFirstFoldOnly) {
  const auto [m, n, k] = GetParam();
  GemmConfig config;
  config.rows = 16;
  config.cols = 8;
  config.overlap_fill = true;
  config.dataflow = Dataflow::output_stationary;
  GemmCycles cycles = gemm_cycles(config, {m, n, k});
  const std::int64_t os_folds = count_blocks(m, 16) * count_blocks(n, 8);
  EXPECT_EQ(cycles.steps + cycles.fill, (16 + 8 + k - 2) + (os_folds - 1) * k);
  config.dataflow = Dataflow::weight_stationary;
  cycles = gemm_cycles(config, {m, n, k});
  const std::int64_t ws_folds = count_blocks(k, 16) * count_blocks(n, 8);
  EXPECT_EQ(cycles.steps + cycles.fill, (2 * 16 + 8 + m - 2) + (ws_folds - 1) * m);
}

INSTANTIATE_TEST_SUITE_P(Shapes, GemmTimingGrid,
                         testing::Combine(testing::Values(1, 7, 8, 9, 128),
                                          testing::Values(1, 31, 32, 33, 512),
                                          testing::Values(1, 16, 17, 128)));

TEST(GemmTiming, NothingToMultiplyTakesNoTime) {
  for (const GemmShape shape : {GemmShape{0, 4, 4}, GemmShape{4, 0, 4}, GemmShape{4, 4, 0}}) {
    const GemmCycles cycles = gemm_cycles(GemmConfig{}, shape);
    EXPECT_EQ(cycles.steps + cycles.fill, 0);
    EXPECT_EQ(shape.flops(), 0U);
  }
}

TEST(GemmTiming, WeightStationaryDecodeUsesAnEighthOfTheArray) {
  // 8 query rows on a 64 x 64 array, weights reloaded for every fold.
  GemmConfig config;
  config.rows = 64;
  config.cols = 64;
  config.dataflow = Dataflow::weight_stationary;
  config.overlap_fill = true;
  const GemmShape shape{8, 1024, 128};
  const GemmCycles cycles = gemm_cycles(config, shape);
  EXPECT_EQ(cycles.steps, 2 * 16 * 8);
}

TEST(GemmTiming, FlopsLeavePaddingOut) {
  EXPECT_EQ((GemmShape{1, 33, 17}.flops()), 2U * 33 * 17);
}

}  // namespace
}  // namespace cubevp::hw
