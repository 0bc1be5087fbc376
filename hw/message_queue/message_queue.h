// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "hw/message_queue/message_queue_config.h"
#include "hw/sim/busy_timer.h"
#include "hw/sim/command_target.h"
#include "hw/sim/pe_shared.h"
#include "hw/sim/stats.h"
#include "hw/sim/trace_signal.h"

namespace cubevp::hw {

/// The PE that a message in some direction goes to or comes from.
struct Neighbour {
  CubeId cube{};
  PeId pe{};
  std::string error;  ///< not empty: there is none, and this names the register that says so
};
using NeighbourLookup = std::function<Neighbour(RankAxis, Direction)>;

/// The message queue of a PE: sends to and receives from logical neighbours, by rank axis and
/// direction. Takes every command at once (the command processor's queue bounds them), so that a
/// blocked send never holds up a receive.
///
/// Timing, sender: messages of one axis and direction go one after the other: software cost, then
/// packets as the network accepts them, each chunk of `slot_bytes` once the receiver has a slot
/// for it (end-to-end credits). The send is complete when its last packet has been accepted.
/// Directions share the network port, packet by packet. Packets are posted: their
/// acknowledgements are not waited for.
/// Timing, receiver: a chunk waits in its slot until a receive takes it, which returns the slot
/// by a one-flit write to the sender. A receive is complete when the last byte of its message is
/// there. Landing packets occupy the scratchpad's banks.
/// Data: a send is copied out when it starts, a receive into its buffer when it is complete.
///
/// Does not model: loss of packets, matching by tag, messages between other than neighbours.
class MessageQueue final : public sc_core::sc_module,
                           public sim::StatsProvider,
                           public sim::TraceSource {
 public:
  using Config = MessageQueueConfig;

  sim::CommandTargetSocket cmd_tsock{"cmd_tsock", sim::CommandTargetSocket::kUnbounded};
  tlm_utils::simple_initiator_socket<MessageQueue> net_isock{"net_isock"};
  tlm_utils::simple_target_socket<MessageQueue> net_tsock{"net_tsock"};
  tlm_utils::simple_initiator_socket<MessageQueue> mem_isock{"mem_isock"};

  /// Throws std::invalid_argument when the slots do not fit in the scratchpad.
  MessageQueue(const sc_core::sc_module_name& name, const Config& config,
               const sim::PeShared& shared, NeighbourLookup neighbour);

  /// What a command that is not complete waits for.
  enum class Why : std::uint8_t {
    order,     ///< an earlier command of its axis and direction
    software,  ///< its software cost is running
    credits,   ///< the receiver has no free slot
    network,   ///< packets under way to the network
    arrival,   ///< bytes of its message have not come
  };
  struct Waiting {
    CommandId command{};
    Opcode op = Opcode::send;
    RankAxis axis = RankAxis::pe;
    Direction direction = Direction::east;
    Neighbour peer;
    Ps since_ps = 0;
    Why why = Why::order;
  };
  /// Every send and receive that is not complete, for the reader of a stuck machine.
  std::vector<Waiting> waiting() const;

  const char* stats_kind() const override { return "message_queue"; }
  /// ops: messages sent and received. bytes: their payload.
  /// more: messages_sent, messages_received, bytes_sent, bytes_received, packets, credits,
  /// nonfinite (values sent that no receiver may see).
  sim::UnitStats stats() const override;
  void reset_stats() override;
  std::vector<sim::TraceSignal*> trace_signals() override {
    return {&state_signal_, &sends_signal_, &recvs_signal_};
  }

 private:
  static constexpr int kChannels = 2 * kDirections;

  /// A command with what is known at its start.
  struct Job {
    tlm::tlm_generic_payload* payload = nullptr;
    Neighbour peer;
    Ps since_ps = 0;
  };
  /// Messages to one neighbour.
  struct Outgoing {
    std::deque<Job> jobs;
    bool started = false;
    Ps software_done_ps = 0;
    std::uint64_t bytes = 0;      ///< of the message under way
    std::uint64_t requested = 0;  ///< bytes of it that went to the network
    std::shared_ptr<std::vector<unsigned char>> staging;
    Ps data_ready_ps = 0;
    std::uint32_t credits = 0;  ///< free slots at the receiver
    std::uint32_t next_slot = 0;
    std::uint64_t message_number = 0;
    std::string failure;  ///< a packet was refused
  };
  /// A message that has begun to come in.
  struct Message {
    std::uint64_t bytes = 0;
    std::uint64_t arrived = 0;
    std::uint64_t taken = 0;  ///< bytes whose slots were returned
    std::shared_ptr<std::vector<unsigned char>> data;
  };
  /// Messages from one neighbour.
  struct Incoming {
    std::deque<Job> jobs;
    std::deque<Message> messages;
    std::uint64_t next_number = 0;
  };
  struct Landing {
    Ps at_ps;
    int channel;
    bool credit;
    std::uint32_t bytes;
  };
  struct Credit {
    Neighbour to;
    RankAxis axis;
    Direction direction;
  };

  static int channel_of(const MessageParams& m) {
    return index(m.direction) + (m.axis == RankAxis::cube ? kDirections : 0);
  }
  void start_of_simulation() override;
  void step();
  void accept_commands();
  void land();
  void receive(int channel);
  void start_sends();
  void pump();
  bool has_packet(const Outgoing& out) const;
  void send_packet(int channel);
  void send_credit(const Credit& credit);
  void transmit(tlm::tlm_generic_payload& payload, Ps at_ps);
  void end_request();
  void finish_send(int channel);
  void fail_send(int channel, const std::string& text);
  void schedule();
  tlm::tlm_sync_enum on_net_response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  tlm::tlm_sync_enum on_net_request(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                    sc_core::sc_time& delay);
  void on_net_b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned on_net_debug(tlm::tlm_generic_payload&) { return 0; }
  void accept_packet(tlm::tlm_generic_payload& payload, Ps at_ps);
  void trace();

  const Config config_;
  const sim::PeShared shared_;
  const NeighbourLookup neighbour_;
  unsigned char* scratchpad_ = nullptr;

  std::array<Outgoing, kChannels> out_;
  std::array<Incoming, kChannels> in_;
  std::deque<Landing> landings_;
  std::deque<Credit> credits_to_send_;
  int last_sender_ = kChannels - 1;

  tlm::tlm_generic_payload* requesting_ = nullptr;  ///< BEGIN_REQ sent, END_REQ to come
  int requesting_channel_ = -1;                     ///< -1: a credit
  Ps port_free_ps_ = 0;
  sc_core::sc_event step_event_{"step_event"};

  sim::BusyTimer busy_;
  sim::UnitStats counts_;
  sim::TraceSignal state_signal_{"state", 3, {"idle", "send", "recv", "send_recv"}};
  sim::TraceSignal sends_signal_{"sends", 8};
  sim::TraceSignal recvs_signal_{"recvs", 8};
};

}  // namespace cubevp::hw
