// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "hw/base/command_port.h"

namespace cubevp::runtime {

/// Who a PE's logical neighbours are, by the register block. The topology registers are locked
/// while a PE runs, so each is read once at most: a kernel that uses none pays for none.
class Neighbours {
 public:
  explicit Neighbours(CommandPort& port) : port_(port) {}

  /// Nothing when there is a neighbour, else why there is none: "NBR_E of cube 3 is none".
  std::optional<std::string> why_none(RankAxis axis, Direction d);
  /// Nothing when the axis is a closed ring of `size`, else why it is not.
  std::optional<std::string> why_no_ring(RankAxis axis, std::int64_t size);
  std::uint32_t read(std::uint32_t sfr);

 private:
  /// "RING_SIZE of cube 3"
  std::string of_cube(std::uint32_t sfr) const;

  CommandPort& port_;
  std::map<std::uint32_t, std::uint32_t> known_;
};

}  // namespace cubevp::runtime
