// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "hw/base/sfr_table.h"
#include "hw/cpu/cpu.h"
#include "hw/sim/time.h"

namespace cubevp::test {

/// What stands around a cpu: command queue, registers and memory, with the times a test wants.
class CpuSurroundings : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<CpuSurroundings> cmd_tsock{"cmd_tsock"};
  tlm_utils::simple_target_socket<CpuSurroundings> sfr_tsock{"sfr_tsock"};
  tlm_utils::simple_target_socket<CpuSurroundings> mem_tsock{"mem_tsock"};

  explicit CpuSurroundings(const sc_core::sc_module_name& name) : sc_module(name) {
    cmd_tsock.register_b_transport(this, &CpuSurroundings::take_command);
    sfr_tsock.register_b_transport(this, &CpuSurroundings::access_register);
    mem_tsock.register_b_transport(this, &CpuSurroundings::access_memory);
  }

  struct Taken {
    Command command;
    Ps at;
  };
  std::vector<Taken> commands;
  Ps hold_ps = 0;       ///< the queue is full for so long
  Ps annotate_ps = 0;   ///< delay that the queue adds
  bool refuse = false;  ///< commands and barriers
  Ps sfr_ps = 10 * kPsPerNs;
  std::map<std::uint32_t, std::uint32_t> registers;
  std::vector<std::uint32_t> written;  ///< to BARRIER
  Ps barrier_ps = 0;                   ///< that a write to BARRIER blocks
  Ps memory_ps = 0;
  std::map<Address, unsigned char> memory;
  Address memory_end = ~Address{0};

 private:
  void take_command(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (refuse) {
      sim::extension(payload)->fault = "the queue is broken";
      payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
      return;
    }
    if (hold_ps != 0) {
      wait(sim::to_sc_time(hold_ps));
    }
    commands.push_back({*sim::extension(payload)->command, sim::now_ps()});
    delay += sim::to_sc_time(annotate_ps);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  void access_register(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const auto offset = static_cast<std::uint32_t>(payload.get_address());
    delay += sim::to_sc_time(sfr_ps);
    if (sfr::find(offset) == nullptr) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    if (payload.is_write()) {
      std::uint32_t value = 0;
      std::memcpy(&value, payload.get_data_ptr(), 4);
      written.push_back(value);
      if (refuse) {
        payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
        return;
      }
      wait(sim::to_sc_time(barrier_ps));
    } else {
      const std::uint32_t value = registers[offset];
      std::memcpy(payload.get_data_ptr(), &value, 4);
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  void access_memory(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    delay += sim::to_sc_time(memory_ps);
    if (payload.get_address() + payload.get_data_length() > memory_end) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    for (unsigned i = 0; i < payload.get_data_length(); ++i) {
      payload.get_data_ptr()[i] = memory[payload.get_address() + i];
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

/// PE 3 of cube 2 with a kernel of the test's.
struct CpuBench {
  explicit CpuBench(hw::FirmwareImage kernel, const hw::CpuConfig& config = {})
      : firmware(std::move(kernel)),
        cpu("cpu", config, identity(), {pool, activity, firmware},
            {start, completed, [this](CommandId id) { return done.count(index(id)) != 0; },
             [this] { return around.commands.size() - done.size(); },
             [this](bool faulted) {
               finishes.push_back(faulted);
               finished_at.push_back(sim::now_ps());
             },
             [this](std::uint64_t offset, void* data, std::size_t bytes) {
               peeked = offset;
               std::memset(data, 0x5a, bytes);
             }}) {
    cpu.cmd_isock.bind(around.cmd_tsock);
    cpu.sfr_isock.bind(around.sfr_tsock);
    cpu.mem_isock.bind(around.mem_tsock);
  }
  static PeIdentity identity() {
    PeIdentity id;
    id.cube = static_cast<CubeId>(2);
    id.pe = static_cast<PeId>(3);
    id.pes_per_cube = 8;
    id.cubes = 4;
    return id;
  }
  /// Starts the kernel at `at` and runs to the end of everything.
  void run(Ps at = 0) {
    start_at(at);
    sc_core::sc_start();
  }
  void start_at(Ps at) {
    if (at == 0 || at > sim::now_ps()) {  // at 0 the thread comes to wait for its start
      run_until(at);
    }
    start.notify(sc_core::SC_ZERO_TIME);
  }
  void run_until(Ps at) { sc_core::sc_start(sim::to_sc_time(at - sim::now_ps())); }
  void complete(std::uint64_t id) {
    done.insert(id);
    completed.notify(sc_core::SC_ZERO_TIME);
  }
  Ps spent(sim::PeActivity a) { return activity.spent_ps()[static_cast<std::size_t>(a)]; }

  /// From the start to the kernel's first instruction: kernel number, argument address low, high.
  static constexpr Ps kEntry = 3 * 10 * kPsPerNs;

  sim::PayloadPool pool;
  sim::ActivityMonitor activity;
  hw::FirmwareImage firmware;
  sc_core::sc_event start{"start"};
  sc_core::sc_event completed{"completed"};
  std::set<std::uint64_t> done;
  std::vector<bool> finishes;
  std::vector<Ps> finished_at;
  std::uint64_t peeked = 0;
  CpuSurroundings around{"around"};
  hw::Cpu cpu;
};

inline Command load_command() {
  Command c;
  c.opcode = Opcode::dma_load;
  return c;
}

}  // namespace cubevp::test
