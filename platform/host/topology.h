// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "hw/base/ids.h"
#include "hw/system/system_config.h"

namespace cubevp::platform {

/// A chain or ring of cubes, in rank order.
struct CubeGroup {
  std::vector<CubeId> cubes;
};

/// One register write of the driver.
struct SfrWrite {
  CubeId cube{};
  std::uint32_t offset = 0;
  std::uint32_t value = 0;
};

/// Cuts the grid into groups of `size` cubes. A group is a block of the grid, inside one package
/// where such a block exists, ordered as a snake (open chain) or as a Hamiltonian cycle (ring), so
/// that every step in rank order is one hop. Where no block of that size fits, groups are cut
/// from the snake over the whole grid. A ring without a Hamiltonian cycle keeps the snake order;
/// its closing edge takes several hops. Empty when size is larger than the grid.
std::vector<CubeGroup> form_groups(const hw::SystemConfig& system, std::uint32_t size, bool ring);

/// Rank order of a width x height block as grid positions inside it.
std::vector<GridPos> snake_order(int width, int height);
/// Positions of a Hamiltonian cycle; empty when there is none (a side of 1, or both sides odd).
std::vector<GridPos> hamiltonian_cycle(int width, int height);

/// Logical neighbours of every cube of every group: open chains of ring_size = 0, or closed rings.
/// Cubes outside any group have their neighbours disabled.
std::vector<SfrWrite> configure_sfr_intercube_mesh(const hw::SystemConfig& system,
                                                   const std::vector<CubeGroup>& groups);
/// All groups must have `ring_size` cubes.
std::vector<SfrWrite> configure_sfr_intercube_ring(const hw::SystemConfig& system,
                                                   const std::vector<CubeGroup>& groups,
                                                   std::uint32_t ring_size);

}  // namespace cubevp::platform
