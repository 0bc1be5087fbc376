// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "hw/sim/agenda.h"
#include "hw/sim/payload.h"

namespace cubevp::test {

/// Payloads as somebody else's initiator makes them: managed, without our extension.
class ForeignPool : public tlm::tlm_mm_interface {
 public:
  tlm::tlm_generic_payload& allocate() {
    auto* payload = new tlm::tlm_generic_payload(this);
    payload->acquire();
    ++in_use_;
    return *payload;
  }
  void free(tlm::tlm_generic_payload* payload) override {
    --in_use_;
    delete payload;
  }
  int in_use() const { return in_use_; }

 private:
  int in_use_ = 0;
};

/// Issues a prepared list of accesses with the approximately timed base protocol, each not before
/// its time, in order, at most `outstanding` at once, and notes what became of them.
class TestInitiator : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<TestInitiator> isock{"isock"};

  struct Access {
    tlm::tlm_command command = tlm::TLM_READ_COMMAND;
    Address address = 0;
    std::vector<unsigned char> data{};  ///< written, or read back
    Ps at = 0;                          ///< not to be issued before
    sim::MessageClass message_class = sim::MessageClass::request;

    Ps begun = -1;     ///< BEGIN_REQ
    Ps accepted = -1;  ///< END_REQ takes effect
    Ps done = -1;      ///< BEGIN_RESP takes effect
    int answers = 0;   ///< 1 when it was answered as it should be
    tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
    std::string fault{};
  };

  TestInitiator(const sc_core::sc_module_name& name, sim::PayloadPool& pool,
                std::size_t outstanding = 1u << 20)
      : sc_module(name), pool_(&pool), outstanding_(outstanding) {
    init();
  }
  /// As somebody else's: payloads without the project's extension.
  TestInitiator(const sc_core::sc_module_name& name, ForeignPool& pool,
                std::size_t outstanding = 1u << 20)
      : sc_module(name), foreign_(&pool), outstanding_(outstanding) {
    init();
  }

  /// Answers BEGIN_RESP with TLM_ACCEPTED and END_RESP this much later; default: at once.
  Ps end_resp_after_ps = -1;
  /// Called as each answer takes effect or is known to.
  std::function<void(const Access&)> on_done;

  Access& add(Access access) {
    accesses_.push_back(std::make_unique<Access>(std::move(access)));
    wake(std::max(accesses_.back()->at, sim::now_ps()));
    return *accesses_.back();
  }
  Access& read(Address address, std::size_t bytes, Ps at = 0) {
    return add({tlm::TLM_READ_COMMAND, address, std::vector<unsigned char>(bytes), at});
  }
  Access& write(Address address, std::vector<unsigned char> data, Ps at = 0) {
    return add({tlm::TLM_WRITE_COMMAND, address, std::move(data), at});
  }
  Access& message(Address address, std::vector<unsigned char> data, Ps at = 0) {
    return add({tlm::TLM_WRITE_COMMAND, address, std::move(data), at, sim::MessageClass::message});
  }

  const std::vector<std::unique_ptr<Access>>& accesses() const { return accesses_; }
  /// Every access was answered, exactly once.
  bool all_done() const {
    for (const auto& access : accesses_) {
      if (access->answers != 1) {
        return false;
      }
    }
    return true;
  }
  Ps last_done() const {
    Ps last = 0;
    for (const auto& access : accesses_) {
      last = std::max(last, access->done);
    }
    return last;
  }

 private:
  struct Todo {
    tlm::tlm_generic_payload* end_resp = nullptr;
  };

  void init() {
    isock.register_nb_transport_bw(this, &TestInitiator::nb_transport_bw);
    SC_HAS_PROCESS(TestInitiator);
    SC_METHOD(run);
    sensitive << agenda_.event();
    dont_initialize();
  }

  /// One entry at a time that makes run() look for something to issue.
  void wake(Ps at) {
    if (at < wake_at_) {
      wake_at_ = at;
      agenda_.push(at, Todo{});
    }
  }

  void run() {
    Todo todo;
    while (agenda_.take_due(todo)) {
      if (wake_at_ <= sim::now_ps()) {
        wake_at_ = kNever;
      }
      if (todo.end_resp != nullptr) {
        tlm::tlm_phase phase = tlm::END_RESP;
        sc_core::sc_time t;
        isock->nb_transport_fw(*todo.end_resp, phase, t);
        todo.end_resp->release();
        continue;
      }
      issue();
    }
    agenda_.rearm();
  }

  void issue() {
    while (next_ < accesses_.size() && request_ == nullptr && under_way_ < outstanding_) {
      Access& access = *accesses_[next_];
      const Ps now = sim::now_ps();
      const Ps at = std::max(access.at, free_at_);
      if (at > now) {
        wake(at);
        return;
      }
      tlm::tlm_generic_payload& payload =
          pool_ != nullptr ? pool_->allocate() : foreign_->allocate();
      sim::set_access(payload, access.command, access.address, access.data.data(),
                      access.data.size());
      payload.set_byte_enable_ptr(nullptr);
      if (sim::TransactionExtension* ext = sim::extension(payload)) {
        ext->message_class = access.message_class;
      }
      active_.push_back({&payload, &access});
      ++next_;
      ++under_way_;
      access.begun = now;
      request_ = &payload;
      tlm::tlm_phase phase = tlm::BEGIN_REQ;
      sc_core::sc_time t;
      const tlm::tlm_sync_enum status = isock->nb_transport_fw(payload, phase, t);
      const Ps then = now + sim::to_ps(t);
      if (status == tlm::TLM_ACCEPTED) {
        continue;
      }
      accepted(payload, then);
      if (status == tlm::TLM_COMPLETED) {
        answered(payload, then);
        payload.release();
      } else if (phase == tlm::BEGIN_RESP) {
        answered(payload, then);
        agenda_.push(then, Todo{&payload});
      }
    }
  }

  void accepted(tlm::tlm_generic_payload& payload, Ps at) {
    if (request_ == &payload) {
      request_ = nullptr;
      free_at_ = at;
      find(payload).accepted = at;
      wake(at);
    }
  }

  void answered(tlm::tlm_generic_payload& payload, Ps at) {
    Access& access = find(payload);
    access.done = at;
    access.status = payload.get_response_status();
    if (sim::TransactionExtension* ext = sim::extension(payload)) {
      access.fault = ext->fault;
    }
    ++access.answers;
    for (std::size_t i = 0; i < active_.size(); ++i) {
      if (active_[i].first == &payload) {
        active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
        break;
      }
    }
    --under_way_;
    wake(at);
    if (on_done) {
      on_done(access);
    }
  }

  Access& find(const tlm::tlm_generic_payload& payload) {
    for (auto& [p, access] : active_) {
      if (p == &payload) {
        return *access;
      }
    }
    ADD_FAILURE() << name() << ": an answer to a request that is not under way";
    return unknown_;
  }

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    const Ps at = sim::now_ps() + sim::to_ps(delay);
    if (phase == tlm::END_REQ) {
      accepted(payload, at);
    } else if (phase == tlm::BEGIN_RESP) {
      accepted(payload, at);
      answered(payload, at);
      if (end_resp_after_ps >= 0) {
        agenda_.push(at + end_resp_after_ps, Todo{&payload});
        return tlm::TLM_ACCEPTED;
      }
      payload.release();
      phase = tlm::END_RESP;
      return tlm::TLM_COMPLETED;
    }
    return tlm::TLM_ACCEPTED;
  }

  sim::PayloadPool* pool_ = nullptr;
  ForeignPool* foreign_ = nullptr;
  std::size_t outstanding_;
  std::vector<std::unique_ptr<Access>> accesses_;
  std::size_t next_ = 0;
  std::size_t under_way_ = 0;
  tlm::tlm_generic_payload* request_ = nullptr;
  Ps free_at_ = 0;
  std::vector<std::pair<tlm::tlm_generic_payload*, Access*>> active_;
  Access unknown_;
  static constexpr Ps kNever = std::numeric_limits<Ps>::max();
  Ps wake_at_ = kNever;
  sim::Agenda<Todo> agenda_{"agenda"};
};

}  // namespace cubevp::test
