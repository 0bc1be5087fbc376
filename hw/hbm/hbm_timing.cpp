// SPDX-License-Identifier: Apache-2.0
#include "hw/hbm/hbm_timing.h"

#include <algorithm>

namespace cubevp::hw {

PseudoChannelTiming::PseudoChannelTiming(const HbmConfig& config)
    : config_(config),
      timing_(config.timing),
      banks_(std::size_t{config.bank_groups} * config.banks_per_group),
      group_free_ps_(config.bank_groups, 0),
      phase_free_ps_(
          static_cast<std::size_t>(std::max<Ps>(1, config.timing.tccd_l / config.timing.tccd_s)),
          0),
      group_activate_ps_(config.bank_groups, kLongAgo),
      group_write_data_end_ps_(config.bank_groups, kLongAgo) {
  last_activates_ps_.fill(kLongAgo);
  next_refresh_ps_ = config.refresh == Refresh::per_bank
                         ? timing_.trefi / static_cast<Ps>(banks_.size())
                         : timing_.trefi;
}

bool PseudoChannelTiming::row_open(const HbmTrain& train) const {
  const Bank& b = bank(train);
  return b.open && b.row == train.row;
}

void PseudoChannelTiming::reset_stats() {
  refreshes_ = 0;
  data_busy_ps_ = 0;
}

Ps PseudoChannelTiming::commit_from_ps(const HbmTrain& train) const {
  const Ps phase = *std::min_element(phase_free_ps_.begin(), phase_free_ps_.end());
  const Ps bus = std::max(phase, group_free_ps_[train.bank_group]);
  const Ps rcd = train.write ? timing_.trcd_wr : timing_.trcd_rd;
  const Bank& b = bank(train);
  if (!b.open) {
    return std::max(bus, b.activate_from_ps + rcd);
  }
  return std::max(
      bus, b.row == train.row ? b.activated_ps + rcd : b.precharge_from_ps + timing_.trp + rcd);
}

HbmSchedule PseudoChannelTiming::schedule(const HbmTrain& train, Ps earliest_ps) {
  refresh_until(earliest_ps);
  HbmSchedule s;
  while (true) {
    Bank& b = bank(train);
    Ps ready = earliest_ps;
    if (b.open && b.row == train.row) {
      s.outcome = RowOutcome::hit;
    } else {
      s.outcome = b.open ? RowOutcome::conflict : RowOutcome::closed;
      if (b.open) {
        b.open = false;
        b.activate_from_ps =
            std::max(b.activate_from_ps, std::max(earliest_ps, b.precharge_from_ps) + timing_.trp);
      }
      activate(b, train.bank_group, train.row, earliest_ps);
    }
    ready = std::max(ready, b.activated_ps + (train.write ? timing_.trcd_wr : timing_.trcd_rd));
    ready = std::max(ready, turnaround_from_ps(train));
    // A refresh that falls due before the train can start goes first, and closes the row.
    if (config_.refresh != Refresh::off && next_refresh_ps_ <= ready &&
        std::max(ready, commit_from_ps(train)) >= next_refresh_ps_) {
      refresh_until(ready);
      if (!row_open(train)) {
        continue;
      }
    }
    s.first_column_ps = place_columns(train, ready);
    break;
  }
  Bank& b = bank(train);
  const Ps last_column = s.first_column_ps + Ps{train.accesses - 1} * timing_.tccd_l;
  s.data_end_ps = last_column + (train.write ? timing_.tcwl : timing_.tcl) + timing_.burst;
  if (train.write) {
    last_write_data_end_ps_ = std::max(last_write_data_end_ps_, s.data_end_ps);
    Ps& in_group = group_write_data_end_ps_[train.bank_group];
    in_group = std::max(in_group, s.data_end_ps);
    b.precharge_from_ps = std::max(b.precharge_from_ps, s.data_end_ps + timing_.twr);
  } else {
    last_read_column_ps_ = std::max(last_read_column_ps_, last_column);
    b.precharge_from_ps = std::max(b.precharge_from_ps, last_column + timing_.trtp);
  }
  last_was_write_ = train.write;
  busy_until_ps_ = std::max(busy_until_ps_, s.data_end_ps);
  data_busy_ps_ += Ps{train.accesses} * timing_.burst;
  if (config_.page_policy == PagePolicy::closed) {
    b.open = false;
    b.activate_from_ps = std::max(b.activate_from_ps, b.precharge_from_ps + timing_.trp);
  }
  return s;
}

Ps PseudoChannelTiming::activate(Bank& b, std::uint32_t group, std::uint64_t row, Ps earliest_ps) {
  const Ps oldest_of_four = last_activates_ps_[next_activate_];
  const Ps newest = last_activates_ps_[(next_activate_ + 3) % 4];
  Ps at = std::max(earliest_ps, b.activate_from_ps);
  at = std::max(at, oldest_of_four + timing_.tfaw);
  at = std::max(at, newest + timing_.trrd_s);
  at = std::max(at, group_activate_ps_[group] + timing_.trrd_l);
  last_activates_ps_[next_activate_] = at;
  next_activate_ = (next_activate_ + 1) % 4;
  group_activate_ps_[group] = at;
  b.open = true;
  b.row = row;
  b.activated_ps = at;
  b.precharge_from_ps = at + timing_.tras;
  return at;
}

Ps PseudoChannelTiming::turnaround_from_ps(const HbmTrain& train) const {
  if (train.write) {
    return last_read_column_ps_ + timing_.trtw;
  }
  return std::max(last_write_data_end_ps_ + timing_.twtr_s,
                  group_write_data_end_ps_[train.bank_group] + timing_.twtr_l);
}

Ps PseudoChannelTiming::place_columns(const HbmTrain& train, Ps ready_ps) {
  ready_ps = std::max(ready_ps, group_free_ps_[train.bank_group]);
  const Ps length = Ps{train.accesses} * timing_.tccd_l;
  const bool idle = std::all_of(phase_free_ps_.begin(), phase_free_ps_.end(),
                                [ready_ps](Ps free) { return free <= ready_ps; });
  std::size_t best = 0;
  Ps best_start = 0;
  for (std::size_t p = 0; p < phase_free_ps_.size(); ++p) {
    const Ps from = std::max(ready_ps, phase_free_ps_[p]);
    const Ps offset = static_cast<Ps>(p) * timing_.tccd_s;
    const Ps periods = ceil_div(std::max<Ps>(0, from - phase_origin_ps_ - offset), timing_.tccd_l);
    const Ps start = phase_origin_ps_ + offset + periods * timing_.tccd_l;
    if (p == 0 || start < best_start) {
      best = p;
      best_start = start;
    }
  }
  if (idle && best_start != ready_ps) {
    // Nothing to keep in step with: phases are counted from here. A train that is in step keeps
    // the origin, and with it the past of the phases that it does not use.
    phase_origin_ps_ = ready_ps;
    best = 0;
    best_start = ready_ps;
  }
  phase_free_ps_[best] = best_start + length;
  group_free_ps_[train.bank_group] = best_start + length;
  return best_start;
}

void PseudoChannelTiming::refresh_until(Ps at_ps) {
  if (config_.refresh == Refresh::off) {
    return;
  }
  while (next_refresh_ps_ <= at_ps) {
    if (config_.refresh == Refresh::all_bank) {
      refresh_all(next_refresh_ps_);
      next_refresh_ps_ += timing_.trefi;
    } else {
      refresh_one(next_refresh_ps_);
      next_refresh_ps_ += timing_.trefi / static_cast<Ps>(banks_.size());
    }
    ++refreshes_;
  }
}

void PseudoChannelTiming::refresh_all(Ps due_ps) {
  Ps start = due_ps;
  for (Bank& b : banks_) {
    if (b.open) {
      start = std::max(start, std::max(due_ps, b.precharge_from_ps) + timing_.trp);
      b.open = false;
    } else {
      start = std::max(start, b.activate_from_ps);
    }
  }
  for (Bank& b : banks_) {
    b.activate_from_ps = start + timing_.trfc_ab;
  }
}

void PseudoChannelTiming::refresh_one(Ps due_ps) {
  // Bank groups in turn, so that consecutive refreshes leave the other groups' banks alone.
  const std::size_t groups = group_free_ps_.size();
  const std::size_t group = next_refresh_bank_ % groups;
  Bank& b = banks_[group * config_.banks_per_group +
                   next_refresh_bank_ / groups % config_.banks_per_group];
  next_refresh_bank_ = (next_refresh_bank_ + 1) % banks_.size();
  Ps start = std::max(due_ps, b.activate_from_ps);
  if (b.open) {
    start = std::max(start, std::max(due_ps, b.precharge_from_ps) + timing_.trp);
    b.open = false;
  }
  b.activate_from_ps = start + timing_.trfc_pb;
}

}  // namespace cubevp::hw
