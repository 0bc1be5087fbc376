// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "hw/base/command_port.h"
#include "hw/cpu/cpu_config.h"
#include "hw/sim/activity.h"
#include "hw/sim/payload.h"
#include "hw/sim/stats.h"
#include "hw/sim/trace_signal.h"

namespace cubevp::hw {

/// What the cpu is wired to beside its sockets: single wires and look-ups of its PE.
struct CpuWires {
  const sc_core::sc_event& start;              ///< the register block starts this PE
  const sc_core::sc_event& command_completed;  ///< some command of this PE has completed
  std::function<bool(CommandId)> complete;
  std::function<std::size_t()> incomplete;   ///< commands issued and not complete
  std::function<void(bool faulted)> finish;  ///< to the register block
  std::function<void(std::uint64_t offset, void* data, std::size_t bytes)> peek_scratchpad;
};

/// The firmware image as the cpu knows it: runs kernel number `kernel` to its end.
using FirmwareImage =
    std::function<void(CommandPort& port, std::uint32_t kernel, Address args_block)>;

/// The PE's control processor: one thread that waits for its start bit, runs the kernel that
/// PE_KERNEL names, and sets its done or fault bit. Kernels may be started again and again.
///
/// Timing: writing a command takes issue_ps and then as long as the command queue is full; an
/// access to the register block takes what the block annotates. The kernel's own C++ costs no
/// simulated time unless it asks for it (spend_cycles).
///
/// Does not model: instruction fetch, caches, interrupts to the PE.
class Cpu final : public sc_core::sc_module,
                  public CommandPort,
                  public sim::StatsProvider,
                  public sim::TraceSource {
 public:
  using Config = CpuConfig;

  tlm_utils::simple_initiator_socket<Cpu> cmd_isock{"cmd_isock"};
  tlm_utils::simple_initiator_socket<Cpu> sfr_isock{"sfr_isock"};
  tlm_utils::simple_initiator_socket<Cpu> mem_isock{"mem_isock"};

  struct Shared {
    sim::PayloadPool& pool;
    sim::ActivityMonitor& activity;
    const FirmwareImage& firmware;
  };

  Cpu(const sc_core::sc_module_name& name, const Config& config, const PeIdentity& identity,
      const Shared& shared, CpuWires wires);

  /// What the thread is doing, for the reader of a stuck machine.
  struct Status {
    bool running = false;
    std::string blocked_op;  ///< empty: not blocked
    CommandId blocked_on{};
    Ps since_ps = 0;
    std::string fault;  ///< empty: none
  };
  const Status& status() const { return status_; }
  /// Stops the kernel at its next step: the engines report a fault of one of its commands.
  void raise_fault(const std::string& text);
  const std::map<std::string, std::uint64_t>& counters() const { return counters_; }
  Ps started_ps() const { return started_ps_; }
  Ps finished_ps() const { return finished_ps_; }

  // CommandPort
  const PeIdentity& identity() const override { return identity_; }
  CommandId issue(const Command& command) override;
  void wait_for(CommandId id, const BlockedOn& why) override;
  void wait_all(const BlockedOn& why) override;
  bool complete(CommandId id) const override { return wires_.complete(id); }
  void barrier(const BlockedOn& why) override;
  std::uint32_t read_sfr(std::uint32_t offset) override;
  void read_memory(Address address, void* data, std::size_t bytes) override;
  void peek_scratchpad(std::uint64_t offset, void* data, std::size_t bytes) override;
  std::uint64_t now_cycles() const override;
  void spend_cycles(std::uint64_t cycles) override;
  void set_phase(const char* phase) override { phase_signal_.set_text(phase); }
  void count(const char* counter, std::uint64_t n) override { counters_[counter] += n; }

  const char* stats_kind() const override { return "cpu"; }
  sim::UnitStats stats() const override;
  void reset_stats() override;
  std::vector<sim::TraceSignal*> trace_signals() override {
    return {&state_signal_, &phase_signal_};
  }

 private:
  enum class State : std::uint8_t { idle, run, issue, wait, barrier, fault };

  void thread();
  void run_kernel();
  /// Blocks until `ready`, which may change with every completed command.
  template <class Ready>
  void block(const BlockedOn& why, State state, Ready ready);
  void enter(State state) { state_signal_.set(static_cast<std::uint64_t>(state)); }
  void leave_if_faulted() const;
  void access(tlm_utils::simple_initiator_socket<Cpu>& socket, tlm::tlm_command command,
              Address address, void* data, std::size_t bytes);

  const Config config_;
  const PeIdentity identity_;
  sim::PayloadPool& pool_;
  sim::ActivityMonitor& activity_;
  const FirmwareImage& firmware_;
  const CpuWires wires_;

  std::uint64_t last_command_ = 0;
  Status status_;
  std::string pending_fault_;
  sc_core::sc_event fault_event_{"fault_event"};
  std::map<std::string, std::uint64_t> counters_;
  std::uint64_t issued_ = 0;
  Ps busy_ps_ = 0;
  Ps started_ps_ = 0;
  Ps finished_ps_ = 0;
  sim::TraceSignal state_signal_{"state", 3, {"idle", "run", "issue", "wait", "barrier", "fault"}};
  sim::TraceSignal phase_signal_{"phase", 8};
};

}  // namespace cubevp::hw
