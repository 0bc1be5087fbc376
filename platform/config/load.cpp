// SPDX-License-Identifier: Apache-2.0
#include "platform/config/load.h"

#include <algorithm>
#include <filesystem>

#include "platform/config/hardware_preset.h"
#include "platform/config/schema.h"
#include "platform/config/sha256.h"
#include "platform/config/validate.h"
#include "platform/config/yaml_document.h"
#include "platform/config/yaml_reader.h"

namespace cubevp::platform {

namespace fs = std::filesystem;

namespace {

constexpr const char* kBase = "base";

const Section& section_of(const Section& root, const std::string& key) {
  return std::get<Section>(find_entry(root, key)->value);
}

bool is_key(const Override& o, std::initializer_list<const char*> path) {
  return std::equal(o.path.begin(), o.path.end(), path.begin(), path.end());
}

/// Reads one run: gathers all problems, then gives up or gives the configuration.
class RunLoader {
 public:
  RunLoader(const Known& known, const std::vector<std::string>& search_paths)
      : known_(known),
        search_paths_(search_paths),
        schema_(run_schema(config_, known)),
        reader_(schema_, problems_, origins_) {}

  RunConfig load(const std::string& name, const std::vector<std::string>& overrides) {
    const std::string path = find_config(name, search_paths_);
    directory_ = directory_of(path);
    origins_ = Origins({path, 1, 1});
    const YamlSource file = read_yaml_file(path, problems_);
    if (!file.root.IsMap()) {
      problems_.throw_if_any();  // what it leaves unsaid would be told as missing
    }
    const std::vector<Override> sets = read_overrides(overrides, problems_);
    config_.name = default_name(path);
    config_.hardware_name = kInlineHardware;
    load_hardware(file, sets);
    reader_.apply(schema_, file_root(file, sets), file);
    for (const Override& o : sets) {
      reader_.apply(schema_, o.source.root, o.source);
    }
    finish();
    validate(config_, known_, origins_, problems_);
    problems_.throw_if_any();
    return std::move(config_);
  }

  hw::SystemConfig load_preset(const std::string& preset,
                               const std::vector<std::string>& overrides) {
    origins_ = Origins({"--hardware", 0, 0});
    const std::vector<Override> sets = read_overrides(overrides, problems_);
    PresetChoice choice;
    choice.name = preset;
    choice.at.source = "--hardware";
    choice.from_dir = ".";
    PresetLoader(section_of(schema_, kHardware), reader_, problems_, search_paths_).load(choice);
    for (const Override& o : sets) {
      reader_.apply(schema_, o.source.root, o.source);
    }
    finish();
    validate_hardware(config_.hardware, origins_, problems_);
    problems_.throw_if_any();
    return std::move(config_.hardware);
  }

 private:
  static std::string default_name(const std::string& path) {
    std::string name = fs::path(path).stem().string();
    for (char& c : name) {
      c = is_run_name(std::string("x") + c) ? c : '_';
    }
    return is_run_name(name) ? name : "run";
  }

  /// `--set hardware=NAME` stands in place of all that the file says about the machine.
  static bool replaces_hardware(const std::vector<Override>& sets) {
    return std::any_of(sets.begin(), sets.end(), [](const Override& o) {
      return is_key(o, {kHardware}) && o.value.IsScalar();
    });
  }

  static YAML::Node file_root(const YamlSource& file, const std::vector<Override>& sets) {
    if (!replaces_hardware(sets)) {
      return file.root;
    }
    YAML::Node rest(YAML::NodeType::Map);
    for (const auto& pair : file.root) {
      if (!pair.first.IsScalar() || pair.first.Scalar() != kHardware) {
        rest.force_insert(pair.first, pair.second);
      }
    }
    return rest;
  }

  void load_hardware(const YamlSource& file, const std::vector<Override>& sets) {
    PresetChoice choice;
    choice.name = kDefaultHardware;
    choice.at = {file.label, 1, 1};
    choice.key = kHardware;
    choice.from_dir = directory_;
    choose(child(file.root, kHardware), file, choice);
    for (const Override& o : sets) {
      if (is_key(o, {kHardware}) && o.value.IsScalar()) {
        choose(o.value, o.source, choice);
      } else if (is_key(o, {kHardware}) && child(o.value, kBase).IsDefined()) {
        choose_base(child(o.value, kBase), o.source, choice);
      } else if (is_key(o, {kHardware, kBase})) {
        choose_base(o.value, o.source, choice);
      }
    }
    if (choice.name) {
      config_.hardware_name = preset_label(*choice.name);
    }
    PresetLoader(section_of(schema_, kHardware), reader_, problems_, search_paths_).load(choice);
  }

  static std::string preset_label(const std::string& name) {
    return is_run_name(name) && fs::path(name).extension() != ".yaml" ? name : default_name(name);
  }

  /// `node` is the value of hardware: a name, or a mapping that may have a base.
  void choose(const YAML::Node& node, const YamlSource& source, PresetChoice& choice) {
    if (!node.IsDefined()) {
      return;
    }
    if (node.IsScalar()) {
      choice = choice_of(node, source, kHardware);
      return;
    }
    choice.name.reset();
    if (child(node, kBase).IsDefined()) {
      choose_base(child(node, kBase), source, choice);
    }
  }

  void choose_base(const YAML::Node& base, const YamlSource& source, PresetChoice& choice) {
    if (base.IsScalar()) {
      choice = choice_of(base, source, "hardware.base");
    } else {
      problems_.add(source.at(base), "hardware.base",
                    "expected the name of a preset, got " + describe_value(base));
    }
  }

  /// A path in a run file starts there; one that --set gives, in the working directory if there is
  /// such a file.
  PresetChoice choice_of(const YAML::Node& name, const YamlSource& source, const char* key) const {
    const bool from_here = !source.has_lines && is_preset_path(name.Scalar()) &&
                           !find_preset(name.Scalar(), ".", {}).empty();
    return {name.Scalar(), source.at(name), key, from_here ? "." : directory_};
  }

  /// What is left to decide when everything is read.
  void finish() {
    hw::PeConfig& pe = config_.hardware.pe;
    pe.cpu.clock = pe.command_processor.clock = pe.dma.clock = pe.gemm.clock = pe.vector.clock =
        pe.scratchpad.clock = pe.message_queue.clock = pe.clock;
    if (!origins_.has("numerics.p")) {
      config_.numerics.p = config_.numerics.io;
    }
    InputConfig& input = config_.input;
    const bool files = !input.q.empty() || !input.k.empty() || !input.v.empty();
    if (files && !origins_.has("input.generate")) {
      input.generate.clear();
    }
    for (auto [key, name] : {std::pair<const char*, std::string*>{"input.q", &input.q},
                             {"input.k", &input.k},
                             {"input.v", &input.v},
                             {"check.golden", &config_.check.golden}}) {
      resolve_file(key, *name);
    }
    const KnownKernel* kernel = known_.kernel(config_.workload.kernel);
    reader_.finish_extras(kernel == nullptr ? known_.kernels.empty() : !kernel->shipped);
  }

  /// A file named in a run file lies beside it; if it is not there, or named by --set, it is as
  /// seen from the working directory. Absolute from here on, so that the resolved configuration
  /// can be run from anywhere.
  void resolve_file(const std::string& key, std::string& name) const {
    if (name.empty() || !origins_.has(key) || name == "reference" || name == "none") {
      return;
    }
    std::error_code ignored;
    fs::path path(name);
    if (path.is_relative() && origins_.at(key).line != 0) {
      const fs::path beside = fs::path(directory_) / path;
      path = fs::exists(beside, ignored) || !fs::exists(path, ignored) ? beside : path;
    }
    name = fs::absolute(path, ignored).lexically_normal().string();
  }

  const Known& known_;
  const std::vector<std::string>& search_paths_;
  RunConfig config_;
  Section schema_;
  Problems problems_;
  Origins origins_{Position{}};
  YamlReader reader_;
  std::string directory_;
};

}  // namespace

RunConfig load_run_config(const std::string& path, const std::vector<std::string>& overrides,
                          const Known& known, const std::vector<std::string>& search_paths) {
  return RunLoader(known, search_paths).load(path, overrides);
}

hw::SystemConfig load_hardware(const std::string& preset, const std::vector<std::string>& overrides,
                               const std::vector<std::string>& search_paths) {
  const Known known;
  return RunLoader(known, search_paths).load_preset(preset, overrides);
}

std::string config_sha256(const RunConfig& config) {
  return sha256_hex(to_yaml(config));
}

}  // namespace cubevp::platform
