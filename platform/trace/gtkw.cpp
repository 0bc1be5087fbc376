// SPDX-License-Identifier: Apache-2.0
#include "platform/trace/gtkw.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "platform/config/errors.h"
#include "platform/trace/output_file.h"

namespace cubevp::platform {

namespace {

namespace fs = std::filesystem;

// Flags of GTKWave's traces (its analyzer.h): right-justified, decimal, translated by a file.
constexpr unsigned kNumber = 0x24;
constexpr unsigned kWord = 0x2024;
constexpr unsigned kGroupBegin = 0x800200;
constexpr unsigned kGroupEnd = 0x1000200;

void write(const fs::path& path, const std::string& text) {
  OutputFile file(path.string());
  file.put(text);
  file.close();
}

/// The filter files, one for each table of words, and which one a signal uses.
class Filters {
 public:
  explicit Filters(fs::path folder) : folder_(std::move(folder)) {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) {
      throw IoError(folder_.string() + ": cannot be made: " + error.message());
    }
  }

  /// Path of the filter, relative to the save file.
  std::string of(const std::vector<std::string>& words) {
    const auto [found, added] = paths_.emplace(words, "");
    if (added) {
      const std::string name = fmt::format("{}.txt", paths_.size());
      std::string text;
      for (std::size_t i = 0; i < words.size(); ++i) {
        text += fmt::format("{} {}\n", i, words[i]);
      }
      write(folder_ / name, text);
      found->second = (folder_.filename() / name).string();
    }
    return found->second;
  }

 private:
  const fs::path folder_;
  std::map<std::vector<std::string>, std::string> paths_;
};

/// cube_0_0.pe_3.gemm_unit -> cube_0_0.pe_3; cube_0_0.hbm.channel_1 -> cube_0_0.hbm.
std::string group_of(const std::string& module) {
  const std::size_t cube = module.find('.');
  return cube == std::string::npos ? module : module.substr(0, module.find('.', cube + 1));
}

/// GTKWave's colours: 1 red, 2 orange, 3 yellow, 4 green, 5 blue, 6 indigo, 7 violet.
int colour_of(const std::string& module) {
  const std::string unit = module.substr(module.rfind('.') + 1);
  const std::pair<const char*, int> colours[] = {{"cpu", 3},     {"gemm", 4},    {"vector", 5},
                                                 {"dma", 2},     {"message", 7}, {"link", 1},
                                                 {"channel", 6}, {"command", 3}};
  for (const auto& [prefix, colour] : colours) {
    if (unit.compare(0, std::string(prefix).size(), prefix) == 0) {
      return colour;
    }
  }
  return 0;
}

std::string vcd_name(const TracedSignal& s) {
  const unsigned width = s.signal->width_bits();
  return s.name() + (width > 1 ? fmt::format("[{}:0]", width - 1) : "");
}

/// What the wave list shows: "pe_3 gemm_unit state". The cube is in the group's name, and of a
/// name with dots GTKWave would show the last part only.
std::string short_name(const TracedSignal& s) {
  std::string name = s.name();
  if (name.compare(0, 5, "cube_") == 0) {
    name.erase(0, name.find('.') + 1);
  }
  std::replace(name.begin(), name.end(), '.', ' ');
  return name;
}

bool is_of_a_pe(const TracedSignal& s) {
  return s.module.find(".pe_") != std::string::npos;
}

}  // namespace

void write_gtkw(const std::string& vcd_path, const std::vector<TracedSignal>& signals,
                const std::vector<bool>& shows_labels, const TraceLabels& labels) {
  const fs::path vcd(vcd_path);
  fs::path save = vcd;
  save.replace_extension(".gtkw");
  fs::path folder = vcd;
  folder.replace_extension(".filters");
  Filters filters(folder);

  std::string text = fmt::format(
      "[*] CubeVP\n[dumpfile] \"{}\"\n[savefile] \"{}\"\n[timestart] 0\n[size] 1600 900\n"
      "[signals_width] 340\n[sst_width] 220\n[sst_expanded] 1\n",
      vcd.filename().string(), save.filename().string());
  const auto show = [&](std::size_t i) {
    const TracedSignal& s = signals[i];
    const int colour = colour_of(s.module);
    if (colour != 0) {
      text += fmt::format("[color] {}\n", colour);
    }
    const std::vector<std::string>& states = s.signal->states();
    const bool words = shows_labels[i] || !states.empty();
    text += fmt::format("@{:x}\n", words ? kWord : kNumber);
    if (words) {
      text += fmt::format("^1 {}\n", filters.of(shows_labels[i] ? labels : states));
    }
    text += fmt::format("+{{{}}} {}\n", short_name(s), vcd_name(s));
  };
  // What the kernels are at comes first, then a group a PE, then the rest of the machine.
  const auto is_phase = [&](std::size_t i) { return signals[i].signal->name() == "phase"; };
  text += fmt::format("@{:x}\n-kernel phase\n", kGroupBegin);
  for (std::size_t i = 0; i < signals.size(); ++i) {
    if (is_phase(i)) {
      show(i);
    }
  }
  text += fmt::format("@{:x}\n-kernel phase\n", kGroupEnd);
  std::string group;
  const auto close_group = [&] {
    if (!group.empty()) {
      text += fmt::format("@{:x}\n-{}\n", kGroupEnd, group);
    }
  };
  for (const bool pes : {true, false}) {
    for (std::size_t i = 0; i < signals.size(); ++i) {
      if (is_phase(i) || is_of_a_pe(signals[i]) != pes) {
        continue;
      }
      if (group_of(signals[i].module) != group) {
        close_group();
        group = group_of(signals[i].module);
        text += fmt::format("@{:x}\n-{}\n", kGroupBegin, group);
      }
      show(i);
    }
  }
  close_group();
  write(save, text);
}

}  // namespace cubevp::platform
