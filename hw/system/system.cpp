// SPDX-License-Identifier: Apache-2.0
#include "hw/system/system.h"

#include <string>

namespace cubevp::hw {

namespace {

CubeContext context_of(const SystemConfig& config, const System::Options& options,
                       sim::PayloadPool& pool, sim::HostPool& host_pool,
                       const FirmwareImage& firmware, std::uint32_t id) {
  const auto columns = static_cast<int>(config.columns());
  return {static_cast<CubeId>(id),
          {static_cast<int>(id) % columns, static_cast<int>(id) / columns},
          options.keep_data,
          pool,
          host_pool,
          firmware};
}

}  // namespace

System::System(const SystemConfig& config, const Options& options, const FirmwareImage& firmware)
    : config_(config), host_pool_(options.threads) {
  for (std::uint32_t id = 0; id < config_.cubes(); ++id) {
    const CubeContext context = context_of(config_, options, pool_, host_pool_, firmware, id);
    const std::string name =
        "cube_" + std::to_string(context.position.x) + "_" + std::to_string(context.position.y);
    cubes_.push_back(std::make_unique<Cube>(name.c_str(), config_, context));
  }
  wire();
}

GridPos System::position(CubeId id) const {
  const auto columns = static_cast<int>(config_.columns());
  return {static_cast<int>(index(id)) % columns, static_cast<int>(index(id)) / columns};
}

void System::wire() {
  const std::uint32_t columns = config_.columns();
  for (std::uint32_t id = 0; id < cubes_.size(); ++id) {
    if (id % columns + 1 < columns) {
      cubes_[id]->connect(Direction::east, *cubes_[id + 1]);
    }
    if (id + columns < cubes_.size()) {
      cubes_[id]->connect(Direction::south, *cubes_[id + columns]);
    }
  }
}

}  // namespace cubevp::hw
