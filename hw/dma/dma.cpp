// SPDX-License-Identifier: Apache-2.0
#include "hw/dma/dma.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "hw/base/command_check.h"
#include "hw/sim/host_pool.h"
#include "hw/sim/scratchpad_port.h"

namespace cubevp::hw {

namespace {

std::string error_of(const Command& command, std::uint64_t scratchpad_bytes) {
  const bool load = command.opcode == Opcode::dma_load;
  if (!load && command.opcode != Opcode::dma_store) {
    return "the dma was given a " + std::string(to_string(command.opcode));
  }
  const std::string error = operand_error(command, 2, scratchpad_bytes);
  if (!error.empty()) {
    return error;
  }
  const Operand& memory = command.operands[load ? 1 : 0];
  const Operand& scratchpad = command.operands[load ? 0 : 1];
  if (memory.space != Space::hbm || scratchpad.space != Space::scratchpad ||
      memory.rows != scratchpad.rows || memory.cols != scratchpad.cols ||
      memory.dtype != scratchpad.dtype || memory.transposed || scratchpad.transposed) {
    return std::string(to_string(command.opcode)) + ": " + describe(command.operands[0]) + " <- " +
           describe(command.operands[1]) + ": not the same block in memory and scratchpad";
  }
  return {};
}

const Operand& memory_of(const Command& c) {
  return c.operands[c.opcode == Opcode::dma_load ? 1 : 0];
}
const Operand& scratchpad_of(const Command& c) {
  return c.operands[c.opcode == Opcode::dma_load ? 0 : 1];
}

// What the response of a burst brings back: its channel and where it goes in the scratchpad.
constexpr int kTagChannelShift = 48;
std::uint64_t burst_tag(std::uint32_t channel, std::uint64_t scratchpad_address) {
  return (std::uint64_t{channel} << kTagChannelShift) | scratchpad_address;
}
std::uint32_t channel_of_tag(std::uint64_t tag) {
  return static_cast<std::uint32_t>(tag >> kTagChannelShift);
}
std::uint64_t address_of_tag(std::uint64_t tag) {
  return tag & ((std::uint64_t{1} << kTagChannelShift) - 1);
}

}  // namespace

Dma::Dma(const sc_core::sc_module_name& name, const Config& config, const sim::PeShared& shared)
    : sc_module(name),
      config_(config),
      shared_(shared),
      jobs_(config.read_channels + config.write_channels) {
  if (config.read_channels == 0 || config.write_channels == 0 || config.outstanding_bursts == 0) {
    throw std::invalid_argument("dma: channels and outstanding_bursts must not be 0");
  }
  if (config.burst_bytes == 0 || config.burst_bytes > sim::PayloadPool::kDummyBytes) {
    throw std::invalid_argument("dma: burst_bytes must be between 1 and " +
                                std::to_string(sim::PayloadPool::kDummyBytes));
  }
  net_isock.register_nb_transport_bw(this, &Dma::on_nb_transport);
  SC_HAS_PROCESS(Dma);
  SC_METHOD(step);
  sensitive << cmd_tsock.arrival_event() << step_event_;
  dont_initialize();
}

void Dma::start_of_simulation() {
  if (shared_.keep_data()) {
    scratchpad_ = sim::scratchpad_data(mem_isock, shared_.pool);
  }
}

void Dma::step() {
  retire_bursts();
  accept_commands();
  issue_bursts();
  schedule();
}

void Dma::accept_commands() {
  while (cmd_tsock.waiting()) {
    tlm::tlm_generic_payload& payload = cmd_tsock.take();
    const bool load = sim::command_of(payload)->opcode == Opcode::dma_load;
    (load ? waiting_reads_ : waiting_writes_).push_back(&payload);
  }
  start_waiting(true);
  start_waiting(false);
}

void Dma::start_waiting(bool reads) {
  auto& waiting = reads ? waiting_reads_ : waiting_writes_;
  const std::uint32_t first = reads ? 0 : config_.read_channels;
  const std::uint32_t last =
      reads ? config_.read_channels : static_cast<std::uint32_t>(jobs_.size());
  for (std::uint32_t channel = first; channel < last && !waiting.empty(); ++channel) {
    // A command that ends at once (an error, no bytes) leaves its channel to the next one.
    while (jobs_[channel].command == nullptr && !waiting.empty()) {
      tlm::tlm_generic_payload& payload = *waiting.front();
      waiting.pop_front();
      start_job(channel, payload);
    }
  }
}

void Dma::start_job(std::uint32_t channel, tlm::tlm_generic_payload& payload) {
  const Command& command = *sim::command_of(payload);
  Job& job = jobs_[channel];
  job = Job{};
  job.command = &payload;
  job.sequence = next_sequence_++;
  job.fault = error_of(command, shared_.id.scratchpad_bytes);
  if (!busy_.busy()) {
    state_signal_.set(1);
    shared_.activity.begin(sim::PeActivity::dma);
  }
  busy_.begin();
  op_signal_.set_text(command.label);
  if (!job.fault.empty()) {
    complete_if_done(channel);
    return;
  }
  const Operand& scratchpad = scratchpad_of(command);
  job.splitter = BurstSplitter(memory_of(command), scratchpad, config_.burst_bytes);
  if (shared_.keep_data()) {
    job.staging = std::make_shared<std::vector<unsigned char>>(scratchpad.bytes());
    if (!is_read(channel)) {
      shared_.strand->join();
      const std::size_t row_bytes = scratchpad.cols * size_bytes(scratchpad.dtype);
      for (std::size_t row = 0; row < scratchpad.rows; ++row) {
        std::memcpy(job.staging->data() + row * row_bytes,
                    scratchpad_ + scratchpad.address + row * scratchpad.row_stride_bytes,
                    row_bytes);
      }
    }
  }
  if (!is_read(channel)) {
    prefetch(job);
  }
  complete_if_done(channel);
}

// Takes the next burst of a store out of the scratchpad.
void Dma::prefetch(Job& job) {
  if (!job.splitter.done()) {
    const Burst burst = job.splitter.peek();
    job.data_ready_ps =
        sim::occupy_scratchpad(mem_isock, shared_.pool, tlm::TLM_READ_COMMAND,
                               burst.scratchpad_address, burst.bytes, sim::now_ps());
  }
}

bool Dma::can_issue(std::uint32_t channel) const {
  const Job& job = jobs_[channel];
  const std::uint64_t in_flight = is_read(channel) ? reads_in_flight_ : writes_in_flight_;
  return job.command != nullptr && !job.splitter.done() && in_flight < config_.outstanding_bursts;
}

void Dma::issue_bursts() {
  while (requesting_ == nullptr && port_free_ps_ <= sim::now_ps()) {
    // Loads and stores take turns; each kind issues its oldest command first, so that commands
    // complete one after the other and the next one fills the gaps.
    const bool reads_first = !last_was_read_;
    std::uint32_t channel = oldest_to_issue(reads_first);
    if (channel == jobs_.size()) {
      channel = oldest_to_issue(!reads_first);
    }
    if (channel == jobs_.size()) {
      break;
    }
    last_was_read_ = is_read(channel);
    issue(channel);
  }
  in_flight_signal_.set(reads_in_flight_ + writes_in_flight_);
}

std::uint32_t Dma::oldest_to_issue(bool reads) const {
  const auto channels = static_cast<std::uint32_t>(jobs_.size());
  std::uint32_t oldest = channels;
  for (std::uint32_t channel = 0; channel < channels; ++channel) {
    if (is_read(channel) == reads && can_issue(channel) &&
        (oldest == channels || jobs_[channel].sequence < jobs_[oldest].sequence)) {
      oldest = channel;
    }
  }
  return oldest;
}

void Dma::issue(std::uint32_t channel) {
  Job& job = jobs_[channel];
  const bool read = is_read(channel);
  const Burst burst = job.splitter.peek();
  job.splitter.advance();
  ++job.in_flight;
  ++(read ? reads_in_flight_ : writes_in_flight_);
  ++counts_.ops;
  counts_.bytes += burst.bytes;
  (read ? read_bytes_ : write_bytes_) += burst.bytes;

  tlm::tlm_generic_payload& payload = shared_.pool.allocate();
  sim::set_access(
      payload, read ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND, burst.memory_address,
      job.staging ? job.staging->data() + burst.staging_offset : shared_.pool.dummy_data(),
      burst.bytes);
  sim::TransactionExtension& ext = *sim::extension(payload);
  ext.timing_only = !shared_.keep_data();
  ext.initiator_tag = burst_tag(channel, burst.scratchpad_address);

  const Ps ready_ps = read ? sim::now_ps() : std::max(sim::now_ps(), job.data_ready_ps);
  if (!read) {
    prefetch(job);
  }
  request(payload, ready_ps);
}

void Dma::request(tlm::tlm_generic_payload& payload, Ps ready_ps) {
  requesting_ = &payload;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sim::to_sc_time(ready_ps - sim::now_ps());
  const tlm::tlm_sync_enum result = net_isock->nb_transport_fw(payload, phase, delay);
  if (result == tlm::TLM_ACCEPTED) {
    return;
  }
  const Ps at_ps = sim::now_ps() + sim::to_ps(delay);
  requesting_ = nullptr;
  port_free_ps_ = at_ps;
  if (result == tlm::TLM_COMPLETED || phase == tlm::BEGIN_RESP) {
    on_response(payload, at_ps);
    if (result == tlm::TLM_UPDATED) {
      phase = tlm::END_RESP;
      net_isock->nb_transport_fw(payload, phase, delay);
    }
    payload.release();
  }
}

tlm::tlm_sync_enum Dma::on_nb_transport(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                        sc_core::sc_time& delay) {
  const Ps at_ps = sim::now_ps() + sim::to_ps(delay);
  if (requesting_ == &payload) {
    // END_REQ, or BEGIN_RESP which implies it.
    requesting_ = nullptr;
    port_free_ps_ = at_ps;
    step_event_.notify(delay);
  }
  if (phase != tlm::BEGIN_RESP) {
    return tlm::TLM_ACCEPTED;
  }
  on_response(payload, at_ps);
  payload.release();
  return tlm::TLM_COMPLETED;
}

// The burst is back at `at_ps`. A load's bytes have yet to get into the scratchpad.
void Dma::on_response(tlm::tlm_generic_payload& payload, Ps at_ps) {
  const sim::TransactionExtension& ext = *sim::extension(payload);
  const std::uint32_t channel = channel_of_tag(ext.initiator_tag);
  Job& job = jobs_[channel];
  Ps end_ps = at_ps;
  if (payload.is_response_error()) {
    if (job.fault.empty()) {
      job.fault = std::string(name()) + ": " + sim::describe_error(payload);
    }
    job.splitter.drop_rest();
  } else if (is_read(channel)) {
    end_ps =
        sim::occupy_scratchpad(mem_isock, shared_.pool, tlm::TLM_WRITE_COMMAND,
                               address_of_tag(ext.initiator_tag), payload.get_data_length(), at_ps);
  }
  finishes_.push({end_ps, channel});
  step_event_.notify(sim::to_sc_time(end_ps - sim::now_ps()));
}

void Dma::retire_bursts() {
  while (!finishes_.empty() && finishes_.top().at_ps <= sim::now_ps()) {
    const std::uint32_t channel = finishes_.top().channel;
    finishes_.pop();
    --jobs_[channel].in_flight;
    --(is_read(channel) ? reads_in_flight_ : writes_in_flight_);
    complete_if_done(channel);
  }
}

void Dma::complete_if_done(std::uint32_t channel) {
  Job& job = jobs_[channel];
  if (job.in_flight != 0 || !job.splitter.done()) {
    return;
  }
  tlm::tlm_generic_payload& payload = *job.command;
  const std::string fault = job.fault;
  if (fault.empty() && is_read(channel) && job.staging) {
    const Operand dst = scratchpad_of(*sim::command_of(payload));
    shared_.strand->submit(
        [dst, staging = job.staging, memory = scratchpad_] {
          const std::size_t row_bytes = dst.cols * size_bytes(dst.dtype);
          for (std::size_t row = 0; row < dst.rows; ++row) {
            std::memcpy(memory + dst.address + row * dst.row_stride_bytes,
                        staging->data() + row * row_bytes, row_bytes);
          }
        },
        dst.bytes());
  }
  job = Job{};
  ++counts_.more["commands"];
  busy_.end();
  if (!busy_.busy()) {
    shared_.activity.end(sim::PeActivity::dma);
    state_signal_.set(0);
    op_signal_.set_text("");
  }
  cmd_tsock.complete(payload, fault);
}

// Wakes the engine when there is something to do that no event of the protocol announces.
void Dma::schedule() {
  Ps next_ps = -1;
  if (!finishes_.empty()) {
    next_ps = finishes_.top().at_ps;
  }
  const auto channels = static_cast<std::uint32_t>(jobs_.size());
  if (requesting_ == nullptr && port_free_ps_ > sim::now_ps()) {
    for (std::uint32_t channel = 0; channel < channels; ++channel) {
      if (can_issue(channel)) {
        next_ps = next_ps < 0 ? port_free_ps_ : std::min(next_ps, port_free_ps_);
        break;
      }
    }
  }
  if (next_ps >= 0) {
    step_event_.notify(sim::to_sc_time(next_ps - sim::now_ps()));
  }
}

sim::UnitStats Dma::stats() const {
  sim::UnitStats s = counts_;
  s.busy_ps = busy_.total_ps();
  s.more["read_bytes"] = read_bytes_;
  s.more["write_bytes"] = write_bytes_;
  return s;
}

void Dma::reset_stats() {
  counts_ = {};
  read_bytes_ = 0;
  write_bytes_ = 0;
  busy_.reset();
}

}  // namespace cubevp::hw
