// SPDX-License-Identifier: Apache-2.0
#include "hw/sfr/sfr_block.h"

#include <cstring>
#include <utility>

#include "hw/sim/payload.h"
#include "hw/sim/time.h"

namespace cubevp::hw {

using sfr::Access;

SfrBlock::SfrBlock(const sc_core::sc_module_name& name, Config config)
    : sc_module(name),
      pe_tsocks("pe_tsock", config.pes),
      config_(std::move(config)),
      words_(sfr::kBlockBytes / 4, 0),
      start_events_("start_event", config_.pes) {
  for (const sfr::Field& f : sfr::kTable) {
    for (std::uint32_t i = 0; i < f.count; ++i) {
      stored(f.offset + 4 * i) = f.reset;
    }
  }
  stored(sfr::kId) = index(config_.cube);
  stored(sfr::kCaps) = config_.pes | static_cast<std::uint32_t>(config_.scratchpad_bytes / 1024)
                                         << 8;
  stored(sfr::kGridPos) = static_cast<std::uint32_t>(config_.position.x) |
                          static_cast<std::uint32_t>(config_.position.y) << 16;

  register_callbacks(host_tsock);
  register_callbacks(net_tsock);
  for (auto& socket : pe_tsocks) {
    register_callbacks(socket);
  }
  std::vector<std::uint32_t> shown = {sfr::kTopoCtrl, sfr::kRingSize, sfr::kRingRank,
                                      sfr::kPeStart,  sfr::kPeDone,   sfr::kPeFault};
  for (std::uint32_t d = 0; d < kDirections; ++d) {
    shown.push_back(sfr::kNeighbour + 4 * d);
  }
  for (const std::uint32_t offset : shown) {
    traced_.push_back(
        {offset, std::make_unique<sim::TraceSignal>(sfr::name_at(offset), 32,
                                                    std::vector<std::string>{}, peek(offset))});
  }
}

template <class Socket>
void SfrBlock::register_callbacks(Socket& socket) {
  socket.register_b_transport(this, &SfrBlock::b_transport);
  socket.register_nb_transport_fw(this, &SfrBlock::nb_transport);
  socket.register_transport_dbg(this, &SfrBlock::transport_dbg);
}

const sfr::Field* SfrBlock::decode_access(tlm::tlm_generic_payload& payload,
                                          std::uint32_t& offset) const {
  offset = static_cast<std::uint32_t>(decode(payload.get_address()).offset);
  const sfr::Field* field = sfr::find(offset);
  if (field == nullptr || decode(payload.get_address()).offset >= sfr::kBlockBytes) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return nullptr;
  }
  if (payload.get_data_length() != 4 || payload.get_streaming_width() < 4) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return nullptr;
  }
  if (payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    return nullptr;
  }
  return field;
}

void SfrBlock::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  delay += sim::to_sc_time(config_.access_ps);
  std::uint32_t offset = 0;
  const sfr::Field* field = decode_access(payload, offset);
  if (field == nullptr) {
    return;
  }
  if (offset == sfr::kBarrier && payload.is_write()) {
    wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    std::uint32_t pe = 0;
    std::memcpy(&pe, payload.get_data_ptr(), 4);
    if (pe >= config_.pes || (running_ >> pe & 1U) == 0) {
      if (auto* ext = sim::extension(payload)) {
        ext->fault = "BARRIER: PE " + std::to_string(pe) + " is not running";
      }
      payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
      return;
    }
    arrive_at_barrier(pe);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return;
  }
  access(payload, delay);
}

tlm::tlm_sync_enum SfrBlock::nb_transport(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                          sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) {
    return tlm::TLM_ACCEPTED;
  }
  delay += sim::to_sc_time(config_.access_ps);
  std::uint32_t offset = 0;
  if (decode_access(payload, offset) != nullptr) {
    if (offset == sfr::kBarrier && payload.is_write()) {
      // A barrier blocks its caller, which only b_transport can.
      payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    } else {
      access(payload, delay);
    }
  }
  return tlm::TLM_COMPLETED;
}

unsigned SfrBlock::transport_dbg(tlm::tlm_generic_payload& payload) {
  std::uint32_t offset = 0;
  if (decode_access(payload, offset) == nullptr || !payload.is_read()) {
    return 0;
  }
  const std::uint32_t value = peek(offset);
  std::memcpy(payload.get_data_ptr(), &value, 4);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  return 4;
}

void SfrBlock::access(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) {
  std::uint32_t offset = 0;
  const sfr::Field* field = decode_access(payload, offset);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  if (payload.is_read()) {
    const std::uint32_t value = peek(offset);
    if (offset == sfr::kCycleLo) {
      latched_cycle_hi_ = static_cast<std::uint32_t>(cycle() >> 32);
    }
    std::memcpy(payload.get_data_ptr(), &value, 4);
    return;
  }
  if (!payload.is_write()) {
    return;
  }
  std::uint32_t value = 0;
  std::memcpy(&value, payload.get_data_ptr(), 4);
  const std::string refusal = write(*field, offset, value, delay);
  if (!refusal.empty()) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    if (auto* ext = sim::extension(payload)) {
      ext->fault = refusal;
    }
  }
}

std::uint32_t SfrBlock::peek(std::uint32_t offset) const {
  const std::uint32_t i = (offset & 0xfU) / 4;
  switch (offset & ~0xfU) {
    case sfr::kLinkStatus:
      return config_.link_up && config_.link_up(static_cast<Direction>(i)) ? 1 : 0;
    case sfr::kLinkErrors:
      return config_.link_errors ? config_.link_errors(static_cast<Direction>(i)) : 0;
    default:
      break;
  }
  switch (offset) {
    case sfr::kPeStart:
      return running_;
    case sfr::kIrqStatus:
      return irq_status_;
    case sfr::kCycleLo:
      return static_cast<std::uint32_t>(cycle());
    case sfr::kCycleHi:
      return latched_cycle_hi_;
    case sfr::kBarrier:
    case sfr::kIrqClear:
      return 0;
    default:
      return offset < sfr::kBlockBytes ? stored(offset) : 0;
  }
}

std::string SfrBlock::write(const sfr::Field& field, std::uint32_t offset, std::uint32_t value,
                            const sc_core::sc_time& delay) {
  const std::string name = sfr::name_at(offset);
  if (field.access == Access::read_only) {
    return name + " is read-only";
  }
  if (field.locked_while_running && running_ != 0) {
    return name + " may not be written while PEs run (PE_START reads " + std::to_string(running_) +
           ")";
  }
  value &= field.writable_mask;
  if (offset == sfr::kPeStart) {
    return start(value, delay);
  }
  if (offset == sfr::kIrqClear) {
    irq_status_ &= ~value;
    return {};
  }
  if (field.offset == sfr::kLinkErrors) {
    if (config_.clear_link_errors) {
      config_.clear_link_errors(static_cast<Direction>((offset - sfr::kLinkErrors) / 4), value);
    }
    return {};
  }
  if (field.access == Access::write_1_to_clear) {
    stored(offset) &= ~value;
  } else {
    stored(offset) = value;
  }
  trace(offset);
  if (offset == sfr::kIrqEnable && irq_pending()) {
    irq_event_.notify(sc_core::SC_ZERO_TIME);
  }
  return {};
}

std::string SfrBlock::start(std::uint32_t mask, const sc_core::sc_time& delay) {
  const std::uint32_t existing =
      config_.pes >= 32 ? 0xffffffffU : (std::uint32_t{1} << config_.pes) - 1;
  if ((mask & ~existing) != 0) {
    return "PE_START names a PE that does not exist; this cube has " + std::to_string(config_.pes);
  }
  if ((mask & running_) != 0) {
    return "PE_START names a PE that is running";
  }
  running_ |= mask;
  stored(sfr::kPeDone) &= ~mask;
  stored(sfr::kPeFault) &= ~mask;
  for (std::uint32_t p = 0; p < config_.pes; ++p) {
    if ((mask >> p & 1U) != 0) {
      start_events_[p].notify(delay);
    }
  }
  trace(sfr::kPeStart);
  trace(sfr::kPeDone);
  trace(sfr::kPeFault);
  return {};
}

void SfrBlock::finish(PeId pe, bool faulted) {
  const std::uint32_t bit = std::uint32_t{1} << index(pe);
  running_ &= ~bit;
  stored(sfr::kPeDone) |= bit;
  if (faulted) {
    stored(sfr::kPeFault) |= bit;
    trace(sfr::kPeFault);
    raise(sfr::kIrqFault);
  }
  trace(sfr::kPeStart);
  trace(sfr::kPeDone);
  if (running_ == 0) {
    raise(sfr::kIrqDone);
  } else if (at_barrier_ != 0 && (running_ & ~at_barrier_) == 0) {
    // The last PE that had not come has finished instead.
    release_barrier();
  }
}

void SfrBlock::raise(std::uint32_t irq_bits) {
  irq_status_ |= irq_bits;
  if (irq_pending()) {
    irq_event_.notify(sc_core::SC_ZERO_TIME);
  }
}

void SfrBlock::arrive_at_barrier(std::uint32_t pe) {
  at_barrier_ |= std::uint32_t{1} << pe;
  const std::uint64_t generation = barrier_generation_;
  if ((running_ & ~at_barrier_) == 0) {
    release_barrier();
  }
  while (generation == barrier_generation_) {
    wait(barrier_event_);
  }
  wait(sim::to_sc_time(config_.barrier_ps));
}

void SfrBlock::release_barrier() {
  at_barrier_ = 0;
  ++barrier_generation_;
  barrier_event_.notify(sc_core::SC_ZERO_TIME);
}

std::uint64_t SfrBlock::cycle() const {
  return static_cast<std::uint64_t>(sim::now_ps() / config_.clock.period_ps());
}

void SfrBlock::trace(std::uint32_t offset) {
  for (const Traced& t : traced_) {
    if (t.offset == offset) {
      t.signal->set(peek(offset));
    }
  }
}

std::vector<sim::TraceSignal*> SfrBlock::trace_signals() {
  std::vector<sim::TraceSignal*> all;
  for (const Traced& t : traced_) {
    all.push_back(t.signal.get());
  }
  return all;
}

}  // namespace cubevp::hw
