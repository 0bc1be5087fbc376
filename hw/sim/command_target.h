// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <limits>
#include <string>

#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "hw/base/command.h"
#include "hw/sim/payload.h"

namespace cubevp::sim {

/// The socket on which an engine is given commands. BEGIN_REQ brings a command; END_REQ is held
/// back while `capacity` commands wait to be started; BEGIN_RESP follows when the engine calls
/// complete(). b_transport blocks its thread from arrival to completion.
///
/// A payload that carries no command is refused with TLM_COMMAND_ERROR_RESPONSE.
class CommandTargetSocket : public tlm_utils::simple_target_socket<CommandTargetSocket> {
 public:
  static constexpr std::size_t kUnbounded = std::numeric_limits<std::size_t>::max();

  CommandTargetSocket(const char* name, std::size_t capacity);

  /// Notified when a command has arrived.
  const sc_core::sc_event& arrival_event() const { return arrival_event_; }
  /// A command has arrived and was not taken yet.
  bool waiting() const;
  /// The payload of the oldest waiting command, alive until it is completed; its place in the
  /// queue is free again.
  tlm::tlm_generic_payload& take();
  /// Answers a taken command; a fault text makes the answer an error. Never called from within
  /// the call that brought the command.
  void complete(tlm::tlm_generic_payload& payload, const std::string& fault = {});

 private:
  struct Arrival {
    tlm::tlm_generic_payload* payload;
    Ps ready_ps;
  };
  struct Blocked {
    tlm::tlm_generic_payload* payload;
    sc_core::sc_event* done;
  };

  tlm::tlm_sync_enum on_nb_transport(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  void on_b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned on_transport_dbg(tlm::tlm_generic_payload&) { return 0; }
  void enqueue(tlm::tlm_generic_payload& payload, Ps ready_ps);
  void send_responses();

  const std::size_t capacity_;
  std::deque<Arrival> queue_;
  std::deque<Arrival> held_;  ///< arrived, END_REQ outstanding
  std::deque<Blocked> blocked_;
  std::deque<tlm::tlm_generic_payload*> responses_;
  bool awaiting_end_resp_ = false;
  Ps response_free_ps_ = 0;
  sc_core::sc_event arrival_event_;
};

/// The command that a payload brings, or nullptr.
inline const Command* command_of(const tlm::tlm_generic_payload& payload) {
  const TransactionExtension* ext = extension(payload);
  return ext != nullptr ? ext->command : nullptr;
}

}  // namespace cubevp::sim
