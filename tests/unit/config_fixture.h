// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "platform/config/load.h"
#include "tests/support/process.h"

namespace cubevp::platform {

/// Run files in a folder of their own, with the presets of the source tree.
class ConfigTest : public testing::Test {
 protected:
  static std::string source_dir() { return std::getenv("CUBEVP_SOURCE_DIR"); }

  static Known known() {
    return {{{"attention_mesh_mlo", true, false},
             {"gqa_prefill_ring", true, true},
             {"mine", false, false}},
            {"normal", "zeros"}};
  }
  /// The least that is a run.
  static std::string run(const std::string& more = "", const std::string& workload = "") {
    return "hardware: tiny\nworkload:\n  kernel: attention_mesh_mlo\n  context: 64\n" + workload +
           more;
  }
  RunConfig load(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return load_run_config(folder_.write("run.yaml", text), overrides, known(),
                           {source_dir() + "/configs"});
  }
  /// What is wrong with it, without the folder's name; empty when nothing is.
  std::vector<std::string> errors(const std::string& text,
                                  const std::vector<std::string>& overrides = {}) {
    try {
      load(text, overrides);
    } catch (const ConfigError& e) {
      std::vector<std::string> lines = e.lines();
      const std::string prefix = folder_.path() + "/";
      for (std::string& line : lines) {
        for (std::size_t at = line.find(prefix); at != std::string::npos; at = line.find(prefix)) {
          line.erase(at, prefix.size());
        }
      }
      return lines;
    }
    return {};
  }

  test::TemporaryFolder folder_;
};

using Lines = std::vector<std::string>;

}  // namespace cubevp::platform
