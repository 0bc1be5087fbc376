// SPDX-License-Identifier: Apache-2.0
#include "platform/host/topology.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "hw/base/sfr_table.h"

namespace cubevp::platform {
namespace {

hw::SystemConfig grid(std::uint32_t columns, std::uint32_t rows, std::uint32_t packages_x = 1,
                      std::uint32_t packages_y = 1) {
  hw::SystemConfig c;
  c.package_columns = columns;
  c.package_rows = rows;
  c.packages_x = packages_x;
  c.packages_y = packages_y;
  return c;
}

int distance(const hw::SystemConfig& c, CubeId a, CubeId b) {
  const int w = static_cast<int>(c.columns());
  const int ai = static_cast<int>(index(a));
  const int bi = static_cast<int>(index(b));
  return std::abs(ai % w - bi % w) + std::abs(ai / w - bi / w);
}

std::map<std::uint32_t, std::uint32_t> registers_of(const std::vector<SfrWrite>& writes,
                                                    CubeId cube) {
  std::map<std::uint32_t, std::uint32_t> out;
  for (const SfrWrite& w : writes) {
    if (w.cube == cube) {
      out[w.offset] = w.value;
    }
  }
  return out;
}

TEST(Topology, SixtyFourCubesHoldEightRingsOfEightWithEveryStepOneHop) {
  const hw::SystemConfig c = grid(4, 4, 2, 2);
  const std::vector<CubeGroup> groups = form_groups(c, 8, true);
  ASSERT_EQ(groups.size(), 8U);
  std::set<std::uint32_t> seen;
  for (const CubeGroup& g : groups) {
    ASSERT_EQ(g.cubes.size(), 8U);
    for (std::size_t i = 0; i < 8; ++i) {
      seen.insert(index(g.cubes[i]));
      EXPECT_EQ(distance(c, g.cubes[i], g.cubes[(i + 1) % 8]), 1);
    }
    // A ring stays inside its package.
    std::set<std::uint32_t> packages;
    for (const CubeId cube : g.cubes) {
      packages.insert(index(cube) % 8 / 4 + 2 * (index(cube) / 8 / 4));
    }
    EXPECT_EQ(packages.size(), 1U);
  }
  EXPECT_EQ(seen.size(), 64U);
}

TEST(Topology, ChainsStepOneHopAndAreOpen) {
  const hw::SystemConfig c = grid(4, 2);
  for (const std::uint32_t size : {1U, 2U, 3U, 4U, 5U, 7U, 8U}) {
    const std::vector<CubeGroup> groups = form_groups(c, size, false);
    ASSERT_FALSE(groups.empty()) << size;
    for (const CubeGroup& g : groups) {
      for (std::size_t i = 0; i + 1 < g.cubes.size(); ++i) {
        EXPECT_EQ(distance(c, g.cubes[i], g.cubes[i + 1]), 1) << "size " << size;
      }
    }
    const auto writes = configure_sfr_intercube_mesh(c, groups);
    const auto first = registers_of(writes, groups[0].cubes.front());
    const auto last = registers_of(writes, groups[0].cubes.back());
    EXPECT_EQ(first.at(sfr::kNeighbour + 4 * index(Direction::west)), sfr::kNoNeighbour);
    EXPECT_EQ(last.at(sfr::kNeighbour), sfr::kNoNeighbour);
    EXPECT_EQ(first.at(sfr::kTopoCtrl), sfr::kTopoEnable);
  }
}

TEST(Topology, RingWithoutHamiltonianCycleClosesOverSeveralHops) {
  const hw::SystemConfig c = grid(4, 2);
  const std::vector<CubeGroup> groups = form_groups(c, 3, true);
  ASSERT_FALSE(groups.empty());
  EXPECT_EQ(distance(c, groups[0].cubes.back(), groups[0].cubes.front()), 2);
  const auto writes = configure_sfr_intercube_ring(c, groups, 3);
  const auto last = registers_of(writes, groups[0].cubes.back());
  EXPECT_EQ(last.at(sfr::kNeighbour), index(groups[0].cubes.front()));
  EXPECT_EQ(last.at(sfr::kRingSize), 3U);
  EXPECT_EQ(last.at(sfr::kRingRank), 2U);
  EXPECT_EQ(last.at(sfr::kTopoCtrl), sfr::kTopoEnable | sfr::kTopoRing);
}

TEST(Topology, HamiltonianCyclesVisitEveryCellOnceAndClose) {
  for (int w = 1; w <= 6; ++w) {
    for (int h = 1; h <= 6; ++h) {
      const std::vector<GridPos> cycle = hamiltonian_cycle(w, h);
      if (w < 2 || h < 2 || (w * h) % 2 != 0) {
        EXPECT_TRUE(cycle.empty()) << w << "x" << h;
        continue;
      }
      ASSERT_EQ(cycle.size(), static_cast<std::size_t>(w * h));
      std::set<std::pair<int, int>> cells;
      for (std::size_t i = 0; i < cycle.size(); ++i) {
        const GridPos a = cycle[i];
        const GridPos b = cycle[(i + 1) % cycle.size()];
        EXPECT_EQ(std::abs(a.x - b.x) + std::abs(a.y - b.y), 1) << w << "x" << h;
        cells.emplace(a.x, a.y);
      }
      EXPECT_EQ(cells.size(), cycle.size());
    }
  }
}

TEST(Topology, CubesOutsideEveryGroupAreDisabled) {
  const hw::SystemConfig c = grid(4, 2);
  const auto writes = configure_sfr_intercube_mesh(c, {});
  ASSERT_EQ(writes.size(), 8U);
  for (const SfrWrite& w : writes) {
    EXPECT_EQ(w.offset, sfr::kTopoCtrl);
    EXPECT_EQ(w.value, 0U);
  }
}

TEST(Topology, GroupLargerThanTheGridDoesNotExist) {
  EXPECT_TRUE(form_groups(grid(4, 2), 9, true).empty());
  EXPECT_TRUE(form_groups(grid(4, 2), 0, true).empty());
}

TEST(Topology, RingOfAnotherSizeIsRefused) {
  const hw::SystemConfig c = grid(4, 2);
  EXPECT_THROW(configure_sfr_intercube_ring(c, form_groups(c, 4, true), 8), std::invalid_argument);
}

}  // namespace
}  // namespace cubevp::platform
