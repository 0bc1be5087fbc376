// SPDX-License-Identifier: Apache-2.0
#include "hw/noc/network_interface.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "hw/noc/noc_timing.h"
#include "hw/sim/credit_phase.h"

namespace cubevp::hw {

using sim::MessageClass;

NetworkInterface::NetworkInterface(const sc_core::sc_module_name& name, const NocConfig& config,
                                   const Topology& topology)
    : sc_module(name),
      config_(config),
      topology_(topology),
      inject_ps_(config.clock.cycles(config.interface_inject_cycles)),
      eject_ps_(config.clock.cycles(config.interface_eject_cycles)),
      switch_("wake", *this, kSources + kTargets,
              {{inject_ps_, noc_buffer_flits(config)},
               {inject_ps_ + eject_ps_, std::numeric_limits<std::uint32_t>::max()}}) {
  const auto serve = [this](TargetSocket& socket, int tag) {
    socket.register_nb_transport_fw(this, &NetworkInterface::nb_transport_fw, tag);
    socket.register_b_transport(this, &NetworkInterface::b_transport, tag);
    socket.register_transport_dbg(this, &NetworkInterface::transport_dbg, tag);
  };
  for (unsigned source = 0; source < kSources; ++source) {
    serve(source_socket(source), static_cast<int>(source));
  }
  serve(router_tsock, kRouterTag);
  for (unsigned target = 0; target < kTargets; ++target) {
    target_socket(target).register_nb_transport_bw(this, &NetworkInterface::nb_transport_bw,
                                                   static_cast<int>(target));
  }
  router_isock.register_nb_transport_bw(this, &NetworkInterface::nb_transport_bw, kRouterTag);
  SC_HAS_PROCESS(NetworkInterface);
  SC_METHOD(run);
  sensitive << switch_.event();
  dont_initialize();
}

void NetworkInterface::run() {
  switch_.run();
}

NetworkInterface::TargetSocket& NetworkInterface::source_socket(unsigned source) {
  return source == kDma ? dma_tsock : source == kMessage ? message_tsock : cpu_tsock;
}

NetworkInterface::InitiatorSocket& NetworkInterface::target_socket(unsigned target) {
  switch (target) {
    case kScratchpad:
      return scratchpad_isock;
    case kMessageQueue:
      return message_isock;
    case kSfr:
      return sfr_isock;
    default:
      return hbm_isock;
  }
}

NetworkInterface::Packet NetworkInterface::packet(tlm::tlm_generic_payload& payload,
                                                  MessageClass vc, Output output) const {
  const std::uint32_t flits = noc_flits(config_, sim::packet_bytes(payload, vc));
  return {&payload, vc, static_cast<std::uint8_t>(output), config_.clock.cycles(flits),
          std::min(flits, noc_buffer_flits(config_))};
}

unsigned NetworkInterface::target_of(Address address) {
  switch (static_cast<Region>(decode(address).region)) {
    case Region::scratchpad:
      return kScratchpad;
    case Region::message_queue:
      return kMessageQueue;
    case Region::sfr:
      return kSfr;
    case Region::hbm:
      break;
  }
  return kHbm;
}

tlm::tlm_sync_enum NetworkInterface::nb_transport_fw(int tag, tlm::tlm_generic_payload& payload,
                                                     tlm::tlm_phase& phase,
                                                     sc_core::sc_time& delay) {
  const Ps at = sim::now_ps() + sim::to_ps(delay);
  if (tag == kRouterTag) {
    if (phase == tlm::BEGIN_REQ) {
      eject_request(payload, at + eject_ps_ + sim::extension(payload)->tail_lag_ps);
      phase = tlm::END_REQ;
      return tlm::TLM_UPDATED;
    }
    if (phase == sim::vc_credit) {
      switch_.credit(kToRouter, MessageClass::response,
                     packet(payload, MessageClass::response, kToRouter).units, at);
    }
    return tlm::TLM_ACCEPTED;
  }
  const auto source = static_cast<unsigned>(tag);
  if (phase == tlm::BEGIN_REQ) {
    return inject_request(source, payload, phase, delay);
  }
  if (phase == tlm::END_RESP) {
    sources_[source].answered = true;
    sources_[source].free_at = at;
    offer_responses(source);
    return tlm::TLM_COMPLETED;
  }
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum NetworkInterface::nb_transport_bw(int tag, tlm::tlm_generic_payload& payload,
                                                     tlm::tlm_phase& phase,
                                                     sc_core::sc_time& delay) {
  const Ps at = sim::now_ps() + sim::to_ps(delay);
  if (tag == kRouterTag) {
    const sim::TransactionExtension& ext = *sim::extension(payload);
    if (phase == tlm::BEGIN_RESP) {
      const Ps tail = at + eject_ps_ + ext.tail_lag_ps;
      // Before the initiator has it: afterwards the payload may already be another transaction.
      tlm::tlm_phase credit = sim::vc_credit;
      sc_core::sc_time later = sim::to_sc_time(tail - sim::now_ps());
      router_isock->nb_transport_fw(payload, credit, later);
      eject_response(payload, tail);
      phase = tlm::END_RESP;
      return tlm::TLM_COMPLETED;
    }
    if (phase == sim::vc_credit) {
      switch_.credit(kToRouter, ext.message_class,
                     packet(payload, ext.message_class, kToRouter).units, at);
    }
    return tlm::TLM_ACCEPTED;
  }
  const auto target = static_cast<unsigned>(tag);
  if (phase == tlm::END_REQ) {
    request_accepted(target, payload, at);
  } else if (phase == tlm::BEGIN_RESP) {
    if (targets_[target].offered == &payload) {
      request_accepted(target, payload, at);
    }
    return inject_response(target, payload, phase, delay);
  }
  return tlm::TLM_ACCEPTED;
}

Ps NetworkInterface::arrive(unsigned input, const Packet& packet, Ps at, bool at_once) {
  const auto* outer_called = std::exchange(called_, packet.payload);
  const Ps outer_release = std::exchange(called_release_, kNotYet);
  switch_.arrive(input, packet, at, at_once);
  called_ = outer_called;
  return std::exchange(called_release_, outer_release);
}

tlm::tlm_sync_enum NetworkInterface::inject_request(unsigned source,
                                                    tlm::tlm_generic_payload& payload,
                                                    tlm::tlm_phase& phase,
                                                    sc_core::sc_time& delay) {
  adopt_foreign(payload);
  sim::TransactionExtension& ext = *sim::extension(payload);
  ext.hops = 0;
  ext.path[ext.hops++] = static_cast<std::uint8_t>(source);
  ext.tail_lag_ps = 0;
  const bool served = destination(topology_, payload.get_address()).has_value();
  if (!served) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
  const Ps released =
      arrive(source, packet(payload, ext.message_class, served ? kToRouter : kToNowhere),
             sim::now_ps() + sim::to_ps(delay), served);
  if (released == kNotYet) {
    return tlm::TLM_ACCEPTED;
  }
  phase = tlm::END_REQ;
  delay = sim::to_sc_time(released);
  return tlm::TLM_UPDATED;
}

tlm::tlm_sync_enum NetworkInterface::inject_response(unsigned target,
                                                     tlm::tlm_generic_payload& payload,
                                                     tlm::tlm_phase& phase,
                                                     sc_core::sc_time& delay) {
  sim::extension(payload)->tail_lag_ps = 0;
  const Ps released = arrive(kSources + target, packet(payload, MessageClass::response, kToRouter),
                             sim::now_ps() + sim::to_ps(delay), true);
  if (released == kNotYet) {
    return tlm::TLM_ACCEPTED;
  }
  phase = tlm::END_RESP;
  delay = sim::to_sc_time(released);
  return tlm::TLM_COMPLETED;
}

void NetworkInterface::forward(unsigned output, const Packet& packet, Ps delay) {
  sc_core::sc_time t = sim::to_sc_time(delay);
  if (output == kToNowhere) {
    eject_response(*packet.payload, sim::now_ps() + delay);
  } else if (packet.vc == MessageClass::response) {
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    router_tsock->nb_transport_bw(*packet.payload, phase, t);
  } else {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    router_isock->nb_transport_fw(*packet.payload, phase, t);
  }
}

void NetworkInterface::release(unsigned input, const Packet& packet, Ps delay) {
  if (input >= kSources && targets_[input - kSources].early == packet.payload) {
    targets_[input - kSources].early = nullptr;
    offer_requests(input - kSources);
    return;
  }
  if (packet.payload == called_) {
    called_release_ = delay;
    return;
  }
  sc_core::sc_time t = sim::to_sc_time(delay);
  if (input < kSources) {
    tlm::tlm_phase phase = tlm::END_REQ;
    source_socket(input)->nb_transport_bw(*packet.payload, phase, t);
  } else if (target_socket(input - kSources).size() > 0) {
    tlm::tlm_phase phase = tlm::END_RESP;
    target_socket(input - kSources)->nb_transport_fw(*packet.payload, phase, t);
  }
}

void NetworkInterface::return_credit(tlm::tlm_generic_payload& request, Ps at) {
  tlm::tlm_phase phase = sim::vc_credit;
  sc_core::sc_time t = sim::to_sc_time(std::max<Ps>(0, at - sim::now_ps()));
  router_tsock->nb_transport_bw(request, phase, t);
}

void NetworkInterface::eject_request(tlm::tlm_generic_payload& payload, Ps tail) {
  const unsigned target = target_of(payload.get_address());
  if (target_socket(target).size() == 0) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return_credit(payload, tail);
    sim::extension(payload)->tail_lag_ps = 0;
    switch_.arrive(kSources + target, packet(payload, MessageClass::response, kToRouter), tail,
                   false);
    return;
  }
  targets_[target].requests.push({&payload, tail});
  offer_requests(target);
}

void NetworkInterface::offer_requests(unsigned target) {
  TargetState& state = targets_[target];
  if (state.offering) {
    return;
  }
  state.offering = true;
  const Ps now = sim::now_ps();
  while (!state.requests.empty() && state.offered == nullptr && state.early == nullptr) {
    const Waiting next = state.requests.pop();
    tlm::tlm_generic_payload& payload = *next.payload;
    state.offered = &payload;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time t = sim::to_sc_time(std::max({next.tail, state.free_at, now}) - now);
    const tlm::tlm_sync_enum status = target_socket(target)->nb_transport_fw(payload, phase, t);
    const Ps at = now + sim::to_ps(t);
    if (status == tlm::TLM_ACCEPTED) {
      continue;  // END_REQ comes, or has come during the call
    }
    request_accepted(target, payload, at);
    if (status == tlm::TLM_COMPLETED) {
      state.early = &payload;
    }
    if (status == tlm::TLM_COMPLETED || phase == tlm::BEGIN_RESP) {
      sim::extension(payload)->tail_lag_ps = 0;
      switch_.arrive(kSources + target, packet(payload, MessageClass::response, kToRouter), at);
    }
  }
  state.offering = false;
}

void NetworkInterface::request_accepted(unsigned target, tlm::tlm_generic_payload& payload, Ps at) {
  targets_[target].offered = nullptr;
  targets_[target].free_at = at;
  return_credit(payload, at);
  offer_requests(target);
}

void NetworkInterface::eject_response(tlm::tlm_generic_payload& payload, Ps tail) {
  sim::TransactionExtension& ext = *sim::extension(payload);
  const unsigned source = ext.path[--ext.hops];
  sources_[source].responses.push({&payload, tail});
  offer_responses(source);
}

void NetworkInterface::offer_responses(unsigned source) {
  SourceState& state = sources_[source];
  const Ps now = sim::now_ps();
  while (!state.responses.empty() && state.answered) {
    const Waiting next = state.responses.pop();
    restore_foreign(*next.payload);
    state.answered = false;
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time t = sim::to_sc_time(std::max({next.tail, state.free_at, now}) - now);
    const tlm::tlm_sync_enum status =
        source_socket(source)->nb_transport_bw(*next.payload, phase, t);
    if (status != tlm::TLM_ACCEPTED) {
      state.answered = true;
      state.free_at = now + sim::to_ps(t);
    }
  }
}

void NetworkInterface::adopt_foreign(tlm::tlm_generic_payload& payload) {
  if (sim::extension(payload) != nullptr) {
    return;
  }
  auto own = std::make_unique<sim::TransactionExtension>();
  if (target_of(payload.get_address()) == kMessageQueue) {
    own->message_class = MessageClass::message;
  }
  payload.set_extension(own.get());
  foreign_.push_back({&payload, std::move(own)});
}

void NetworkInterface::restore_foreign(tlm::tlm_generic_payload& payload) {
  const auto it = std::find_if(foreign_.begin(), foreign_.end(),
                               [&](const Foreign& f) { return f.payload == &payload; });
  if (it != foreign_.end()) {
    payload.clear_extension(it->extension.get());
    foreign_.erase(it);
  }
}

void NetworkInterface::b_transport(int tag, tlm::tlm_generic_payload& payload,
                                   sc_core::sc_time& delay) {
  const auto lag = [&](MessageClass vc) {
    return noc_serialisation_ps(config_, sim::packet_bytes(payload, vc));
  };
  if (tag == kRouterTag) {
    sim::TransactionExtension& ext = *sim::extension(payload);
    delay += sim::to_sc_time(eject_ps_ + ext.tail_lag_ps);
    InitiatorSocket& target = target_socket(target_of(payload.get_address()));
    if (target.size() > 0) {
      target->b_transport(payload, delay);
    } else {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
    ext.tail_lag_ps = lag(MessageClass::response);
    delay += sim::to_sc_time(inject_ps_);
    return;
  }
  if (!destination(topology_, payload.get_address())) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    delay += sim::to_sc_time(inject_ps_ + eject_ps_);
    return;
  }
  sim::TransactionExtension own;
  sim::TransactionExtension* ext = sim::extension(payload);
  const bool foreign = ext == nullptr;
  if (foreign) {
    ext = &own;
    payload.set_extension(ext);
  }
  ext->hops = 0;
  ext->tail_lag_ps = lag(MessageClass::request);
  delay += sim::to_sc_time(inject_ps_);
  router_isock->b_transport(payload, delay);
  delay += sim::to_sc_time(eject_ps_ + ext->tail_lag_ps);
  if (foreign) {
    payload.clear_extension(ext);
  }
}

unsigned NetworkInterface::transport_dbg(int tag, tlm::tlm_generic_payload& payload) {
  if (tag != kRouterTag) {
    if (destination(topology_, payload.get_address())) {
      return router_isock->transport_dbg(payload);
    }
  } else if (InitiatorSocket& target = target_socket(target_of(payload.get_address()));
             target.size() > 0) {
    return target->transport_dbg(payload);
  }
  payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  return 0;
}

}  // namespace cubevp::hw
