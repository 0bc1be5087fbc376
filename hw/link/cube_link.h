// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "hw/link/link_config.h"
#include "hw/sim/agenda.h"
#include "hw/sim/packet_switch.h"
#include "hw/sim/stats.h"
#include "hw/sim/trace_signal.h"

namespace cubevp::hw {

/// What an endpoint must know of the mesh it stands at.
struct LinkPorts {
  std::uint32_t positions = 1;  ///< routers on this side of the mesh
  Ps flight_ps = 0;             ///< see link_flight_ps
  Ps noc_cycle_ps = 500;
  std::uint32_t noc_bytes_per_cycle = 128;
  std::uint32_t noc_buffer_flits = 32;  ///< of a router's input, a virtual channel
};

/// One end of a die-to-die link: everything that leaves its cube over one side.
///
/// Requests and messages of the local routers go out on wire_isock, responses to the neighbour's
/// requests go back on wire_tsock; they share one transmitter. A packet occupies the wire for its
/// bytes at the effective bandwidth and is at the other end after the flight time. Credits bound
/// the packets under way, a virtual channel each. A packet that fails its CRC holds the
/// transmitter for a round trip and its own time and is sent again; which packets fail depends on
/// the link's name and the packet's number only.
///
/// Timing contract: as the routers', see hw/noc/router.h. A request to a side that is not wired is
/// answered with TLM_ADDRESS_ERROR_RESPONSE.
///
/// Does not model: lanes, training, power states, time of single flits.
class CubeLink final : public sc_core::sc_module,
                       public sim::StatsProvider,
                       public sim::TraceSource,
                       private sim::PacketSwitch::Client {
 public:
  /// From and to the local routers, by position along the side.
  sc_core::sc_vector<tlm_utils::simple_target_socket_tagged_optional<CubeLink>> router_tsocks{
      "router_tsock"};
  sc_core::sc_vector<tlm_utils::simple_initiator_socket_tagged_optional<CubeLink>> router_isocks{
      "router_isock"};
  /// To wire_tsock and from wire_isock of the neighbour's endpoint; unbound when there is none.
  tlm_utils::simple_initiator_socket_tagged_optional<CubeLink> wire_isock{"wire_isock"};
  tlm_utils::simple_target_socket_tagged_optional<CubeLink> wire_tsock{"wire_tsock"};

  /// Throws std::invalid_argument for a negative flight time or a bandwidth or error rate that
  /// cannot be.
  CubeLink(const sc_core::sc_module_name& name, const LinkConfig& config, const LinkPorts& ports);

  // Behind the SFRs LINK_STATUS and LINK_ERRORS.
  bool wired() const { return wire_isock.size() > 0; }
  std::uint32_t errors() const { return errors_; }
  /// Write-one-to-clear.
  void clear_errors(std::uint32_t ones) { errors_ &= ~ones; }

  const char* stats_kind() const override { return "link"; }
  sim::UnitStats stats() const override;
  void reset_stats() override;
  std::vector<sim::TraceSignal*> trace_signals() override { return {&busy_, &in_flight_}; }

 private:
  static constexpr int kWireTag = -1;
  using Packet = sim::PacketSwitch::Packet;

  tlm::tlm_sync_enum nb_transport_fw(int tag, tlm::tlm_generic_payload& payload,
                                     tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_bw(int tag, tlm::tlm_generic_payload& payload,
                                     tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void b_transport(int tag, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(int tag, tlm::tlm_generic_payload& payload);

  void forward(unsigned output, const Packet& packet, Ps delay) override;
  void release(unsigned input, const Packet& packet, Ps delay) override;
  void run();
  void land();

  // Inputs of the switch: routers by position, then packets off the wire by position. Outputs:
  // the wire, then routers by position.
  unsigned from_wire(unsigned position) const { return ports_.positions + position; }
  static unsigned to_router(unsigned position) { return 1 + position; }
  Packet wire_packet(tlm::tlm_generic_payload& payload, sim::MessageClass vc) const;
  Packet router_packet(tlm::tlm_generic_payload& payload, sim::MessageClass vc,
                       unsigned position) const;
  Ps replays(const Packet& packet);
  void trace_transmission(const Packet& packet, Ps landed_after);

  const LinkConfig config_;
  const LinkPorts ports_;
  const std::uint64_t seed_;
  std::uint64_t sequence_ = 0;  // packets drawn for so far
  std::uint32_t errors_ = 0;
  std::uint64_t replays_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t packets_ = 0;
  std::uint64_t bytes_in_flight_ = 0;
  sim::TraceSignal busy_{"busy", 1, {"idle", "busy"}};
  sim::TraceSignal in_flight_{"bytes_in_flight", 24};
  sim::Agenda<std::uint64_t> landings_{"landings"};
  sim::PacketSwitch switch_;
};

}  // namespace cubevp::hw
