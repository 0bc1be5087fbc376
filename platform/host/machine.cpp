// SPDX-License-Identifier: Apache-2.0
#include "platform/host/machine.h"

#include <algorithm>
#include <chrono>
#include <exception>

#include <fmt/format.h>

#include "firmware/runtime/run_kernel.h"
#include "hw/sim/time.h"
#include "platform/host/diagnosis.h"
#include "platform/host/hierarchy.h"

namespace cubevp::platform {

namespace {

using WallClock = std::chrono::steady_clock;

double seconds_since(WallClock::time_point start) {
  return std::chrono::duration<double>(WallClock::now() - start).count();
}

// The run loop looks at limits, signals and progress about this often in host time.
constexpr double kSliceWallSeconds = 0.05;
constexpr Ps kFirstSlicePs = 100 * kPsPerNs;
constexpr Ps kLongestSlicePs = Ps{1000} * 1000 * kPsPerNs;

}  // namespace

Machine::Machine(const hw::SystemConfig& config, const hw::System::Options& options,
                 const tl::KernelRegistry& kernels)
    : kernels_(kernels),
      firmware_([&kernels](CommandPort& port, std::uint32_t kernel, Address args) {
        runtime::run_kernel(port, kernels, kernel, args);
      }),
      system_(config, options, firmware_) {}

void Machine::upload(const Placement& placement, std::int64_t head_dim,
                     const HostTensors& tensors) {
  const std::uint64_t row_bytes = static_cast<std::uint64_t>(head_dim) * sizeof(std::uint16_t);
  for (const TensorRegion& r : placement.inputs) {
    const std::uint16_t* source = r.kind == TensorKind::q   ? tensors.q
                                  : r.kind == TensorKind::k ? tensors.k
                                                            : tensors.v;
    if (source == nullptr) {
      continue;
    }
    if (r.row_step == 1) {
      host_.load(r.address, source + r.first_row * head_dim,
                 static_cast<std::size_t>(r.rows) * row_bytes);
      continue;
    }
    for (std::int64_t i = 0; i < r.rows; ++i) {
      host_.load(r.address + static_cast<std::uint64_t>(i) * row_bytes,
                 source + (r.first_row + i * r.row_step) * head_dim, row_bytes);
    }
  }
  for (const PeLaunch& l : placement.launches) {
    const std::vector<std::uint64_t> words = l.args.to_words();
    host_.load(l.args_address, words.data(), words.size() * sizeof(words[0]));
  }
}

void Machine::read_output(const Placement& placement, std::int64_t head_dim, std::int64_t replica,
                          std::uint16_t* o) {
  const std::uint64_t row_bytes = static_cast<std::uint64_t>(head_dim) * sizeof(std::uint16_t);
  for (const TensorRegion& r : placement.outputs) {
    if (r.replica == replica) {
      host_.read_back(r.address, o + r.first_row * head_dim,
                      static_cast<std::size_t>(r.rows) * row_bytes);
    }
  }
}

void Machine::clear_memory(unsigned char fill) {
  for (std::size_t c = 0; c < system_.cubes(); ++c) {
    system_.cube(static_cast<CubeId>(c)).clear_memory(fill);
  }
}

RunOutcome Machine::run(const Placement& placement, std::uint32_t kernel_number,
                        std::int64_t head_dim, const HostTensors& tensors,
                        const RunControl& control) {
  upload(placement, head_dim, tensors);
  for_each_module<sim::StatsProvider>(
      [](sim::StatsProvider& unit, const std::string&) { unit.reset_stats(); });
  for (const PeLaunch& l : placement.launches) {
    system_.cube(l.cube).pe(l.pe).activity().reset();
  }
  const Ps before = sim::now_ps();
  host_.submit(placement, kernel_number);
  RunOutcome outcome = simulate(control);
  outcome.kernel_ps = kernel_time(placement);
  outcome.total_ps = sim::now_ps() - before;
  if (outcome.reason == EndReason::fault) {
    outcome.messages = fault_lines(system_);
  } else if (outcome.reason != EndReason::finished) {
    const std::vector<std::string> lines = blocked_lines(system_, kernels_.at(kernel_number).name);
    outcome.messages.insert(outcome.messages.end(), lines.begin(), lines.end());
  }
  return outcome;
}

RunOutcome Machine::simulate(const RunControl& control) {
  const auto wall_start = WallClock::now();
  const Ps sim_start = sim::now_ps();
  Ps slice = kFirstSlicePs;
  // Delivers the submit event, after which pending activity can be asked for.
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  while (true) {
    if (host_.finished()) {
      return {host_.faulted() ? EndReason::fault : EndReason::finished, {}, 0, 0};
    }
    if (!sc_core::sc_pending_activity()) {
      return {EndReason::deadlock,
              {fmt::format("deadlock: nothing is left to happen at {:.3f} ns and PEs are waiting",
                           ns_from_ps(sim::now_ps()))},
              0,
              0};
    }
    const Ps spent = sim::now_ps() - sim_start;
    if (spent >= control.limits.sim_time_ps) {
      return {EndReason::sim_time_limit,
              {fmt::format("limits.sim_time: {} ns of simulated time are used up",
                           ns_from_ps(control.limits.sim_time_ps))},
              0,
              0};
    }
    if (seconds_since(wall_start) >= control.limits.wall_time_s) {
      return {EndReason::wall_time_limit,
              {fmt::format("limits.wall_time: {} s of host time are used up",
                           control.limits.wall_time_s)},
              0,
              0};
    }
    if (control.interrupted != nullptr && control.interrupted->load()) {
      return {EndReason::interrupted, {"interrupted"}, 0, 0};
    }
    const auto slice_start = WallClock::now();
    const Ps left = control.limits.sim_time_ps - spent;
    const Ps next = sim::to_ps(sc_core::sc_time_to_pending_activity());
    if (next >= left) {
      sc_core::sc_start(sim::to_sc_time(left));
    } else {
      // On starvation time stays at the last event, so that when a deadlock ends does not depend
      // on how long slices are, which depends on the host. A slice reaches the next event.
      sc_core::sc_start(sim::to_sc_time(std::min(std::max(slice, next), left)),
                        sc_core::SC_EXIT_ON_STARVATION);
    }
    const double wall = seconds_since(slice_start);
    slice = wall < kSliceWallSeconds / 2   ? std::min(slice * 2, kLongestSlicePs)
            : wall > kSliceWallSeconds * 2 ? std::max(slice / 2, kFirstSlicePs)
                                           : slice;
    if (control.on_slice) {
      control.on_slice(sim::now_ps() - sim_start);
    }
  }
}

Ps Machine::kernel_time(const Placement& placement) const {
  Ps first = sim::now_ps();
  Ps last = 0;
  for (const PeLaunch& l : placement.launches) {
    const hw::Cpu& cpu = const_cast<hw::System&>(system_).cube(l.cube).pe(l.pe).cpu();
    first = std::min(first, cpu.started_ps());
    last = std::max(last, cpu.status().running ? sim::now_ps() : cpu.finished_ps());
  }
  return last > first ? last - first : 0;
}

}  // namespace cubevp::platform
