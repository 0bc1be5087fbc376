// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "hw/base/sfr_table.h"
#include "hw/base/units.h"
#include "hw/sim/trace_signal.h"

namespace cubevp::hw {

/// The special function registers of a cube, built from the table in hw/base/sfr_table.h.
///
/// Timing: an access is answered by b_transport with access_ps added to the delay; registers change
/// at once, a PE starts when the delay is over. A write to
/// BARRIER returns when every running PE of the cube has written, barrier_ps after the last of
/// them. nb_transport is answered at once with the same delay (TLM_COMPLETED), BARRIER excepted.
/// transport_dbg reads without side effects and does not write.
///
/// Does not model: registers wider or narrower than 32 bits, access rights by initiator.
class SfrBlock final : public sc_core::sc_module, public sim::TraceSource {
 public:
  struct Config {
    CubeId cube{};
    GridPos position;
    std::uint32_t pes = 1;
    std::uint64_t scratchpad_bytes = 0;
    Clock clock;
    Ps access_ps = 10 * kPsPerNs;
    Ps barrier_ps = 20 * kPsPerNs;
    /// State of the links, which live elsewhere.
    std::function<bool(Direction)> link_up;
    std::function<std::uint32_t(Direction)> link_errors;
    std::function<void(Direction, std::uint32_t ones)> clear_link_errors;
  };

  tlm_utils::simple_target_socket<SfrBlock> host_tsock{"host_tsock"};
  tlm_utils::simple_target_socket<SfrBlock> net_tsock{"net_tsock"};
  sc_core::sc_vector<tlm_utils::simple_target_socket<SfrBlock>> pe_tsocks;

  SfrBlock(const sc_core::sc_module_name& name, Config config);

  /// Notified when PE_START starts this PE.
  const sc_core::sc_event& start_event(PeId pe) const { return start_events_[index(pe)]; }
  /// A started PE has run to its end.
  void finish(PeId pe, bool faulted);
  /// status & enable is not 0.
  bool irq_pending() const { return (irq_status_ & stored(sfr::kIrqEnable)) != 0; }
  const sc_core::sc_event& irq_event() const { return irq_event_; }
  /// Value of a register as a read would give it, without side effects.
  std::uint32_t peek(std::uint32_t offset) const;

  std::vector<sim::TraceSignal*> trace_signals() override;

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                  sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  template <class Socket>
  void register_callbacks(Socket& socket);

  /// The register that a payload names; nullptr and an error status when the access is not one
  /// aligned word of an existing register.
  const sfr::Field* decode_access(tlm::tlm_generic_payload& payload, std::uint32_t& offset) const;
  void access(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay);
  /// Empty, or why the write is refused.
  std::string write(const sfr::Field& field, std::uint32_t offset, std::uint32_t value,
                    const sc_core::sc_time& delay);
  std::string start(std::uint32_t mask, const sc_core::sc_time& delay);
  void arrive_at_barrier(std::uint32_t pe);
  void release_barrier();
  void raise(std::uint32_t irq_bits);
  std::uint32_t& stored(std::uint32_t offset) { return words_[offset / 4]; }
  std::uint32_t stored(std::uint32_t offset) const { return words_[offset / 4]; }
  void trace(std::uint32_t offset);
  std::uint64_t cycle() const;

  const Config config_;
  std::vector<std::uint32_t> words_;
  std::uint32_t running_ = 0;  ///< PEs started and not finished
  std::uint32_t irq_status_ = 0;
  std::uint32_t latched_cycle_hi_ = 0;
  std::uint32_t at_barrier_ = 0;
  std::uint64_t barrier_generation_ = 0;
  sc_core::sc_event barrier_event_{"barrier_event"};
  sc_core::sc_event irq_event_{"irq_event"};
  sc_core::sc_vector<sc_core::sc_event> start_events_;

  struct Traced {
    std::uint32_t offset;
    std::unique_ptr<sim::TraceSignal> signal;
  };
  std::vector<Traced> traced_;
};

}  // namespace cubevp::hw
