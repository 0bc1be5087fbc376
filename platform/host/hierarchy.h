// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <systemc>

#include "hw/sim/stats.h"

namespace cubevp::platform {

namespace detail {

template <class Interface, class Visit>
void walk(const std::vector<sc_core::sc_object*>& objects, const Visit& visit) {
  for (sc_core::sc_object* object : objects) {
    auto* module = dynamic_cast<sc_core::sc_module*>(object);
    if (module == nullptr) {
      continue;
    }
    if (auto* unit = dynamic_cast<Interface*>(object)) {
      visit(*unit, std::string(object->name()));
    }
    walk<Interface>(module->get_child_objects(), visit);
  }
}

}  // namespace detail

/// Calls visit(unit, full_name) for every module that implements Interface, in the order of
/// construction.
template <class Interface, class Visit>
void for_each_module(const Visit& visit) {
  detail::walk<Interface>(sc_core::sc_get_top_level_objects(), visit);
}

}  // namespace cubevp::platform
