// SPDX-License-Identifier: Apache-2.0
#include "firmware/runtime/neighbours.h"

#include <gtest/gtest.h>

#include <string>

#include "hw/base/sfr_table.h"
#include "tests/support/fake_machine.h"

namespace cubevp::runtime {
namespace {

using test::FakeConfig;
using test::FakeMachine;

std::string reason(FakeMachine& machine, std::uint32_t cube, std::uint32_t pe, RankAxis axis,
                   Direction d) {
  std::string text;
  machine.start(static_cast<CubeId>(cube), static_cast<PeId>(pe),
                [&](CommandPort& port) { text = Neighbours(port).why_none(axis, d).value_or(""); });
  machine.run();
  return text;
}

FakeConfig four_cubes() {
  FakeConfig c;
  c.cubes = 4;
  return c;
}

TEST(Neighbours, OpenChainOfPesEndsAtBothEnds) {
  FakeMachine m(four_cubes());
  EXPECT_EQ(reason(m, 2, 0, RankAxis::pe, Direction::east), "");
  EXPECT_EQ(reason(m, 2, 3, RankAxis::pe, Direction::west), "");
  EXPECT_EQ(reason(m, 2, 0, RankAxis::pe, Direction::west),
            "PE 0 is the first of 8 and PE_RING_SIZE of cube 2 is 0");
  EXPECT_EQ(reason(m, 2, 7, RankAxis::pe, Direction::east),
            "PE 7 is the last of 8 and PE_RING_SIZE of cube 2 is 0");
  EXPECT_EQ(reason(m, 2, 3, RankAxis::pe, Direction::north), "the pe axis has E and W only");
}

TEST(Neighbours, PeRingClosesTheChain) {
  FakeMachine m(four_cubes());
  m.write_sfr(CubeId{1}, sfr::kPeRingSize, 8);
  EXPECT_EQ(reason(m, 1, 7, RankAxis::pe, Direction::east), "");
  EXPECT_EQ(reason(m, 1, 0, RankAxis::pe, Direction::west), "");
}

TEST(Neighbours, CubesHaveWhatTheRegistersSay) {
  FakeMachine m(four_cubes());
  EXPECT_EQ(reason(m, 3, 0, RankAxis::cube, Direction::east), "TOPO_CTRL of cube 3 is disabled");
  m.chain({CubeId{0}, CubeId{1}, CubeId{3}}, false);
  EXPECT_EQ(reason(m, 3, 0, RankAxis::cube, Direction::east), "NBR_E of cube 3 is none");
  EXPECT_EQ(reason(m, 3, 0, RankAxis::cube, Direction::west), "");
  EXPECT_EQ(reason(m, 3, 0, RankAxis::cube, Direction::south), "NBR_S of cube 3 is none");
}

TEST(Neighbours, RingNeedsSizeAndMode) {
  FakeMachine m(four_cubes());
  const auto ring = [&m](RankAxis axis, std::int64_t size) {
    std::string text;
    m.start(CubeId{3}, PeId{5}, [&](CommandPort& port) {
      text = Neighbours(port).why_no_ring(axis, size).value_or("");
    });
    m.run();
    return text;
  };
  EXPECT_EQ(ring(RankAxis::cube, 8), "RING_SIZE of cube 3 is 0");
  EXPECT_EQ(ring(RankAxis::pe, 8), "PE_RING_SIZE of cube 3 is 0");
  m.chain({CubeId{2}, CubeId{3}}, false);
  EXPECT_EQ(ring(RankAxis::cube, 2), "TOPO_CTRL of cube 3 is mesh");
  m.chain({CubeId{2}, CubeId{3}}, true);
  EXPECT_EQ(ring(RankAxis::cube, 2), "");
  EXPECT_EQ(ring(RankAxis::cube, 3), "RING_SIZE of cube 3 is 2");
  m.write_sfr(CubeId{3}, sfr::kTopoCtrl, sfr::kTopoRing);
  EXPECT_EQ(ring(RankAxis::cube, 2), "TOPO_CTRL of cube 3 is disabled");
}

TEST(Neighbours, RegistersAreReadOnce) {
  FakeMachine m(four_cubes());
  m.chain({CubeId{0}, CubeId{1}}, false);
  m.start(CubeId{0}, PeId{0}, [](CommandPort& port) {
    Neighbours n(port);
    for (int i = 0; i < 10; ++i) {
      EXPECT_FALSE(n.why_none(RankAxis::cube, Direction::east));
      EXPECT_FALSE(n.why_none(RankAxis::pe, Direction::east));
    }
  });
  m.run();
  EXPECT_EQ(m.counted(CubeId{0}, PeId{0}).sfr_reads, 2U);  // TOPO_CTRL and NBR_E
}

}  // namespace
}  // namespace cubevp::runtime
