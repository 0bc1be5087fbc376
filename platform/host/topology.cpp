// SPDX-License-Identifier: Apache-2.0
#include "platform/host/topology.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "hw/base/sfr_table.h"

namespace cubevp::platform {

namespace {

struct Block {
  int width = 0;
  int height = 0;
};

// Blocks that do not straddle packages come first, then those with a Hamiltonian cycle (for
// rings), then the squarest, then the widest.
Block choose_block(const hw::SystemConfig& system, int size, bool ring) {
  const int columns = static_cast<int>(system.columns());
  const int rows = static_cast<int>(system.rows());
  Block best;
  auto rank = [&](Block b) {
    const bool in_package = static_cast<int>(system.package_columns) % b.width == 0 &&
                            static_cast<int>(system.package_rows) % b.height == 0;
    const bool cycle = !ring || size <= 2 || !hamiltonian_cycle(b.width, b.height).empty();
    return std::make_tuple(!in_package, !cycle, std::abs(b.width - b.height), -b.width);
  };
  for (int width = 1; width <= std::min(size, columns); ++width) {
    if (size % width != 0 || size / width > rows) {
      continue;
    }
    const Block block{width, size / width};
    if (best.width == 0 || rank(block) < rank(best)) {
      best = block;
    }
  }
  return best;
}

std::vector<SfrWrite> configure(const hw::SystemConfig& system,
                                const std::vector<CubeGroup>& groups, bool ring) {
  std::vector<SfrWrite> writes;
  std::vector<bool> member(system.cubes(), false);
  for (const CubeGroup& group : groups) {
    const std::uint32_t n = static_cast<std::uint32_t>(group.cubes.size());
    for (std::uint32_t r = 0; r < n; ++r) {
      const CubeId cube = group.cubes[r];
      member[index(cube)] = true;
      const bool closed = ring && n > 1;
      const auto neighbour = [&](bool east) -> std::uint32_t {
        const bool at_end = east ? r + 1 == n : r == 0;
        if (at_end && !closed) {
          return sfr::kNoNeighbour;
        }
        return index(group.cubes[east ? (r + 1) % n : (r + n - 1) % n]);
      };
      const auto nbr = [](Direction d) {
        return sfr::kNeighbour + 4 * static_cast<std::uint32_t>(index(d));
      };
      writes.push_back({cube, sfr::kRingSize, n});
      writes.push_back({cube, sfr::kRingRank, r});
      writes.push_back({cube, nbr(Direction::east), neighbour(true)});
      writes.push_back({cube, nbr(Direction::west), neighbour(false)});
      writes.push_back({cube, nbr(Direction::north), sfr::kNoNeighbour});
      writes.push_back({cube, nbr(Direction::south), sfr::kNoNeighbour});
      writes.push_back({cube, sfr::kTopoCtrl, sfr::kTopoEnable | (ring ? sfr::kTopoRing : 0)});
    }
  }
  for (std::uint32_t c = 0; c < system.cubes(); ++c) {
    if (!member[c]) {
      writes.push_back({static_cast<CubeId>(c), sfr::kTopoCtrl, 0});
    }
  }
  return writes;
}

}  // namespace

std::vector<GridPos> snake_order(int width, int height) {
  std::vector<GridPos> order;
  for (int i = 0; i < width * height; ++i) {
    order.push_back(snake_position(i, width));
  }
  return order;
}

std::vector<GridPos> hamiltonian_cycle(int width, int height) {
  if (width < 2 || height < 2 || (width % 2 != 0 && height % 2 != 0)) {
    return {};
  }
  if (height % 2 != 0) {
    std::vector<GridPos> order = hamiltonian_cycle(height, width);
    for (GridPos& p : order) {
      std::swap(p.x, p.y);
    }
    return order;
  }
  // A snake over columns 1.., and back up column 0.
  std::vector<GridPos> order{{0, 0}};
  for (int y = 0; y < height; ++y) {
    for (int i = 1; i < width; ++i) {
      order.push_back({y % 2 == 0 ? i : width - i, y});
    }
  }
  for (int y = height - 1; y > 0; --y) {
    order.push_back({0, y});
  }
  return order;
}

std::vector<CubeGroup> form_groups(const hw::SystemConfig& system, std::uint32_t size, bool ring) {
  std::vector<CubeGroup> groups;
  if (size == 0 || size > system.cubes()) {
    return groups;
  }
  const int columns = static_cast<int>(system.columns());
  const int rows = static_cast<int>(system.rows());
  const auto cube_at = [columns](GridPos p) { return static_cast<CubeId>(p.y * columns + p.x); };

  const Block block = choose_block(system, static_cast<int>(size), ring);
  if (block.width == 0) {
    const std::vector<GridPos> chain = snake_order(columns, rows);
    for (std::size_t first = 0; first + size <= chain.size(); first += size) {
      CubeGroup group;
      for (std::size_t i = 0; i < size; ++i) {
        group.cubes.push_back(cube_at(chain[first + i]));
      }
      groups.push_back(std::move(group));
    }
    return groups;
  }
  std::vector<GridPos> order =
      ring ? hamiltonian_cycle(block.width, block.height) : std::vector<GridPos>{};
  if (order.empty()) {
    order = snake_order(block.width, block.height);
  }
  for (int y = 0; y + block.height <= rows; y += block.height) {
    for (int x = 0; x + block.width <= columns; x += block.width) {
      CubeGroup group;
      for (const GridPos p : order) {
        group.cubes.push_back(cube_at({x + p.x, y + p.y}));
      }
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

std::vector<SfrWrite> configure_sfr_intercube_mesh(const hw::SystemConfig& system,
                                                   const std::vector<CubeGroup>& groups) {
  return configure(system, groups, false);
}

std::vector<SfrWrite> configure_sfr_intercube_ring(const hw::SystemConfig& system,
                                                   const std::vector<CubeGroup>& groups,
                                                   std::uint32_t ring_size) {
  for (const CubeGroup& group : groups) {
    if (group.cubes.size() != ring_size) {
      throw std::invalid_argument("a ring of " + std::to_string(ring_size) +
                                  " cubes was asked for, a group has " +
                                  std::to_string(group.cubes.size()));
    }
  }
  return configure(system, groups, true);
}

}  // namespace cubevp::platform
