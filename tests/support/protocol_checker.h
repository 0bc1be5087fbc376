// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "hw/sim/time.h"

namespace cubevp::test {

/// Stands between an initiator and a target socket, passes everything on and fails the test when
/// one of them breaks a rule of the base protocol: order of phases, one request and one response
/// at a time, END_REQ before the next BEGIN_REQ (in effective time, delays counted), payload
/// referenced, response status set. Ignorable phases pass unseen.
class ProtocolChecker : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<ProtocolChecker> tsock{"tsock"};
  tlm_utils::simple_initiator_socket<ProtocolChecker> isock{"isock"};

  explicit ProtocolChecker(const sc_core::sc_module_name& name) : sc_module(name) {
    tsock.register_nb_transport_fw(this, &ProtocolChecker::nb_transport_fw);
    tsock.register_b_transport(this, &ProtocolChecker::b_transport);
    tsock.register_transport_dbg(this, &ProtocolChecker::transport_dbg);
    tsock.register_get_direct_mem_ptr(this, &ProtocolChecker::get_direct_mem_ptr);
    isock.register_nb_transport_bw(this, &ProtocolChecker::nb_transport_bw);
    isock.register_invalidate_direct_mem_ptr(this, &ProtocolChecker::invalidate);
  }

  std::size_t started() const { return started_; }
  std::size_t finished() const { return finished_; }
  /// Transactions begun and not finished; 0 at the end of a clean run.
  std::size_t open() const { return phases_.size(); }

 private:
  enum class State { begin_req, end_req, begin_resp };
  using Payload = tlm::tlm_generic_payload;

  void fail(const Payload& payload, const std::string& what) {
    ADD_FAILURE() << name() << " at " << sc_core::sc_time_stamp() << ": " << what << " (address 0x"
                  << std::hex << payload.get_address() << ")";
  }
  void check_alive(const Payload& payload) {
    if (!payload.has_mm() || payload.get_ref_count() < 1) {
      fail(payload, "the payload is not referenced");
    }
  }
  void begin_request(Payload& payload, Ps at) {
    check_alive(payload);
    if (request_ != nullptr) {
      fail(payload, "BEGIN_REQ before END_REQ of the request before");
    }
    if (at < request_free_at_) {
      fail(payload, "BEGIN_REQ takes effect before the END_REQ before");
    }
    if (!phases_.emplace(&payload, State::begin_req).second) {
      fail(payload, "BEGIN_REQ of a transaction that is under way");
    }
    if (payload.get_response_status() == tlm::TLM_OK_RESPONSE) {
      fail(payload, "the request's response status is already set");
    }
    request_ = &payload;
    ++started_;
  }
  void end_request(Payload& payload, Ps at) {
    check_alive(payload);
    if (request_ != &payload) {
      fail(payload, "END_REQ without BEGIN_REQ");
    } else {
      request_ = nullptr;
    }
    request_free_at_ = at;
    phases_[&payload] = State::end_req;
  }
  void begin_response(Payload& payload, Ps at) {
    check_alive(payload);
    const auto it = phases_.find(&payload);
    if (it == phases_.end()) {
      fail(payload, "BEGIN_RESP without a request");
      return;
    }
    if (it->second == State::begin_req) {
      end_request(payload, at);
    } else if (it->second == State::begin_resp) {
      fail(payload, "a second BEGIN_RESP");
    }
    if (response_ != nullptr) {
      fail(payload, "BEGIN_RESP before END_RESP of the response before");
    }
    if (at < response_free_at_) {
      fail(payload, "BEGIN_RESP takes effect before the END_RESP before");
    }
    if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE) {
      fail(payload, "the response status is not set");
    }
    response_ = &payload;
    phases_[&payload] = State::begin_resp;
  }
  void end_response(Payload& payload, Ps at) {
    if (response_ != &payload) {
      fail(payload, "END_RESP without BEGIN_RESP");
    }
    response_ = nullptr;
    response_free_at_ = at;
    finish(payload);
  }
  void finish(Payload& payload) {
    phases_.erase(&payload);
    ++finished_;
  }

  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    const Ps now = sim::now_ps();
    if (phase == tlm::BEGIN_REQ) {
      begin_request(payload, now + sim::to_ps(delay));
    } else if (phase == tlm::END_RESP) {
      end_response(payload, now + sim::to_ps(delay));
    } else if (phase == tlm::END_REQ || phase == tlm::BEGIN_RESP) {
      fail(payload, "a phase of the target on the forward path");
    }
    const bool request = phase == tlm::BEGIN_REQ;
    const tlm::tlm_sync_enum status = isock->nb_transport_fw(payload, phase, delay);
    const Ps at = now + sim::to_ps(delay);
    if (request && status == tlm::TLM_UPDATED) {
      if (phase == tlm::END_REQ) {
        end_request(payload, at);
      } else if (phase == tlm::BEGIN_RESP) {
        begin_response(payload, at);
      } else {
        fail(payload, "a request is updated to a phase that cannot follow");
      }
    } else if (request && status == tlm::TLM_COMPLETED) {
      if (request_ == &payload) {
        end_request(payload, at);
      }
      if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE) {
        fail(payload, "completed without a response status");
      }
      finish(payload);
    }
    return status;
  }
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    const Ps now = sim::now_ps();
    const bool response = phase == tlm::BEGIN_RESP;
    if (phase == tlm::END_REQ) {
      end_request(payload, now + sim::to_ps(delay));
    } else if (response) {
      begin_response(payload, now + sim::to_ps(delay));
    } else if (phase == tlm::BEGIN_REQ || phase == tlm::END_RESP) {
      fail(payload, "a phase of the initiator on the backward path");
    }
    payload.acquire();  // the initiator may let go of it in the call
    const tlm::tlm_sync_enum status = tsock->nb_transport_bw(payload, phase, delay);
    if (response && status != tlm::TLM_ACCEPTED) {
      if (response_ == &payload) {
        end_response(payload, now + sim::to_ps(delay));
      }
    }
    payload.release();
    return status;
  }
  void b_transport(Payload& payload, sc_core::sc_time& delay) {
    isock->b_transport(payload, delay);
    if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE) {
      fail(payload, "b_transport returned without a response status");
    }
  }
  unsigned transport_dbg(Payload& payload) { return isock->transport_dbg(payload); }
  bool get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& dmi) {
    return isock->get_direct_mem_ptr(payload, dmi);
  }
  void invalidate(sc_dt::uint64 first, sc_dt::uint64 last) {
    tsock->invalidate_direct_mem_ptr(first, last);
  }

  std::map<const Payload*, State> phases_;  // only looked up, never walked
  const Payload* request_ = nullptr;
  const Payload* response_ = nullptr;
  Ps request_free_at_ = 0;
  Ps response_free_at_ = 0;
  std::size_t started_ = 0;
  std::size_t finished_ = 0;
};

/// Checkers on many sockets: binds each pair through a new one.
class ProtocolCheckers {
 public:
  template <typename Initiator, typename Target>
  ProtocolChecker& bind(Initiator& initiator, Target& target) {
    checkers_.push_back(
        std::make_unique<ProtocolChecker>(("checker_" + std::to_string(checkers_.size())).c_str()));
    initiator.bind(checkers_.back()->tsock);
    checkers_.back()->isock.bind(target);
    return *checkers_.back();
  }
  std::size_t open() const {
    std::size_t n = 0;
    for (const auto& checker : checkers_) {
      n += checker->open();
    }
    return n;
  }

 private:
  std::vector<std::unique_ptr<ProtocolChecker>> checkers_;
};

}  // namespace cubevp::test
