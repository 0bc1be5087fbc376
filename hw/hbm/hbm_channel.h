// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <systemc>

#include "hw/hbm/hbm_config.h"
#include "hw/hbm/hbm_timing.h"
#include "hw/sim/level_trace.h"
#include "hw/sim/stats.h"
#include "hw/sim/trace_signal.h"

namespace cubevp::hw {

/// Told when the parts of its requests are done; the stack.
class HbmChannelClient {
 public:
  virtual ~HbmChannelClient() = default;
  /// Part of request `request` has its last data on the bus at `at_ps`, which may be ahead.
  virtual void part_done(std::uint32_t request, Ps at_ps) = 0;
  /// A queue of this channel has room again.
  virtual void room() = 0;
};

/// An HBM channel: pseudo-channels, each with a bounded queue and an FR-FCFS scheduler.
///
/// Timing: hbm_timing.h. A request is committed to the timing as late as its row can still be
/// made ready behind the ones under way; until then the scheduler may prefer others: first those
/// whose row is open, then those that do not turn the bus round, then the oldest. A request is
/// passed over kMostPassed times at most, not counting times at which its bank could not serve it
/// yet for reasons of its own (row cycle, refresh). controller_ps is added to every answer.
///
/// Does not model: separate read and write queues with watermarks, write forwarding.
class HbmChannel final : public sc_core::sc_module,
                         public sim::StatsProvider,
                         public sim::TraceSource {
 public:
  static constexpr std::uint32_t kMostPassed = 16;

  HbmChannel(const sc_core::sc_module_name& name, const HbmConfig& config,
             HbmChannelClient& client);

  bool has_room(std::uint32_t pseudo_channel) const {
    return pcs_[pseudo_channel].queue.size() < config_.queue_entries;
  }
  /// A part of a request that lies in one row, there at `arrival_ps` (not before now).
  void enqueue(std::uint32_t pseudo_channel, std::uint32_t request, const HbmTrain& train,
               std::uint32_t bytes, Ps arrival_ps);
  /// Time an idle channel would take, for loosely timed accesses.
  Ps idle_latency_ps(std::uint32_t pseudo_channel, const HbmTrain& train) const;

  const char* stats_kind() const override { return "hbm_channel"; }
  /// ops: accesses of access_bytes. busy: the mean of the pseudo-channels' data buses. more:
  /// row_hits, row_closed, row_conflicts, refreshes, read_bytes, write_bytes.
  sim::UnitStats stats() const override;
  void reset_stats() override;
  std::vector<sim::TraceSignal*> trace_signals() override {
    return {&busy_signal_, &in_flight_signal_};
  }
  void finish_trace(Ps at_ps) override { level_trace_.show_until(at_ps); }

 private:
  struct Part {
    std::uint32_t request = 0;
    HbmTrain train;
    std::uint32_t bytes = 0;
    Ps arrival_ps = 0;
    std::uint32_t passed = 0;
  };
  struct PseudoChannel {
    explicit PseudoChannel(const HbmConfig& config) : timing(config) {}
    PseudoChannelTiming timing;
    std::vector<Part> queue;
  };

  void run();
  /// Commits what can be committed; returns when to look again, or a negative time for never.
  Ps commit_ready(PseudoChannel& pc, Ps now);
  void commit(PseudoChannel& pc, const Part& part, Ps earliest_ps);
  Ps commit_time(const PseudoChannel& pc, const Part& part) const;
  void wake_at(Ps at_ps);

  const HbmConfig config_;
  HbmChannelClient& client_;
  std::vector<PseudoChannel> pcs_;
  sc_core::sc_event wake_event_{"wake_event"};

  std::uint64_t accesses_ = 0;
  std::uint64_t read_bytes_ = 0;
  std::uint64_t write_bytes_ = 0;
  std::uint64_t outcomes_[3] = {0, 0, 0};
  sim::TraceSignal busy_signal_{"busy", 1, {"idle", "busy"}};
  sim::TraceSignal in_flight_signal_{"bytes_in_flight", 24};
  sim::LevelTrace level_trace_{in_flight_signal_, busy_signal_};
};

}  // namespace cubevp::hw
