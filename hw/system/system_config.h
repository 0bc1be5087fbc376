// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/hbm/hbm_config.h"
#include "hw/link/link_config.h"
#include "hw/noc/noc_config.h"
#include "hw/pe/pe_config.h"

namespace cubevp::hw {

/// Energy of one operation of a unit; result = counts x these.
struct EnergyConfig {
  double gemm_pj_per_flop = 0.32;
  double sram_pj_per_byte = 1.28;
  double hbm_pj_per_bit = 3.29;
  double link_pj_per_bit = 0.3;
  double package_link_pj_per_bit = 5.5;
  double noc_pj_per_byte_hop = 1.0;
};

/// Packages are cut out of the system's cube grid; where two neighbouring cubes belong to
/// different packages, `package_link` joins them instead of `link`.
struct SystemConfig {
  std::uint32_t package_columns = 4;  ///< cubes in a row of a package
  std::uint32_t package_rows = 4;
  std::uint32_t packages_x = 2;
  std::uint32_t packages_y = 2;
  PeConfig pe;
  NocConfig noc;
  HbmConfig hbm;
  LinkConfig link;
  LinkConfig package_link{{100e9}, 1.0, 250 * kPsPerNs, 0, 0};
  EnergyConfig energy;

  std::uint32_t columns() const { return package_columns * packages_x; }
  std::uint32_t rows() const { return package_rows * packages_y; }
  std::uint32_t cubes() const { return columns() * rows(); }
  std::uint32_t pes_per_cube() const { return noc.stops(); }
};

}  // namespace cubevp::hw
