// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>

#include "platform/config/diagnostics.h"

namespace cubevp::platform {

/// Reports conditions between keys.
class Checker {
 public:
  Checker(const Origins& origins, Problems& problems) : origins_(origins), problems_(problems) {}

  /// Reports `text` about the first key unless `good`, or unless one of the keys could not be read:
  /// what its default leads to would mislead.
  void that(bool good, std::initializer_list<const char*> keys, const std::string& text) const {
    if (!good && std::none_of(keys.begin(), keys.end(),
                              [this](const char* key) { return problems_.about(key); })) {
      problems_.add(origins_.at(*keys.begin()), *keys.begin(), text);
    }
  }

 private:
  const Origins& origins_;
  Problems& problems_;
};

}  // namespace cubevp::platform
