// SPDX-License-Identifier: Apache-2.0
#include "hw/cpu/cpu.h"

#include <exception>
#include <stdexcept>
#include <utility>

#include "hw/base/sfr_table.h"
#include "hw/sim/time.h"

namespace cubevp::hw {

namespace {

// Unwinds a kernel whose command faulted in an engine; the text is in pending_fault_.
struct CommandFaulted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// An activity for as long as it lives: a fault may end it.
class Under {
 public:
  Under(sim::ActivityMonitor& monitor, sim::PeActivity activity)
      : monitor_(monitor), activity_(activity) {
    monitor_.begin(activity_);
  }
  ~Under() { monitor_.end(activity_); }
  Under(const Under&) = delete;
  Under& operator=(const Under&) = delete;

 private:
  sim::ActivityMonitor& monitor_;
  sim::PeActivity activity_;
};

}  // namespace

Cpu::Cpu(const sc_core::sc_module_name& name, const Config& config, const PeIdentity& identity,
         const Shared& shared, CpuWires wires)
    : sc_module(name),
      config_(config),
      identity_(identity),
      pool_(shared.pool),
      activity_(shared.activity),
      firmware_(shared.firmware),
      wires_(std::move(wires)) {
  SC_HAS_PROCESS(Cpu);
  SC_THREAD(thread);
  // Kernels keep tensors in the scratchpad, not on their stack; this is room for C++ frames.
  set_stack_size(config_.stack_bytes);
}

void Cpu::thread() {
  while (true) {
    wait(wires_.start);
    run_kernel();
  }
}

void Cpu::run_kernel() {
  status_ = Status{};
  status_.running = true;
  pending_fault_.clear();
  started_ps_ = sim::now_ps();
  enter(State::run);
  try {
    const std::uint32_t pe = index(identity_.pe);
    const std::uint32_t kernel = read_sfr(sfr::kPeKernel + 4 * pe);
    const Address args =
        read_sfr(sfr::kPeArgsLo + 4 * pe) | (Address{read_sfr(sfr::kPeArgsHi + 4 * pe)} << 32);
    firmware_(*this, kernel, args);
    leave_if_faulted();
  } catch (const CommandFaulted&) {
    status_.fault = pending_fault_;
  } catch (const std::exception& e) {
    status_.fault = e.what();
  }
  status_.running = false;
  status_.blocked_op.clear();
  finished_ps_ = sim::now_ps();
  busy_ps_ += finished_ps_ - started_ps_;
  enter(status_.fault.empty() ? State::idle : State::fault);
  wires_.finish(!status_.fault.empty());
}

void Cpu::raise_fault(const std::string& text) {
  if (pending_fault_.empty()) {
    pending_fault_ = text;
    fault_event_.notify(sc_core::SC_ZERO_TIME);
  }
}

void Cpu::leave_if_faulted() const {
  if (!pending_fault_.empty()) {
    throw CommandFaulted(pending_fault_);
  }
}

template <class Ready>
void Cpu::block(const BlockedOn& why, State state, Ready ready) {
  if (!ready()) {
    status_.blocked_op = why.op;
    status_.blocked_on = why.command;
    status_.since_ps = sim::now_ps();
    enter(state);
    while (!ready()) {
      wait(wires_.command_completed | fault_event_);
      leave_if_faulted();
    }
    status_.blocked_op.clear();
    enter(State::run);
  }
  leave_if_faulted();
}

CommandId Cpu::issue(const Command& command) {
  leave_if_faulted();
  Command numbered = command;
  numbered.id = static_cast<CommandId>(++last_command_);
  ++issued_;
  enter(State::issue);
  activity_.begin(sim::PeActivity::issue);
  wait(sim::to_sc_time(config_.issue_ps));
  activity_.end(sim::PeActivity::issue);

  // The command processor holds the call while its queue is full.
  status_.blocked_op = "command queue full";
  status_.since_ps = sim::now_ps();
  const sim::PayloadPtr payload = sim::PayloadPtr::adopt(pool_.allocate());
  sim::extension(*payload)->command = &numbered;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  cmd_isock->b_transport(*payload, delay);
  if (delay != sc_core::SC_ZERO_TIME) {
    wait(delay);
  }
  status_.blocked_op.clear();
  enter(State::run);
  if (payload->is_response_error()) {
    throw std::runtime_error("command " + std::string(to_string(command.opcode)) +
                             " refused: " + sim::describe_error(*payload));
  }
  if (config_.blocking) {
    wait_for(numbered.id, {std::string(to_string(command.opcode)), numbered.id});
  }
  return numbered.id;
}

void Cpu::wait_for(CommandId id, const BlockedOn& why) {
  block({why.op, id}, State::wait, [&] { return wires_.complete(id); });
}

void Cpu::wait_all(const BlockedOn& why) {
  block(why, State::wait, [&] { return wires_.incomplete() == 0; });
}

void Cpu::barrier(const BlockedOn& why) {
  status_.blocked_op = why.op;
  status_.since_ps = sim::now_ps();
  enter(State::barrier);
  {
    const Under barrier(activity_, sim::PeActivity::barrier);
    std::uint32_t pe = index(identity_.pe);
    access(sfr_isock, tlm::TLM_WRITE_COMMAND, sfr::kBarrier, &pe, sizeof pe);
  }
  status_.blocked_op.clear();
  enter(State::run);
}

std::uint32_t Cpu::read_sfr(std::uint32_t offset) {
  std::uint32_t value = 0;
  access(sfr_isock, tlm::TLM_READ_COMMAND, offset, &value, sizeof value);
  return value;
}

void Cpu::read_memory(Address address, void* data, std::size_t bytes) {
  access(mem_isock, tlm::TLM_READ_COMMAND, address, data, bytes);
}

void Cpu::peek_scratchpad(std::uint64_t offset, void* data, std::size_t bytes) {
  wires_.peek_scratchpad(offset, data, bytes);
}

std::uint64_t Cpu::now_cycles() const {
  return static_cast<std::uint64_t>(sim::now_ps() / config_.clock.period_ps());
}

void Cpu::spend_cycles(std::uint64_t cycles) {
  activity_.begin(sim::PeActivity::issue);
  wait(sim::to_sc_time(config_.clock.cycles(static_cast<std::int64_t>(cycles))));
  activity_.end(sim::PeActivity::issue);
  leave_if_faulted();
}

void Cpu::access(tlm_utils::simple_initiator_socket<Cpu>& socket, tlm::tlm_command command,
                 Address address, void* data, std::size_t bytes) {
  const sim::PayloadPtr payload = sim::PayloadPtr::adopt(pool_.allocate());
  sim::set_access(*payload, command, address, static_cast<unsigned char*>(data), bytes);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  socket->b_transport(*payload, delay);
  wait(delay);
  if (payload->is_response_error()) {
    throw std::runtime_error(std::string(name()) + ": " + sim::describe_error(*payload));
  }
}

sim::UnitStats Cpu::stats() const {
  sim::UnitStats s;
  s.busy_ps = busy_ps_;
  s.ops = issued_;
  s.more = counters_;
  return s;
}

void Cpu::reset_stats() {
  issued_ = 0;
  busy_ps_ = 0;
  counters_.clear();
}

}  // namespace cubevp::hw
