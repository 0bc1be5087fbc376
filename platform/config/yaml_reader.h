// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platform/config/diagnostics.h"
#include "platform/config/schema.h"
#include "platform/config/yaml_document.h"

namespace cubevp::platform {

/// Applies mappings to what a schema is bound to, one over the other: keys that a mapping does not
/// have keep their values. Goes on after an error, so that all of them are found.
class YamlReader {
 public:
  /// A key that the schema does not have in a section that takes extra numbers. Whether it may be
  /// there is known when everything is read.
  struct Extra {
    std::string section;
    std::string name;
    Position key_at;
    Position value_at;
    std::string text;
    bool scalar = false;
    std::map<std::string, double>* target = nullptr;
    std::vector<std::string> siblings;
  };

  YamlReader(const Section& root, Problems& problems, Origins& origins)
      : root_(root), problems_(problems), origins_(origins) {}

  /// `prefix` is the section's dotted key, empty for the root.
  void apply(const Section& section, const YAML::Node& mapping, const YamlSource& source,
             const std::string& prefix = {});
  /// The extra numbers are taken, or each is an unknown key.
  void finish_extras(bool allowed);

 private:
  void apply_entry(const Entry& entry, const YAML::Node& key, const YAML::Node& value,
                   const YamlSource& source, const std::string& name);
  void apply_section(const Section& section, const YAML::Node& value, const YamlSource& source,
                     const Position& at, const std::string& name);
  void unknown_key(const Position& at, const std::string& name, const std::string& key,
                   const std::vector<std::string>& siblings);

  const Section& root_;
  Problems& problems_;
  Origins& origins_;
  std::vector<Extra> extras_;
};

/// What the text is expected to be instead, or nothing when the field took it.
std::string set_field(const Entry& entry, const std::string& text);

}  // namespace cubevp::platform
