// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "hw/hbm/hbm_stack.h"
#include "hw/link/cube_link.h"
#include "hw/noc/noc.h"
#include "hw/pe/pe.h"
#include "hw/sfr/sfr_block.h"
#include "hw/system/system_config.h"

namespace cubevp::hw {

/// Where a cube stands and what of the machine it shares.
struct CubeContext {
  CubeId id{};
  GridPos position;
  bool keep_data;
  sim::PayloadPool& pool;
  sim::HostPool& host_pool;
  const FirmwareImage& firmware;
};

/// A cube: PEs, network, HBM, register block and the four link endpoints, bound to each other.
///
/// `control_tsock` is the host's way in: registers by b_transport, every region by transport_dbg.
class Cube final : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Cube> control_tsock{"control_tsock"};

  Cube(const sc_core::sc_module_name& name, const SystemConfig& config, const CubeContext& context);

  /// Joins this cube's side `direction` with the opposite side of `neighbour`. Called once for
  /// each pair of neighbours, before the simulation starts.
  void connect(Direction direction, Cube& neighbour);

  CubeId id() const { return id_; }
  Pe& pe(PeId id) { return pes_[index(id)]; }
  std::size_t pes() const { return pes_.size(); }
  bool interrupt_pending() const { return sfr_.irq_pending(); }
  const sc_core::sc_event& interrupt_event() const { return sfr_.irq_event(); }
  CubeLink& link(Direction d) { return *links_[static_cast<std::size_t>(index(d))]; }
  HbmStack& hbm() { return hbm_; }

  /// HBM and scratchpads: what was never written reads as `fill` from now on.
  void clear_memory(unsigned char fill);

 private:
  SfrBlock::Config sfr_config(const CubeContext& context);
  LinkPorts link_ports(Direction side) const;
  bool wired(Direction side) const;
  const LinkConfig& link_config(Direction side) const;
  Neighbour neighbour_of(PeId pe, RankAxis axis, Direction direction) const;
  Pe* make_pe(const char* name, std::size_t i, const CubeContext& context);
  void wire();
  void control_b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned control_transport_dbg(tlm::tlm_generic_payload& payload);

  const CubeId id_;
  const GridPos position_;
  const SystemConfig& config_;
  tlm_utils::simple_initiator_socket<Cube> sfr_isock_{"sfr_isock"};
  SfrBlock sfr_;
  Noc noc_;
  HbmStack hbm_;
  std::array<std::unique_ptr<CubeLink>, kDirections> links_;
  sc_core::sc_vector<Pe> pes_{"pe"};
};

}  // namespace cubevp::hw
