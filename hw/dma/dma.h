// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "hw/dma/burst_splitter.h"
#include "hw/dma/dma_config.h"
#include "hw/sim/busy_timer.h"
#include "hw/sim/command_target.h"
#include "hw/sim/pe_shared.h"
#include "hw/sim/stats.h"
#include "hw/sim/trace_signal.h"

namespace cubevp::hw {

/// The load/store engine of a PE. Takes load and store commands (all at once: the command
/// processor's queue bounds them), keeps `read_channels` loads and `write_channels` stores in
/// progress, each kind in order, and cuts them into bursts.
///
/// Timing: bursts go out on one network port as END_REQ allows, while fewer than
/// `outstanding_bursts` of their direction are in flight. Loads and stores take turns; of each kind
/// the oldest command in progress goes first and the next one fills its gaps. A load's burst is in
/// flight until the scratchpad's banks have taken it; a store's until its acknowledgement. A store
/// reads the scratchpad one burst ahead of the network. Data: a load lands in a staging buffer and
/// is copied into the scratchpad when the command is complete; a store is copied out when it
/// starts.
///
/// Does not model: descriptors fetched from memory, reordering between bursts of a channel.
class Dma final : public sc_core::sc_module, public sim::StatsProvider, public sim::TraceSource {
 public:
  using Config = DmaConfig;

  sim::CommandTargetSocket cmd_tsock{"cmd_tsock", sim::CommandTargetSocket::kUnbounded};
  tlm_utils::simple_initiator_socket<Dma> net_isock{"net_isock"};
  tlm_utils::simple_initiator_socket<Dma> mem_isock{"mem_isock"};

  Dma(const sc_core::sc_module_name& name, const Config& config, const sim::PeShared& shared);

  const char* stats_kind() const override { return "dma"; }
  /// ops: bursts. more: commands, read_bytes, write_bytes.
  sim::UnitStats stats() const override;
  void reset_stats() override;
  std::vector<sim::TraceSignal*> trace_signals() override {
    return {&state_signal_, &op_signal_, &in_flight_signal_};
  }

 private:
  /// A command in progress.
  struct Job {
    tlm::tlm_generic_payload* command = nullptr;  ///< nullptr: the channel is free
    std::uint64_t sequence = 0;                   ///< order of start
    BurstSplitter splitter;
    std::shared_ptr<std::vector<unsigned char>> staging;
    Ps data_ready_ps = 0;  ///< stores: when the next burst's bytes are out of the scratchpad
    std::uint64_t in_flight = 0;
    std::string fault;
  };
  struct Finish {
    Ps at_ps;
    std::uint32_t channel;
    friend bool operator>(const Finish& a, const Finish& b) {
      return a.at_ps != b.at_ps ? a.at_ps > b.at_ps : a.channel > b.channel;
    }
  };

  bool is_read(std::uint32_t channel) const { return channel < config_.read_channels; }
  void start_of_simulation() override;
  void step();
  void accept_commands();
  void start_waiting(bool reads);
  void start_job(std::uint32_t channel, tlm::tlm_generic_payload& command);
  void retire_bursts();
  void complete_if_done(std::uint32_t channel);
  void issue_bursts();
  bool can_issue(std::uint32_t channel) const;
  std::uint32_t oldest_to_issue(bool reads) const;
  void issue(std::uint32_t channel);
  void request(tlm::tlm_generic_payload& payload, Ps ready_ps);
  void prefetch(Job& job);
  void schedule();
  tlm::tlm_sync_enum on_nb_transport(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  void on_response(tlm::tlm_generic_payload& payload, Ps at_ps);

  const Config config_;
  const sim::PeShared shared_;
  unsigned char* scratchpad_ = nullptr;

  std::deque<tlm::tlm_generic_payload*> waiting_reads_;
  std::deque<tlm::tlm_generic_payload*> waiting_writes_;
  std::vector<Job> jobs_;  ///< read channels, then write channels
  std::uint64_t next_sequence_ = 0;
  bool last_was_read_ = false;
  std::uint64_t reads_in_flight_ = 0;
  std::uint64_t writes_in_flight_ = 0;
  /// Bursts whose end is known, earliest first.
  std::priority_queue<Finish, std::vector<Finish>, std::greater<>> finishes_;

  tlm::tlm_generic_payload* requesting_ = nullptr;  ///< BEGIN_REQ sent, END_REQ to come
  Ps port_free_ps_ = 0;
  sc_core::sc_event step_event_{"step_event"};

  sim::BusyTimer busy_;
  sim::UnitStats counts_;
  std::uint64_t read_bytes_ = 0;
  std::uint64_t write_bytes_ = 0;
  sim::TraceSignal state_signal_{"state", 1, {"idle", "busy"}};
  sim::TraceSignal op_signal_{"op", 8};
  sim::TraceSignal in_flight_signal_{"in_flight", 16};
};

}  // namespace cubevp::hw
