// SPDX-License-Identifier: Apache-2.0
#include "hw/link/cube_link.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "hw/link/link_timing.h"
#include "hw/sim/credit_phase.h"

namespace cubevp::hw {

using sim::MessageClass;

namespace {

// FNV-1a: the same on every host, unlike std::hash.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (const char c : text) {
    h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return h;
}

// SplitMix64 of a counter, as a fraction of 1.
double uniform(std::uint64_t seed, std::uint64_t counter) {
  std::uint64_t z = seed + (counter + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53;
}

const LinkConfig& checked(const LinkConfig& config, const LinkPorts& ports, const char* name) {
  const auto fail = [&](const std::string& why) {
    throw std::invalid_argument(std::string(name) + ": " + why);
  };
  if (ports.flight_ps < 0) {
    fail("the latency to the neighbouring cube is " + std::to_string(-ports.flight_ps) +
         " ps less than the network interfaces and hops on its way take");
  }
  if (!(config.bandwidth.bytes_per_s > 0) || !(config.efficiency > 0) || config.efficiency > 1) {
    fail("the bandwidth must be positive and the efficiency in (0, 1]");
  }
  if (!(config.flit_error_rate >= 0) || config.flit_error_rate >= 1) {
    fail("the error rate must be in [0, 1)");
  }
  if (ports.positions == 0 || ports.positions > 254) {
    fail("a side has 1 to 254 routers");
  }
  return config;
}

std::vector<sim::PacketSwitch::Output> outputs(const LinkConfig& config, const LinkPorts& ports) {
  std::vector<sim::PacketSwitch::Output> all{
      {ports.flight_ps, link_credits(config, ports.flight_ps)}};
  all.insert(all.end(), ports.positions, {0, ports.noc_buffer_flits});
  return all;
}

}  // namespace

CubeLink::CubeLink(const sc_core::sc_module_name& name, const LinkConfig& config,
                   const LinkPorts& ports)
    : sc_module(name),
      config_(checked(config, ports, this->name())),
      ports_(ports),
      seed_(hash_of(this->name())),
      switch_("wake", *this, 2 * ports.positions, outputs(config, ports)) {
  router_tsocks.init(ports.positions);
  router_isocks.init(ports.positions);
  const auto serve = [this](auto& tsock, auto& isock, int tag) {
    tsock.register_nb_transport_fw(this, &CubeLink::nb_transport_fw, tag);
    tsock.register_b_transport(this, &CubeLink::b_transport, tag);
    tsock.register_transport_dbg(this, &CubeLink::transport_dbg, tag);
    isock.register_nb_transport_bw(this, &CubeLink::nb_transport_bw, tag);
  };
  for (std::size_t p = 0; p < ports.positions; ++p) {
    serve(router_tsocks[p], router_isocks[p], static_cast<int>(p));
  }
  serve(wire_tsock, wire_isock, kWireTag);
  SC_HAS_PROCESS(CubeLink);
  SC_METHOD(run);
  sensitive << switch_.event();
  dont_initialize();
  SC_METHOD(land);
  sensitive << landings_.event();
  dont_initialize();
}

void CubeLink::run() {
  switch_.run();
}

CubeLink::Packet CubeLink::wire_packet(tlm::tlm_generic_payload& payload, MessageClass vc) const {
  return {&payload, vc, 0, link_serialisation_ps(config_, sim::packet_bytes(payload, vc)), 1};
}

CubeLink::Packet CubeLink::router_packet(tlm::tlm_generic_payload& payload, MessageClass vc,
                                         unsigned position) const {
  const std::uint64_t bytes = sim::packet_bytes(payload, vc);
  const auto flits = static_cast<std::uint32_t>(std::max<std::uint64_t>(
      1, (bytes + ports_.noc_bytes_per_cycle - 1) / ports_.noc_bytes_per_cycle));
  return {&payload, vc, static_cast<std::uint8_t>(to_router(position)), flits * ports_.noc_cycle_ps,
          std::min(flits, ports_.noc_buffer_flits)};
}

tlm::tlm_sync_enum CubeLink::nb_transport_fw(int tag, tlm::tlm_generic_payload& payload,
                                             tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const Ps at = sim::now_ps() + sim::to_ps(delay);
  sim::TransactionExtension& ext = *sim::extension(payload);
  if (phase == tlm::BEGIN_REQ) {
    if (tag == kWireTag) {
      const unsigned position = ext.path[ext.hops - 1U];
      switch_.arrive(from_wire(position), router_packet(payload, ext.message_class, position), at);
    } else if (wired()) {
      ext.path[ext.hops++] = static_cast<std::uint8_t>(tag);
      switch_.arrive(static_cast<unsigned>(tag), wire_packet(payload, ext.message_class), at);
    } else {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      ext.fault = std::string(name()) + " is not wired";
      const Ps tail = at + ext.tail_lag_ps;
      tlm::tlm_phase credit = sim::vc_credit;
      sc_core::sc_time later = sim::to_sc_time(tail - sim::now_ps());
      router_tsocks[static_cast<std::size_t>(tag)]->nb_transport_bw(payload, credit, later);
      ext.tail_lag_ps = 0;
      const auto position = static_cast<unsigned>(tag);
      switch_.arrive(from_wire(position), router_packet(payload, MessageClass::response, position),
                     tail, false);
    }
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  if (phase == sim::vc_credit) {
    if (tag == kWireTag) {
      switch_.credit(0, MessageClass::response, 1, at);
    } else {
      const auto position = static_cast<unsigned>(tag);
      switch_.credit(to_router(position), MessageClass::response,
                     router_packet(payload, MessageClass::response, position).units, at);
    }
  }
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum CubeLink::nb_transport_bw(int tag, tlm::tlm_generic_payload& payload,
                                             tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const Ps at = sim::now_ps() + sim::to_ps(delay);
  sim::TransactionExtension& ext = *sim::extension(payload);
  if (phase == tlm::BEGIN_RESP) {
    if (tag == kWireTag) {
      const unsigned position = ext.path[--ext.hops];
      switch_.arrive(from_wire(position), router_packet(payload, MessageClass::response, position),
                     at);
    } else {
      switch_.arrive(static_cast<unsigned>(tag), wire_packet(payload, MessageClass::response), at);
    }
    phase = tlm::END_RESP;
    return tlm::TLM_COMPLETED;
  }
  if (phase == sim::vc_credit) {
    if (tag == kWireTag) {
      switch_.credit(0, ext.message_class, 1, at);
    } else {
      const auto position = static_cast<unsigned>(tag);
      switch_.credit(to_router(position), ext.message_class,
                     router_packet(payload, ext.message_class, position).units, at);
    }
  }
  return tlm::TLM_ACCEPTED;
}

// Every packet draws once a try, so that a packet's fate does not depend on others' sizes.
Ps CubeLink::replays(const Packet& packet) {
  Ps extra = 0;
  if (config_.flit_error_rate > 0) {
    const std::uint64_t bytes = sim::packet_bytes(*packet.payload, packet.vc);
    while (uniform(seed_, sequence_++) < config_.flit_error_rate) {
      extra += link_replay_ps(config_, ports_.flight_ps, bytes);
      ++errors_;
      ++replays_;
    }
  }
  return extra;
}

void CubeLink::forward(unsigned output, const Packet& packet, Ps delay) {
  const bool response = packet.vc == MessageClass::response;
  tlm::tlm_phase phase = response ? tlm::BEGIN_RESP : tlm::BEGIN_REQ;
  if (output > 0) {
    const std::size_t position = output - 1;
    sc_core::sc_time t = sim::to_sc_time(delay);
    if (response) {
      router_tsocks[position]->nb_transport_bw(*packet.payload, phase, t);
    } else {
      router_isocks[position]->nb_transport_fw(*packet.payload, phase, t);
    }
    return;
  }
  ++packets_;
  bytes_ += sim::packet_bytes(*packet.payload, packet.vc);
  const Ps held = replays(packet);
  if (held > 0) {
    switch_.hold(0, held);
  }
  trace_transmission(packet, delay + held + packet.serialisation_ps);
  sc_core::sc_time t = sim::to_sc_time(delay + held);
  if (response) {
    wire_tsock->nb_transport_bw(*packet.payload, phase, t);
  } else {
    wire_isock->nb_transport_fw(*packet.payload, phase, t);
  }
}

void CubeLink::release(unsigned input, const Packet& packet, Ps delay) {
  const bool response = packet.vc == MessageClass::response;
  tlm::tlm_phase phase = sim::vc_credit;
  if (input < ports_.positions) {
    sc_core::sc_time t = sim::to_sc_time(delay);
    if (response) {
      router_isocks[input]->nb_transport_fw(*packet.payload, phase, t);
    } else {
      router_tsocks[input]->nb_transport_bw(*packet.payload, phase, t);
    }
  } else if (wired()) {
    sc_core::sc_time t = sim::to_sc_time(delay + ports_.flight_ps);
    if (response) {
      wire_isock->nb_transport_fw(*packet.payload, phase, t);
    } else {
      wire_tsock->nb_transport_bw(*packet.payload, phase, t);
    }
  }
}

void CubeLink::b_transport(int tag, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  sim::TransactionExtension& ext = *sim::extension(payload);
  if (tag == kWireTag) {
    router_isocks[ext.path[ext.hops - 1U]]->b_transport(payload, delay);
    return;
  }
  if (!wired()) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  const auto spread = [&](MessageClass vc) {
    ext.tail_lag_ps =
        std::max(ext.tail_lag_ps, link_serialisation_ps(config_, sim::packet_bytes(payload, vc)));
  };
  spread(MessageClass::request);
  delay += sim::to_sc_time(ports_.flight_ps);
  ext.path[ext.hops++] = static_cast<std::uint8_t>(tag);
  wire_isock->b_transport(payload, delay);
  --ext.hops;
  delay += sim::to_sc_time(ports_.flight_ps);
  spread(MessageClass::response);
}

unsigned CubeLink::transport_dbg(int tag, tlm::tlm_generic_payload& payload) {
  if (tag == kWireTag) {
    // Any router of the side knows the way; debug accesses take no time.
    return router_isocks[0]->transport_dbg(payload);
  }
  if (!wired()) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return 0;
  }
  return wire_isock->transport_dbg(payload);
}

void CubeLink::trace_transmission(const Packet& packet, Ps landed_after) {
  const std::uint64_t bytes = sim::packet_bytes(*packet.payload, packet.vc);
  busy_.set(1);
  busy_.set_at(0, switch_.channel_free_ps(0));
  if (in_flight_.traced()) {
    bytes_in_flight_ += bytes;
    in_flight_.set(bytes_in_flight_);
    landings_.push(sim::now_ps() + landed_after, bytes);
  }
}

void CubeLink::land() {
  std::uint64_t bytes = 0;
  while (landings_.take_due(bytes)) {
    bytes_in_flight_ -= bytes;
  }
  in_flight_.set(bytes_in_flight_);
  landings_.rearm();
}

sim::UnitStats CubeLink::stats() const {
  sim::UnitStats result;
  result.busy_ps = switch_.busy_ps(0);
  result.bytes = bytes_;
  result.ops = packets_;
  result.more["replays"] = replays_;
  return result;
}

void CubeLink::reset_stats() {
  bytes_ = 0;
  packets_ = 0;
  replays_ = 0;
  switch_.reset_stats();
}

}  // namespace cubevp::hw
