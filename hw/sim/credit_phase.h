// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm>

namespace cubevp::sim {

/// Ignorable phase between network elements, against the direction of the packet whose payload it
/// carries: the packet's place in the receiver's buffer is free again at now + t.
DECLARE_EXTENDED_PHASE(vc_credit);

}  // namespace cubevp::sim
