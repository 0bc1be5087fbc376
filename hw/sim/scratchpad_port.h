// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "hw/sim/payload.h"
#include "hw/sim/time.h"

namespace cubevp::sim {

// How an engine uses the scratchpad of its own PE: the bytes through DMI, on the host's strand;
// the time through accesses that the banks answer at once (TLM_COMPLETED, annotated).

/// First byte of the scratchpad behind a memory socket. Throws sc_report when it gives no DMI.
template <class Socket>
unsigned char* scratchpad_data(Socket& socket, PayloadPool& pool) {
  const PayloadPtr payload = PayloadPtr::adopt(pool.allocate());
  set_access(*payload, tlm::TLM_READ_COMMAND, 0, nullptr, 0);
  tlm::tlm_dmi dmi;
  if (!socket->get_direct_mem_ptr(*payload, dmi) || !dmi.is_read_write_allowed()) {
    SC_REPORT_ERROR(socket.name(), "the memory bound here gives no direct access");
    return nullptr;
  }
  return dmi.get_dmi_ptr() - dmi.get_start_address();
}

/// Occupies the banks with an access that may start at `start_ps`; returns when it is through.
template <class Socket>
Ps occupy_scratchpad(Socket& socket, PayloadPool& pool, tlm::tlm_command command,
                     std::uint64_t offset, std::size_t bytes, Ps start_ps) {
  const PayloadPtr payload = PayloadPtr::adopt(pool.allocate());
  set_access(*payload, command, offset, pool.dummy_data(), bytes);
  extension(*payload)->timing_only = true;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = to_sc_time(start_ps - now_ps());
  if (socket->nb_transport_fw(*payload, phase, delay) != tlm::TLM_COMPLETED) {
    SC_REPORT_ERROR(socket.name(), "the memory bound here must answer at once, annotated");
  }
  return now_ps() + to_ps(delay);
}

}  // namespace cubevp::sim
