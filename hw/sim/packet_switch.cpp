// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/packet_switch.h"

#include <algorithm>

namespace cubevp::sim {

std::uint64_t packet_bytes(const tlm::tlm_generic_payload& payload, MessageClass vc) {
  const bool carries_data = vc == MessageClass::response
                                ? payload.is_read() && payload.is_response_ok()
                                : payload.is_write();
  return carries_data ? payload.get_data_length() : 0;
}

void CreditPool::give(std::uint32_t units, Ps at) {
  auto place = returns_.end();
  while (place != returns_.begin() && (place - 1)->at > at) {
    --place;
  }
  returns_.insert(place, {at, units});
}

Ps CreditPool::time_for(std::uint32_t units, Ps now) {
  auto due = returns_.begin();
  while (due != returns_.end() && due->at <= now) {
    available_ += due->units;
    ++due;
  }
  returns_.erase(returns_.begin(), due);
  if (available_ >= units) {
    return now;
  }
  std::uint32_t sum = available_;
  for (const Return& r : returns_) {
    sum += r.units;
    if (sum >= units) {
      return r.at;
    }
  }
  return kNever;
}

PacketSwitch::PacketSwitch(const char* name, Client& client, unsigned inputs,
                           std::vector<Output> outputs)
    : client_(client),
      queues_(std::size_t{inputs} * kMessageClasses),
      wants_(std::size_t{inputs} * kMessageClasses, kNobody),
      input_free_at_(inputs, 0),
      agenda_(name) {
  for (const Output& output : outputs) {
    OutputState state;
    state.latency_ps = output.latency_ps;
    state.credits.assign(kMessageClasses, CreditPool(output.credits));
    outputs_.push_back(std::move(state));
  }
}

void PacketSwitch::arrive(unsigned input, const Packet& packet, Ps at, bool at_once) {
  packet.payload->acquire();
  if (!at_once || running_ || at > now_ps()) {
    agenda_.push(at, {packet, input});
    return;
  }
  running_ = true;
  take_due();  // what came before goes first
  enqueue(input, packet);
  arbitrate(packet.output);
  take_due();
  running_ = false;
  show_buffered();
}

void PacketSwitch::credit(unsigned output, MessageClass vc, std::uint32_t units, Ps at) {
  OutputState& out = outputs_[output];
  out.credits[static_cast<std::size_t>(vc)].give(units, at);
  if (out.waiting > 0) {
    retry(output, std::max(at, out.free_at));
  }
}

void PacketSwitch::hold(unsigned output, Ps extra) {
  outputs_[output].free_at += extra;
  outputs_[output].busy_ps += extra;
}

void PacketSwitch::run() {
  running_ = true;
  take_due();
  running_ = false;
  agenda_.rearm();
  show_buffered();
}

void PacketSwitch::reset_stats() {
  for (OutputState& out : outputs_) {
    out.busy_ps = 0;
  }
}

void PacketSwitch::take_due() {
  Todo todo;
  while (agenda_.take_due(todo)) {
    const unsigned output = todo.packet.output;
    if (todo.packet.payload != nullptr) {
      enqueue(todo.input, todo.packet);
    } else if (outputs_[output].retry_at <= now_ps()) {
      outputs_[output].retry_at = kNever;
    }
    arbitrate(output);
  }
}

void PacketSwitch::enqueue(unsigned input, const Packet& packet) {
  const std::size_t queue = std::size_t{input} * kMessageClasses + static_cast<unsigned>(packet.vc);
  if (queues_[queue].empty()) {
    wants_[queue] = packet.output;
    ++outputs_[packet.output].waiting;
  }
  queues_[queue].push(packet);
  ++packets_;
}

void PacketSwitch::arbitrate(unsigned output) {
  OutputState& out = outputs_[output];
  const Ps now = now_ps();
  const auto queues = static_cast<unsigned>(queues_.size());
  while (out.waiting > 0) {
    if (out.free_at > now) {
      retry(output, out.free_at);
      return;
    }
    Ps next = kNever;
    unsigned queue = out.last;
    bool found = false;
    for (unsigned i = 0, seen = 0; i < queues && seen < out.waiting && !found; ++i) {
      queue = queue + 1 < queues ? queue + 1 : 0;
      if (wants_[queue] != output) {
        continue;
      }
      ++seen;
      const Packet& head = queues_[queue].front();
      const Ps ready = std::max(input_free_at_[queue / kMessageClasses],
                                out.credits[queue % kMessageClasses].time_for(head.units, now));
      found = ready <= now;
      next = std::min(next, ready);
    }
    if (!found) {
      if (next != kNever) {
        retry(output, next);
      }
      return;
    }
    grant(output, queue);
  }
}

void PacketSwitch::grant(unsigned output, unsigned queue) {
  OutputState& out = outputs_[output];
  const unsigned input = queue / kMessageClasses;
  const Packet packet = queues_[queue].pop();
  --packets_;
  --out.waiting;
  const Ps free_at = now_ps() + packet.serialisation_ps;
  out.last = queue;
  out.free_at = free_at;
  out.busy_ps += packet.serialisation_ps;
  input_free_at_[input] = free_at;
  out.credits[queue % kMessageClasses].take(packet.units);
  wants_[queue] = kNobody;
  if (!queues_[queue].empty()) {
    wants_[queue] = queues_[queue].front().output;
    ++outputs_[wants_[queue]].waiting;
    retry(wants_[queue], free_at);
  }
  TransactionExtension& ext = *extension(*packet.payload);
  ext.tail_lag_ps = std::max(ext.tail_lag_ps, packet.serialisation_ps);
  client_.release(input, packet, ext.tail_lag_ps);
  client_.forward(output, packet, out.latency_ps);
  packet.payload->release();
}

void PacketSwitch::retry(unsigned output, Ps at) {
  OutputState& out = outputs_[output];
  if (out.retry_at <= at) {
    return;
  }
  out.retry_at = at;
  Todo todo;
  todo.packet.output = static_cast<std::uint8_t>(output);
  agenda_.push(at, todo);
}

void PacketSwitch::show_buffered() {
  if (packets_ != shown_packets_) {
    shown_packets_ = packets_;
    client_.buffered(packets_);
  }
}

}  // namespace cubevp::sim
