// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include <systemc>

#include "hw/command_processor/command_processor.h"
#include "hw/cpu/cpu.h"
#include "hw/dma/dma.h"
#include "hw/gemm/gemm_unit.h"
#include "hw/message_queue/message_queue.h"
#include "hw/pe/pe_config.h"
#include "hw/scratchpad/scratchpad.h"
#include "hw/sim/host_pool.h"
#include "hw/sim/pe_shared.h"
#include "hw/vector/vector_unit.h"

namespace cubevp::hw {

/// Where a PE stands and what of the machine it shares.
struct PeContext {
  PeIdentity identity;
  sim::PayloadPool& pool;
  sim::HostPool& host_pool;
  bool keep_data;
  const FirmwareImage& firmware;
  const sc_core::sc_event& start;            ///< from the register block
  std::function<void(bool faulted)> finish;  ///< to the register block
  NeighbourLookup neighbour;
};

/// Bytes at the top of a PE's scratchpad that its message slots take: one set of slots for each
/// axis and direction.
constexpr std::uint64_t message_slot_bytes(const MessageQueueConfig& config) {
  return std::uint64_t{2} * kDirections * config.slots * config.slot_bytes;
}

/// A processing element: the cpu, the command processor, four engines and the scratchpad, bound
/// to each other. What leaves the PE are the network sockets of its initiators and targets.
class Pe final : public sc_core::sc_module {
 public:
  Pe(const sc_core::sc_module_name& name, const PeConfig& config, const PeContext& context);

  // To the stop's network interface.
  auto& dma_isock() { return dma_.net_isock; }
  auto& message_isock() { return message_queue_.net_isock; }
  auto& cpu_isock() { return cpu_.mem_isock; }
  // From it.
  auto& message_tsock() { return message_queue_.net_tsock; }
  auto& scratchpad_tsock() { return scratchpad_.net_tsock; }
  // To the register block.
  auto& sfr_isock() { return cpu_.sfr_isock; }

  Cpu& cpu() { return cpu_; }
  const CommandProcessor& command_processor() const { return command_processor_; }
  const MessageQueue& message_queue() const { return message_queue_; }
  Scratchpad& scratchpad() { return scratchpad_; }
  sim::ActivityMonitor& activity() { return activity_; }
  const PeIdentity& identity() const { return identity_; }
  /// Runs the arithmetic that is still to be done for commands already complete.
  void join_data();

 private:
  void wire();

  const PeIdentity identity_;
  std::unique_ptr<sim::Strand> strand_;  ///< none: timing only
  sim::ActivityMonitor activity_;
  const sim::PeShared shared_;

  Scratchpad scratchpad_;
  CommandProcessor command_processor_;
  Dma dma_;
  GemmUnit gemm_unit_;
  VectorUnit vector_unit_;
  MessageQueue message_queue_;
  Cpu cpu_;
};

}  // namespace cubevp::hw
