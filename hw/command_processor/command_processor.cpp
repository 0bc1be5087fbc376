// SPDX-License-Identifier: Apache-2.0
#include "hw/command_processor/command_processor.h"

#include <algorithm>
#include <utility>

#include "hw/sim/command_target.h"
#include "hw/sim/time.h"

namespace cubevp::hw {

namespace {

// A payload's tag names the command and its part.
constexpr int kTagPartBits = 24;
std::uint64_t tag_of(SequenceKey key) {
  return key.command << kTagPartBits | key.part;
}
SequenceKey key_of(std::uint64_t tag) {
  return {tag >> kTagPartBits,
          static_cast<std::uint32_t>(tag & ((std::uint64_t{1} << kTagPartBits) - 1))};
}
// Parts of a composite: load of tile 0, gemm of tile 0, load of tile 1, ...
std::uint32_t load_part(std::uint32_t tile) {
  return 1 + 2 * tile;
}
std::uint32_t gemm_part(std::uint32_t tile) {
  return 2 + 2 * tile;
}

// Nothing to compute or to move.
bool is_empty(const Command& c) {
  if (c.opcode != Opcode::vector) {
    return c.operand_count != 0 && c.operands[0].elements() == 0;
  }
  for (std::size_t i = 0; i < c.operand_count; ++i) {
    if ((c.writes >> i & 1U) != 0 && c.operands[i].elements() != 0) {
      return false;
    }
  }
  return c.writes != 0;
}

}  // namespace

CommandProcessor::CommandProcessor(const sc_core::sc_module_name& name, const Config& config,
                                   const sim::PeShared& shared, FaultCallback on_fault)
    : sc_module(name), config_(config), shared_(shared), on_fault_(std::move(on_fault)) {
  cpu_tsock.register_nb_transport_fw(this, &CommandProcessor::on_cpu_nb_transport);
  cpu_tsock.register_b_transport(this, &CommandProcessor::on_cpu_b_transport);
  cpu_tsock.register_transport_dbg(this, &CommandProcessor::on_cpu_debug);
  for (int engine = 0; engine < kEngines; ++engine) {
    engine_isocks[static_cast<std::size_t>(engine)].register_nb_transport_bw(
        this, &CommandProcessor::on_engine_response, engine);
  }
  SC_HAS_PROCESS(CommandProcessor);
  SC_METHOD(step);
  sensitive << step_event_;
  dont_initialize();
}

// --- from the cpu ---------------------------------------------------------------------------

// Numbers must ascend: order is by number.
bool CommandProcessor::refuse(tlm::tlm_generic_payload& payload) const {
  const Command* const command = sim::command_of(payload);
  if (command == nullptr) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return true;
  }
  if (index(command->id) <= last_id_) {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    sim::extension(payload)->fault = "command " + std::to_string(index(command->id)) +
                                     " was issued after command " + std::to_string(last_id_);
    return true;
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  return false;
}

void CommandProcessor::on_cpu_b_transport(tlm::tlm_generic_payload& payload,
                                          sc_core::sc_time& delay) {
  sc_core::wait(delay);
  delay = sc_core::SC_ZERO_TIME;
  const Ps from_ps = sim::now_ps();
  while (full()) {
    sc_core::wait(completed_event_);
  }
  counts_.more["queue_full_ps"] += static_cast<std::uint64_t>(sim::now_ps() - from_ps);
  if (!refuse(payload)) {
    enqueue(*sim::command_of(payload));
  }
}

tlm::tlm_sync_enum CommandProcessor::on_cpu_nb_transport(tlm::tlm_generic_payload& payload,
                                                         tlm::tlm_phase& phase,
                                                         sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) {
    return tlm::TLM_COMPLETED;
  }
  // The write is taken up by step(), at its time.
  payload.acquire();
  foreign_.push_back(&payload);
  step_event_.notify(delay);
  return tlm::TLM_ACCEPTED;
}

void CommandProcessor::admit_foreign() {
  while (!foreign_.empty() && !full()) {
    const sim::PayloadPtr payload = sim::PayloadPtr::adopt(*foreign_.front());
    foreign_.pop_front();
    if (!refuse(*payload)) {
      enqueue(*sim::command_of(*payload));
    }
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    cpu_tsock->nb_transport_bw(*payload, phase, delay);
  }
}

void CommandProcessor::enqueue(const Command& command) {
  const std::uint64_t id = index(command.id);
  last_id_ = id;
  Entry& entry = commands_[id];
  entry.command = command;
  entry.since_ps = sim::now_ps();
  busy_.begin();
  if (is_empty(command)) {
    finish_command(entry);
    return;
  }
  scoreboard_.insert({id, 0}, command);
  const int channel =
      index(command.message.direction) + (command.message.axis == RankAxis::cube ? kDirections : 0);
  switch (command.opcode) {
    case Opcode::gemm:
      lanes_[kGemmLane].push_back(id);
      break;
    case Opcode::vector:
      lanes_[kVectorLane].push_back(id);
      break;
    case Opcode::dma_load:
      lanes_[kLoadLane].push_back(id);
      break;
    case Opcode::dma_store:
      lanes_[kStoreLane].push_back(id);
      break;
    case Opcode::send:
      lanes_[static_cast<std::size_t>(kSendLane + channel)].push_back(id);
      break;
    case Opcode::recv:
      lanes_[static_cast<std::size_t>(kRecvLane + channel)].push_back(id);
      break;
    case Opcode::composite:
      entry.fault = composite_error(command, shared_.id.scratchpad_bytes);
      if (!entry.fault.empty()) {
        scoreboard_.remove({id, 0});
        finish_command(entry);
        return;
      }
      ++counts_.more["composites"];
      entry.composite = std::make_unique<CompositeExpansion>(command);
      lanes_[kLoadLane].push_back(id);
      lanes_[kGemmLane].push_back(id);
      expand(entry);
      break;
  }
  if (!entry.composite) {
    Unit& unit = entry.units[0];
    unit.command = command;
  }
  step_event_.notify(sc_core::SC_ZERO_TIME);
}

// --- composites -----------------------------------------------------------------------------

// Two tiles at a time: the load of tile i+2 needs the buffer that the gemm of tile i reads.
void CommandProcessor::expand(Entry& entry) {
  constexpr std::uint32_t kStagingBuffers = 2;
  while (entry.tiles_expanded < entry.composite->tiles() &&
         entry.tiles_expanded < entry.gemms_complete + kStagingBuffers) {
    const std::uint32_t tile = entry.tiles_expanded++;
    if (entry.composite->has_load(tile)) {
      add_unit(entry, load_part(tile), entry.composite->load(tile));
    } else {
      ++entry.loads_dispatched;
    }
    add_unit(entry, gemm_part(tile), entry.composite->gemm(tile));
  }
  if (entry.loads_dispatched == entry.composite->tiles()) {
    auto& lane = lanes_[kLoadLane];
    lane.erase(std::remove(lane.begin(), lane.end(), index(entry.command.id)), lane.end());
  }
}

void CommandProcessor::add_unit(Entry& entry, std::uint32_t part, const Command& command) {
  ++counts_.more["sub_commands"];
  Unit& unit = entry.units[part];
  unit.command = command;
  unit.lane = command.opcode == Opcode::gemm ? kGemmLane : kLoadLane;
  scoreboard_.insert({index(entry.command.id), part}, command);
}

// --- dispatch -------------------------------------------------------------------------------

void CommandProcessor::step() {
  take_responses();
  admit_foreign();
  dispatch();
  schedule();
  trace();
}

void CommandProcessor::dispatch() {
  for (int engine = 0; engine < kEngines; ++engine) {
    while (dispatch_one(engine)) {
    }
  }
}

bool CommandProcessor::dispatch_one(int engine) {
  constexpr int kFirstLane[kEngines + 1] = {kGemmLane, kVectorLane, kLoadLane, kSendLane, kLanes};
  const auto e = static_cast<std::size_t>(engine);
  if (requesting_[e] != nullptr || port_free_ps_[e] > sim::now_ps()) {
    return false;
  }
  bool found = false;
  SequenceKey oldest;
  for (int lane = kFirstLane[e]; lane < kFirstLane[e + 1]; ++lane) {
    SequenceKey key;
    if (head(lane, key) && scoreboard_.ready(key) && (!found || key < oldest)) {
      found = true;
      oldest = key;
    }
  }
  if (!found) {
    return false;
  }
  Entry& entry = commands_.at(oldest.command);
  const Unit& unit = entry.units.at(oldest.part);
  mark_dispatched(entry, oldest);
  send(engine, oldest, unit);
  return true;
}

bool CommandProcessor::head(int lane, SequenceKey& key) const {
  const auto& queue = lanes_[static_cast<std::size_t>(lane)];
  if (queue.empty()) {
    return false;
  }
  const Entry& entry = commands_.at(queue.front());
  for (const auto& [part, unit] : entry.units) {
    if (!unit.dispatched && (!entry.composite || unit.lane == lane)) {
      key = {queue.front(), part};
      return true;
    }
  }
  return false;
}

// A composite keeps its place in both of its lanes until its last part there has gone.
void CommandProcessor::mark_dispatched(Entry& entry, SequenceKey key) {
  Unit& unit = entry.units.at(key.part);
  unit.dispatched = true;
  if (!entry.composite) {
    for (auto& lane : lanes_) {
      if (!lane.empty() && lane.front() == key.command) {
        lane.pop_front();
      }
    }
    return;
  }
  std::uint32_t& gone = unit.lane == kGemmLane ? entry.gemms_dispatched : entry.loads_dispatched;
  if (++gone == entry.composite->tiles()) {
    lanes_[static_cast<std::size_t>(unit.lane)].pop_front();
  }
}

void CommandProcessor::send(int engine, SequenceKey key, const Unit& unit) {
  const auto e = static_cast<std::size_t>(engine);
  op_signal_.set_text(unit.command.label);
  tlm::tlm_generic_payload& payload = shared_.pool.allocate();
  sim::TransactionExtension& ext = *sim::extension(payload);
  ext.command = &unit.command;
  ext.initiator_tag = tag_of(key);
  requesting_[e] = &payload;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const tlm::tlm_sync_enum result = engine_isocks[e]->nb_transport_fw(payload, phase, delay);
  if (result == tlm::TLM_ACCEPTED) {
    return;
  }
  requesting_[e] = nullptr;
  port_free_ps_[e] = sim::now_ps() + sim::to_ps(delay);
  if (result == tlm::TLM_COMPLETED || phase == tlm::BEGIN_RESP) {
    note_response(payload, port_free_ps_[e]);
    if (result == tlm::TLM_UPDATED) {
      phase = tlm::END_RESP;
      engine_isocks[e]->nb_transport_fw(payload, phase, delay);
    }
    payload.release();
  }
}

tlm::tlm_sync_enum CommandProcessor::on_engine_response(int engine,
                                                        tlm::tlm_generic_payload& payload,
                                                        tlm::tlm_phase& phase,
                                                        sc_core::sc_time& delay) {
  const auto e = static_cast<std::size_t>(engine);
  const Ps at_ps = sim::now_ps() + sim::to_ps(delay);
  if (requesting_[e] == &payload) {
    requesting_[e] = nullptr;
    port_free_ps_[e] = at_ps;
    step_event_.notify(delay);
  }
  if (phase != tlm::BEGIN_RESP) {
    return tlm::TLM_ACCEPTED;
  }
  note_response(payload, at_ps);
  payload.release();
  return tlm::TLM_COMPLETED;
}

void CommandProcessor::note_response(const tlm::tlm_generic_payload& payload, Ps at_ps) {
  const sim::TransactionExtension& ext = *sim::extension(payload);
  Response response{at_ps, key_of(ext.initiator_tag), {}};
  if (payload.is_response_error()) {
    response.fault = ext.fault.empty() ? sim::describe_error(payload) : ext.fault;
  }
  responses_.push_back(std::move(response));
  step_event_.notify(sim::to_sc_time(at_ps - sim::now_ps()));
}

// --- completion -----------------------------------------------------------------------------

void CommandProcessor::take_responses() {
  for (auto response = responses_.begin(); response != responses_.end();) {
    if (response->at_ps <= sim::now_ps()) {
      finish_unit(*response);
      response = responses_.erase(response);
    } else {
      ++response;
    }
  }
}

void CommandProcessor::finish_unit(const Response& response) {
  Entry& entry = commands_.at(response.key.command);
  if (entry.fault.empty()) {
    entry.fault = response.fault;
  }
  scoreboard_.remove(response.key);
  const auto unit = entry.units.find(response.key.part);
  const bool gemm = unit->second.command.opcode == Opcode::gemm;
  entry.units.erase(unit);
  if (!entry.composite) {
    finish_command(entry);
    return;
  }
  entry.gemms_complete += gemm ? 1 : 0;
  if (entry.gemms_complete == entry.composite->tiles()) {
    scoreboard_.remove({response.key.command, 0});
    finish_command(entry);
  } else {
    expand(entry);
  }
}

void CommandProcessor::finish_command(Entry& entry) {
  const CommandId id = entry.command.id;
  const std::string fault = std::move(entry.fault);
  commands_.erase(index(id));
  ++counts_.ops;
  busy_.end();
  completed_event_.notify(sc_core::SC_ZERO_TIME);
  if (!fault.empty()) {
    on_fault_(id, fault);
  }
}

void CommandProcessor::schedule() {
  Ps next_ps = -1;
  const auto consider = [&](Ps at_ps) {
    if (at_ps > sim::now_ps() && (next_ps < 0 || at_ps < next_ps)) {
      next_ps = at_ps;
    }
  };
  for (const Response& response : responses_) {
    consider(response.at_ps);
  }
  for (const Ps at_ps : port_free_ps_) {
    consider(at_ps);
  }
  if (next_ps >= 0) {
    step_event_.notify(sim::to_sc_time(next_ps - sim::now_ps()));
  }
}

// --- telling --------------------------------------------------------------------------------

bool CommandProcessor::complete(CommandId id) const {
  return index(id) != 0 && index(id) <= last_id_ && commands_.count(index(id)) == 0;
}

std::vector<CommandProcessor::PendingCommand> CommandProcessor::pending() const {
  std::vector<PendingCommand> all;
  for (const auto& [id, entry] : commands_) {
    PendingCommand p;
    p.id = entry.command.id;
    p.opcode = entry.command.opcode;
    p.label = entry.command.label;
    p.message = entry.command.message;
    p.since_ps = entry.since_ps;
    bool dispatched = false;
    for (const auto& [part, unit] : entry.units) {
      dispatched = dispatched || unit.dispatched;
    }
    const SequenceKey blocker =
        scoreboard_.blocked_by({id, entry.composite ? entry.units.begin()->first : 0});
    if (dispatched) {
      p.state = PendingCommand::State::dispatched;
    } else if (blocker.command != 0) {
      p.state = PendingCommand::State::blocked;
      p.blocked_by = static_cast<CommandId>(blocker.command);
    }
    all.push_back(p);
  }
  return all;
}

void CommandProcessor::trace() {
  if (!state_signal_.traced() && !queue_signal_.traced()) {
    return;
  }
  bool active = false;
  for (const auto& [id, entry] : commands_) {
    for (const auto& [part, unit] : entry.units) {
      active = active || unit.dispatched;
    }
  }
  state_signal_.set(commands_.empty() ? 0 : active ? 2 : 1);
  queue_signal_.set(commands_.size());
}

sim::UnitStats CommandProcessor::stats() const {
  sim::UnitStats s = counts_;
  s.busy_ps = busy_.total_ps();
  return s;
}

void CommandProcessor::reset_stats() {
  counts_ = {};
  busy_.reset();
}

}  // namespace cubevp::hw
