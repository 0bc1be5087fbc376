// SPDX-License-Identifier: Apache-2.0
#include "platform/report/bound.h"

#include <algorithm>

namespace cubevp::platform {

Bound lower_bound(const std::vector<UnitResult>& units, Ps latency_ps, Ps kernel_ps) {
  Bound b;
  const auto term = [&b](BoundBy by) -> Ps& { return b.terms_ps[static_cast<std::size_t>(by)]; };
  const auto raise = [&](BoundBy by, Ps ps) { term(by) = std::max(term(by), ps); };
  for (const UnitResult& u : units) {
    if (u.kind == "gemm") {
      raise(BoundBy::gemm, u.busy_ps);
    } else if (u.kind == "vector") {
      raise(BoundBy::vector, u.busy_ps);
    } else if (u.kind == "hbm_channel") {
      raise(BoundBy::hbm, u.busy_ps);
    } else if (u.kind == "router") {
      raise(BoundBy::noc, u.busy_ps);
    } else if (u.kind == "link") {
      raise(BoundBy::link, u.busy_ps);
    }
  }
  term(BoundBy::latency) = latency_ps;
  for (int i = 0; i < kBounds; ++i) {
    const auto by = static_cast<BoundBy>(i);
    if (term(by) > b.roofline_ps) {
      b.roofline_ps = term(by);
      b.by = by;
    }
  }
  b.efficiency =
      kernel_ps > 0 ? static_cast<double>(b.roofline_ps) / static_cast<double>(kernel_ps) : 0.0;
  return b;
}

}  // namespace cubevp::platform
