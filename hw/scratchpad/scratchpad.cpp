// SPDX-License-Identifier: Apache-2.0
#include "hw/scratchpad/scratchpad.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "hw/base/address_map.h"
#include "hw/sim/byte_access.h"
#include "hw/sim/payload.h"
#include "hw/sim/time.h"

namespace cubevp::hw {

namespace {

// Engine ports give plain offsets, the network system addresses: the PE bits are dropped.
std::uint64_t local_offset(const tlm::tlm_generic_payload& payload) {
  return payload.get_address() & ((Address{1} << kPeShift) - 1);
}

}  // namespace

Scratchpad::Scratchpad(const sc_core::sc_module_name& name, const Config& config, bool keep_data)
    : sc_module(name),
      config_(config),
      data_(keep_data ? static_cast<unsigned char*>(std::calloc(config.bytes, 1)) : nullptr),
      banks_(config) {
  if (keep_data && !data_) {
    throw std::bad_alloc();
  }
  for (auto& socket : mem_tsocks) {
    register_callbacks(socket);
    socket.register_get_direct_mem_ptr(this, &Scratchpad::get_direct_mem_ptr);
  }
  register_callbacks(net_tsock);
}

template <class Socket>
void Scratchpad::register_callbacks(Socket& socket) {
  socket.register_nb_transport_fw(this, &Scratchpad::nb_transport);
  socket.register_b_transport(this, &Scratchpad::b_transport);
  socket.register_transport_dbg(this, &Scratchpad::transport_dbg);
}

void Scratchpad::peek(std::uint64_t offset, void* data, std::size_t bytes) const {
  if (!data_) {
    std::memset(data, 0, bytes);
  } else if (bytes <= config_.bytes && offset <= config_.bytes - bytes) {
    std::memcpy(data, data_.get() + offset, bytes);
  }
}

void Scratchpad::fill(unsigned char value) {
  if (data_) {
    std::memset(data_.get(), value, config_.bytes);
  }
}

tlm::tlm_sync_enum Scratchpad::nb_transport(tlm::tlm_generic_payload& payload,
                                            tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) {
    return tlm::TLM_ACCEPTED;
  }
  b_transport(payload, delay);
  return tlm::TLM_COMPLETED;
}

void Scratchpad::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (!transfer(payload)) {
    return;
  }
  const Ps now = sim::now_ps();
  const Ps start = now + sim::to_ps(delay);
  const std::uint64_t bytes = payload.get_data_length();
  const Ps end = banks_.occupy(local_offset(payload), bytes, start);
  stats_.bytes += bytes;
  ++stats_.ops;
  // Busy time is the union of the accesses' intervals, which come in order of their start.
  stats_.busy_ps += std::max<Ps>(0, end - std::max(start, busy_until_ps_));
  if (busy_signal_.traced()) {
    busy_signal_.set_at(1, std::max(start, now));
    busy_signal_.set_at(0, end);
  }
  busy_until_ps_ = std::max(busy_until_ps_, end);
  delay = sim::to_sc_time(end - now);
}

unsigned Scratchpad::transport_dbg(tlm::tlm_generic_payload& payload) {
  return transfer(payload) ? payload.get_data_length() : 0;
}

bool Scratchpad::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  if (!data_ || payload.get_address() >= config_.bytes) {
    return false;
  }
  dmi.set_dmi_ptr(data_.get());
  dmi.set_start_address(0);
  dmi.set_end_address(config_.bytes - 1);
  dmi.allow_read_write();
  return true;
}

bool Scratchpad::transfer(tlm::tlm_generic_payload& payload) {
  const std::uint64_t offset = local_offset(payload);
  const std::uint64_t bytes = payload.get_data_length();
  if (bytes > config_.bytes || offset > config_.bytes - bytes) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return false;
  }
  const sim::TransactionExtension* ext = sim::extension(payload);
  if (ext == nullptr || !ext->timing_only) {
    sim::access_bytes(
        payload,
        [&](std::uint64_t at, unsigned char* out, std::size_t n) { peek(offset + at, out, n); },
        [&](std::uint64_t at, const unsigned char* in, std::size_t n) {
          if (data_) {
            std::memcpy(data_.get() + offset + at, in, n);
          }
        });
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  return true;
}

}  // namespace cubevp::hw
