// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace cubevp::platform {

/// A data file is missing, unreadable, unwritable or holds something else than expected (exit
/// status 4). The message is one line that names the file.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace cubevp::platform
