// SPDX-License-Identifier: Apache-2.0
#include "platform/host/driver.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "hw/base/sfr_table.h"
#include "hw/sim/payload.h"
#include "hw/sim/time.h"

namespace cubevp::platform {

Driver::Driver(const sc_core::sc_module_name& name, hw::System& system)
    : sc_module(name), cube_isocks("cube_isock", system.cubes()), system_(system) {
  for (std::size_t c = 0; c < system.cubes(); ++c) {
    cube_isocks[c].bind(system.cube(static_cast<CubeId>(c)).control_tsock);
  }
  SC_HAS_PROCESS(Driver);
  SC_THREAD(thread);
}

void Driver::thread() {
  while (true) {
    // A job may be submitted before this thread runs for the first time.
    while (job_.placement == nullptr) {
      wait(submit_event_);
    }
    run_job();
    job_.placement = nullptr;
    finished_ps_ = sim::now_ps();
    finished_ = true;
    sc_core::sc_pause();
  }
}

void Driver::submit(const Placement& placement, std::uint32_t kernel_number) {
  job_ = {&placement, kernel_number};
  finished_ = false;
  faulted_ = false;
  submit_event_.notify(sc_core::SC_ZERO_TIME);
}

void Driver::run_job() {
  submitted_ps_ = sim::now_ps();
  configure();
  start();
  await_interrupts();
}

void Driver::configure() {
  posted_until_ = sc_core::SC_ZERO_TIME;
  for (const SfrWrite& w : job_.placement->sfr_writes) {
    write_register(w.cube, w.offset, w.value);
  }
  for (const PeLaunch& l : job_.placement->launches) {
    const std::uint32_t pe = 4 * index(l.pe);
    write_register(l.cube, sfr::kPeKernel + pe, job_.kernel_number);
    write_register(l.cube, sfr::kPeArgsLo + pe, static_cast<std::uint32_t>(l.args_address));
    write_register(l.cube, sfr::kPeArgsHi + pe, static_cast<std::uint32_t>(l.args_address >> 32));
    write_register(l.cube, sfr::kIrqEnable, sfr::kIrqDone | sfr::kIrqFault);
  }
  wait(posted_until_);
}

void Driver::start() {
  std::map<std::uint32_t, std::uint32_t> masks;
  for (const PeLaunch& l : job_.placement->launches) {
    masks[index(l.cube)] |= 1U << index(l.pe);
  }
  started_cubes_.assign(system_.cubes(), false);
  posted_until_ = sc_core::SC_ZERO_TIME;
  for (const auto& [cube, mask] : masks) {
    write_register(static_cast<CubeId>(cube), sfr::kPeStart, mask);
    started_cubes_[cube] = true;
  }
}

void Driver::await_interrupts() {
  while (true) {
    bool all_done = true;
    bool time_passed = false;
    sc_core::sc_event_or_list interrupts;
    for (std::size_t c = 0; c < started_cubes_.size(); ++c) {
      if (!started_cubes_[c]) {
        continue;
      }
      hw::Cube& cube = system_.cube(static_cast<CubeId>(c));
      if (!cube.interrupt_pending()) {
        all_done = false;
        interrupts |= cube.interrupt_event();
        continue;
      }
      const std::uint32_t status = read_register(static_cast<CubeId>(c), sfr::kIrqStatus);
      write_register(static_cast<CubeId>(c), sfr::kIrqClear, status);
      started_cubes_[c] = false;
      time_passed = true;
      if ((status & sfr::kIrqFault) != 0) {
        faulted_ = true;
        return;
      }
    }
    if (all_done) {
      return;
    }
    // Interrupts that came while registers were read are found by looking again.
    if (!time_passed) {
      wait(interrupts);
    }
  }
}

void Driver::write_register(CubeId cube, std::uint32_t offset, std::uint32_t value) {
  posted_until_ = std::max(posted_until_, access(cube, tlm::TLM_WRITE_COMMAND, offset, value));
}

std::uint32_t Driver::read_register(CubeId cube, std::uint32_t offset) {
  std::uint32_t value = 0;
  wait(access(cube, tlm::TLM_READ_COMMAND, offset, value));
  return value;
}

sc_core::sc_time Driver::access(CubeId cube, tlm::tlm_command command, std::uint32_t offset,
                                std::uint32_t& value) {
  const sim::PayloadPtr payload = sim::PayloadPtr::adopt(system_.pool().allocate());
  sim::set_access(*payload, command, make_address(cube, Region::sfr, offset),
                  reinterpret_cast<unsigned char*>(&value), sizeof value);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  cube_isocks[index(cube)]->b_transport(*payload, delay);
  if (payload->is_response_error()) {
    throw std::runtime_error(std::string(name()) + ": " + sim::describe_error(*payload));
  }
  return delay;
}

void Driver::debug_access(tlm::tlm_command command, Address address, void* data,
                          std::size_t bytes) {
  const sim::PayloadPtr payload = sim::PayloadPtr::adopt(system_.pool().allocate());
  const std::size_t cube = index(decode(address).cube);
  sim::set_access(*payload, command, address, static_cast<unsigned char*>(data), bytes);
  if (cube >= system_.cubes() || cube_isocks[cube]->transport_dbg(*payload) != bytes) {
    payload->set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    throw std::runtime_error(std::string(name()) + ": " + sim::describe_error(*payload));
  }
}

void Driver::load(Address address, const void* data, std::size_t bytes) {
  // transport_dbg reads a write's data; the standard's payload has one, mutable, data pointer.
  debug_access(tlm::TLM_WRITE_COMMAND, address, const_cast<void*>(data), bytes);
}

void Driver::read_back(Address address, void* data, std::size_t bytes) {
  debug_access(tlm::TLM_READ_COMMAND, address, data, bytes);
}

}  // namespace cubevp::platform
