// SPDX-License-Identifier: Apache-2.0
#include "hw/noc/router.h"

#include <algorithm>
#include <string>

#include "hw/noc/noc_timing.h"
#include "hw/sim/credit_phase.h"

namespace cubevp::hw {

using sim::MessageClass;

namespace {

bool leads_off_the_mesh(const Topology& topology, GridPos place, RouterPort port) {
  switch (port) {
    case RouterPort::east:
      return place.x % topology.columns == topology.columns - 1;
    case RouterPort::west:
      return place.x % topology.columns == 0;
    case RouterPort::north:
      return place.y % topology.rows == 0;
    case RouterPort::south:
      return place.y % topology.rows == topology.rows - 1;
    default:
      return true;
  }
}

// Only the crossing to another router of the mesh costs a hop: the link's flight time and the
// network interfaces' cycles are their own.
std::vector<sim::PacketSwitch::Output> outputs(const NocConfig& config, const Topology& topology,
                                               GridPos place) {
  std::vector<sim::PacketSwitch::Output> all;
  for (int port = 0; port < kRouterPorts; ++port) {
    const bool off = leads_off_the_mesh(topology, place, static_cast<RouterPort>(port));
    all.push_back({off ? 0 : config.clock.cycles(config.hop_cycles), noc_buffer_flits(config)});
  }
  return all;
}

}  // namespace

Router::Router(const sc_core::sc_module_name& name, const NocConfig& config,
               const Topology& topology, GridPos place)
    : sc_module(name),
      config_(config),
      topology_(topology),
      place_(place),
      switch_("wake", *this, kRouterPorts, outputs(config, topology, place)) {
  tsocks.init(kRouterPorts);
  isocks.init(kRouterPorts);
  for (int port = 0; port < kRouterPorts; ++port) {
    auto& tsock = tsocks[static_cast<std::size_t>(port)];
    tsock.register_nb_transport_fw(this, &Router::nb_transport_fw, port);
    tsock.register_b_transport(this, &Router::b_transport, port);
    tsock.register_transport_dbg(this, &Router::transport_dbg, port);
    isocks[static_cast<std::size_t>(port)].register_nb_transport_bw(this, &Router::nb_transport_bw,
                                                                    port);
  }
  SC_HAS_PROCESS(Router);
  SC_METHOD(run);
  sensitive << switch_.event();
  dont_initialize();
}

void Router::run() {
  switch_.run();
}

Ps Router::latency_to(int port) const {
  return leads_off_the_mesh(topology_, place_, static_cast<RouterPort>(port))
             ? 0
             : config_.clock.cycles(config_.hop_cycles);
}

sim::PacketSwitch::Packet Router::packet(tlm::tlm_generic_payload& payload, MessageClass vc,
                                         int output) const {
  const std::uint32_t flits = noc_flits(config_, sim::packet_bytes(payload, vc));
  return {&payload, vc, static_cast<std::uint8_t>(output), config_.clock.cycles(flits),
          std::min(flits, noc_buffer_flits(config_))};
}

bool Router::route(tlm::tlm_generic_payload& payload, int& port) const {
  const auto to = destination(topology_, payload.get_address());
  if (to) {
    port = index(next_port(place_, *to));
    if (bound(port)) {
      return true;
    }
    if (sim::TransactionExtension* ext = sim::extension(payload)) {
      ext->fault = std::string(name()) + " has nothing on the way there";
    }
  }
  payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  return false;
}

tlm::tlm_sync_enum Router::nb_transport_fw(int port, tlm::tlm_generic_payload& payload,
                                           tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const Ps at = sim::now_ps() + sim::to_ps(delay);
  if (phase == tlm::BEGIN_REQ) {
    sim::TransactionExtension& ext = *sim::extension(payload);
    int output = port;
    if (route(payload, output)) {
      ext.path[ext.hops++] = static_cast<std::uint8_t>(port);
      switch_.arrive(static_cast<unsigned>(port), packet(payload, ext.message_class, output), at);
    } else {
      // The answer turns round here, at the input that the missing neighbour would have.
      tlm::tlm_phase credit = sim::vc_credit;
      sc_core::sc_time later = delay + sim::to_sc_time(ext.tail_lag_ps);
      tsocks[static_cast<std::size_t>(port)]->nb_transport_bw(payload, credit, later);
      const Ps tail = at + ext.tail_lag_ps;
      ext.tail_lag_ps = 0;
      switch_.arrive(static_cast<unsigned>(output), packet(payload, MessageClass::response, port),
                     tail, false);
    }
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  if (phase == sim::vc_credit) {
    switch_.credit(static_cast<unsigned>(port), MessageClass::response,
                   packet(payload, MessageClass::response, port).units, at);
  }
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum Router::nb_transport_bw(int port, tlm::tlm_generic_payload& payload,
                                           tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const Ps at = sim::now_ps() + sim::to_ps(delay);
  sim::TransactionExtension& ext = *sim::extension(payload);
  if (phase == tlm::BEGIN_RESP) {
    const int output = ext.path[--ext.hops];
    switch_.arrive(static_cast<unsigned>(port), packet(payload, MessageClass::response, output),
                   at);
    phase = tlm::END_RESP;
    return tlm::TLM_COMPLETED;
  }
  if (phase == sim::vc_credit) {
    switch_.credit(static_cast<unsigned>(port), ext.message_class,
                   packet(payload, ext.message_class, port).units, at);
  }
  return tlm::TLM_ACCEPTED;
}

void Router::forward(unsigned output, const sim::PacketSwitch::Packet& packet, Ps delay) {
  const std::uint64_t bytes = sim::packet_bytes(*packet.payload, packet.vc);
  ++packets_;
  bytes_ += bytes;
  if (!leads_off_the_mesh(topology_, place_, static_cast<RouterPort>(output))) {
    hop_bytes_ += bytes;
  }
  sc_core::sc_time t = sim::to_sc_time(delay);
  if (packet.vc == MessageClass::response) {
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    tsocks[output]->nb_transport_bw(*packet.payload, phase, t);
  } else {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    isocks[output]->nb_transport_fw(*packet.payload, phase, t);
  }
}

void Router::release(unsigned input, const sim::PacketSwitch::Packet& packet, Ps delay) {
  tlm::tlm_phase phase = sim::vc_credit;
  sc_core::sc_time t = sim::to_sc_time(delay);
  if (packet.vc != MessageClass::response) {
    tsocks[input]->nb_transport_bw(*packet.payload, phase, t);
  } else if (bound(static_cast<int>(input))) {
    isocks[input]->nb_transport_fw(*packet.payload, phase, t);
  }
}

void Router::b_transport(int port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  int output = port;
  if (route(payload, output)) {
    delay += sim::to_sc_time(latency_to(output));
    isocks[static_cast<std::size_t>(output)]->b_transport(payload, delay);
  }
  delay += sim::to_sc_time(latency_to(port));
}

unsigned Router::transport_dbg(int port, tlm::tlm_generic_payload& payload) {
  int output = port;
  return route(payload, output) ? isocks[static_cast<std::size_t>(output)]->transport_dbg(payload)
                                : 0;
}

sim::UnitStats Router::stats() const {
  sim::UnitStats result;
  for (unsigned output = 0; output < kRouterPorts; ++output) {
    result.busy_ps = std::max(result.busy_ps, switch_.busy_ps(output));
  }
  result.bytes = bytes_;
  result.ops = packets_;
  result.more["flit_hops_bytes"] = hop_bytes_;
  return result;
}

void Router::reset_stats() {
  bytes_ = 0;
  packets_ = 0;
  hop_bytes_ = 0;
  switch_.reset_stats();
}

}  // namespace cubevp::hw
