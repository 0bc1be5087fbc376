// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "platform/config/schema.h"

namespace cubevp::platform {

/// A field for a member whose values have names.
template <class E>
ChoiceField choice(E& target, std::initializer_list<std::pair<const char*, E>> values) {
  std::vector<E> all;
  ChoiceField field;
  for (const auto& [name, value] : values) {
    field.names.emplace_back(name);
    all.push_back(value);
  }
  field.get = [&target, all] {
    std::size_t i = 0;
    while (i + 1 < all.size() && all[i] != target) {
      ++i;
    }
    return i;
  };
  field.set = [&target, all](std::size_t i) { target = all[i]; };
  return field;
}

}  // namespace cubevp::platform
