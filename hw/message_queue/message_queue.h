// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "hw/message_queue/message_queue_config.h"
#include "hw/sim/agenda.h"
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
  /// busy: a send is under way. ops: messages sent and received. bytes: their payload.
  /// more: messages_sent, messages_received, bytes_sent, bytes_received, packets, credits,
  /// nonfinite (values sent that no receiver may see).
  sim::UnitStats stats() const override;
  void reset_stats() override;
  std::vector<sim::TraceSignal*> trace_signals() override {
    return {&state_signal_, &sends_signal_, &recvs_signal_};
  }

 private:
  static constexpr int kChannels = 2 * kDirections;

  static constexpr Ps kNotYet = -1;
  /// Tag of a credit's payload: its channel and this bit.
  static constexpr std::uint64_t kCreditTag = 1U << 8;

  /// A command with what is known at its arrival.
  struct Job {
    tlm::tlm_generic_payload* payload = nullptr;
    Neighbour peer;
    Ps since_ps = 0;
  };
  /// Messages to one neighbour; the first job is under way when `started`.
  struct Outgoing {
    std::deque<Job> jobs;
    bool started = false;
    Ps software_done_ps = 0;
    std::uint64_t bytes = 0;      ///< of the message under way
    std::uint64_t requested = 0;  ///< bytes of it that went to the network
    Ps end_ps = kNotYet;          ///< when its last packet was accepted
    std::shared_ptr<std::vector<unsigned char>> staging;
    Ps data_ready_ps = 0;       ///< when the next packet's bytes are out of the scratchpad
    std::uint32_t credits = 0;  ///< free slots at the receiver
    std::uint32_t slot = 0;     ///< that the next chunk goes to, or the one under way
    std::uint64_t message_number = 0;
    std::string failure;  ///< a packet was refused: this and later messages fail

    bool mid_chunk(std::uint32_t slot_bytes) const { return requested % slot_bytes != 0; }
  };
  /// A message that has begun to come in.
  struct Message {
    std::uint64_t bytes = 0;
    std::uint64_t announced = 0;  ///< bytes whose packets were seen, some still to arrive
    std::uint64_t arrived = 0;
    std::uint64_t taken = 0;  ///< bytes whose slots were returned
    std::vector<unsigned char> data;
  };
  /// Messages from one neighbour.
  struct Incoming {
    std::deque<Job> jobs;
    std::deque<std::shared_ptr<Message>> messages;
    std::uint64_t next_number = 0;
  };
  struct Landing {
    int channel = 0;
    bool credit = false;
    std::uint32_t bytes = 0;
  };
  struct Credit {
    int channel;
    Neighbour to;
  };

  static int channel_of(const MessageParams& m) {
    return index(m.direction) + (m.axis == RankAxis::cube ? kDirections : 0);
  }
  static RankAxis axis_of(int channel) {
    return channel < kDirections ? RankAxis::pe : RankAxis::cube;
  }
  static Direction direction_of(int channel) {
    return static_cast<Direction>(channel % kDirections);
  }
  /// Place of a window's byte in the scratchpad.
  std::uint64_t slot_address(int channel, std::uint64_t offset) const;

  void start_of_simulation() override;
  void step();
  void land();
  void accept_commands();
  std::string error_of(const Command& command, const Neighbour& peer) const;
  void receive(int channel);
  void return_slots(int channel, Message& message, const Neighbour& peer);
  void deliver(const Command& command, const std::shared_ptr<Message>& message);
  void end_sends(int channel);
  void start_send(int channel);
  void copy_out(Outgoing& out, const Command& command);
  void prefetch(Outgoing& out);
  void pump();
  bool has_packet(int channel) const;
  void send_packet(int channel);
  void send_credit(const Credit& credit);
  void request(tlm::tlm_generic_payload& payload, Ps ready_ps);
  void request_accepted(std::uint64_t tag, Ps at_ps);
  void on_response(const tlm::tlm_generic_payload& payload);
  void schedule();
  tlm::tlm_sync_enum on_net_response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  tlm::tlm_sync_enum on_net_request(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                    sc_core::sc_time& delay);
  void on_net_b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned on_net_debug(tlm::tlm_generic_payload&) { return 0; }
  tlm::tlm_response_status accept_packet(const tlm::tlm_generic_payload& payload, Ps at_ps);
  bool announce(Incoming& in, const tlm::tlm_generic_payload& payload);
  void trace();

  const Config config_;
  const sim::PeShared shared_;
  const NeighbourLookup neighbour_;
  unsigned char* scratchpad_ = nullptr;

  std::array<Outgoing, kChannels> out_;
  std::array<Incoming, kChannels> in_;
  sim::Agenda<Landing> landings_{"landing_event"};
  std::deque<Credit> credits_to_send_;
  int last_sender_ = kChannels - 1;
  /// Bytes of packets that were not acknowledged: a send may complete while its last packets are
  /// still in the network.
  std::unordered_map<const tlm::tlm_generic_payload*, std::shared_ptr<std::vector<unsigned char>>>
      in_transit_;

  tlm::tlm_generic_payload* requesting_ = nullptr;  ///< BEGIN_REQ sent, END_REQ to come
  Ps port_free_ps_ = 0;
  sc_core::sc_event step_event_{"step_event"};

  sim::BusyTimer busy_;
  sim::UnitStats counts_;
  sim::TraceSignal state_signal_{"state", 2, {"idle", "send", "recv", "send_recv"}};
  sim::TraceSignal sends_signal_{"sends", 8};
  sim::TraceSignal recvs_signal_{"recvs", 8};
};

}  // namespace cubevp::hw
