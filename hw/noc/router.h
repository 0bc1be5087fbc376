// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "hw/noc/noc_config.h"
#include "hw/noc/routing.h"
#include "hw/sim/packet_switch.h"
#include "hw/sim/stats.h"
#include "hw/sim/trace_signal.h"

namespace cubevp::hw {

/// One stop's router: four directions and the network interfaces of a PE and of an HBM port.
///
/// Requests and messages come in by a port's target socket and leave by a port's initiator
/// socket; a response goes back the way its request came, on its own virtual channel. Towards a
/// port there is one channel: the initiator socket's forward path and the target socket's
/// backward path share it.
///
/// Timing contract: nb_transport times are those of the packet's head; buffers are kept by
/// credits (sim::vc_credit), so BEGIN_REQ and BEGIN_RESP are answered at once. b_transport adds
/// the latency of an idle network.
///
/// Does not model: wormhole switching, adaptive routing, faults of the wires.
class Router final : public sc_core::sc_module,
                     public sim::StatsProvider,
                     public sim::TraceSource,
                     private sim::PacketSwitch::Client {
 public:
  /// Indexed by RouterPort. Ports that lead nowhere stay unbound.
  sc_core::sc_vector<tlm_utils::simple_target_socket_tagged_optional<Router>> tsocks{"tsock"};
  sc_core::sc_vector<tlm_utils::simple_initiator_socket_tagged_optional<Router>> isocks{"isock"};

  /// `place`: global coordinates of this router.
  Router(const sc_core::sc_module_name& name, const NocConfig& config, const Topology& topology,
         GridPos place);

  const char* stats_kind() const override { return "router"; }
  /// Busy is the busiest output channel; flit_hops_bytes counts bytes sent to other routers of
  /// the cube.
  sim::UnitStats stats() const override;
  void reset_stats() override;
  std::vector<sim::TraceSignal*> trace_signals() override { return {&buffered_}; }

 private:
  tlm::tlm_sync_enum nb_transport_fw(int port, tlm::tlm_generic_payload& payload,
                                     tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_bw(int port, tlm::tlm_generic_payload& payload,
                                     tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void b_transport(int port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(int port, tlm::tlm_generic_payload& payload);

  void forward(unsigned output, const sim::PacketSwitch::Packet& packet, Ps delay) override;
  void release(unsigned input, const sim::PacketSwitch::Packet& packet, Ps delay) override;
  void buffered(std::uint64_t packets) override { buffered_.set(packets); }
  void run();

  bool bound(int port) const { return isocks[static_cast<std::size_t>(port)].size() > 0; }
  /// Port of an address; false when it leads nowhere, which the payload is then told.
  bool route(tlm::tlm_generic_payload& payload, int& port) const;
  sim::PacketSwitch::Packet packet(tlm::tlm_generic_payload& payload, sim::MessageClass vc,
                                   int output) const;
  Ps latency_to(int port) const;

  const NocConfig config_;
  const Topology topology_;
  const GridPos place_;
  std::uint64_t bytes_ = 0;
  std::uint64_t packets_ = 0;
  std::uint64_t hop_bytes_ = 0;
  sim::TraceSignal buffered_{"buffered", 16};
  sim::PacketSwitch switch_;
};

}  // namespace cubevp::hw
