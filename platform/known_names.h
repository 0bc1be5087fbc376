// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "firmware/kernels/kernels.h"
#include "firmware/tl/kernel.h"
#include "platform/check/inputs.h"
#include "platform/config/known.h"

namespace cubevp::platform {

/// The names a configuration may use. Kernels of the user's take parameters of their own.
inline Known known_names(const tl::KernelRegistry& kernels) {
  tl::KernelRegistry shipped;
  kernels::register_kernels(shipped);
  Known known;
  for (const tl::KernelInfo& k : kernels.all()) {
    known.kernels.push_back(
        {k.name, shipped.find(k.name) != nullptr, k.placement == tl::Placement::ring_kv});
  }
  for (const Distribution& d : distributions()) {
    known.distributions.emplace_back(d.name);
  }
  return known;
}

}  // namespace cubevp::platform
