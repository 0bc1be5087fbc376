// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hw/hbm/hbm_config.h"

namespace cubevp::hw {

/// Where a byte of a slab lies.
struct HbmLocation {
  std::uint32_t pseudo_channel = 0;  ///< of the slab
  std::uint32_t bank_group = 0;
  std::uint32_t bank = 0;  ///< inside its bank group
  std::uint64_t row = 0;
  std::uint32_t column_bytes = 0;  ///< byte in the row
};

/// Slab-local byte address to location, lowest digits first: byte in the interleave unit, pseudo-
/// channel, rest of the row, bank group, bank, row. Consecutive units go to consecutive pseudo-
/// channels; in one pseudo-channel consecutive rows alternate bank groups, so that a stream of
/// whole rows keeps both data-bus phases filled.
class HbmAddressMap {
 public:
  HbmAddressMap(const HbmConfig& config, std::uint32_t pseudo_channels)
      : config_(config), pseudo_channels_(pseudo_channels) {}

  HbmLocation locate(std::uint64_t slab_offset) const {
    const std::uint64_t unit = slab_offset / config_.interleave_bytes;
    const std::uint64_t local =
        unit / pseudo_channels_ * config_.interleave_bytes + slab_offset % config_.interleave_bytes;
    const std::uint64_t page = local / config_.page_bytes;
    const std::uint64_t bank = page / config_.bank_groups;
    HbmLocation at;
    at.pseudo_channel = static_cast<std::uint32_t>(unit % pseudo_channels_);
    at.column_bytes = static_cast<std::uint32_t>(local % config_.page_bytes);
    at.bank_group = static_cast<std::uint32_t>(page % config_.bank_groups);
    at.bank = static_cast<std::uint32_t>(bank % config_.banks_per_group);
    at.row = bank / config_.banks_per_group;
    return at;
  }
  /// Bytes from slab_offset that stay in one row of one pseudo-channel and are contiguous there.
  std::uint64_t contiguous_bytes(std::uint64_t slab_offset) const {
    const std::uint64_t unit = config_.interleave_bytes < config_.page_bytes
                                   ? config_.interleave_bytes
                                   : config_.page_bytes;
    return unit - slab_offset % unit;
  }

 private:
  const HbmConfig config_;
  std::uint32_t pseudo_channels_;
};

}  // namespace cubevp::hw
