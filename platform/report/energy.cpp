// SPDX-License-Identifier: Apache-2.0
#include "platform/report/energy.h"

#include <cstdio>

namespace cubevp::platform {

namespace {

/// Whether the link at this end joins two packages. Links are named cube_x_y.link_d.
bool crosses_packages(const std::string& name, const hw::SystemConfig& config) {
  unsigned x = 0;
  unsigned y = 0;
  char side = 0;
  if (std::sscanf(name.c_str(), "cube_%u_%u.link_%c", &x, &y, &side) != 3) {
    return false;
  }
  switch (side) {
    case 'e':
      return (x + 1) % config.package_columns == 0;
    case 'w':
      return x % config.package_columns == 0;
    case 's':
      return (y + 1) % config.package_rows == 0;
    default:
      return y % config.package_rows == 0;
  }
}

}  // namespace

Energy energy_of(const std::vector<UnitResult>& units, const hw::SystemConfig& config) {
  const hw::EnergyConfig& e = config.energy;
  double gemm = 0;
  double sram = 0;
  double hbm = 0;
  double link = 0;
  double package_link = 0;
  double noc = 0;
  for (const UnitResult& u : units) {
    const double bytes = static_cast<double>(u.bytes);
    if (u.kind == "gemm") {
      gemm += static_cast<double>(u.ops) * e.gemm_pj_per_flop;
      sram += bytes * e.sram_pj_per_byte;
    } else if (u.kind == "vector" || u.kind == "scratchpad") {
      // The scratchpad's own count is what DMA and message queue moved.
      sram += bytes * e.sram_pj_per_byte;
    } else if (u.kind == "hbm_channel") {
      hbm += bytes * 8 * e.hbm_pj_per_bit;
    } else if (u.kind == "link") {
      const bool package = crosses_packages(u.name, config);
      (package ? package_link : link) +=
          bytes * 8 * (package ? e.package_link_pj_per_bit : e.link_pj_per_bit);
    } else if (u.kind == "router") {
      const auto hops = u.more.find("flit_hops_bytes");
      noc +=
          (hops == u.more.end() ? 0.0 : static_cast<double>(hops->second)) * e.noc_pj_per_byte_hop;
    }
  }
  constexpr double kNjPerPj = 1e-3;
  Energy out;
  out.by_unit_nj = {{"gemm", gemm * kNjPerPj},
                    {"sram", sram * kNjPerPj},
                    {"hbm", hbm * kNjPerPj},
                    {"link", link * kNjPerPj},
                    {"package_link", package_link * kNjPerPj},
                    {"noc", noc * kNjPerPj}};
  for (const auto& [unit, nj] : out.by_unit_nj) {
    out.total_nj += nj;
  }
  return out;
}

}  // namespace cubevp::platform
