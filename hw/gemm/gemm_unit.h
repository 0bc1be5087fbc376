// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "hw/gemm/gemm_config.h"
#include "hw/sim/busy_timer.h"
#include "hw/sim/command_target.h"
#include "hw/sim/pe_shared.h"
#include "hw/sim/stats.h"
#include "hw/sim/trace_signal.h"

namespace cubevp::hw {

/// The matrix unit of a PE: one gemm command at a time, in order, from an input queue of two.
///
/// Timing: gemm_timing.h. A command that waits in the queue when the one before it ends has its
/// operands streaming in behind it and pays no fill; one that arrives later (because it depends
/// on an earlier result) pays it. The epilogue is part of the drain and takes no time.
/// Data: at the simulated completion the product is handed to the PE's strand.
///
/// Does not model: bank conflicts of operand streams (operands have ports of their own), stalls
/// inside a command, reduced rates for f32 operands.
class GemmUnit final : public sc_core::sc_module,
                       public sim::StatsProvider,
                       public sim::TraceSource {
 public:
  using Config = GemmConfig;
  static constexpr std::size_t kQueueEntries = 2;

  sim::CommandTargetSocket cmd_tsock{"cmd_tsock", kQueueEntries};
  tlm_utils::simple_initiator_socket<GemmUnit> mem_isock{"mem_isock"};  ///< DMI only

  GemmUnit(const sc_core::sc_module_name& name, const Config& config, const sim::PeShared& shared);

  const char* stats_kind() const override { return "gemm"; }
  /// ops: flops, 2*M*N*K of what was asked for, padding left out. bytes: operands and results.
  /// more: commands, steps (cycles in which the array stepped), fills (those that took time).
  sim::UnitStats stats() const override;
  void reset_stats() override;
  std::vector<sim::TraceSignal*> trace_signals() override { return {&state_signal_, &op_signal_}; }

 private:
  void start_of_simulation() override;
  void step();
  void start(bool fill_hidden);
  void finish();
  void compute(const Command& command);

  const Config config_;
  const sim::PeShared shared_;
  unsigned char* scratchpad_ = nullptr;
  /// Sums that a chain of gemms keeps inside the unit (Command::to_accumulators).
  std::shared_ptr<std::vector<float>> accumulators_;

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
