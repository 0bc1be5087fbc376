// SPDX-License-Identifier: Apache-2.0
#include "platform/config/yaml_document.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

namespace cubevp::platform {

namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{4} << 20;
constexpr const char* kSetLabel = "--set";

std::string read_text(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    throw IoError(fmt::format("{}: {}", path, std::strerror(errno)));
  }
  if (S_ISDIR(status.st_mode)) {
    throw IoError(fmt::format("{}: is a directory, expected a file", path));
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw IoError(fmt::format("{}: {}", path, std::strerror(errno)));
  }
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) {
    throw IoError(fmt::format("{}: cannot be read", path));
  }
  return text;
}

YAML::Node parse_override_value(const std::string& text) {
  try {
    return YAML::Load(text);
  } catch (const YAML::Exception&) {
    // "*" alone is no YAML but a sensible pattern; lists and mappings are meant as YAML.
    const std::size_t first = text.find_first_not_of(' ');
    if (first == std::string::npos || text[first] == '[' || text[first] == '{') {
      throw;
    }
    return YAML::Node(text);
  }
}

std::vector<std::string> split_key(const std::string& key) {
  std::vector<std::string> parts(1);
  for (const char c : key) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

Position YamlSource::at(const YAML::Node& node) const {
  if (!has_lines) {
    return {label, 0, 0};
  }
  const YAML::Mark mark = node.Mark();
  return mark.is_null() ? Position{label, 1, 1} : Position{label, mark.line + 1, mark.column + 1};
}

Position YamlSource::at(const YAML::Node& value, const YAML::Node& key) const {
  return value.IsNull() ? at(key) : at(value);
}

YamlSource read_yaml_file(const std::string& path, Problems& problems) {
  YamlSource source{path, YAML::Node(), true};
  const std::string text = read_text(path);
  if (text.size() > kMaxFileBytes || text.find('\0') != std::string::npos) {
    problems.add({path, 1, 1}, "", "expected a YAML file, got something else");
    return source;
  }
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) {
      problems.add(source.at(documents[1]), "", "expected one YAML document, got more");
      return source;
    }
    if (!documents.empty()) {
      source.root = documents.front();
    }
  } catch (const YAML::Exception& e) {
    const Position at = e.mark.is_null() ? Position{path, 1, 1}
                                         : Position{path, e.mark.line + 1, e.mark.column + 1};
    problems.add(at, "", "not valid YAML: " + e.msg);
    return source;
  }
  if (!source.root.IsMap()) {
    problems.add({path, 1, 1}, "",
                 "expected a mapping of keys, got " + describe_value(source.root));
    source.root = YAML::Node();
  }
  return source;
}

std::vector<Override> read_overrides(const std::vector<std::string>& texts, Problems& problems) {
  std::vector<Override> overrides;
  for (const std::string& text : texts) {
    const Position at{kSetLabel, 0, 0};
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      problems.add(at, "", "expected dotted.key=value, got " + quoted(text));
      continue;
    }
    Override o;
    const std::string key = text.substr(0, equals);
    o.path = split_key(key);
    o.source = {kSetLabel, YAML::Node(), false};
    bool complete = true;
    for (const std::string& part : o.path) {
      complete = complete && !part.empty();
    }
    if (!complete) {
      problems.add(at, "", "expected dotted.key=value, got " + quoted(text));
      continue;
    }
    try {
      o.value = parse_override_value(text.substr(equals + 1));
    } catch (const YAML::Exception& e) {
      problems.add(at, key, "not valid YAML: " + e.msg);
      continue;
    }
    YAML::Node node = o.value;
    for (auto part = o.path.rbegin(); part != o.path.rend(); ++part) {
      YAML::Node outer(YAML::NodeType::Map);
      outer[*part] = node;
      node = outer;
    }
    o.source.root = node;
    overrides.push_back(std::move(o));
  }
  return overrides;
}

std::string describe_value(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return quoted(node.Scalar());
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Map:
      return "a mapping";
    case YAML::NodeType::Null:
    case YAML::NodeType::Undefined:
      break;
  }
  return "nothing";
}

}  // namespace cubevp::platform
