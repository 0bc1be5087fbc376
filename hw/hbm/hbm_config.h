// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/base/units.h"

namespace cubevp::hw {

enum class Refresh : std::uint8_t { off, all_bank, per_bank };
enum class PagePolicy : std::uint8_t { open, closed };

/// DRAM timing parameters, JEDEC's names.
struct HbmTiming {
  Ps tck = 500;
  Ps trcd_rd = 19500;
  Ps trcd_wr = 9500;
  Ps trp = 16500;
  Ps tras = 28500;
  Ps tcl = 10000;
  Ps tcwl = 5000;
  Ps burst = 1000;  ///< data time of one access
  Ps tccd_s = 1000;
  Ps tccd_l = 2000;
  Ps trrd_s = 2500;
  Ps trrd_l = 3500;
  Ps tfaw = 15000;
  Ps twr = 21000;
  Ps trtp = 6000;
  Ps twtr_s = 4500;
  Ps twtr_l = 6500;
  Ps trtw = 12500;
  Ps trefi = 3900000;
  Ps trfc_ab = 450000;
  Ps trfc_pb = 280000;
};

struct HbmConfig {
  std::uint64_t bytes = std::uint64_t{48} << 30;  ///< of a stack
  std::uint32_t channels = 32;                    ///< of a stack, spread evenly over the NoC stops
  std::uint32_t pseudo_channels_per_channel = 2;
  std::uint32_t access_bytes = 32;
  std::uint32_t page_bytes = 1024;
  std::uint32_t bank_groups = 2;
  std::uint32_t banks_per_group = 8;
  std::uint32_t interleave_bytes = 1024;  ///< between the pseudo-channels of one slab
  std::uint32_t queue_entries = 32;       ///< bursts waiting in a pseudo-channel
  Ps controller_ps = 0;                   ///< constant added to every access
  Refresh refresh = Refresh::all_bank;
  PagePolicy page_policy = PagePolicy::open;
  HbmTiming timing;

  std::uint32_t pseudo_channels() const { return channels * pseudo_channels_per_channel; }
  /// Peak of the whole stack.
  double bytes_per_s() const {
    return static_cast<double>(pseudo_channels()) * access_bytes * 1e12 /
           static_cast<double>(timing.tccd_s > timing.burst ? timing.tccd_s : timing.burst);
  }
};

}  // namespace cubevp::hw
