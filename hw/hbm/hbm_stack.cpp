// SPDX-License-Identifier: Apache-2.0
#include "hw/hbm/hbm_stack.h"

#include <algorithm>

#include "hw/base/address_map.h"
#include "hw/sim/byte_access.h"
#include "hw/sim/payload.h"
#include "hw/sim/time.h"

namespace cubevp::hw {

HbmStack::HbmStack(const sc_core::sc_module_name& name, const HbmConfig& config,
                   std::uint32_t ports)
    : sc_module(name),
      port_tsocks("port_tsock", ports),
      config_(config),
      slab_bytes_(config.bytes / ports),
      channels_per_port_(config.channels / ports),
      map_(config, channels_per_port_ * config.pseudo_channels_per_channel),
      memory_(config.bytes),
      channels_("channel"),
      ports_(ports) {
  channels_.init(config.channels, [&](const char* channel_name, std::size_t) {
    return new HbmChannel(channel_name, config, *this);
  });
  for (std::uint32_t p = 0; p < ports; ++p) {
    const int tag = static_cast<int>(p);
    port_tsocks[p].register_nb_transport_fw(this, &HbmStack::nb_transport, tag);
    port_tsocks[p].register_b_transport(this, &HbmStack::b_transport, tag);
    port_tsocks[p].register_transport_dbg(this, &HbmStack::transport_dbg, tag);
  }
  SC_HAS_PROCESS(HbmStack);
  SC_METHOD(run);
  sensitive << done_.event() << ports_free_.event();
  dont_initialize();
}

tlm::tlm_sync_enum HbmStack::nb_transport(int port, tlm::tlm_generic_payload& payload,
                                          tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const auto p = static_cast<std::uint32_t>(port);
  if (phase == tlm::END_RESP) {
    ports_[p].answering = false;
    ports_[p].answer_from_ps = sim::now_ps() + sim::to_ps(delay);
    ports_free_.push(ports_[p].answer_from_ps, p);
    return tlm::TLM_COMPLETED;
  }
  if (phase != tlm::BEGIN_REQ) {
    return tlm::TLM_ACCEPTED;
  }
  payload.acquire();
  if (!try_enqueue(p, payload, sim::now_ps() + sim::to_ps(delay))) {
    ports_[p].held = &payload;
    ports_[p].held_from_ps = sim::now_ps() + sim::to_ps(delay);
    return tlm::TLM_ACCEPTED;
  }
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

bool HbmStack::try_enqueue(std::uint32_t port, tlm::tlm_generic_payload& payload, Ps arrival_ps) {
  const std::uint64_t offset = decode(payload.get_address()).offset;
  const std::uint64_t bytes = payload.get_data_length();
  if (bytes == 0 || bytes > config_.bytes || offset > config_.bytes - bytes) {
    transfer(payload);
    part_done(new_request(port, payload, 1), arrival_ps);
    return true;
  }
  scratch_parts_.clear();
  split(payload, scratch_parts_);
  // A request of more parts than a queue has entries is let in when its first part fits.
  const bool fits = std::all_of(
      scratch_parts_.begin(), scratch_parts_.end(),
      [this](const Part& part) { return channels_[part.channel].has_room(part.pseudo_channel); });
  if (!fits) {
    return false;
  }
  transfer(payload);
  const std::uint32_t request = new_request(port, payload, scratch_parts_.size());
  // A part may be done at once and the last one recycles the record, never before.
  for (const Part& part : scratch_parts_) {
    channels_[part.channel].enqueue(part.pseudo_channel, request, part.train, part.bytes,
                                    arrival_ps);
  }
  return true;
}

void HbmStack::split(const tlm::tlm_generic_payload& payload, std::vector<Part>& parts) const {
  std::uint64_t offset = decode(payload.get_address()).offset;
  std::uint64_t left = payload.get_data_length();
  while (left > 0) {
    const std::uint64_t slab = offset / slab_bytes_;
    const std::uint64_t in_slab = offset % slab_bytes_;
    const std::uint64_t bytes =
        std::min({left, map_.contiguous_bytes(in_slab), slab_bytes_ - in_slab});
    const HbmLocation at = map_.locate(in_slab);
    Part part;
    part.channel = static_cast<std::uint32_t>(slab) * channels_per_port_ +
                   at.pseudo_channel / config_.pseudo_channels_per_channel;
    part.pseudo_channel = at.pseudo_channel % config_.pseudo_channels_per_channel;
    part.train.bank_group = at.bank_group;
    part.train.bank = at.bank;
    part.train.row = at.row;
    part.train.accesses =
        static_cast<std::uint32_t>((at.column_bytes + bytes - 1) / config_.access_bytes -
                                   at.column_bytes / config_.access_bytes + 1);
    part.train.write = payload.is_write();
    part.bytes = static_cast<std::uint32_t>(bytes);
    parts.push_back(part);
    offset += bytes;
    left -= bytes;
  }
}

std::uint32_t HbmStack::new_request(std::uint32_t port, tlm::tlm_generic_payload& payload,
                                    std::size_t parts) {
  if (free_requests_.empty()) {
    free_requests_.push_back(static_cast<std::uint32_t>(requests_.size()));
    requests_.emplace_back();
  }
  const std::uint32_t id = free_requests_.back();
  free_requests_.pop_back();
  requests_[id] = {&payload, port, static_cast<std::uint32_t>(parts), 0};
  return id;
}

void HbmStack::part_done(std::uint32_t request, Ps at_ps) {
  Request& r = requests_[request];
  r.done_ps = std::max(r.done_ps, at_ps);
  if (--r.parts_left == 0) {
    done_.push(r.done_ps, request);
  }
}

void HbmStack::room() {
  for (std::uint32_t p = 0; p < ports_.size(); ++p) {
    tlm::tlm_generic_payload* held = ports_[p].held;
    if (held != nullptr && try_enqueue(p, *held, std::max(sim::now_ps(), ports_[p].held_from_ps))) {
      ports_[p].held = nullptr;
      tlm::tlm_phase phase = tlm::END_REQ;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      port_tsocks[p]->nb_transport_bw(*held, phase, delay);
    }
  }
}

void HbmStack::run() {
  std::uint32_t id = 0;
  while (done_.take_due(id)) {
    const std::uint32_t port = requests_[id].port;
    ports_[port].answers.push_back(id);
    answer(port);
  }
  done_.rearm();
  while (ports_free_.take_due(id)) {
    answer(id);
  }
  ports_free_.rearm();
}

void HbmStack::answer(std::uint32_t port) {
  Port& p = ports_[port];
  while (!p.answering && !p.answers.empty()) {
    const Ps now = sim::now_ps();
    if (p.answer_from_ps > now) {
      ports_free_.push(p.answer_from_ps, port);
      return;
    }
    const std::uint32_t id = p.answers.front();
    p.answers.pop_front();
    tlm::tlm_generic_payload* payload = requests_[id].payload;
    free_requests_.push_back(id);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    p.answering = true;
    const tlm::tlm_sync_enum status = port_tsocks[port]->nb_transport_bw(*payload, phase, delay);
    if (status == tlm::TLM_COMPLETED || (status == tlm::TLM_UPDATED && phase == tlm::END_RESP)) {
      p.answering = false;
      p.answer_from_ps = now + sim::to_ps(delay);
    }
    payload->release();
  }
}

void HbmStack::b_transport(int, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (!transfer(payload)) {
    return;
  }
  scratch_parts_.clear();
  split(payload, scratch_parts_);
  Ps longest = 0;
  for (const Part& part : scratch_parts_) {
    longest =
        std::max(longest, channels_[part.channel].idle_latency_ps(part.pseudo_channel, part.train));
  }
  delay += sim::to_sc_time(longest);
}

unsigned HbmStack::debug_access(tlm::tlm_generic_payload& payload) {
  return transfer(payload) ? payload.get_data_length() : 0;
}

bool HbmStack::transfer(tlm::tlm_generic_payload& payload) {
  const std::uint64_t offset = decode(payload.get_address()).offset;
  const std::uint64_t bytes = payload.get_data_length();
  if (bytes > config_.bytes || offset > config_.bytes - bytes) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return false;
  }
  const sim::TransactionExtension* ext = sim::extension(payload);
  if (ext == nullptr || !ext->timing_only) {
    sim::access_bytes(
        payload,
        [&](std::uint64_t at, unsigned char* out, std::size_t n) {
          memory_.read(offset + at, out, n);
        },
        [&](std::uint64_t at, const unsigned char* in, std::size_t n) {
          memory_.write(offset + at, in, n);
        });
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  return true;
}

}  // namespace cubevp::hw
