// SPDX-License-Identifier: Apache-2.0
#include "firmware/runtime/run_kernel.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace cubevp::runtime {

namespace {

// Larger blocks are a stray PE_ARGS, not arguments.
constexpr std::uint64_t kMaxArguments = 1U << 20;

tl::Args read_args(CommandPort& port, Address block) {
  std::uint64_t count = 0;
  port.read_memory(block, &count, sizeof count);
  if (count > kMaxArguments) {
    throw tl::KernelFault("argument block: a count of " + std::to_string(count) +
                          " is not plausible, check PE_ARGS");
  }
  std::vector<std::uint64_t> words(1 + 2 * count);
  words[0] = count;
  if (count != 0) {
    port.read_memory(block + sizeof count, &words[1], 2 * count * sizeof count);
  }
  return tl::Args::from_words(words);
}

}  // namespace

void run_kernel(CommandPort& port, const tl::KernelRegistry& image, std::uint32_t kernel,
                Address args_block, Options options) {
  const std::string where = "cube " + std::to_string(index(port.identity().cube)) + ", PE " +
                            std::to_string(index(port.identity().pe)) + ": ";
  if (kernel >= image.all().size()) {
    throw tl::KernelFault("kernel number " + std::to_string(kernel) + ", " + where +
                          "the firmware image has " + std::to_string(image.all().size()) +
                          " kernels");
  }
  const tl::KernelInfo& info = image.at(kernel);
  const std::string head = "kernel " + info.name + ", " + where;
  // Not std::exception: what the simulator throws to unwind a thread must pass.
  try {
    const tl::Args args = read_args(port, args_block);
    KernelContext context(port, options);
    info.function(context, args);
    context.fence();
  } catch (const std::runtime_error& e) {
    throw tl::KernelFault(head + e.what());
  } catch (const std::logic_error& e) {
    throw tl::KernelFault(head + e.what());
  }
}

}  // namespace cubevp::runtime
