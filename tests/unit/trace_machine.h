// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <systemc>

#include "hw/sim/trace_signal.h"

namespace cubevp::test {

/// A unit with a state, an operation, a level and a number that is not 0 from the beginning.
class TracedUnit : public sc_core::sc_module, public sim::TraceSource {
 public:
  explicit TracedUnit(const sc_core::sc_module_name& name) : sc_module(name) {}
  sim::TraceSignal state{"state", 2, {"idle", "run", "wait"}};
  sim::TraceSignal op{"op", 8};
  sim::TraceSignal level{"level", 16};
  sim::TraceSignal neighbour{"NBR_E", 32, {}, 0xffffffff};
  Ps finished_at = -1;

  std::vector<sim::TraceSignal*> trace_signals() override {
    return {&state, &op, &level, &neighbour};
  }
  /// Holds one change back until the trace asks for it.
  void finish_trace(Ps at_ps) override {
    finished_at = at_ps;
    if (held_at >= 0 && held_at < at_ps) {
      level.set_at(held, held_at);
      held_at = -1;
    }
  }
  std::uint64_t held = 0;
  Ps held_at = -1;
};

/// cube_x_y with a unit "pe_0.gemm_unit" and one "hbm".
class TracedCube : public sc_core::sc_module {
 public:
  class Pe : public sc_core::sc_module {
   public:
    explicit Pe(const sc_core::sc_module_name& name) : sc_module(name) {}
    TracedUnit gemm{"gemm_unit"};
  };
  explicit TracedCube(const sc_core::sc_module_name& name) : sc_module(name) {}
  Pe pe{"pe_0"};
  TracedUnit hbm{"hbm"};
};

/// Two by two of them.
struct TracedMachine {
  TracedCube cube_0{"cube_0_0"};
  TracedCube cube_1{"cube_1_0"};
  TracedCube cube_2{"cube_0_1"};
  TracedCube cube_3{"cube_1_1"};
};

}  // namespace cubevp::test
