// SPDX-License-Identifier: Apache-2.0
#include "hw/gemm/gemm_unit.h"

#include <utility>

#include "hw/base/command_check.h"
#include "hw/gemm/gemm_accumulate.h"
#include "hw/gemm/gemm_timing.h"
#include "hw/numerics/gemm.h"
#include "hw/sim/host_pool.h"
#include "hw/sim/scratchpad_port.h"

namespace cubevp::hw {

namespace {

GemmShape shape_of(const Command& command) {
  const Operand& a = command.operands[1];
  const Operand& b = command.operands[2];
  return {a.transposed ? a.cols : a.rows, b.transposed ? b.rows : b.cols,
          a.transposed ? a.rows : a.cols};
}

std::string error_of(const Command& command, std::uint64_t scratchpad_bytes) {
  if (command.opcode != Opcode::gemm) {
    return "the gemm unit was given a " + std::string(to_string(command.opcode));
  }
  const std::string error = operand_error(command, 3, scratchpad_bytes);
  if (!error.empty()) {
    return error;
  }
  const GemmShape shape = shape_of(command);
  const Operand& c = command.operands[0];
  const Operand& b = command.operands[2];
  const std::int64_t b_depth = b.transposed ? b.cols : b.rows;
  if (shape.k != b_depth || c.rows != shape.m || c.cols != shape.n || c.transposed) {
    return "gemm: " + describe(c) + " = " + describe(command.operands[1]) + " x " + describe(b) +
           ": the shapes do not fit";
  }
  for (const Operand* o : {&c, &command.operands[1], &b}) {
    if (o->space != Space::scratchpad) {
      return "gemm: operand " + describe(*o) + " is not in the scratchpad";
    }
  }
  if (command.epilogue.mask.causal && command.epilogue.mask.rows_per_head <= 0) {
    return "gemm: a causal mask needs rows_per_head > 0";
  }
  return {};
}

}  // namespace

GemmUnit::GemmUnit(const sc_core::sc_module_name& name, const Config& config,
                   const sim::PeShared& shared)
    : sc_module(name), config_(config), shared_(shared) {
  SC_HAS_PROCESS(GemmUnit);
  SC_METHOD(step);
  sensitive << cmd_tsock.arrival_event() << done_event_;
  dont_initialize();
}

void GemmUnit::start_of_simulation() {
  if (shared_.keep_data()) {
    scratchpad_ = sim::scratchpad_data(mem_isock, shared_.pool);
  }
}

void GemmUnit::step() {
  if (current_ != nullptr && end_ps_ <= sim::now_ps()) {
    finish();
  }
  if (current_ == nullptr && cmd_tsock.waiting()) {
    start(false);
  }
  if (current_ != nullptr) {
    done_event_.notify(sim::to_sc_time(end_ps_ - sim::now_ps()));
  }
}

void GemmUnit::start(bool fill_hidden) {
  current_ = &cmd_tsock.take();
  const Command& command = *sim::command_of(*current_);
  fault_ = error_of(command, shared_.id.scratchpad_bytes);
  GemmCycles cycles;
  if (fault_.empty()) {
    cycles = gemm_cycles(config_, shape_of(command));
    counts_.more["steps"] += static_cast<std::uint64_t>(cycles.steps);
    if (fill_hidden) {
      cycles.fill = 0;
    } else if (cycles.fill != 0) {
      ++counts_.more["fills"];
    }
  }
  if (!busy_.busy()) {
    state_signal_.set(1);
    busy_.begin();
    shared_.activity.begin(sim::PeActivity::gemm);
  }
  op_signal_.set_text(command.label);
  end_ps_ = sim::now_ps() + config_.clock.cycles(cycles.fill + cycles.steps);
}

void GemmUnit::finish() {
  tlm::tlm_generic_payload& done = *std::exchange(current_, nullptr);
  const std::string fault = std::exchange(fault_, {});
  const Command& command = *sim::command_of(done);
  if (fault.empty()) {
    counts_.ops += shape_of(command).flops();
    for (const Operand& o : {command.operands[0], command.operands[1], command.operands[2]}) {
      counts_.bytes += o.bytes();
    }
    ++counts_.more["commands"];
    if (shared_.keep_data()) {
      compute(command);
    }
  }
  // What waits now does not depend on the command that ends, whose answer is yet to be given.
  if (cmd_tsock.waiting()) {
    start(true);
  } else {
    busy_.end();
    shared_.activity.end(sim::PeActivity::gemm);
    state_signal_.set(0);
    op_signal_.set_text("");
  }
  cmd_tsock.complete(done, fault);
}

void GemmUnit::compute(const Command& command) {
  const Command c = command;
  unsigned char* const memory = scratchpad_;
  // Masked probabilities are exactly 0 and meet whatever memory holds behind the mask; only
  // products with a plain operand 2 (P x V) are of that kind.
  const bool zero_a_skips = !c.operands[2].transposed;
  const auto view = [memory](const Operand& o) { return numerics::view_of(o, memory + o.address); };
  if (!c.from_accumulators && !c.to_accumulators) {
    shared_.strand->submit([c, view, zero_a_skips] {
      numerics::gemm(view(c.operands[0]), view(c.operands[1]), view(c.operands[2]), c.accumulate,
                     c.epilogue, zero_a_skips);
    });
    return;
  }
  if (!c.from_accumulators) {
    accumulators_ = std::make_shared<std::vector<float>>();
  }
  shared_.strand->submit([c, view, sums = accumulators_] {
    gemm_chained(c, view(c.operands[0]), view(c.operands[1]), view(c.operands[2]), *sums);
  });
}

sim::UnitStats GemmUnit::stats() const {
  sim::UnitStats s = counts_;
  s.busy_ps = busy_.total_ps();
  return s;
}

void GemmUnit::reset_stats() {
  counts_ = {};
  busy_.reset();
}

}  // namespace cubevp::hw
