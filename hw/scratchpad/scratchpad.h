// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "hw/scratchpad/bank_timeline.h"
#include "hw/scratchpad/scratchpad_config.h"
#include "hw/sim/stats.h"
#include "hw/sim/trace_signal.h"

namespace cubevp::hw {

/// The local memory of a PE: banks of one word a cycle, and the bytes.
///
/// The PE's own engines use `mem_tsocks` with plain byte offsets; `net_tsock` takes system
/// addresses of region scratchpad. nb_transport answers at once (TLM_COMPLETED) with the delay
/// that the banks' timeline gives; b_transport adds that delay. DMI is granted on `mem_tsocks`
/// when the bytes are kept. Byte enables and streaming are served.
///
/// Does not model: the operand ports of the gemm and vector units, whose streams do not contend.
class Scratchpad final : public sc_core::sc_module,
                         public sim::StatsProvider,
                         public sim::TraceSource {
 public:
  using Config = ScratchpadConfig;
  static constexpr std::size_t kEnginePorts = 4;

  sc_core::sc_vector<tlm_utils::simple_target_socket<Scratchpad>> mem_tsocks{"mem_tsock",
                                                                             kEnginePorts};
  tlm_utils::simple_target_socket<Scratchpad> net_tsock{"net_tsock"};

  /// keep_data false: no bytes are kept, reads give zeros.
  Scratchpad(const sc_core::sc_module_name& name, const Config& config, bool keep_data);

  /// Bytes as they are now; zeros when none are kept.
  void peek(std::uint64_t offset, void* data, std::size_t bytes) const;
  void fill(unsigned char value);
  /// transport_dbg for whoever has no port.
  unsigned debug_access(tlm::tlm_generic_payload& payload) { return transport_dbg(payload); }
  std::uint64_t bytes() const { return config_.bytes; }

  const char* stats_kind() const override { return "scratchpad"; }
  sim::UnitStats stats() const override { return stats_; }
  void reset_stats() override { stats_ = {}; }
  std::vector<sim::TraceSignal*> trace_signals() override { return {&busy_signal_}; }

 private:
  template <class Socket>
  void register_callbacks(Socket& socket);
  tlm::tlm_sync_enum nb_transport(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                  sc_core::sc_time& delay);
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  /// Moves the bytes and sets the status; false when the range does not exist.
  bool transfer(tlm::tlm_generic_payload& payload);

  struct Free {
    void operator()(unsigned char* data) const { std::free(data); }
  };

  const Config config_;
  /// From calloc: pages that are never touched take no memory of the host's.
  std::unique_ptr<unsigned char[], Free> data_;
  BankTimeline banks_;
  sim::UnitStats stats_;
  sim::TraceSignal busy_signal_{"busy", 1, {"idle", "busy"}};
  Ps busy_until_ps_ = 0;
};

}  // namespace cubevp::hw
