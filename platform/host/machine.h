// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "firmware/tl/kernel.h"
#include "hw/system/system.h"
#include "platform/config/run_config.h"
#include "platform/host/driver.h"
#include "platform/host/placement.h"

namespace cubevp::platform {

enum class EndReason : std::uint8_t {
  finished,
  fault,
  deadlock,
  sim_time_limit,
  wall_time_limit,
  interrupted,
};

struct RunOutcome {
  EndReason reason = EndReason::finished;
  /// Why, one line each; empty when finished.
  std::vector<std::string> messages;
  /// First PE started to last PE finished (or to the end of an unfinished run).
  Ps kernel_ps = 0;
  /// From the driver's first register write to its last interrupt.
  Ps total_ps = 0;
};

/// What the run loop asks and tells between slices of simulated time.
struct RunControl {
  LimitsConfig limits;
  const std::atomic<bool>* interrupted = nullptr;  ///< set by a signal handler
  std::function<void(Ps now)> on_slice;            ///< progress
};

/// Tensors on the host, (rows x head_dim) in the type of `numerics.io`, see TensorRegion.
struct HostTensors {
  const std::uint16_t* q = nullptr;
  const std::uint16_t* k = nullptr;
  const std::uint16_t* v = nullptr;
};

/// One simulated machine with its host: elaborated once, runs any number of kernels one after the
/// other.
class Machine {
 public:
  Machine(const hw::SystemConfig& config, const hw::System::Options& options,
          const tl::KernelRegistry& kernels);

  /// Loads the tensors (null pointers in `tensors`: none, timing only), runs the kernel and
  /// returns how that ended. After anything but `finished` the machine can only be read.
  RunOutcome run(const Placement& placement, std::uint32_t kernel_number, std::int64_t head_dim,
                 const HostTensors& tensors, const RunControl& control);

  /// Copies replica `replica` of the output rows into o (rows x head_dim).
  void read_output(const Placement& placement, std::int64_t head_dim, std::int64_t replica,
                   std::uint16_t* o);

  /// Fills all memory that was never written with a byte, and forgets what was.
  void clear_memory(unsigned char fill);

  hw::System& system() { return system_; }
  const tl::KernelRegistry& kernels() const { return kernels_; }

 private:
  void upload(const Placement& placement, std::int64_t head_dim, const HostTensors& tensors);
  RunOutcome simulate(const RunControl& control);
  Ps kernel_time(const Placement& placement) const;

  const tl::KernelRegistry& kernels_;
  const hw::FirmwareImage firmware_;
  hw::System system_;
  Driver host_{"host", system_};
};

}  // namespace cubevp::platform
