// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "firmware/runtime/kernel_context.h"
#include "firmware/tl/kernel.h"
#include "hw/base/command_port.h"

namespace cubevp::runtime {

/// What a firmware thread does once started: reads the argument block, runs kernel number
/// `kernel` of the image to its end, and waits for its commands. Whatever goes wrong is thrown as
/// a tl::KernelFault that names kernel, cube and PE.
void run_kernel(CommandPort& port, const tl::KernelRegistry& image, std::uint32_t kernel,
                Address args_block, Options options = {});

}  // namespace cubevp::runtime
