// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "hw/noc/noc_config.h"
#include "hw/noc/routing.h"
#include "hw/sim/packet_switch.h"

namespace cubevp::hw {

/// Where units meet the network: turns transactions into packets and back. A stop has two, one at
/// its PE and one at its HBM port; sockets that a stop does not use stay unbound.
///
/// Timing contract: on the unit side times are those of whole transactions, on the network side
/// those of a packet's head. BEGIN_REQ from a unit is answered by END_REQ when the packet has been
/// serialised into the router; a target is given BEGIN_REQ when the last byte has come; its END_REQ
/// frees the place in the interface's buffer. Responses always sink: an initiator must be able to
/// take the answer of every request it made. b_transport adds the latency of an idle network.
///
/// A request to an address that no stop serves is answered here with TLM_ADDRESS_ERROR_RESPONSE
/// after the time of injection and ejection.
///
/// Does not model: bandwidth of the unit side beyond the network's own channels.
class NetworkInterface final : public sc_core::sc_module, private sim::PacketSwitch::Client {
  using TargetSocket = tlm_utils::simple_target_socket_tagged_optional<NetworkInterface>;
  using InitiatorSocket = tlm_utils::simple_initiator_socket_tagged_optional<NetworkInterface>;

 public:
  // From the PE's initiators.
  TargetSocket dma_tsock{"dma_tsock"};
  TargetSocket message_tsock{"message_tsock"};
  TargetSocket cpu_tsock{"cpu_tsock"};
  // To the targets beside this stop.
  InitiatorSocket scratchpad_isock{"scratchpad_isock"};
  InitiatorSocket message_isock{"message_isock"};
  InitiatorSocket sfr_isock{"sfr_isock"};
  InitiatorSocket hbm_isock{"hbm_isock"};
  // To and from the router.
  InitiatorSocket router_isock{"router_isock"};
  TargetSocket router_tsock{"router_tsock"};

  NetworkInterface(const sc_core::sc_module_name& name, const NocConfig& config,
                   const Topology& topology);

 private:
  enum Source : unsigned { kDma, kMessage, kCpu, kSources };
  enum Target : unsigned { kScratchpad, kMessageQueue, kSfr, kHbm, kTargets };
  // Inputs of the switch: the sources' requests, then the targets' responses. Outputs: the router,
  // and the way of requests that have nowhere to go.
  enum Output : unsigned { kToRouter, kToNowhere };
  static constexpr int kRouterTag = 16;
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

  // Injection: a unit's request, a target's response.
  tlm::tlm_sync_enum inject_request(unsigned source, tlm::tlm_generic_payload& payload,
                                    tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum inject_response(unsigned target, tlm::tlm_generic_payload& payload,
                                     tlm::tlm_phase& phase, sc_core::sc_time& delay);
  /// Hands a packet to the switch; when it leaves at once, its place is free after the result.
  Ps arrive(unsigned input, const Packet& packet, Ps at, bool at_once);
  // Ejection: a request to its target, a response to its initiator.
  void eject_request(tlm::tlm_generic_payload& payload, Ps tail);
  void offer_requests(unsigned target);
  void request_accepted(unsigned target, tlm::tlm_generic_payload& payload, Ps at);
  void return_credit(tlm::tlm_generic_payload& request, Ps at);
  void eject_response(tlm::tlm_generic_payload& payload, Ps tail);
  void offer_responses(unsigned source);

  static unsigned target_of(Address address);
  void adopt_foreign(tlm::tlm_generic_payload& payload);
  void restore_foreign(tlm::tlm_generic_payload& payload);
  TargetSocket& source_socket(unsigned source);
  InitiatorSocket& target_socket(unsigned target);
  Packet packet(tlm::tlm_generic_payload& payload, sim::MessageClass vc, Output output) const;

  struct Waiting {
    tlm::tlm_generic_payload* payload;
    Ps tail;
  };
  struct TargetState {
    sim::Fifo<Waiting> requests;
    tlm::tlm_generic_payload* offered = nullptr;  // BEGIN_REQ made, END_REQ to come
    // Completed by the target in the call that offered it; the answer is still to be injected.
    tlm::tlm_generic_payload* early = nullptr;
    bool offering = false;  // inside offer_requests()
    Ps free_at = 0;
  };
  struct SourceState {
    sim::Fifo<Waiting> responses;
    bool answered = true;  // false between BEGIN_RESP and END_RESP
    Ps free_at = 0;
  };
  struct Foreign {
    tlm::tlm_generic_payload* payload;
    std::unique_ptr<sim::TransactionExtension> extension;
  };
  static constexpr Ps kNotYet = -1;

  const NocConfig config_;
  const Topology topology_;
  const Ps inject_ps_;
  const Ps eject_ps_;
  std::array<TargetState, kTargets> targets_;
  std::array<SourceState, kSources> sources_;
  std::vector<Foreign> foreign_;
  // Payload whose call is under way, and when its place is free again if that is already known:
  // lets a call be answered on its return path.
  const tlm::tlm_generic_payload* called_ = nullptr;
  Ps called_release_ = kNotYet;
  sim::PacketSwitch switch_;
};

}  // namespace cubevp::hw
