// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <systemc>

#include "hw/cube/cube.h"
#include "hw/sim/host_pool.h"
#include "hw/sim/payload.h"
#include "hw/system/system_config.h"

namespace cubevp::hw {

/// The grid of cubes, wired by die-to-die links inside packages and by package links between
/// them. Not a module itself: cubes are the top of SystemC's hierarchy, so that names in traces
/// start with the cube.
class System {
 public:
  struct Options {
    bool keep_data = true;  ///< false: timing only, no tensor bytes move
    unsigned threads = 1;   ///< host threads for arithmetic, the simulation's included
  };

  System(const SystemConfig& config, const Options& options, const FirmwareImage& firmware);

  const SystemConfig& config() const { return config_; }
  Cube& cube(CubeId id) { return *cubes_.at(index(id)); }
  std::size_t cubes() const { return cubes_.size(); }
  GridPos position(CubeId id) const;
  sim::PayloadPool& pool() { return pool_; }

 private:
  void wire();

  const SystemConfig config_;
  // Payloads and strands outlive the modules that use them.
  sim::PayloadPool pool_;
  sim::HostPool host_pool_;
  std::vector<std::unique_ptr<Cube>> cubes_;
};

}  // namespace cubevp::hw
