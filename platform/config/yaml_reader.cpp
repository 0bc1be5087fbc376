// SPDX-License-Identifier: Apache-2.0
#include "platform/config/yaml_reader.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace cubevp::platform {

namespace {

constexpr const char* kBase = "base";
// A name this far from every key beside it is no misspelling of one of them.
constexpr std::size_t kMisspelling = 2;

std::string dotted(const std::string& prefix, const std::string& key) {
  return prefix.empty() ? key : prefix + "." + key;
}

/// A key as it can stand in a one-line message.
std::string printable(const std::string& key) {
  const std::string text = quoted(key);
  return text.substr(1, text.size() - 2);
}

}  // namespace

void YamlReader::apply(const Section& section, const YAML::Node& mapping, const YamlSource& source,
                       const std::string& prefix) {
  std::map<std::string, Position> seen;
  for (const auto& pair : mapping) {
    const Position key_at = source.at(pair.first);
    if (!pair.first.IsScalar()) {
      problems_.add(key_at, prefix, "expected a key, got " + describe_value(pair.first));
      continue;
    }
    const std::string key = pair.first.Scalar();
    const std::string name = dotted(prefix, printable(key));
    const auto [first, fresh] = seen.emplace(key, key_at);
    if (!fresh) {
      problems_.add(
          key_at, name,
          fmt::format("expected each key once, got a second one (the first is in line {})",
                      first->second.line));
      continue;
    }
    if (section.preset && key == kBase) {
      continue;  // whoever resolves presets has dealt with it
    }
    const auto entry = std::find_if(section.entries.begin(), section.entries.end(),
                                    [&](const Entry& e) { return e.key == key; });
    if (entry != section.entries.end()) {
      apply_entry(*entry, pair.first, pair.second, source, name);
      continue;
    }
    std::vector<std::string> siblings = keys_of(section);
    if (section.preset) {
      siblings.emplace_back(kBase);
    }
    if (section.extra != nullptr) {
      extras_.push_back(
          {prefix, key, key_at, source.at(pair.second, pair.first),
           pair.second.IsScalar() ? pair.second.Scalar() : describe_value(pair.second),
           pair.second.IsScalar(), section.extra, siblings});
      continue;
    }
    unknown_key(key_at, name, key, siblings);
  }
}

void YamlReader::unknown_key(const Position& at, const std::string& name, const std::string& key,
                             const std::vector<std::string>& siblings) {
  std::string suggestion = nearest(key, siblings);
  if (edit_distance(key.substr(0, 64), suggestion) > kMisspelling) {
    const std::string elsewhere = find_elsewhere(root_, key);
    suggestion = elsewhere.empty() ? suggestion : elsewhere;
  }
  problems_.add(at, name, fmt::format("unknown key, did you mean \"{}\"?", suggestion));
}

void YamlReader::apply_entry(const Entry& entry, const YAML::Node& key, const YAML::Node& value,
                             const YamlSource& source, const std::string& name) {
  const Position at = source.at(value, key);
  if (const auto* section = std::get_if<Section>(&entry.value)) {
    apply_section(*section, value, source, at, name);
    return;
  }
  origins_.set(name, at);
  if (const auto* list = std::get_if<TextListField>(&entry.value)) {
    std::vector<std::string> texts;
    bool good = value.IsSequence() && value.size() != 0;
    for (std::size_t i = 0; good && i < value.size(); ++i) {
      good = value[i].IsScalar() && is_file_name(value[i].Scalar());
      texts.push_back(good ? value[i].Scalar() : std::string());
    }
    if (good) {
      *list->target = texts;
      return;
    }
    problems_.add(
        at, name,
        fmt::format("expected {}, got {}", list->expected,
                    value.IsSequence() ? "a list of something else" : describe_value(value)));
    return;
  }
  if (!value.IsScalar()) {
    // What the field would have said about a text it cannot take.
    problems_.add(
        at, name,
        fmt::format("expected {}, got {}", set_field(entry, std::string()), describe_value(value)));
    return;
  }
  const std::string expected = set_field(entry, value.Scalar());
  if (!expected.empty()) {
    problems_.add(at, name, fmt::format("expected {}, got {}", expected, quoted(value.Scalar())));
  }
}

void YamlReader::apply_section(const Section& section, const YAML::Node& value,
                               const YamlSource& source, const Position& at,
                               const std::string& name) {
  origins_.set(name, at);
  if (value.IsMap()) {
    if (section.set_none) {
      section.set_none(false);
    }
    apply(section, value, source, name);
    return;
  }
  if (section.preset && value.IsScalar()) {
    return;  // the name of a preset, which is dealt with
  }
  const bool none = value.IsScalar() && (value.Scalar() == "none" || value.Scalar() == "false");
  if (section.set_none && none) {
    section.set_none(true);
    return;
  }
  const char* expected = section.preset     ? "the name of a preset or a mapping"
                         : section.set_none ? "a mapping or none"
                                            : "a mapping";
  problems_.add(at, name, fmt::format("expected {}, got {}", expected, describe_value(value)));
}

void YamlReader::finish_extras(bool allowed) {
  for (const Extra& extra : extras_) {
    const std::string name = dotted(extra.section, printable(extra.name));
    if (!allowed) {
      unknown_key(extra.key_at, name, extra.name, extra.siblings);
      continue;
    }
    const Parsed<double> number = parse_real(extra.text);
    if (!extra.scalar || !number.value || !is_run_name(extra.name)) {
      problems_.add(extra.value_at, name,
                    fmt::format("expected a number for a kernel of your own, got {}",
                                extra.scalar ? quoted(extra.text) : extra.text));
      continue;
    }
    (*extra.target)[extra.name] = *number.value;
  }
  extras_.clear();
}

}  // namespace cubevp::platform
