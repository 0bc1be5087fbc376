// SPDX-License-Identifier: Apache-2.0
#include "hw/message_queue/message_queue.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "hw/base/command_check.h"
#include "hw/message_queue/nonfinite.h"
#include "hw/sim/host_pool.h"
#include "hw/sim/scratchpad_port.h"

namespace cubevp::hw {

MessageQueue::MessageQueue(const sc_core::sc_module_name& name, const Config& config,
                           const sim::PeShared& shared, NeighbourLookup neighbour)
    : sc_module(name), config_(config), shared_(shared), neighbour_(std::move(neighbour)) {
  if (config.slots == 0 || config.slot_bytes == 0 || config.packet_bytes == 0) {
    throw std::invalid_argument("message_queue: slots, slot_bytes and packet_bytes must not be 0");
  }
  if (config.packet_bytes > sim::PayloadPool::kDummyBytes) {
    throw std::invalid_argument("message_queue: packet_bytes exceeds " +
                                std::to_string(sim::PayloadPool::kDummyBytes));
  }
  if (std::uint64_t{config.slots} * config.slot_bytes > kCreditBit) {
    throw std::invalid_argument("message_queue: " + std::to_string(config.slots) + " slots of " +
                                std::to_string(config.slot_bytes) +
                                " bytes exceed a window's 16 MiB");
  }
  if (config.reserved_bytes() > shared.id.scratchpad_bytes) {
    throw std::invalid_argument(
        "message_queue: slots take " + std::to_string(config.reserved_bytes()) +
        " bytes of a scratchpad of " + std::to_string(shared.id.scratchpad_bytes));
  }
  for (Outgoing& out : out_) {
    out.credits = config.slots;
  }
  net_isock.register_nb_transport_bw(this, &MessageQueue::on_net_response);
  net_tsock.register_nb_transport_fw(this, &MessageQueue::on_net_request);
  net_tsock.register_b_transport(this, &MessageQueue::on_net_b_transport);
  net_tsock.register_transport_dbg(this, &MessageQueue::on_net_debug);
  SC_HAS_PROCESS(MessageQueue);
  SC_METHOD(step);
  sensitive << cmd_tsock.arrival_event() << landings_.event() << step_event_;
  dont_initialize();
}

void MessageQueue::start_of_simulation() {
  if (shared_.keep_data()) {
    scratchpad_ = sim::scratchpad_data(mem_isock, shared_.pool);
  }
}

std::uint64_t MessageQueue::slot_address(int channel, std::uint64_t offset) const {
  return shared_.id.scratchpad_bytes - config_.reserved_bytes() +
         static_cast<std::uint64_t>(channel) * config_.slots * config_.slot_bytes + offset;
}

void MessageQueue::step() {
  land();
  accept_commands();
  for (int channel = 0; channel < kChannels; ++channel) {
    receive(channel);
    end_sends(channel);
    start_send(channel);
  }
  pump();
  schedule();
  trace();
}

void MessageQueue::land() {
  Landing landing;
  while (landings_.take_due(landing)) {
    const auto channel = static_cast<std::size_t>(landing.channel);
    if (landing.credit) {
      out_[channel].credits = std::min(out_[channel].credits + 1, config_.slots);
      continue;
    }
    // Packets land in order, so the bytes belong to the first message that misses some.
    for (const auto& message : in_[channel].messages) {
      if (message->arrived < message->bytes) {
        message->arrived += landing.bytes;
        break;
      }
    }
  }
  landings_.rearm();
}

std::string MessageQueue::error_of(const Command& command, const Neighbour& peer) const {
  if (command.opcode != Opcode::send && command.opcode != Opcode::recv) {
    return "the message queue was given a " + std::string(to_string(command.opcode));
  }
  const std::string error = operand_error(command, 1, shared_.id.scratchpad_bytes);
  if (!error.empty()) {
    return error;
  }
  const std::string op = std::string(to_string(command.opcode)) + " " +
                         std::string(to_string(command.message.direction)) + " (" +
                         std::string(to_string(command.message.axis)) + " axis): ";
  if (command.operands[0].space != Space::scratchpad) {
    return op + describe(command.operands[0]) + " is not in the scratchpad";
  }
  if (!peer.error.empty()) {
    return op + peer.error;
  }
  if (index(peer.cube) >= shared_.id.cubes || index(peer.pe) >= shared_.id.pes_per_cube) {
    return op + "the neighbour is PE " + std::to_string(index(peer.pe)) + " of cube " +
           std::to_string(index(peer.cube)) + ", which does not exist";
  }
  return {};
}

void MessageQueue::accept_commands() {
  while (cmd_tsock.waiting()) {
    tlm::tlm_generic_payload& payload = cmd_tsock.take();
    const Command& command = *sim::command_of(payload);
    Job job{&payload, neighbour_(command.message.axis, command.message.direction), sim::now_ps()};
    const std::string error = error_of(command, job.peer);
    if (!error.empty() || command.operands[0].bytes() == 0) {
      cmd_tsock.complete(payload, error);
      continue;
    }
    const auto channel = static_cast<std::size_t>(channel_of(command.message));
    if (command.opcode == Opcode::send) {
      out_[channel].jobs.push_back(std::move(job));
    } else {
      shared_.activity.begin(sim::PeActivity::recv_wait);
      in_[channel].jobs.push_back(std::move(job));
    }
  }
}

// --- receiving ------------------------------------------------------------------------------

void MessageQueue::receive(int channel) {
  Incoming& in = in_[static_cast<std::size_t>(channel)];
  while (!in.jobs.empty() && !in.messages.empty() && in.messages.front()->arrived != 0) {
    const std::shared_ptr<Message> message = in.messages.front();
    const Job job = in.jobs.front();
    const Command& command = *sim::command_of(*job.payload);
    std::string fault;
    if (command.operands[0].bytes() != message->bytes) {
      fault = "recv " + std::string(to_string(command.message.direction)) + " of " +
              std::to_string(command.operands[0].bytes()) + " bytes met a message of " +
              std::to_string(message->bytes) + " bytes from PE " +
              std::to_string(index(job.peer.pe)) + " of cube " +
              std::to_string(index(job.peer.cube));
    } else {
      return_slots(channel, *message, job.peer);
      if (message->taken != message->bytes) {
        return;
      }
      deliver(command, message);
      in.messages.pop_front();
    }
    in.jobs.pop_front();
    shared_.activity.end(sim::PeActivity::recv_wait);
    cmd_tsock.complete(*job.payload, fault);
  }
}

// The receive takes every chunk that is here in full.
void MessageQueue::return_slots(int channel, Message& message, const Neighbour& peer) {
  const std::uint64_t whole = message.arrived == message.bytes
                                  ? message.bytes
                                  : message.arrived / config_.slot_bytes * config_.slot_bytes;
  while (message.taken < whole) {
    message.taken += std::min<std::uint64_t>(config_.slot_bytes, whole - message.taken);
    credits_to_send_.push_back({channel, peer});
  }
}

void MessageQueue::deliver(const Command& command, const std::shared_ptr<Message>& message) {
  counts_.bytes += message->bytes;
  ++counts_.ops;
  ++counts_.more["messages_received"];
  counts_.more["bytes_received"] += message->bytes;
  if (!shared_.keep_data()) {
    return;
  }
  shared_.strand->submit(
      [dst = command.operands[0], message, memory = scratchpad_] {
        const std::size_t row_bytes = dst.cols * size_bytes(dst.dtype);
        for (std::size_t row = 0; row < dst.rows; ++row) {
          std::memcpy(memory + dst.address + row * dst.row_stride_bytes,
                      message->data.data() + row * row_bytes, row_bytes);
        }
      },
      message->bytes);
}

tlm::tlm_sync_enum MessageQueue::on_net_request(tlm::tlm_generic_payload& payload,
                                                tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) {
    payload.set_response_status(accept_packet(payload, sim::now_ps() + sim::to_ps(delay)));
  }
  return tlm::TLM_COMPLETED;
}

void MessageQueue::on_net_b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  payload.set_response_status(accept_packet(payload, sim::now_ps() + sim::to_ps(delay)));
}

tlm::tlm_response_status MessageQueue::accept_packet(const tlm::tlm_generic_payload& payload,
                                                     Ps at_ps) {
  const DecodedAddress address = decode(payload.get_address());
  const std::uint64_t offset = address.offset & (kCreditBit - 1);
  const std::uint32_t bytes = payload.get_data_length();
  if (address.cube != shared_.id.cube || pe_of_offset(address.offset) != shared_.id.pe ||
      address.region != static_cast<std::uint8_t>(Region::message_queue) ||
      offset + bytes > std::uint64_t{config_.slots} * config_.slot_bytes) {
    return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  }
  if (!payload.is_write() || bytes == 0) {
    return tlm::TLM_COMMAND_ERROR_RESPONSE;
  }
  const auto channel = static_cast<int>((address.offset >> kWindowShift) & (kChannels - 1));
  if ((address.offset & kCreditBit) != 0) {
    landings_.push(at_ps, {channel, true, 0});
    return tlm::TLM_OK_RESPONSE;
  }
  if (!announce(in_[static_cast<std::size_t>(channel)], payload)) {
    return tlm::TLM_GENERIC_ERROR_RESPONSE;
  }
  sim::occupy_scratchpad(mem_isock, shared_.pool, tlm::TLM_WRITE_COMMAND,
                         slot_address(channel, offset), bytes, at_ps);
  landings_.push(at_ps, {channel, false, bytes});
  return tlm::TLM_OK_RESPONSE;
}

// Adds a packet to its message; false when it is not the packet that must come next.
bool MessageQueue::announce(Incoming& in, const tlm::tlm_generic_payload& payload) {
  sim::TransactionExtension* const ext = sim::extension(payload);
  if (ext == nullptr || ext->message_bytes == 0) {
    return false;
  }
  const bool starts =
      in.messages.empty() || in.messages.back()->announced == in.messages.back()->bytes;
  const std::uint64_t expected = starts ? 0 : in.messages.back()->announced;
  const std::uint64_t number = starts ? in.next_number : in.next_number - 1;
  if (ext->message_offset != expected || ext->message_number != number ||
      expected + payload.get_data_length() > ext->message_bytes) {
    ext->fault = "packet of message " + std::to_string(ext->message_number) + " at byte " +
                 std::to_string(ext->message_offset) + " came when message " +
                 std::to_string(number) + " at byte " + std::to_string(expected) + " was due";
    return false;
  }
  if (starts) {
    ++in.next_number;
    in.messages.push_back(std::make_shared<Message>());
    in.messages.back()->bytes = ext->message_bytes;
    if (shared_.keep_data()) {
      in.messages.back()->data.resize(ext->message_bytes);
    }
  }
  Message& message = *in.messages.back();
  if (shared_.keep_data() && !ext->timing_only) {
    std::memcpy(message.data.data() + expected, payload.get_data_ptr(), payload.get_data_length());
  }
  message.announced += payload.get_data_length();
  return true;
}

// --- sending --------------------------------------------------------------------------------

void MessageQueue::end_sends(int channel) {
  Outgoing& out = out_[static_cast<std::size_t>(channel)];
  const bool sent = out.started && out.end_ps != kNotYet && out.end_ps <= sim::now_ps();
  const bool failed = out.started && !out.failure.empty() && requesting_ == nullptr;
  if (!sent && !failed) {
    return;
  }
  tlm::tlm_generic_payload& payload = *out.jobs.front().payload;
  if (sent) {
    counts_.bytes += out.bytes;
    ++counts_.ops;
    ++counts_.more["messages_sent"];
    counts_.more["bytes_sent"] += out.bytes;
  }
  out.jobs.pop_front();
  out.started = false;
  out.staging.reset();
  ++out.message_number;
  busy_.end();
  shared_.activity.end(sim::PeActivity::send_wait);
  cmd_tsock.complete(payload, out.failure);
}

void MessageQueue::start_send(int channel) {
  Outgoing& out = out_[static_cast<std::size_t>(channel)];
  if (out.started || out.jobs.empty()) {
    return;
  }
  const Command& command = *sim::command_of(*out.jobs.front().payload);
  out.started = true;
  out.software_done_ps = sim::now_ps() + config_.software_cost_ps;
  out.bytes = command.operands[0].bytes();
  out.requested = 0;
  out.end_ps = kNotYet;
  busy_.begin();
  shared_.activity.begin(sim::PeActivity::send_wait);
  if (shared_.keep_data()) {
    copy_out(out, command);
  }
  prefetch(out);
  if (!out.failure.empty()) {
    step_event_.notify(sc_core::SC_ZERO_TIME);
  }
}

void MessageQueue::copy_out(Outgoing& out, const Command& command) {
  shared_.strand->join();
  const Operand& src = command.operands[0];
  out.staging = std::make_shared<std::vector<unsigned char>>(src.bytes());
  const std::size_t row_bytes = src.cols * size_bytes(src.dtype);
  for (std::size_t row = 0; row < src.rows; ++row) {
    std::memcpy(out.staging->data() + row * row_bytes,
                scratchpad_ + src.address + row * src.row_stride_bytes, row_bytes);
  }
  counts_.more["nonfinite"] += count_nonfinite(out.staging->data(), src.dtype, src.elements(),
                                               command.message.may_be_neg_inf);
}

// Takes the next packet out of the scratchpad, while the one before it is on its way.
void MessageQueue::prefetch(Outgoing& out) {
  const Operand& src = sim::command_of(*out.jobs.front().payload)->operands[0];
  const std::uint64_t row_bytes = src.cols * size_bytes(src.dtype);
  if (out.requested < out.bytes) {
    const std::uint64_t bytes = std::min<std::uint64_t>(
        {config_.packet_bytes, config_.slot_bytes - out.requested % config_.slot_bytes,
         out.bytes - out.requested});
    const std::uint64_t address =
        src.address + out.requested / row_bytes * src.row_stride_bytes + out.requested % row_bytes;
    out.data_ready_ps = sim::occupy_scratchpad(mem_isock, shared_.pool, tlm::TLM_READ_COMMAND,
                                               address, bytes, sim::now_ps());
  }
}

bool MessageQueue::has_packet(int channel) const {
  const Outgoing& out = out_[static_cast<std::size_t>(channel)];
  return out.started && out.failure.empty() && out.software_done_ps <= sim::now_ps() &&
         out.requested < out.bytes && (out.mid_chunk(config_.slot_bytes) || out.credits != 0);
}

void MessageQueue::pump() {
  while (requesting_ == nullptr && port_free_ps_ <= sim::now_ps()) {
    // Credits first: they are tiny, and a sender may be standing still for want of one.
    if (!credits_to_send_.empty()) {
      const Credit credit = credits_to_send_.front();
      credits_to_send_.pop_front();
      send_credit(credit);
      continue;
    }
    int sender = -1;
    for (int i = 1; i <= kChannels && sender < 0; ++i) {
      const int channel = (last_sender_ + i) % kChannels;
      sender = has_packet(channel) ? channel : -1;
    }
    if (sender < 0) {
      return;
    }
    last_sender_ = sender;
    send_packet(sender);
  }
}

void MessageQueue::send_packet(int channel) {
  Outgoing& out = out_[static_cast<std::size_t>(channel)];
  const std::uint64_t in_chunk = out.requested % config_.slot_bytes;
  if (in_chunk == 0) {
    --out.credits;
  }
  const std::uint64_t bytes = std::min<std::uint64_t>(
      {config_.packet_bytes, config_.slot_bytes - in_chunk, out.bytes - out.requested});
  const Neighbour& peer = out.jobs.front().peer;
  tlm::tlm_generic_payload& payload = shared_.pool.allocate();
  sim::set_access(
      payload, tlm::TLM_WRITE_COMMAND,
      message_window_address(peer.cube, peer.pe, axis_of(channel), opposite(direction_of(channel)),
                             std::uint64_t{out.slot} * config_.slot_bytes + in_chunk),
      out.staging ? out.staging->data() + out.requested : shared_.pool.dummy_data(), bytes);
  sim::TransactionExtension& ext = *sim::extension(payload);
  ext.message_class = sim::MessageClass::message;
  ext.timing_only = !shared_.keep_data();
  ext.message_bytes = out.bytes;
  ext.message_offset = out.requested;
  ext.message_number = out.message_number;
  ext.initiator_tag = static_cast<std::uint64_t>(channel);

  const Ps ready_ps = std::max(sim::now_ps(), out.data_ready_ps);
  out.requested += bytes;
  if (out.requested == out.bytes || !out.mid_chunk(config_.slot_bytes)) {
    out.slot = (out.slot + 1) % config_.slots;
  }
  prefetch(out);
  if (out.staging) {
    in_transit_.emplace(&payload, out.staging);
  }
  ++counts_.more["packets"];
  request(payload, ready_ps);
}

void MessageQueue::send_credit(const Credit& credit) {
  constexpr std::size_t kCreditBytes = 4;
  tlm::tlm_generic_payload& payload = shared_.pool.allocate();
  // The sender's window of what comes from here: it sends towards where it would receive from.
  const Address window =
      message_window_address(credit.to.cube, credit.to.pe, axis_of(credit.channel),
                             opposite(direction_of(credit.channel)));
  sim::set_access(payload, tlm::TLM_WRITE_COMMAND, window | kCreditBit, shared_.pool.dummy_data(),
                  kCreditBytes);
  sim::TransactionExtension& ext = *sim::extension(payload);
  ext.message_class = sim::MessageClass::message;
  ext.timing_only = true;
  ext.initiator_tag = static_cast<std::uint64_t>(credit.channel) | kCreditTag;
  ++counts_.more["credits"];
  request(payload, sim::now_ps());
}

void MessageQueue::request(tlm::tlm_generic_payload& payload, Ps ready_ps) {
  const std::uint64_t tag = sim::extension(payload)->initiator_tag;
  requesting_ = &payload;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sim::to_sc_time(ready_ps - sim::now_ps());
  const tlm::tlm_sync_enum result = net_isock->nb_transport_fw(payload, phase, delay);
  if (result == tlm::TLM_ACCEPTED) {
    return;
  }
  request_accepted(tag, sim::now_ps() + sim::to_ps(delay));
  if (result == tlm::TLM_COMPLETED || phase == tlm::BEGIN_RESP) {
    on_response(payload);
    if (result == tlm::TLM_UPDATED) {
      phase = tlm::END_RESP;
      net_isock->nb_transport_fw(payload, phase, delay);
    }
    payload.release();
  }
}

void MessageQueue::request_accepted(std::uint64_t tag, Ps at_ps) {
  requesting_ = nullptr;
  port_free_ps_ = at_ps;
  if ((tag & kCreditTag) == 0) {
    Outgoing& out = out_[tag];
    if (out.requested == out.bytes) {
      out.end_ps = at_ps;
    }
  }
  step_event_.notify(sim::to_sc_time(at_ps - sim::now_ps()));
}

tlm::tlm_sync_enum MessageQueue::on_net_response(tlm::tlm_generic_payload& payload,
                                                 tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (requesting_ == &payload) {
    // END_REQ, or BEGIN_RESP which implies it.
    request_accepted(sim::extension(payload)->initiator_tag, sim::now_ps() + sim::to_ps(delay));
  }
  if (phase != tlm::BEGIN_RESP) {
    return tlm::TLM_ACCEPTED;
  }
  on_response(payload);
  payload.release();
  return tlm::TLM_COMPLETED;
}

// Packets are posted; only a refusal matters.
void MessageQueue::on_response(const tlm::tlm_generic_payload& payload) {
  in_transit_.erase(&payload);
  if (payload.is_response_error()) {
    const std::uint64_t channel = sim::extension(payload)->initiator_tag & ~kCreditTag;
    out_[channel].failure = std::string(name()) + ": " + sim::describe_error(payload);
    step_event_.notify(sc_core::SC_ZERO_TIME);
  }
}

void MessageQueue::schedule() {
  const Ps now = sim::now_ps();
  Ps next = kNotYet;
  const auto consider = [&](Ps at_ps) {
    if (at_ps > now && (next == kNotYet || at_ps < next)) {
      next = at_ps;
    }
  };
  bool to_send = !credits_to_send_.empty();
  for (int channel = 0; channel < kChannels; ++channel) {
    const Outgoing& out = out_[static_cast<std::size_t>(channel)];
    if (out.started) {
      consider(out.software_done_ps);
      consider(out.end_ps);
      to_send = to_send || has_packet(channel);
    }
  }
  if (to_send) {
    consider(port_free_ps_);
  }
  if (next != kNotYet) {
    step_event_.notify(sim::to_sc_time(next - now));
  }
}

// --- telling --------------------------------------------------------------------------------

std::vector<MessageQueue::Waiting> MessageQueue::waiting() const {
  std::vector<Waiting> all;
  for (int channel = 0; channel < kChannels; ++channel) {
    const Outgoing& out = out_[static_cast<std::size_t>(channel)];
    const Incoming& in = in_[static_cast<std::size_t>(channel)];
    const auto add = [&](const Job& job, Opcode op, Why why) {
      all.push_back({sim::command_of(*job.payload)->id, op, axis_of(channel), direction_of(channel),
                     job.peer, job.since_ps, why});
    };
    for (std::size_t i = 0; i < out.jobs.size(); ++i) {
      Why why = Why::network;
      if (i != 0 || !out.started) {
        why = Why::order;
      } else if (out.software_done_ps > sim::now_ps()) {
        why = Why::software;
      } else if (out.requested < out.bytes && !out.mid_chunk(config_.slot_bytes) &&
                 out.credits == 0) {
        why = Why::credits;
      }
      add(out.jobs[i], Opcode::send, why);
    }
    for (std::size_t i = 0; i < in.jobs.size(); ++i) {
      add(in.jobs[i], Opcode::recv, i == 0 ? Why::arrival : Why::order);
    }
  }
  return all;
}

void MessageQueue::trace() {
  if (!state_signal_.traced() && !sends_signal_.traced() && !recvs_signal_.traced()) {
    return;
  }
  std::size_t sends = 0;
  std::size_t recvs = 0;
  for (std::size_t channel = 0; channel < kChannels; ++channel) {
    sends += out_[channel].jobs.size();
    recvs += in_[channel].jobs.size();
  }
  state_signal_.set((sends != 0 ? 1 : 0) | (recvs != 0 ? 2 : 0));
  sends_signal_.set(sends);
  recvs_signal_.set(recvs);
}

sim::UnitStats MessageQueue::stats() const {
  sim::UnitStats s = counts_;
  s.busy_ps = busy_.total_ps();
  for (const char* name : {"messages_sent", "messages_received", "bytes_sent", "bytes_received",
                           "packets", "credits", "nonfinite"}) {
    s.more.try_emplace(name, 0);
  }
  return s;
}

void MessageQueue::reset_stats() {
  counts_ = {};
  busy_.reset();
}

}  // namespace cubevp::hw
