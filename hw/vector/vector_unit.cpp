// SPDX-License-Identifier: Apache-2.0
#include "hw/vector/vector_unit.h"

#include <array>
#include <utility>

#include "hw/numerics/vector_ops.h"
#include "hw/sim/host_pool.h"
#include "hw/sim/scratchpad_port.h"
#include "hw/vector/vector_timing.h"

namespace cubevp::hw {

VectorUnit::VectorUnit(const sc_core::sc_module_name& name, const Config& config,
                       const sim::PeShared& shared)
    : sc_module(name), config_(config), shared_(shared) {
  SC_HAS_PROCESS(VectorUnit);
  SC_METHOD(step);
  sensitive << cmd_tsock.arrival_event() << done_event_;
  dont_initialize();
}

void VectorUnit::start_of_simulation() {
  if (shared_.keep_data()) {
    scratchpad_ = sim::scratchpad_data(mem_isock, shared_.pool);
  }
}

void VectorUnit::step() {
  if (current_ != nullptr && end_ps_ <= sim::now_ps()) {
    finish();
  }
  if (current_ == nullptr && cmd_tsock.waiting()) {
    start();
  }
  if (current_ != nullptr) {
    done_event_.notify(sim::to_sc_time(end_ps_ - sim::now_ps()));
  }
}

void VectorUnit::start() {
  current_ = &cmd_tsock.take();
  const Command& command = *sim::command_of(*current_);
  fault_ = vector_error(command, shared_.id.scratchpad_bytes);
  const std::int64_t cycles = fault_.empty() ? vector_cycles(config_, command).cycles : 0;
  if (!busy_.busy()) {
    state_signal_.set(1);
    busy_.begin();
    shared_.activity.begin(sim::PeActivity::vector);
  }
  op_signal_.set_text(command.label);
  end_ps_ = sim::now_ps() + config_.clock.cycles(cycles);
}

void VectorUnit::finish() {
  tlm::tlm_generic_payload& done = *std::exchange(current_, nullptr);
  const std::string fault = std::exchange(fault_, {});
  const Command& command = *sim::command_of(done);
  if (fault.empty()) {
    const VectorCycles cost = vector_cycles(config_, command);
    counts_.ops += cost.elements;
    counts_.more["exp"] += cost.exps;
    ++counts_.more["commands"];
    for (std::size_t i = 0; i < command.operand_count; ++i) {
      counts_.bytes += command.operands[i].bytes();
    }
    if (shared_.keep_data()) {
      compute(command);
    }
  }
  if (cmd_tsock.waiting()) {
    start();
  } else {
    busy_.end();
    shared_.activity.end(sim::PeActivity::vector);
    state_signal_.set(0);
    op_signal_.set_text("");
  }
  cmd_tsock.complete(done, fault);
}

void VectorUnit::compute(const Command& command) {
  std::array<numerics::MatrixView, Command::kMaxOperands> views;
  for (std::size_t i = 0; i < command.operand_count; ++i) {
    views[i] = numerics::view_of(command.operands[i], scratchpad_ + command.operands[i].address);
  }
  shared_.strand->submit(
      [views, op = command.vector_op, scalar = command.scalar, count = command.operand_count] {
        numerics::vector_op(op, scalar, views.data(), count);
      });
}

sim::UnitStats VectorUnit::stats() const {
  sim::UnitStats s = counts_;
  s.busy_ps = busy_.total_ps();
  return s;
}

void VectorUnit::reset_stats() {
  counts_ = {};
  busy_.reset();
}

}  // namespace cubevp::hw
