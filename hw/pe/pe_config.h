// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/command_processor/command_processor_config.h"
#include "hw/cpu/cpu_config.h"
#include "hw/dma/dma_config.h"
#include "hw/gemm/gemm_config.h"
#include "hw/message_queue/message_queue_config.h"
#include "hw/scratchpad/scratchpad_config.h"
#include "hw/vector/vector_config.h"

namespace cubevp::hw {

struct PeConfig {
  Clock clock;  ///< of every unit of the PE; copied to them when the configuration is read
  CpuConfig cpu;
  CommandProcessorConfig command_processor;
  DmaConfig dma;
  GemmConfig gemm;
  VectorConfig vector;
  ScratchpadConfig scratchpad;
  MessageQueueConfig message_queue;
};

}  // namespace cubevp::hw
