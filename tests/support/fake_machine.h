// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "hw/base/command_port.h"

namespace cubevp::test {

/// Nobody can go on; the message lists who waits for what.
class FakeDeadlock : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct FakeConfig {
  std::uint32_t cubes = 1;
  std::uint32_t pes = 8;
  std::uint64_t scratchpad_bytes = 4 << 20;
  /// Room of a message channel. A send is complete when all of its message is in the channel, so
  /// with little room it needs the receive.
  std::uint64_t channel_bytes = 8 * 8192;
};

/// A machine without time and without SystemC for tests of firmware: PEs run kernels, commands
/// execute one at a time in the order of their issue (what the scoreboard has to look like), and
/// messages go through channels with bounded room. Exactly one PE runs at any moment and PEs take
/// turns only where one blocks: runs repeat bit by bit. recv_async delivers at the wait.
class FakeMachine {
 public:
  explicit FakeMachine(const FakeConfig& config);
  ~FakeMachine();

  // --- host side
  /// Memory of the cube's HBM; accesses outside what was allocated throw.
  Address allocate(CubeId cube, std::uint64_t bytes);
  void write(Address address, const void* data, std::size_t bytes);
  void read(Address address, void* data, std::size_t bytes) const;
  void write_sfr(CubeId cube, std::uint32_t offset, std::uint32_t value);
  /// NBR_E/W of cubes in this order, as a mesh or as a ring, with RING_SIZE and RING_RANK.
  void chain(const std::vector<CubeId>& cubes, bool ring);

  using Firmware = std::function<void(CommandPort&)>;
  void start(CubeId cube, PeId pe, Firmware firmware);
  /// Until all started PEs are done. Throws what the first PE to fail threw, or FakeDeadlock.
  void run();

  // --- what has happened
  struct Counted {
    std::map<std::string, std::uint64_t> counters;
    std::vector<Command> commands;
    std::uint64_t messages = 0;
    std::uint64_t message_bytes = 0;
    /// Values sent that are not finite and not a permitted -inf.
    std::uint64_t nonfinite_sent = 0;
    std::vector<std::string> phases;
    std::vector<std::string> waits;
    std::uint64_t sfr_reads = 0;
  };
  const Counted& counted(CubeId cube, PeId pe) const;
  /// Sum over all PEs.
  std::uint64_t total(const std::string& counter) const;

 private:
  class Pe;
  friend class Pe;
  struct Channel {
    std::deque<unsigned char> bytes;
  };

  Pe& pe(CubeId cube, PeId pe) const;
  std::uint32_t sfr(CubeId cube, std::uint32_t offset) const;
  unsigned char* memory(Address address, std::size_t bytes) const;
  Channel& channel(CubeId cube, PeId pe, RankAxis axis, Direction from);
  /// Where a message from this PE arrives.
  Channel& outgoing(CubeId cube, PeId pe, RankAxis axis, Direction to);
  void resume(Pe& pe);
  std::string who_waits() const;

  const FakeConfig config_;
  mutable std::map<Address, std::vector<unsigned char>> hbm_;
  std::map<std::uint32_t, std::uint64_t> hbm_top_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> sfr_;
  std::map<std::uint64_t, Channel> channels_;
  std::vector<std::unique_ptr<Pe>> pes_;

  // The baton: the PE that may run, or nullptr for the scheduler.
  std::mutex mutex_;
  std::condition_variable turn_;
  Pe* running_ = nullptr;
  bool aborting_ = false;
};

}  // namespace cubevp::test
