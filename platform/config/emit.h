// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/config/schema.h"

namespace cubevp::platform {

/// The field's value as YAML: what reading it sets again. Empty for a section.
std::string format_field(const Entry& entry);

/// The text as a YAML scalar, quoted where it has to be.
std::string yaml_text(const std::string& text);

}  // namespace cubevp::platform
