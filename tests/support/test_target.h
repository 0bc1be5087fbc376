// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "hw/sim/agenda.h"
#include "hw/sim/payload.h"

namespace cubevp::test {

/// Memory of any size behind a target socket, byte by byte at system addresses, with the timing
/// that a test wants.
class TestTarget : public sc_core::sc_module {
 public:
  struct Timing {
    Ps latency_ps = 0;   ///< from a request's start to its response
    Ps interval_ps = 0;  ///< between starts of two requests
    /// Requests accepted and not answered; while so many are there, END_REQ is kept back.
    std::size_t depth = 1u << 20;
    bool complete_early = false;  ///< answer BEGIN_REQ with TLM_COMPLETED
    bool blocked = false;         ///< accept nothing until unblock()
  };
  struct Arrival {
    Ps at = 0;
    Address address = 0;
    std::size_t bytes = 0;
    bool write = false;
  };

  tlm_utils::simple_target_socket<TestTarget> tsock{"tsock"};

  explicit TestTarget(const sc_core::sc_module_name& name) : TestTarget(name, Timing{}) {}
  TestTarget(const sc_core::sc_module_name& name, const Timing& timing)
      : sc_module(name), timing_(timing) {
    tsock.register_nb_transport_fw(this, &TestTarget::nb_transport_fw);
    tsock.register_b_transport(this, &TestTarget::b_transport);
    tsock.register_transport_dbg(this, &TestTarget::transport_dbg);
    SC_HAS_PROCESS(TestTarget);
    SC_METHOD(run);
    sensitive << agenda_.event();
    dont_initialize();
  }

  void set_timing(const Timing& timing) { timing_ = timing; }
  void unblock(Ps at) { agenda_.push(at, {Todo::unblock, nullptr}); }
  const std::vector<Arrival>& arrivals() const { return arrivals_; }
  unsigned char byte(Address address) const {
    const auto it = bytes_.find(address);
    return it == bytes_.end() ? 0 : it->second;
  }

 private:
  struct Todo {
    enum What { accept, respond, unblock } what = accept;
    tlm::tlm_generic_payload* payload = nullptr;
  };

  void access(tlm::tlm_generic_payload& payload) {
    unsigned char* data = payload.get_data_ptr();
    for (std::size_t i = 0; i < payload.get_data_length(); ++i) {
      if (payload.is_write()) {
        bytes_[payload.get_address() + i] = data[i];
      } else if (payload.is_read()) {
        data[i] = byte(payload.get_address() + i);
      }
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  /// The request is taken at `at`; its answer's time is known from here.
  Ps start(Ps at) {
    const Ps begin = std::max(at, free_at_);
    free_at_ = begin + timing_.interval_ps;
    return begin + timing_.latency_ps;
  }

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    const Ps at = sim::now_ps() + sim::to_ps(delay);
    if (phase == tlm::BEGIN_REQ) {
      arrivals_.push_back(
          {at, payload.get_address(), payload.get_data_length(), payload.is_write()});
      if (timing_.complete_early && !timing_.blocked) {
        access(payload);
        delay = sim::to_sc_time(start(at) - sim::now_ps());
        return tlm::TLM_COMPLETED;
      }
      payload.acquire();
      if (!timing_.blocked && taken_ < timing_.depth) {
        ++taken_;
        agenda_.push(start(at), {Todo::respond, &payload});
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
      }
      offered_ = &payload;
      offered_at_ = at;
      return tlm::TLM_ACCEPTED;
    }
    if (phase == tlm::END_RESP) {
      response_free_at_ = at;
      finish(payload);
      return tlm::TLM_COMPLETED;
    }
    return tlm::TLM_ACCEPTED;
  }

  void finish(tlm::tlm_generic_payload& payload) {
    answering_ = nullptr;
    payload.release();
    --taken_;
    accept_offered();
    respond();
  }

  void accept_offered() {
    if (offered_ == nullptr || timing_.blocked || taken_ >= timing_.depth) {
      return;
    }
    agenda_.push(std::max(offered_at_, sim::now_ps()), {Todo::accept, nullptr});
  }

  void respond() {
    while (answering_ == nullptr && !ready_.empty()) {
      tlm::tlm_generic_payload& payload = *ready_.front();
      ready_.erase(ready_.begin());
      access(payload);
      answering_ = &payload;
      tlm::tlm_phase phase = tlm::BEGIN_RESP;
      sc_core::sc_time t = sim::to_sc_time(std::max<Ps>(0, response_free_at_ - sim::now_ps()));
      if (tsock->nb_transport_bw(payload, phase, t) != tlm::TLM_ACCEPTED) {
        response_free_at_ = sim::now_ps() + sim::to_ps(t);
        finish(payload);
      }
    }
  }

  void run() {
    Todo todo;
    while (agenda_.take_due(todo)) {
      if (todo.what == Todo::unblock) {
        timing_.blocked = false;
        accept_offered();
      } else if (todo.what == Todo::respond) {
        ready_.push_back(todo.payload);
        respond();
      } else if (offered_ != nullptr && taken_ < timing_.depth) {
        tlm::tlm_generic_payload& payload = *offered_;
        offered_ = nullptr;
        ++taken_;
        agenda_.push(start(sim::now_ps()), {Todo::respond, &payload});
        tlm::tlm_phase phase = tlm::END_REQ;
        sc_core::sc_time t;
        tsock->nb_transport_bw(payload, phase, t);
      }
    }
    agenda_.rearm();
  }

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    access(payload);
    delay += sim::to_sc_time(timing_.latency_ps);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) {
    access(payload);
    return payload.get_data_length();
  }

  Timing timing_;
  std::map<Address, unsigned char> bytes_;
  std::vector<Arrival> arrivals_;
  std::vector<tlm::tlm_generic_payload*> ready_;
  tlm::tlm_generic_payload* offered_ = nullptr;
  tlm::tlm_generic_payload* answering_ = nullptr;
  Ps offered_at_ = 0;
  Ps free_at_ = 0;
  Ps response_free_at_ = 0;
  std::size_t taken_ = 0;
  sim::Agenda<Todo> agenda_{"agenda"};
};

}  // namespace cubevp::test
