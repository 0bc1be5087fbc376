// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <systemc>

#include "hw/noc/network_interface.h"
#include "hw/noc/noc_config.h"
#include "hw/noc/router.h"
#include "hw/noc/routing.h"

namespace cubevp::hw {

/// The mesh of one cube: routers `router_<p>` at the stops of the PEs, in snake order, and their
/// network interfaces `ni_pe_<p>` and `ni_hbm_<p>`. Ports at the mesh's edge lead to the links, or
/// stay unbound at the border of the system.
///
/// Throws std::invalid_argument for a mesh that cannot be built.
class Noc final : public sc_core::sc_module {
 public:
  /// `topology.columns` and `.rows` must be those of the config.
  Noc(const sc_core::sc_module_name& name, const NocConfig& config, const Topology& topology,
      GridPos cube);

  /// dma_tsock, message_tsock, cpu_tsock; scratchpad_isock, message_isock, and sfr_isock at stop 0.
  NetworkInterface& ni_pe(std::size_t stop) { return ni_pes_[stop]; }
  /// hbm_isock.
  NetworkInterface& ni_hbm(std::size_t stop) { return ni_hbms_[stop]; }
  Router& router(std::size_t stop) { return routers_[stop]; }

  /// Sockets of a side, to and from the link: `position` is the row for east and west, the column
  /// for north and south.
  std::size_t edge_positions(Direction side) const;
  auto& edge_isock(Direction side, std::size_t position) {
    return edge_router(side, position).isocks[static_cast<std::size_t>(index(side))];
  }
  auto& edge_tsock(Direction side, std::size_t position) {
    return edge_router(side, position).tsocks[static_cast<std::size_t>(index(side))];
  }

 private:
  Router& edge_router(Direction side, std::size_t position);
  void wire();

  const NocConfig config_;
  sc_core::sc_vector<Router> routers_{"router"};
  sc_core::sc_vector<NetworkInterface> ni_pes_{"ni_pe"};
  sc_core::sc_vector<NetworkInterface> ni_hbms_{"ni_hbm"};
};

}  // namespace cubevp::hw
