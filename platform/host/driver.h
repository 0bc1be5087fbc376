// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "hw/system/system.h"
#include "platform/host/placement.h"

namespace cubevp::platform {

/// The host processor: an initiator on the control port of every cube. Bulk data goes by
/// transport_dbg (untimed); registers are written and read by b_transport from one thread, which
/// configures the topology, starts the PEs, takes the interrupts and reads which PEs are done.
///
/// Timing: register writes are posted; those to different cubes travel at the same time, so all
/// cubes start together.
class Driver final : public sc_core::sc_module {
 public:
  sc_core::sc_vector<tlm_utils::simple_initiator_socket<Driver>> cube_isocks;

  Driver(const sc_core::sc_module_name& name, hw::System& system);

  /// Untimed access to memory by system address; throws std::runtime_error naming the address.
  void load(Address address, const void* data, std::size_t bytes);
  void read_back(Address address, void* data, std::size_t bytes);

  /// Starts a placed kernel at the next simulated instant.
  void submit(const Placement& placement, std::uint32_t kernel_number);
  /// True once every started PE is done or one has faulted.
  bool finished() const { return finished_; }
  bool faulted() const { return faulted_; }
  Ps submitted_ps() const { return submitted_ps_; }
  Ps finished_ps() const { return finished_ps_; }

 private:
  struct Job {
    const Placement* placement = nullptr;
    std::uint32_t kernel_number = 0;
  };

  void thread();
  void run_job();
  void configure();
  void start();
  void await_interrupts();
  void write_register(CubeId cube, std::uint32_t offset, std::uint32_t value);
  std::uint32_t read_register(CubeId cube, std::uint32_t offset);
  sc_core::sc_time access(CubeId cube, tlm::tlm_command command, std::uint32_t offset,
                          std::uint32_t& value);
  void debug_access(tlm::tlm_command command, Address address, void* data, std::size_t bytes);

  hw::System& system_;
  Job job_;
  sc_core::sc_event submit_event_{"submit_event"};
  std::vector<bool> started_cubes_;
  sc_core::sc_time posted_until_;
  bool finished_ = false;
  bool faulted_ = false;
  Ps submitted_ps_ = 0;
  Ps finished_ps_ = 0;
};

}  // namespace cubevp::platform
