// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/golden_cases.h"

#include <fstream>

#include <nlohmann/json.hpp>

namespace cubevp::test {
namespace {

using nlohmann::json;

const std::string kRoot = CUBEVP_GOLDEN_DIR;

template <class T>
std::optional<T> optional_of(const json& value) {
  return value.is_null() ? std::nullopt : std::optional<T>(value.get<T>());
}

json read_json(const std::string& path) {
  std::ifstream file(path);
  return json::parse(file);
}

GoldenCase own_case(const json& entry) {
  const std::string dir = kRoot + "/data/";
  GoldenCase c;
  c.name = entry.at("name");
  c.dist = entry.at("dist");
  c.shape = {entry.at("batch"), entry.at("q_heads"), entry.at("kv_heads"),
             entry.at("t_q"),   entry.at("s_kv"),    entry.at("d")};
  c.options.causal = entry.at("causal");
  c.options.offset = optional_of<std::int64_t>(entry.at("offset"));
  c.options.scale = optional_of<double>(entry.at("scale"));
  c.options.softcap = entry.at("softcap");
  c.q = dir + entry.at("q").get<std::string>();
  c.k = dir + entry.at("k").get<std::string>();
  c.v = dir + entry.at("v").get<std::string>();
  c.o = dir + entry.at("o").get<std::string>();
  return c;
}

GoldenCase onnx_case(const json& entry) {
  const std::string name = entry.at("dir");
  const std::string dir = kRoot + "/onnx/" + name + "/";
  const json& attributes = entry.at("attrs");
  GoldenCase c;
  c.name = "onnx_" + name;
  c.name.replace(c.name.find('.'), 1, "_");
  c.shape = {1, entry.at("Hq"), entry.at("Hkv"), entry.at("T"), entry.at("S"), entry.at("d")};
  c.options.causal = attributes.at("causal");
  c.options.offset = optional_of<std::int64_t>(attributes.at("offset"));
  c.options.scale = optional_of<double>(attributes.at("scale"));
  c.options.softcap = attributes.at("softcap");
  c.q = dir + "Q.npy";
  c.k = dir + "K.npy";
  c.v = dir + "V.npy";
  c.o = dir + "O.npy";
  return c;
}

}  // namespace

std::vector<GoldenCase> golden_cases() {
  std::vector<GoldenCase> cases;
  for (const json& entry : read_json(kRoot + "/data/manifest.json")) {
    cases.push_back(own_case(entry));
  }
  for (const json& entry : read_json(kRoot + "/onnx/manifest.json")) {
    cases.push_back(onnx_case(entry));
  }
  return cases;
}

}  // namespace cubevp::test
