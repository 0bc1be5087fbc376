// SPDX-License-Identifier: Apache-2.0
#include "hw/gemm/gemm_unit.h"

#include <gtest/gtest.h>

#include "hw/numerics/convert.h"
#include "tests/unit/engines_harness.h"

namespace cubevp::hw {
namespace {

using test::block;
using test::CommandSource;
using test::gemm;
using test::kCycle;
using test::PeBench;
using test::transposed;

struct GemmBench : PeBench {
  explicit GemmBench(bool keep_data = true) : PeBench(keep_data), unit("gemm_unit", {}, shared) {
    checkers.bind(source.isock, unit.cmd_tsock);
    unit.mem_isock.bind(scratchpad.mem_tsocks[0]);
    leave_memory_open(1);
  }
  CommandSource source{"source", pool};
  GemmUnit unit;
  test::ProtocolCheckers checkers;
};

std::vector<std::uint16_t> to_f16(const std::vector<float>& values) {
  std::vector<std::uint16_t> halves;
  for (const float v : values) {
    halves.push_back(numerics::f32_to_f16(v));
  }
  return halves;
}

TEST(GemmUnit, ComputesWhatANaiveLoopComputes) {
  constexpr std::uint32_t m = 9;
  constexpr std::uint32_t n = 37;
  constexpr std::uint32_t k = 29;
  for (const bool b_transposed : {false, true}) {
    // One simulation a process: both products run on one unit.
    static GemmBench* bench = new GemmBench;
    const auto a = to_f16(test::random_f32(m * k, 1));
    const auto b = to_f16(test::random_f32(k * n, 2));
    bench->put<std::uint16_t>(0, a);
    bench->put<std::uint16_t>(8192, b);
    const Operand b_block =
        b_transposed ? transposed(block(8192, n, k, DType::f16)) : block(8192, k, n, DType::f16);
    const auto& issued = bench->source.add(
        gemm(block(32768, m, n), block(0, m, k, DType::f16), b_block), sim::now_ps());
    sc_core::sc_start();
    EXPECT_EQ(issued.fault, "");
    const auto c = bench->get<float>(32768, m * n);
    for (std::uint32_t r = 0; r < m; ++r) {
      for (std::uint32_t col = 0; col < n; ++col) {
        float sum = 0;
        for (std::uint32_t i = 0; i < k; ++i) {
          sum += numerics::f16_to_f32(a[r * k + i]) *
                 numerics::f16_to_f32(b_transposed ? b[col * k + i] : b[i * n + col]);
        }
        ASSERT_EQ(c[r * n + col], sum) << r << "," << col;
      }
    }
  }
}

TEST(GemmUnit, TakesFillAndStepsAndHidesTheFillOfWhatWaits) {
  GemmBench bench;
  const Command c = gemm(block(65536, 8, 64), block(0, 8, 128), block(4096, 128, 64));
  const Ps steps = 1 * 2 * 8 * kCycle;
  auto& first = bench.source.add(c);
  auto& second = bench.source.add(c);
  auto& third = bench.source.add(c, first.at + 20 * kCycle);
  auto& late = bench.source.add(c, 1000 * kCycle);
  sc_core::sc_start();
  EXPECT_EQ(first.done, 32 * kCycle + steps);
  EXPECT_EQ(second.done, first.done + steps);
  EXPECT_EQ(third.done, second.done + steps);
  EXPECT_EQ(late.done, 1000 * kCycle + 32 * kCycle + steps);
  EXPECT_EQ(bench.unit.stats().more.at("fills"), 2U);
  EXPECT_EQ(bench.unit.stats().more.at("steps"), 4U * 16);
  EXPECT_EQ(bench.unit.stats().ops, 4U * 2 * 8 * 64 * 128);
  EXPECT_EQ(bench.unit.stats().busy_ps, 2 * 32 * kCycle + 4 * steps);
  EXPECT_EQ(bench.activity.spent_ps()[0], bench.unit.stats().busy_ps);
  EXPECT_EQ(bench.checkers.open(), 0U);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(GemmUnit, ACommandSentOnTheAnswerPaysTheFill) {
  GemmBench bench;
  const Command c = gemm(block(65536, 1, 32), block(0, 1, 16), block(4096, 16, 32));
  CommandSource::Issued* second = nullptr;
  bench.source.on_done = [&](CommandSource::Issued&) {
    if (second == nullptr) {
      second = &bench.source.add(c, sim::now_ps());
    }
  };
  bench.source.add(c);
  sc_core::sc_start();
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->done, 2 * 33 * kCycle);
}

TEST(GemmUnit, HoldsEndReqBackWhenTwoCommandsWait) {
  GemmBench bench;
  const Command c = gemm(block(65536, 8, 32), block(0, 8, 1600), block(131072, 1600, 32));
  std::vector<CommandSource::Issued*> issued;
  for (int i = 0; i < 5; ++i) {
    issued.push_back(&bench.source.add(c));
  }
  sc_core::sc_start();
  EXPECT_EQ(issued[2]->accepted, 0);
  EXPECT_EQ(issued[3]->accepted, issued[0]->done);
  EXPECT_EQ(issued[4]->accepted, issued[1]->done);
}

TEST(GemmUnit, AccumulatesOntoTheOldResult) {
  GemmBench bench;
  bench.put<float>(0, {1, 2});
  bench.put<float>(64, {3, 4});
  bench.put<float>(128, {10});
  bench.source.add(gemm(block(128, 1, 1), block(0, 1, 2), block(64, 2, 1), true));
  sc_core::sc_start();
  EXPECT_EQ(bench.get<float>(128, 1)[0], 10.0F + 3.0F + 8.0F);
}

TEST(GemmUnit, AZeroProbabilityHidesWhatMemoryHolds) {
  GemmBench bench;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  bench.put<float>(0, {2, 0});
  bench.put<float>(64, {3, nan});
  bench.source.add(gemm(block(128, 1, 1), block(0, 1, 2), block(64, 2, 1)));
  bench.source.add(gemm(block(192, 1, 1), block(0, 1, 2), transposed(block(64, 1, 2))));
  sc_core::sc_start();
  EXPECT_EQ(bench.get<float>(128, 1)[0], 6.0F);
  EXPECT_TRUE(std::isnan(bench.get<float>(192, 1)[0]));
}

TEST(GemmUnit, ChainsGiveTheBitsOfOneGemm) {
  constexpr std::uint32_t m = 5;
  constexpr std::uint32_t n = 70;
  constexpr std::uint32_t k = 96;
  GemmBench bench;
  bench.put<std::uint16_t>(0, to_f16(test::random_f32(m * k, 3)));
  bench.put<std::uint16_t>(8192, to_f16(test::random_f32(k * n, 4)));
  bench.put<float>(65536, test::random_f32(m * n, 5));
  bench.put<float>(131072, test::random_f32(m * n, 5));
  Command whole =
      gemm(block(65536, m, n), block(0, m, k, DType::f16), block(8192, k, n, DType::f16), true);
  whole.epilogue.scale = 0.3F;
  whole.epilogue.softcap = 2.0F;
  bench.source.add(whole);
  std::uint32_t first = 0;
  for (const std::uint32_t depth : {40U, 8U, 47U, 1U}) {
    Command part = whole;
    part.operands[0] = block(131072, m, n);
    part.operands[1] = test::strided(block(2 * first, m, depth, DType::f16), 2 * k);
    part.operands[2] = block(8192 + 2 * first * n, depth, n, DType::f16);
    part.from_accumulators = first != 0;
    first += depth;
    part.to_accumulators = first != k;
    bench.source.add(part);
  }
  sc_core::sc_start();
  EXPECT_EQ(bench.get<std::uint32_t>(65536, m * n), bench.get<std::uint32_t>(131072, m * n));
  EXPECT_NE(bench.get<float>(65536, 1)[0], 0.0F);
}

TEST(GemmUnit, BadCommandsFailWithTheReason) {
  GemmBench bench;
  const auto& shapes = bench.source.add(gemm(block(0, 2, 2), block(64, 2, 3), block(128, 4, 2)));
  const auto& beyond =
      bench.source.add(gemm(block(4 << 20, 2, 2), block(64, 2, 3), block(128, 3, 2)));
  const auto& foreign = bench.source.add(test::load(block(0, 1, 1), test::in_hbm(block(0, 1, 1))));
  const auto& good = bench.source.add(gemm(block(0, 2, 2), block(64, 2, 3), block(128, 3, 2)));
  sc_core::sc_start();
  EXPECT_NE(shapes.fault.find("the shapes do not fit"), std::string::npos) << shapes.fault;
  EXPECT_NE(beyond.fault.find("reaches beyond"), std::string::npos) << beyond.fault;
  EXPECT_EQ(foreign.fault, "the gemm unit was given a load");
  EXPECT_EQ(good.fault, "");
}

TEST(GemmUnit, TimingOnlyTakesTheSameTime) {
  GemmBench bench(false);
  const Command c = gemm(block(65536, 8, 64), block(0, 8, 128), block(4096, 128, 64));
  auto& first = bench.source.add(c);
  auto& second = bench.source.add(c);
  sc_core::sc_start();
  EXPECT_EQ(first.done, (32 + 16) * kCycle);
  EXPECT_EQ(second.done, (32 + 16 + 16) * kCycle);
}

}  // namespace
}  // namespace cubevp::hw
