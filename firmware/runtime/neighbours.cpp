// SPDX-License-Identifier: Apache-2.0
#include "firmware/runtime/neighbours.h"

#include "hw/base/sfr_table.h"

namespace cubevp::runtime {

std::uint32_t Neighbours::read(std::uint32_t sfr) {
  const auto it = known_.find(sfr);
  if (it != known_.end()) {
    return it->second;
  }
  return known_[sfr] = port_.read_sfr(sfr);
}

std::string Neighbours::of_cube(std::uint32_t sfr) const {
  return sfr::name_at(sfr) + " of cube " + std::to_string(index(port_.identity().cube));
}

std::optional<std::string> Neighbours::why_none(RankAxis axis, Direction d) {
  if (axis == RankAxis::cube) {
    if ((read(sfr::kTopoCtrl) & sfr::kTopoEnable) == 0) {
      return of_cube(sfr::kTopoCtrl) + " is disabled";
    }
    const std::uint32_t nbr = sfr::kNeighbour + 4 * static_cast<std::uint32_t>(index(d));
    if (read(nbr) == sfr::kNoNeighbour) {
      return of_cube(nbr) + " is none";
    }
    return std::nullopt;
  }
  if (d == Direction::north || d == Direction::south) {
    return "the pe axis has E and W only";
  }
  const std::uint32_t pe = index(port_.identity().pe);
  const std::uint32_t pes = port_.identity().pes_per_cube;
  const bool last = pe + 1 == pes;
  if (d == Direction::east ? !last : pe != 0) {
    return std::nullopt;  // an inner edge of the chain: nothing to look up
  }
  const std::uint32_t ring = read(sfr::kPeRingSize);
  // The closing edge joins PE 0 and PE ring-1.
  if (d == Direction::east ? pe + 1 == ring : ring != 0) {
    return std::nullopt;
  }
  return "PE " + std::to_string(pe) + " is the " + (d == Direction::east ? "last" : "first") +
         " of " + std::to_string(pes) + " and " + of_cube(sfr::kPeRingSize) + " is " +
         std::to_string(ring);
}

std::optional<std::string> Neighbours::why_no_ring(RankAxis axis, std::int64_t size) {
  const std::uint32_t sfr = axis == RankAxis::pe ? sfr::kPeRingSize : sfr::kRingSize;
  const std::uint32_t value = read(sfr);
  if (std::int64_t{value} != size) {
    return of_cube(sfr) + " is " + std::to_string(value);
  }
  if (axis == RankAxis::cube) {
    const std::uint32_t ctrl = read(sfr::kTopoCtrl);
    if ((ctrl & sfr::kTopoEnable) == 0) {
      return of_cube(sfr::kTopoCtrl) + " is disabled";
    }
    if ((ctrl & sfr::kTopoRing) == 0) {
      return of_cube(sfr::kTopoCtrl) + " is mesh";
    }
  }
  return std::nullopt;
}

}  // namespace cubevp::runtime
