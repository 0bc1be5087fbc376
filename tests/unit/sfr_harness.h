// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "hw/sfr/sfr_block.h"
#include "hw/sim/payload.h"
#include "hw/sim/time.h"

namespace cubevp::test {

/// What became of one access to a register.
struct SfrAnswer {
  tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
  std::uint32_t value = 0;
  Ps delay = 0;
  std::string fault;
};

/// Somebody who reads and writes registers: the host, the network or a PE. A script, if there is
/// one, runs in a thread.
class SfrUser : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<SfrUser> isock{"isock"};
  std::function<void(SfrUser&)> script;

  SfrUser(const sc_core::sc_module_name& name, sim::PayloadPool& pool)
      : sc_module(name), pool_(pool) {
    isock.register_nb_transport_bw(this, &SfrUser::nb_transport_bw);
    SC_HAS_PROCESS(SfrUser);
    SC_THREAD(run);
  }

  SfrAnswer read(Address address, Ps delay = 0) {
    return access(tlm::TLM_READ_COMMAND, address, 0, delay);
  }
  SfrAnswer write(Address address, std::uint32_t value, Ps delay = 0) {
    return access(tlm::TLM_WRITE_COMMAND, address, value, delay);
  }
  SfrAnswer access(tlm::tlm_command command, Address address, std::uint32_t value, Ps delay = 0) {
    const sim::PayloadPtr payload = sim::PayloadPtr::adopt(pool_.allocate());
    SfrAnswer answer;
    answer.value = value;
    sim::set_access(*payload, command, address, reinterpret_cast<unsigned char*>(&answer.value), 4);
    sc_core::sc_time t = sim::to_sc_time(delay);
    isock->b_transport(*payload, t);
    answer.status = payload->get_response_status();
    answer.delay = sim::to_ps(t);
    answer.fault = sim::extension(*payload)->fault;
    return answer;
  }
  /// In the script: until this time.
  void wait_until(Ps at) { wait(sim::to_sc_time(at - sim::now_ps())); }

 private:
  void run() {
    if (script) {
      script(*this);
    }
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                     sc_core::sc_time&) {
    return tlm::TLM_ACCEPTED;
  }
  sim::PayloadPool& pool_;
};

/// A register block with a user on every socket.
struct SfrBench {
  explicit SfrBench(const hw::SfrBlock::Config& config = default_config()) : sfr("sfr", config) {
    host.isock.bind(sfr.host_tsock);
    network.isock.bind(sfr.net_tsock);
    for (std::uint32_t p = 0; p < config.pes; ++p) {
      pes.push_back(std::make_unique<SfrUser>(("pe_" + std::to_string(p)).c_str(), pool));
      pes.back()->isock.bind(sfr.pe_tsocks[p]);
    }
  }
  /// Cube 9 at (1, 2): 8 PEs of 4 MiB, a clock of 1 ns.
  static hw::SfrBlock::Config default_config() {
    hw::SfrBlock::Config c;
    c.cube = static_cast<CubeId>(9);
    c.position = {1, 2};
    c.pes = 8;
    c.scratchpad_bytes = std::uint64_t{4} << 20;
    return c;
  }
  /// Elaborates, so that the registers may be used from outside a thread.
  void begin() { sc_core::sc_start(sc_core::SC_ZERO_TIME); }
  void run_until(Ps at) { sc_core::sc_start(sim::to_sc_time(at - sim::now_ps())); }

  sim::PayloadPool pool;
  hw::SfrBlock sfr;
  SfrUser host{"host", pool};
  SfrUser network{"network", pool};
  std::vector<std::unique_ptr<SfrUser>> pes;
};

}  // namespace cubevp::test
