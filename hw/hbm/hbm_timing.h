// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hw/base/units.h"
#include "hw/hbm/hbm_config.h"

namespace cubevp::hw {

/// Accesses to consecutive columns of one row.
struct HbmTrain {
  std::uint32_t bank_group = 0;
  std::uint32_t bank = 0;  ///< inside its bank group
  std::uint64_t row = 0;
  std::uint32_t accesses = 1;
  bool write = false;
};

enum class RowOutcome : std::uint8_t { hit, closed, conflict };

/// When a train's commands and data happen.
struct HbmSchedule {
  Ps first_column_ps = 0;  ///< first read or write command
  Ps data_end_ps = 0;      ///< last byte on the data bus
  RowOutcome outcome = RowOutcome::closed;
};

/// The timing state of one pseudo-channel: what its banks, its command history and its data bus
/// allow. Trains are scheduled one after the other; each gets the earliest time that the ones
/// before it leave.
///
/// A train of n accesses to one row issues a column command every tCCD_L, in closed form. The
/// data bus has tCCD_L / tCCD_S phases; a train uses one of them and leaves the others to trains
/// in other bank groups, so that two interleaved bank groups reach the full rate and one alone
/// half of it. The same times come out of issuing access by access.
///
/// Rules: tRCD (read, write), tRP, tRAS, tRRD_S/L, tFAW, tCCD_S/L, tRTP, tWR, tWTR_S/L, tRTW,
/// refresh of all banks (all closed, then tRFCab every tREFI) or of one bank at a time (tRFCpb,
/// every tREFI / banks). A refresh waits for trains under way and is decided when the next train
/// comes, so an idle pseudo-channel costs no events.
///
/// Does not model: the command bus (one command each tCK), postponing or pulling in refreshes,
/// power-down, temperature.
class PseudoChannelTiming {
 public:
  explicit PseudoChannelTiming(const HbmConfig& config);

  /// Commits a train that may start at `earliest_ps`.
  HbmSchedule schedule(const HbmTrain& train, Ps earliest_ps);

  bool row_open(const HbmTrain& train) const;
  bool last_was_write() const { return last_was_write_; }
  /// Time from which a train that is committed now would not wait for the data bus or its bank: a
  /// scheduler that commits earlier only gives up its choice.
  Ps commit_from_ps(const HbmTrain& train) const;
  /// Time that getting a row ready takes at most: what it pays to commit ahead.
  Ps preparation_ps() const { return timing_.trp + timing_.trcd_rd; }
  std::uint64_t refreshes() const { return refreshes_; }
  /// Time the data bus carried data.
  Ps data_busy_ps() const { return data_busy_ps_; }
  void reset_stats();

 private:
  static constexpr Ps kLongAgo = -1000000000;
  struct Bank {
    bool open = false;
    std::uint64_t row = 0;
    Ps column_from_ps = kLongAgo;  ///< reads; writes differ by tRCD
    Ps activated_ps = kLongAgo;
    Ps precharge_from_ps = kLongAgo;
    Ps activate_from_ps = kLongAgo;
  };

  Bank& bank(const HbmTrain& t) {
    return banks_[std::size_t{t.bank_group} * config_.banks_per_group + t.bank];
  }
  const Bank& bank(const HbmTrain& t) const {
    return banks_[std::size_t{t.bank_group} * config_.banks_per_group + t.bank];
  }
  void refresh_until(Ps at_ps);
  void refresh_all(Ps due_ps);
  void refresh_one(Ps due_ps);
  Ps activate(Bank& b, std::uint32_t group, std::uint64_t row, Ps earliest_ps);
  /// Earliest start of the column commands on some phase of the data bus, which it occupies.
  Ps place_columns(const HbmTrain& train, Ps ready_ps);
  Ps turnaround_from_ps(const HbmTrain& train) const;

  const HbmConfig config_;
  const HbmTiming timing_;
  std::vector<Bank> banks_;
  std::vector<Ps> group_free_ps_;  ///< next column command in the bank group
  std::vector<Ps> phase_free_ps_;  ///< next column command on the phase of the data bus
  Ps phase_origin_ps_ = 0;         ///< phase 0 is at origin + k * tCCD_L
  std::array<Ps, 4> last_activates_ps_;
  std::size_t next_activate_ = 0;  ///< oldest of last_activates_ps_
  std::vector<Ps> group_activate_ps_;
  std::vector<Ps> group_write_data_end_ps_;
  Ps last_read_column_ps_ = kLongAgo;
  Ps last_write_data_end_ps_ = kLongAgo;
  bool last_was_write_ = false;
  Ps busy_until_ps_ = 0;  ///< end of the last data of any train
  Ps next_refresh_ps_ = 0;
  std::size_t next_refresh_bank_ = 0;
  std::uint64_t refreshes_ = 0;
  Ps data_busy_ps_ = 0;
};

}  // namespace cubevp::hw
