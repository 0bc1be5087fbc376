// SPDX-License-Identifier: Apache-2.0
#include "hw/hbm/hbm_channel.h"

#include <algorithm>
#include <limits>

#include "hw/sim/time.h"

namespace cubevp::hw {

namespace {

constexpr Ps kNever = std::numeric_limits<Ps>::max();

bool same_bank(const HbmTrain& a, const HbmTrain& b) {
  return a.bank_group == b.bank_group && a.bank == b.bank;
}

}  // namespace

HbmChannel::HbmChannel(const sc_core::sc_module_name& name, const HbmConfig& config,
                       HbmChannelClient& client)
    : sc_module(name),
      config_(config),
      client_(client),
      pcs_(config.pseudo_channels_per_channel, PseudoChannel(config)) {
  SC_HAS_PROCESS(HbmChannel);
  SC_METHOD(run);
  sensitive << wake_event_;
  dont_initialize();
}

Ps HbmChannel::commit_time(const PseudoChannel& pc, const Part& part) const {
  return std::max(part.arrival_ps,
                  pc.timing.commit_from_ps(part.train) - pc.timing.preparation_ps());
}

void HbmChannel::enqueue(std::uint32_t pseudo_channel, std::uint32_t request, const HbmTrain& train,
                         std::uint32_t bytes, Ps arrival_ps) {
  PseudoChannel& pc = pcs_[pseudo_channel];
  const Part part{request, train, bytes, arrival_ps, 0};
  // With nobody waiting there is no choice to make later.
  if (pc.queue.empty() && commit_time(pc, part) == arrival_ps) {
    commit(pc, part, arrival_ps);
    return;
  }
  pc.queue.push_back(part);
  wake_at(std::max(sim::now_ps(), commit_time(pc, part)));
}

void HbmChannel::wake_at(Ps at_ps) {
  wake_event_.notify(sim::to_sc_time(at_ps - sim::now_ps()));
}

void HbmChannel::run() {
  const Ps now = sim::now_ps();
  Ps next = kNever;
  for (PseudoChannel& pc : pcs_) {
    next = std::min(next, commit_ready(pc, now));
  }
  if (next != kNever) {
    wake_at(std::max(next, now));
  }
}

Ps HbmChannel::commit_ready(PseudoChannel& pc, Ps now) {
  bool freed = false;
  Ps next = kNever;
  while (!pc.queue.empty()) {
    std::size_t best = pc.queue.size();
    int best_score = -1;
    next = kNever;
    for (std::size_t i = 0; i < pc.queue.size(); ++i) {
      const Part& part = pc.queue[i];
      const Ps at = commit_time(pc, part);
      if (at > now) {
        next = std::min(next, at);
        // Nobody overtakes a request that was passed over often enough.
        if (part.passed >= kMostPassed && part.arrival_ps <= now) {
          best = pc.queue.size();
          next = at;
          break;
        }
        continue;
      }
      if (part.passed >= kMostPassed) {
        best = i;
        break;
      }
      const int score = (pc.timing.row_open(part.train) ? 2 : 0) +
                        (part.train.write == pc.timing.last_was_write() ? 1 : 0);
      if (score > best_score) {
        best = i;
        best_score = score;
      }
    }
    if (best == pc.queue.size()) {
      break;
    }
    const Part part = pc.queue[best];
    for (std::size_t i = 0; i < best; ++i) {
      // A bank that cannot serve yet is not passed over, unless its own row is kept open.
      Part& older = pc.queue[i];
      if (same_bank(older.train, part.train) || commit_time(pc, older) <= now) {
        ++older.passed;
      }
    }
    pc.queue.erase(pc.queue.begin() + static_cast<std::ptrdiff_t>(best));
    commit(pc, part, std::max(part.arrival_ps, now));
    freed = true;
    next = kNever;
  }
  if (freed) {
    client_.room();
  }
  return next;
}

void HbmChannel::commit(PseudoChannel& pc, const Part& part, Ps earliest_ps) {
  const HbmSchedule s = pc.timing.schedule(part.train, earliest_ps);
  const Ps done = s.data_end_ps + config_.controller_ps;
  accesses_ += part.train.accesses;
  (part.train.write ? write_bytes_ : read_bytes_) += part.bytes;
  // The first access of a train finds the row as it was, the others find it open.
  ++outcomes_[static_cast<std::size_t>(s.outcome)];
  outcomes_[static_cast<std::size_t>(RowOutcome::hit)] += part.train.accesses - 1;
  level_trace_.add(s.first_column_ps, done, part.bytes);
  client_.part_done(part.request, done);
}

Ps HbmChannel::idle_latency_ps(std::uint32_t pseudo_channel, const HbmTrain& train) const {
  const HbmTiming& t = config_.timing;
  const Ps column = Ps{train.accesses - 1} * t.tccd_l + (train.write ? t.tcwl : t.tcl) + t.burst;
  const Ps row =
      pcs_[pseudo_channel].timing.row_open(train) ? 0 : (train.write ? t.trcd_wr : t.trcd_rd);
  return config_.controller_ps + row + column;
}

sim::UnitStats HbmChannel::stats() const {
  sim::UnitStats s;
  std::uint64_t refreshes = 0;
  for (const PseudoChannel& pc : pcs_) {
    s.busy_ps += pc.timing.data_busy_ps() / static_cast<Ps>(pcs_.size());
    refreshes += pc.timing.refreshes();
  }
  s.bytes = read_bytes_ + write_bytes_;
  s.ops = accesses_;
  s.more = {{"row_hits", outcomes_[0]},      {"row_closed", outcomes_[1]},
            {"row_conflicts", outcomes_[2]}, {"refreshes", refreshes},
            {"read_bytes", read_bytes_},     {"write_bytes", write_bytes_}};
  return s;
}

void HbmChannel::reset_stats() {
  accesses_ = 0;
  read_bytes_ = 0;
  write_bytes_ = 0;
  for (std::uint64_t& n : outcomes_) {
    n = 0;
  }
  for (PseudoChannel& pc : pcs_) {
    pc.timing.reset_stats();
  }
}

}  // namespace cubevp::hw
