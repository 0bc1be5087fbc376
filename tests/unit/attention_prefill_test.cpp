// SPDX-License-Identifier: Apache-2.0
// The prefill kernel against attention straight from the definition.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "firmware/tl/kernel.h"
#include "tests/unit/attention_fixture.h"

namespace cubevp::test {
namespace {

using Heads = std::pair<std::int64_t, std::int64_t>;

AttentionCase prefill() {
  AttentionCase c;
  c.kernel = "gqa_prefill_ring";
  c.axis = RankAxis::cube;
  c.ranks = 4;
  c.t_q = 5;
  return c;
}

TEST(Prefill, EveryRingSizeAndContext) {
  for (const std::int64_t ranks : {1, 2, 3, 4, 7, 8}) {
    for (const std::int64_t keys : {1, 7, 64, 130}) {
      for (const std::int64_t slices : {1, 3}) {
        AttentionCase c = prefill();
        c.ranks = ranks;
        c.keys = keys;
        c.slices = slices;
        expect_right(c);
      }
    }
  }
}

TEST(Prefill, EveryHeadLayoutAndDimension) {
  for (const Heads& heads : {Heads{1, 1}, Heads{8, 1}, Heads{8, 2}, Heads{6, 3}}) {
    for (const std::int64_t d : {16, 64, 128}) {
      AttentionCase c = prefill();
      c.q_heads = heads.first;
      c.kv_heads = heads.second;
      c.head_dim = d;
      expect_right(c);
    }
  }
}

TEST(Prefill, EveryShardingAndMask) {
  for (const Sharding sharding : {Sharding::contiguous, Sharding::striped, Sharding::zigzag}) {
    for (const bool causal : {false, true}) {
      for (const std::int64_t t_q : {1, 5, 64}) {
        for (const std::int64_t keys : {7, 130}) {  // 64 queries on 7 keys: rows that see none
          AttentionCase c = prefill();
          c.ranks = 3;
          c.sharding = sharding;
          c.causal = causal;
          c.t_q = t_q;
          c.keys = keys;
          expect_right(c);
        }
      }
    }
  }
}

TEST(Prefill, OverlapAndGemmModes) {
  for (const bool overlap : {false, true}) {
    for (const bool composite : {false, true}) {
      for (const std::int64_t tile : {0, 7}) {
        AttentionCase c = prefill();
        c.overlap = overlap;
        c.composite = composite;
        c.tile_keys = tile;
        expect_right(c);
      }
    }
  }
}

TEST(Prefill, OnlyOnePeComputesAndAllPassBlocksOn) {
  AttentionCase c = prefill();
  c.slices = 4;
  c.one_active = true;
  const AttentionResult r = expect_right(c);
  EXPECT_GT(r.machine->counted(CubeId{1}, PeId{3}).message_bytes, 0U);
}

TEST(Prefill, CubesWithNothingToComputePassBlocksOn) {
  AttentionCase c = prefill();
  c.q_heads = 1;
  c.t_q = 2;  // two rows for eight PEs
  expect_right(c);
}

TEST(Prefill, RowsThatDoNotFitGoInPasses) {
  for (const std::int64_t slices : {1, 2}) {
    AttentionCase c = prefill();
    c.ranks = 3;
    c.t_q = 64;
    c.head_dim = 128;
    c.slices = slices;
    c.scratchpad_bytes = 48 * 1024;
    const AttentionResult r = expect_right(c);
    EXPECT_GT(r.machine->total("ring_steps"), 3U * 2U);
  }
}

TEST(Prefill, SmallestChannelsDoNotBlock) {
  for (const std::int64_t ranks : {2, 3, 4}) {
    for (const bool overlap : {true, false}) {
      AttentionCase c = prefill();
      c.ranks = ranks;
      c.head_dim = 16;
      c.keys = 64;
      c.channel_bytes = 64;
      c.overlap = overlap;
      expect_right(c);
    }
  }
}

TEST(Prefill, BlockGoesInManyChunks) {
  AttentionCase c = prefill();
  c.ranks = 2;
  c.keys = 1001;
  c.slices = 1;
  c.scratchpad_bytes = 64 * 1024;  // chunks of 4 KiB, 32 rows
  const AttentionResult r = expect_right(c);
  EXPECT_EQ(r.machine->counted(CubeId{0}, PeId{0}).messages, 2U * 16);
  EXPECT_EQ(r.machine->counted(CubeId{0}, PeId{0}).message_bytes, 2U * 500 * 64 * 2);
}

TEST(Prefill, EachCubeCountsItsRotations) {
  AttentionCase c = prefill();
  const AttentionResult r = expect_right(c);
  EXPECT_EQ(r.machine->total("ring_steps"), 4U * 3U);
}

TEST(Prefill, WhollyMaskedBlocksAreSkippedAndPassedOn) {
  AttentionCase c = prefill();
  c.q_heads = 1;
  c.keys = 128;
  c.t_q = 128;
  c.slices = 1;
  c.tile_keys = 32;
  // Cube r has queries and keys 32r .. 32r+31: of the 4 blocks it sees 0 .. r.
  const AttentionResult r = expect_right(c);
  for (std::uint32_t i = 0; i < 4; ++i) {
    const auto& pe = r.machine->counted(static_cast<CubeId>(i), PeId{0});
    EXPECT_EQ(pe.counters.at("tiles"), i + 1);
    EXPECT_EQ(pe.counters.count("steps_skipped") ? pe.counters.at("steps_skipped") : 0, 3 - i);
    EXPECT_EQ(pe.counters.count("tiles_skipped") ? pe.counters.at("tiles_skipped") : 0, 3 - i);
    EXPECT_EQ(pe.messages, 2U * 3U);
  }
}

TEST(Prefill, StripedShardsSkipNothing) {
  AttentionCase c = prefill();
  c.q_heads = 1;
  c.keys = 128;
  c.t_q = 128;
  c.slices = 1;
  c.tile_keys = 32;
  c.sharding = Sharding::striped;
  const AttentionResult r = expect_right(c);
  EXPECT_EQ(r.machine->total("steps_skipped"), 0U);
}

TEST(Prefill, F32ProbabilitiesPassTheTighterGate) {
  AttentionCase c = prefill();
  c.p = DType::f32;
  c.keys = 700;
  expect_right(c, kSeq);
}

TEST(Prefill, WithoutTheRingItFaultsAndNamesTheRegister) {
  AttentionCase c = prefill();
  c.configure_ring = false;
  try {
    run_attention(c, normal_inputs(c));
    FAIL() << "no fault";
  } catch (const tl::KernelFault& e) {
    EXPECT_STREQ(e.what(),
                 "kernel gqa_prefill_ring, cube 0, PE 0: ring of 4 required, RING_SIZE of cube 0 "
                 "is 0");
  }
}

}  // namespace
}  // namespace cubevp::test
