// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "hw/base/command.h"

namespace cubevp {

/// Where a firmware thread runs.
struct PeIdentity {
  CubeId cube{};
  PeId pe{};
  std::uint32_t pes_per_cube = 1;
  std::uint32_t cubes = 1;
  std::uint64_t scratchpad_bytes = 0;
  std::uint64_t reserved_bytes = 0;  ///< top of the scratchpad, kept for message-queue slots
};

/// What a firmware thread blocks on; the reader of a stuck machine is told this.
struct BlockedOn {
  std::string op;  ///< as a kernel author would say it: "recv E", "fence", "barrier"
  CommandId command{};
};

/// The machine as a firmware thread sees it. hw/cpu implements it with TLM transactions; tests
/// implement it without SystemC. Calls block the calling firmware thread in simulated time only.
class CommandPort {
 public:
  virtual ~CommandPort() = default;

  virtual const PeIdentity& identity() const = 0;
  /// Writes a command to the command queue: costs the issue time, and waits while the queue is
  /// full. Returns the number given to it.
  virtual CommandId issue(const Command& command) = 0;
  /// Until the command is complete.
  virtual void wait_for(CommandId id, const BlockedOn& why) = 0;
  /// Until every issued command is complete.
  virtual void wait_all(const BlockedOn& why) = 0;
  virtual bool complete(CommandId id) const = 0;
  /// Until every started PE of the cube has called it.
  virtual void barrier(const BlockedOn& why) = 0;
  virtual std::uint32_t read_sfr(std::uint32_t offset) = 0;
  /// Timed read of memory by system address, for argument blocks.
  virtual void read_memory(Address address, void* data, std::size_t bytes) = 0;
  /// Bytes of the PE's scratchpad as the simulated machine holds them now; waits for the host's
  /// arithmetic, not for simulated commands. Zeros when no data is kept.
  virtual void peek_scratchpad(std::uint64_t offset, void* data, std::size_t bytes) = 0;
  virtual std::uint64_t now_cycles() const = 0;
  /// The kernel spends this many PE cycles computing on its own.
  virtual void spend_cycles(std::uint64_t cycles) = 0;
  /// Names the phase the kernel is in, for the trace; a string literal.
  virtual void set_phase(const char* phase) = 0;
  /// Adds to a counter that the result reports by this name (tiles, tiles_skipped, ring_steps).
  virtual void count(const char* counter, std::uint64_t n) = 0;
};

}  // namespace cubevp
