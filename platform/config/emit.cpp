// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "platform/config/emit.h"
#include "platform/config/load.h"

namespace cubevp::platform {

namespace {

constexpr std::size_t kIndent = 2;

bool is_plain_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '/';
}

bool is_plain(char c) {
  return is_plain_start(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

/// Words that YAML or people read as something other than text.
bool is_special(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (const char* special : {"null", "true", "false", "yes", "no", "on", "y", "n"}) {
    if (word == special) {
      return true;
    }
  }
  return false;
}

struct Formatter {
  std::string operator()(const IntegerField& f) const {
    return std::visit([](const auto* target) { return fmt::format("{}", *target); }, f.target);
  }
  std::string operator()(const RealField& f) const { return format_real(*f.target); }
  std::string operator()(const QuantityField& f) const {
    return std::visit([&](const auto* target) { return quantity(f.dimension, *target); }, f.target);
  }
  std::string operator()(const BoolField& f) const { return *f.target ? "true" : "false"; }
  std::string operator()(const ChoiceField& f) const { return f.names[f.get()]; }
  std::string operator()(const TextField& f) const { return yaml_text(*f.target); }
  std::string operator()(const TextListField& f) const {
    std::string text;
    for (const std::string& item : *f.target) {
      text += (text.empty() ? "" : ", ") + yaml_text(item);
    }
    return "[" + text + "]";
  }
  std::string operator()(const OptionalRealField& f) const {
    return *f.target ? format_real(**f.target) : f.word;
  }
  std::string operator()(const OptionalTimeField& f) const {
    return *f.target ? format_time(**f.target) : f.word;
  }
  std::string operator()(const Section&) const { return {}; }

 private:
  static std::string quantity(Dimension d, double value) { return format_real_quantity(value, d); }
  static std::string quantity(Dimension, Ps value) { return format_time(value); }
  static std::string quantity(Dimension, std::uint64_t value) { return format_bytes(value); }
  static std::string quantity(Dimension, std::uint32_t value) { return format_bytes(value); }
};

void emit(const Section& section, std::size_t depth, std::string& out) {
  const std::string indent(depth * kIndent, ' ');
  for (const Entry& e : section.entries) {
    if (const auto* inner = std::get_if<Section>(&e.value)) {
      out += indent + e.key + ":";
      if (inner->is_none && inner->is_none()) {
        out += " none\n";
        continue;
      }
      out += "\n";
      emit(*inner, depth + 1, out);
      continue;
    }
    const auto* text = std::get_if<TextField>(&e.value);
    if (text == nullptr || !text->target->empty()) {
      out += fmt::format("{}{}: {}\n", indent, e.key, format_field(e));
    }
  }
  if (section.extra != nullptr) {
    for (const auto& [name, value] : *section.extra) {
      out += fmt::format("{}{}: {}\n", indent, yaml_text(name), format_real(value));
    }
  }
}

}  // namespace

std::string yaml_text(const std::string& text) {
  if (!text.empty() && is_plain_start(text.front()) &&
      std::all_of(text.begin(), text.end(), is_plain) && !is_special(text)) {
    return text;
  }
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += c;
  }
  return out + "\"";
}

std::string format_field(const Entry& entry) {
  return std::visit(Formatter{}, entry.value);
}

std::string to_yaml(const RunConfig& config) {
  // The schema binds to what it can write; a copy is what it may have.
  RunConfig copy = config;
  std::string out;
  emit(run_schema(copy, {}), 0, out);
  return out;
}

}  // namespace cubevp::platform
