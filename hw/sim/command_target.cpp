// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/command_target.h"

#include <algorithm>

#include "hw/sim/time.h"

namespace cubevp::sim {

CommandTargetSocket::CommandTargetSocket(const char* name, std::size_t capacity)
    : simple_target_socket(name), capacity_(capacity) {
  register_nb_transport_fw(this, &CommandTargetSocket::on_nb_transport);
  register_b_transport(this, &CommandTargetSocket::on_b_transport);
  register_transport_dbg(this, &CommandTargetSocket::on_transport_dbg);
}

bool CommandTargetSocket::waiting() const {
  return !queue_.empty() && queue_.front().ready_ps <= now_ps();
}

tlm::tlm_generic_payload& CommandTargetSocket::take() {
  tlm::tlm_generic_payload& payload = *queue_.front().payload;
  queue_.pop_front();
  if (!held_.empty()) {
    const Arrival next = held_.front();
    held_.pop_front();
    enqueue(*next.payload, std::max(next.ready_ps, now_ps()));
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    (*this)->nb_transport_bw(*next.payload, phase, delay);
  }
  if (!queue_.empty() && queue_.front().ready_ps > now_ps()) {
    // It was announced while an earlier notification was pending.
    arrival_event_.notify(to_sc_time(queue_.front().ready_ps - now_ps()));
  }
  return payload;
}

void CommandTargetSocket::complete(tlm::tlm_generic_payload& payload, const std::string& fault) {
  payload.set_response_status(fault.empty() ? tlm::TLM_OK_RESPONSE
                                            : tlm::TLM_GENERIC_ERROR_RESPONSE);
  extension(payload)->fault = fault;
  const auto blocked = std::find_if(blocked_.begin(), blocked_.end(),
                                    [&](const Blocked& b) { return b.payload == &payload; });
  if (blocked != blocked_.end()) {
    blocked->done->notify(sc_core::SC_ZERO_TIME);
    blocked_.erase(blocked);
    return;
  }
  responses_.push_back(&payload);
  send_responses();
}

void CommandTargetSocket::send_responses() {
  while (!responses_.empty() && !awaiting_end_resp_) {
    const PayloadPtr payload = PayloadPtr::adopt(*responses_.front());
    responses_.pop_front();
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = to_sc_time(std::max<Ps>(0, response_free_ps_ - now_ps()));
    // Set before the call: the initiator may send its next request from within.
    awaiting_end_resp_ = true;
    const tlm::tlm_sync_enum result = (*this)->nb_transport_bw(*payload, phase, delay);
    if (result != tlm::TLM_ACCEPTED) {
      awaiting_end_resp_ = false;
      response_free_ps_ = now_ps() + to_ps(delay);
    }
  }
}

tlm::tlm_sync_enum CommandTargetSocket::on_nb_transport(tlm::tlm_generic_payload& payload,
                                                        tlm::tlm_phase& phase,
                                                        sc_core::sc_time& delay) {
  if (phase == tlm::END_RESP) {
    awaiting_end_resp_ = false;
    response_free_ps_ = now_ps() + to_ps(delay);
    send_responses();
    return tlm::TLM_COMPLETED;
  }
  if (phase != tlm::BEGIN_REQ) {
    return tlm::TLM_ACCEPTED;
  }
  if (command_of(payload) == nullptr) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  payload.acquire();
  const Ps ready_ps = now_ps() + to_ps(delay);
  if (queue_.size() >= capacity_) {
    held_.push_back({&payload, ready_ps});
    return tlm::TLM_ACCEPTED;
  }
  enqueue(payload, ready_ps);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void CommandTargetSocket::on_b_transport(tlm::tlm_generic_payload& payload,
                                         sc_core::sc_time& delay) {
  if (command_of(payload) == nullptr) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return;
  }
  sc_core::wait(delay);
  delay = sc_core::SC_ZERO_TIME;
  sc_core::sc_event done;
  blocked_.push_back({&payload, &done});
  enqueue(payload, now_ps());
  sc_core::wait(done);
}

void CommandTargetSocket::enqueue(tlm::tlm_generic_payload& payload, Ps ready_ps) {
  queue_.push_back({&payload, ready_ps});
  arrival_event_.notify(to_sc_time(ready_ps - now_ps()));
}

}  // namespace cubevp::sim
