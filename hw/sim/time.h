// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include "hw/base/units.h"

namespace cubevp::sim {

// The only places where picoseconds become sc_time and back. The simulation's resolution is
// SystemC's default, 1 ps.

inline sc_core::sc_time to_sc_time(Ps ps) {
  return sc_core::sc_time::from_value(static_cast<sc_core::sc_time::value_type>(ps));
}
inline Ps to_ps(const sc_core::sc_time& time) {
  return static_cast<Ps>(time.value());
}
inline Ps now_ps() {
  return to_ps(sc_core::sc_time_stamp());
}

}  // namespace cubevp::sim
