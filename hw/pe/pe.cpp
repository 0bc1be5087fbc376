// SPDX-License-Identifier: Apache-2.0
#include "hw/pe/pe.h"

#include <algorithm>
#include <cstring>

namespace cubevp::hw {

Pe::Pe(const sc_core::sc_module_name& name, const PeConfig& config, const PeContext& context)
    : sc_module(name),
      identity_(context.identity),
      strand_(context.keep_data ? std::make_unique<sim::Strand>(context.host_pool) : nullptr),
      shared_{context.pool, activity_, strand_.get(), context.identity},
      scratchpad_("scratchpad", config.scratchpad, context.keep_data),
      command_processor_("command_processor", config.command_processor, shared_,
                         [this](CommandId, const std::string& text) { cpu_.raise_fault(text); }),
      dma_("dma", config.dma, shared_),
      gemm_unit_("gemm_unit", config.gemm, shared_),
      vector_unit_("vector_unit", config.vector, shared_),
      message_queue_("message_queue", config.message_queue, shared_, context.neighbour),
      cpu_("cpu", config.cpu, context.identity, {context.pool, activity_, context.firmware},
           {context.start, command_processor_.completed_event(),
            [this](CommandId id) { return command_processor_.complete(id); },
            [this] { return command_processor_.incomplete(); }, context.finish,
            [this](std::uint64_t offset, void* data, std::size_t bytes) {
              join_data();
              scratchpad_.peek(offset, data, bytes);
            }}) {
  wire();
}

void Pe::wire() {
  cpu_.cmd_isock.bind(command_processor_.cpu_tsock);
  command_processor_.engine_isock(Engine::gemm).bind(gemm_unit_.cmd_tsock);
  command_processor_.engine_isock(Engine::vector).bind(vector_unit_.cmd_tsock);
  command_processor_.engine_isock(Engine::dma).bind(dma_.cmd_tsock);
  command_processor_.engine_isock(Engine::message_queue).bind(message_queue_.cmd_tsock);
  gemm_unit_.mem_isock.bind(scratchpad_.mem_tsocks[0]);
  vector_unit_.mem_isock.bind(scratchpad_.mem_tsocks[1]);
  dma_.mem_isock.bind(scratchpad_.mem_tsocks[2]);
  message_queue_.mem_isock.bind(scratchpad_.mem_tsocks[3]);
}

void Pe::join_data() {
  if (strand_) {
    strand_->join();
  }
}

}  // namespace cubevp::hw
