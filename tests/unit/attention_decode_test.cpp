// SPDX-License-Identifier: Apache-2.0
// The decode kernels against attention straight from the definition.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "firmware/tl/kernel.h"
#include "tests/unit/attention_fixture.h"

namespace cubevp::test {
namespace {

using Heads = std::pair<std::int64_t, std::int64_t>;

class Decode : public testing::TestWithParam<std::string> {
 protected:
  AttentionCase base() const {
    AttentionCase c;
    c.kernel = GetParam();
    return c;
  }
};
INSTANTIATE_TEST_SUITE_P(Kernels, Decode,
                         testing::Values("attention_mesh_mlo", "attention_ring_mlo"));

TEST_P(Decode, EveryRankCountAndContext) {
  for (const std::int64_t ranks : {1, 2, 3, 4, 7, 8}) {
    for (const std::int64_t keys : {1, 7, 64, 130}) {
      AttentionCase c = base();
      c.ranks = ranks;
      c.keys = keys;
      expect_right(c);
    }
  }
}

TEST_P(Decode, EveryHeadLayoutAndDimension) {
  for (const Heads& heads : {Heads{1, 1}, Heads{8, 1}, Heads{8, 2}, Heads{6, 3}}) {
    for (const std::int64_t d : {16, 64, 128}) {
      AttentionCase c = base();
      c.ranks = 4;
      c.q_heads = heads.first;
      c.kv_heads = heads.second;
      c.head_dim = d;
      expect_right(c);
    }
  }
}

TEST_P(Decode, SeveralQueriesWithAndWithoutMask) {
  for (const std::int64_t t_q : {1, 5, 64}) {
    for (const bool causal : {false, true}) {
      for (const std::int64_t keys : {7, 64, 130}) {  // 64 queries on 7 keys: rows that see none
        AttentionCase c = base();
        c.ranks = 3;
        c.t_q = t_q;
        c.causal = causal;
        c.keys = keys;
        expect_right(c);
      }
    }
  }
}

TEST_P(Decode, EveryWayToExchange) {
  for (const DType exchange : {DType::f32, DType::f16}) {
    for (const bool pack : {true, false}) {
      for (const bool overlap : {true, false}) {
        for (const RankAxis axis : {RankAxis::pe, RankAxis::cube}) {
          AttentionCase c = base();
          c.ranks = 5;
          c.exchange = exchange;
          c.pack = pack;
          c.overlap = overlap;
          c.axis = axis;
          const AttentionResult r = expect_right(c);
          for (std::uint32_t i = 0; i < 5; ++i) {
            const bool cubes = axis == RankAxis::cube;
            EXPECT_EQ(
                r.machine
                    ->counted(static_cast<CubeId>(cubes ? i : 0), static_cast<PeId>(cubes ? 0 : i))
                    .nonfinite_sent,
                0U);
          }
        }
      }
    }
  }
}

TEST_P(Decode, TilesOfAnySize) {
  for (const bool composite : {false, true}) {
    for (const std::int64_t tile : {1, 5, 64, 1000}) {
      AttentionCase c = base();
      c.ranks = 2;
      c.t_q = 5;
      c.composite = composite;
      c.tile_keys = tile;
      expect_right(c);
    }
  }
}

TEST_P(Decode, RowsThatDoNotFitGoInPasses) {
  AttentionCase c = base();
  c.ranks = 3;
  c.t_q = 64;
  c.head_dim = 128;
  c.scratchpad_bytes = 64 * 1024;
  expect_right(c);
  c.composite = true;
  expect_right(c);
}

TEST_P(Decode, SmallestChannelsDoNotBlock) {
  for (const std::int64_t ranks : {2, 3, 8}) {
    for (const bool overlap : {true, false}) {
      AttentionCase c = base();
      c.ranks = ranks;
      c.head_dim = 16;
      c.channel_bytes = 64;
      c.overlap = overlap;
      c.pack = overlap;
      expect_right(c);
    }
  }
}

TEST_P(Decode, NeutralTripletsTravelWithoutNan) {
  for (const DType exchange : {DType::f32, DType::f16}) {
    AttentionCase c = base();
    c.keys = 1;
    c.exchange = exchange;
    const AttentionResult r = expect_right(c);
    for (std::uint32_t i = 0; i < 8; ++i) {
      EXPECT_EQ(r.machine->counted(CubeId{0}, static_cast<PeId>(i)).nonfinite_sent, 0U);
    }
  }
}

TEST_P(Decode, F32ProbabilitiesPassTheTighterGate) {
  AttentionCase c = base();
  c.p = DType::f32;
  c.keys = 700;
  c.t_q = 3;
  expect_right(c, kSeq);
}

TEST_P(Decode, LongerContextThanATile) {
  AttentionCase c = base();
  c.ranks = 2;
  c.keys = 3001;
  c.head_dim = 128;
  const AttentionResult r = expect_right(c);
  // 1500 or 1501 keys a rank in eighths, rounded up to 64: tiles of 192.
  EXPECT_EQ(r.machine->total("tiles"), 16U);
}

TEST(MeshMlo, EveryTripletTravelsOnceOverEveryLinkOnItsWay) {
  AttentionCase c;
  c.ranks = 8;
  const AttentionResult r = expect_right(c);
  for (std::int64_t i = 0; i < 8; ++i) {
    const auto& pe = r.machine->counted(CubeId{0}, static_cast<PeId>(i));
    // Eastwards the triplets of ranks 0..i, westwards those of i..7; the ends lack a side.
    const std::int64_t east = i < 7 ? i + 1 : 0;
    const std::int64_t west = i > 0 ? 8 - i : 0;
    EXPECT_EQ(pe.messages, static_cast<std::uint64_t>(east + west)) << "rank " << i;
    EXPECT_EQ(pe.message_bytes, pe.messages * 8 * (64 + 2) * 4);
  }
}

TEST(MeshMlo, UnpackedTripletsAreThreeMessages) {
  AttentionCase c;
  c.ranks = 2;
  c.pack = false;
  const AttentionResult r = expect_right(c);
  EXPECT_EQ(r.machine->counted(CubeId{0}, PeId{0}).messages, 3U);
}

TEST(MeshMlo, OneRankExchangesNothing) {
  AttentionCase c;
  c.ranks = 1;
  const AttentionResult r = expect_right(c);
  EXPECT_EQ(r.machine->counted(CubeId{0}, PeId{0}).messages, 0U);
}

TEST(MeshMlo, AsynchronousKernelWaitsForNothingBeforeItsEnd) {
  AttentionCase c;
  const AttentionResult r = expect_right(c);
  EXPECT_EQ(r.machine->counted(CubeId{0}, PeId{3}).waits, std::vector<std::string>{"fence"});
}

TEST(MeshMlo, NeedsNoRegisterOfTheRing) {
  AttentionCase c;
  c.configure_ring = false;
  expect_right(c);
}

TEST(TreeMlo, EveryPowerOfTwoOfRanks) {
  for (const std::int64_t ranks : {1, 2, 4, 8}) {
    for (const std::int64_t keys : {1, 7, 130}) {
      for (const DType exchange : {DType::f32, DType::f16}) {
        for (const bool async : {true, false}) {
          AttentionCase c;
          c.kernel = "attention_tree_mlo";
          c.ranks = ranks;
          c.keys = keys;
          c.exchange = exchange;
          c.overlap = async;
          c.pack = async;
          c.axis = async ? RankAxis::pe : RankAxis::cube;
          expect_right(c);
        }
      }
    }
  }
}

TEST(TreeMlo, SmallestChannelsDoNotBlock) {
  AttentionCase c;
  c.kernel = "attention_tree_mlo";
  c.channel_bytes = 64;
  c.head_dim = 16;
  expect_right(c);
}

TEST(TreeMlo, MiddleLinkCarriesHalfTheRanksAndThereAreLog2Merges) {
  AttentionCase c;
  c.kernel = "attention_tree_mlo";
  const AttentionResult r = expect_right(c);
  const auto& middle = r.machine->counted(CubeId{0}, PeId{3});
  std::int64_t merges = 0;
  std::int64_t eastwards = 0;
  for (const Command& command : middle.commands) {
    merges += command.opcode == Opcode::vector && command.vector_op == VectorOp::merge_mlo ? 1 : 0;
    eastwards +=
        command.opcode == Opcode::send && command.message.direction == Direction::east ? 1 : 0;
  }
  EXPECT_EQ(merges, 3);
  EXPECT_EQ(eastwards, 4);
}

TEST(TreeMlo, AllRanksEndWithTheSameBits) {
  AttentionCase c;
  c.kernel = "attention_tree_mlo";
  const AttentionResult r = expect_right(c);
  for (const auto& replica : r.replicas) {
    EXPECT_EQ(replica, r.replicas[0]);
  }
}

TEST(TreeMlo, OtherRankCountsFault) {
  AttentionCase c;
  c.kernel = "attention_tree_mlo";
  c.ranks = 6;
  try {
    run_attention(c, normal_inputs(c));
    FAIL() << "no fault";
  } catch (const tl::KernelFault& e) {
    EXPECT_STREQ(e.what(),
                 "kernel attention_tree_mlo, cube 0, PE 0: argument ranks: recursive doubling "
                 "needs a power of two, got 6");
  }
}

TEST(RingMlo, AllRanksEndWithTheSameBits) {
  AttentionCase c;
  c.kernel = "attention_ring_mlo";
  c.ranks = 7;
  c.t_q = 5;
  const AttentionResult r = expect_right(c);
  for (const auto& replica : r.replicas) {
    EXPECT_EQ(replica, r.replicas[0]);
  }
}

TEST(RingMlo, SendsEachRankItsShareTwice) {
  AttentionCase c;
  c.kernel = "attention_ring_mlo";
  const AttentionResult r = expect_right(c);
  // 8 rows over 8 ranks: 7 steps with a row's triplet in f32, 7 with a finished row in f16.
  const auto& pe = r.machine->counted(CubeId{0}, PeId{2});
  EXPECT_EQ(pe.messages, 14U);
  EXPECT_EQ(pe.message_bytes, 7U * (66 * 4 + 64 * 2));
}

TEST(RingMlo, WithoutTheRingItFaultsAndNamesTheRegister) {
  AttentionCase c;
  c.kernel = "attention_ring_mlo";
  c.configure_ring = false;
  try {
    run_attention(c, normal_inputs(c));
    FAIL() << "no fault";
  } catch (const tl::KernelFault& e) {
    EXPECT_STREQ(e.what(),
                 "kernel attention_ring_mlo, cube 0, PE 0: ring of 8 required, PE_RING_SIZE of "
                 "cube 0 is 0");
  }
}

}  // namespace
}  // namespace cubevp::test
