// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "hw/sim/agenda.h"
#include "hw/sim/payload.h"

namespace cubevp::sim {

/// Bytes of payload that the packet of a request (request or message) or of its response carries:
/// data for a write, and for a read that succeeded; else only the header.
std::uint64_t packet_bytes(const tlm::tlm_generic_payload& payload, MessageClass vc);

/// Queue that keeps its storage.
template <typename T>
class Fifo {
 public:
  bool empty() const { return head_ == items_.size(); }
  T& front() { return items_[head_]; }
  void push(const T& item) { items_.push_back(item); }
  T pop() {
    T item = items_[head_++];
    if (head_ == items_.size()) {
      items_.clear();
      head_ = 0;
    } else if (head_ >= kCompactAt && 2 * head_ >= items_.size()) {
      items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
    return item;
  }

 private:
  static constexpr std::size_t kCompactAt = 32;
  std::vector<T> items_;
  std::size_t head_ = 0;
};

/// Room in a receiver's buffer, as its sender knows it: units free now, and units that are known
/// to become free later.
class CreditPool {
 public:
  explicit CreditPool(std::uint32_t units) : available_(units) {}
  void take(std::uint32_t units) { available_ -= units; }
  void give(std::uint32_t units, Ps at);
  /// When `units` are free, `now` if they are, kNever while nobody can tell.
  Ps time_for(std::uint32_t units, Ps now);

  static constexpr Ps kNever = std::numeric_limits<Ps>::max();

 private:
  struct Return {
    Ps at;
    std::uint32_t units;
  };
  std::uint32_t available_;
  std::vector<Return> returns_;  // sorted by time
};

/// The common part of everything that packets pass: buffers a virtual channel deep at each input,
/// channels at the outputs, credits for the buffers behind them, and round-robin arbitration of
/// each output over (input, virtual channel). Virtual cut-through: a granted packet's head leaves
/// at once and its channel is taken for the packet's own serialisation; its place in the buffer
/// is free when its tail has left. Routers, network interfaces and link endpoints apply it to
/// their sockets.
///
/// Timing contract: arrive() and credit() take times from now on; forward() and release() are
/// called at the simulated time of the decision with a delay on top. An uncontended packet costs
/// one event, or none when it arrives now.
///
/// Does not model: flit-level interleaving of packets on a channel, more than one packet leaving
/// an input at a time, time on the credit wire.
class PacketSwitch {
 public:
  struct Packet {
    tlm::tlm_generic_payload* payload = nullptr;
    MessageClass vc = MessageClass::request;
    std::uint8_t output = 0;
    Ps serialisation_ps = 0;  ///< on the output's channel
    std::uint32_t units = 1;  ///< of the buffer behind the output
  };
  struct Output {
    Ps latency_ps = 0;          ///< from the decision to the head's arrival
    std::uint32_t credits = 1;  ///< units of the buffer behind it, a virtual channel
  };
  class Client {
   public:
    virtual ~Client() = default;
    /// The packet's head arrives behind `output` after `delay`.
    virtual void forward(unsigned output, const Packet& packet, Ps delay) = 0;
    /// Its place in the buffer of `input` is free after `delay`. Called before forward().
    virtual void release(unsigned input, const Packet& packet, Ps delay) = 0;
    /// The number of packets in the buffers changed.
    virtual void buffered(std::uint64_t /*packets*/) {}
  };

  PacketSwitch(const char* name, Client& client, unsigned inputs, std::vector<Output> outputs);

  /// A packet's head is at `input` at `at`. With `at_once` a packet that arrives now may be
  /// forwarded before the call returns.
  void arrive(unsigned input, const Packet& packet, Ps at, bool at_once = true);
  void credit(unsigned output, MessageClass vc, std::uint32_t units, Ps at);
  /// Keeps the channel of an output taken for longer than its packet's own time.
  void hold(unsigned output, Ps extra);

  /// The owner's process, sensitive to event().
  void run();
  const sc_core::sc_event& event() const { return agenda_.event(); }

  Ps busy_ps(unsigned output) const { return outputs_[output].busy_ps; }
  Ps channel_free_ps(unsigned output) const { return outputs_[output].free_at; }
  void reset_stats();

 private:
  static constexpr Ps kNever = CreditPool::kNever;
  static constexpr std::uint8_t kNobody = 0xff;
  struct Todo {
    Packet packet;  // without payload: try output packet.output again
    unsigned input = 0;
  };
  struct OutputState {
    Ps latency_ps = 0;
    Ps free_at = 0;
    Ps retry_at = kNever;
    Ps busy_ps = 0;
    unsigned waiting = 0;  // heads of queues that want this output
    unsigned last = 0;     // queue granted last
    std::vector<CreditPool> credits;
  };

  void enqueue(unsigned input, const Packet& packet);
  void arbitrate(unsigned output);
  void grant(unsigned output, unsigned queue);
  void retry(unsigned output, Ps at);
  void take_due();
  void show_buffered();

  Client& client_;
  std::vector<OutputState> outputs_;
  std::vector<Fifo<Packet>> queues_;  // input * kMessageClasses + vc
  std::vector<std::uint8_t> wants_;   // output that the head of each queue wants
  std::vector<Ps> input_free_at_;
  std::uint64_t packets_ = 0;
  std::uint64_t shown_packets_ = 0;
  bool running_ = false;
  Agenda<Todo> agenda_;
};

}  // namespace cubevp::sim
