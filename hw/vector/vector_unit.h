// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "hw/sim/busy_timer.h"
#include "hw/sim/command_target.h"
#include "hw/sim/pe_shared.h"
#include "hw/sim/stats.h"
#include "hw/sim/trace_signal.h"
#include "hw/vector/vector_config.h"

namespace cubevp::hw {

/// The vector unit of a PE: one vector command at a time, in order, from an input queue of two.
///
/// Timing: vector_timing.h, cycles of passes over lanes and of exponentials.
/// Data: at the simulated completion the operation is handed to the PE's strand.
///
/// Does not model: bank conflicts of operand streams, pipeline latency between passes.
class VectorUnit final : public sc_core::sc_module,
                         public sim::StatsProvider,
                         public sim::TraceSource {
 public:
  using Config = VectorConfig;
  static constexpr std::size_t kQueueEntries = 2;

  sim::CommandTargetSocket cmd_tsock{"cmd_tsock", kQueueEntries};
  tlm_utils::simple_initiator_socket<VectorUnit> mem_isock{"mem_isock"};  ///< DMI only

  VectorUnit(const sc_core::sc_module_name& name, const Config& config,
             const sim::PeShared& shared);

  const char* stats_kind() const override { return "vector"; }
  /// ops: elements of the largest operand. bytes: operands and results.
  /// more: commands, exp (exponentials and reciprocals).
  sim::UnitStats stats() const override;
  void reset_stats() override;
  std::vector<sim::TraceSignal*> trace_signals() override { return {&state_signal_, &op_signal_}; }

 private:
  void start_of_simulation() override;
  void step();
  void start();
  void finish();
  void compute(const Command& command);

  const Config config_;
  const sim::PeShared shared_;
  unsigned char* scratchpad_ = nullptr;

  tlm::tlm_generic_payload* current_ = nullptr;
  std::string fault_;
  Ps end_ps_ = 0;
  sc_core::sc_event done_event_{"done_event"};

  sim::BusyTimer busy_;
  sim::UnitStats counts_;
  sim::TraceSignal state_signal_{"state", 1, {"idle", "busy"}};
  sim::TraceSignal op_signal_{"op", 8};
};

}  // namespace cubevp::hw
