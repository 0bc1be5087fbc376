// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "firmware/tl/kernel.h"

namespace cubevp::platform {

/// The shipped kernels and those of the given shared libraries, which stay loaded until the
/// process ends. Throws InputError naming the file when one cannot be loaded, has no entry point
/// or registers a name that is taken.
tl::KernelRegistry load_kernels(const std::vector<std::string>& libraries);

}  // namespace cubevp::platform
