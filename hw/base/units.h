// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace cubevp {

/// Simulated time in whole picoseconds, the resolution of the simulation. Integers keep sums
/// exact; SystemC's sc_time is made from them only at the boundary (hw/sim/time.h).
using Ps = std::int64_t;

inline constexpr Ps kPsPerNs = 1000;

constexpr Ps ps_from_ns(double ns) {
  return static_cast<Ps>(ns * 1000.0 + (ns < 0 ? -0.5 : 0.5));
}
constexpr double ns_from_ps(Ps ps) {
  return static_cast<double>(ps) / 1000.0;
}

/// A clock given by its frequency; its period is rounded to a picosecond.
struct Clock {
  double hz = 1e9;
  constexpr Ps period_ps() const { return static_cast<Ps>(1e12 / hz + 0.5); }
  constexpr Ps cycles(std::int64_t n) const { return n * period_ps(); }
};

/// Bandwidth in bytes per second (GB = 1e9 B).
struct Bandwidth {
  double bytes_per_s = 0;
  /// Time that `bytes` occupy the wire, rounded up to a picosecond.
  Ps serialisation_ps(std::uint64_t bytes) const {
    return static_cast<Ps>(std::ceil(static_cast<double>(bytes) * 1e12 / bytes_per_s - 1e-9));
  }
};

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace cubevp
