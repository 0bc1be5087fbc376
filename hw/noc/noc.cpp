// SPDX-License-Identifier: Apache-2.0
#include "hw/noc/noc.h"

#include <stdexcept>
#include <string>

#include "hw/noc/noc_timing.h"
#include "hw/sim/payload.h"

namespace cubevp::hw {

namespace {

void check(const char* name, const NocConfig& config, const Topology& topology) {
  std::string error = noc_config_error(config);
  if (error.empty() && (topology.columns != static_cast<int>(config.columns) ||
                        topology.rows != static_cast<int>(config.rows))) {
    error = "the topology's mesh is not the configuration's";
  }
  if (error.empty() && (topology.cubes() < 1 || topology.slab_bytes == 0)) {
    error = "the system has no cubes, or a cube no memory";
  }
  // Each router and each link's transmitter on the longest way notes a port in the payload, and so
  // does the network interface at its start.
  const int longest = topology.columns * topology.system_columns +
                      topology.rows * topology.system_rows + topology.system_columns +
                      topology.system_rows - 2;
  if (error.empty() && longest > sim::TransactionExtension::kMaxHops) {
    error = "the longest way through the system has " + std::to_string(longest) +
            " stops, more than " + std::to_string(sim::TransactionExtension::kMaxHops);
  }
  if (!error.empty()) {
    throw std::invalid_argument(std::string(name) + ": " + error);
  }
}

}  // namespace

Noc::Noc(const sc_core::sc_module_name& name, const NocConfig& config, const Topology& topology,
         GridPos cube)
    : sc_module(name), config_(config) {
  check(this->name(), config, topology);
  routers_.init(config.stops(), [&](const char* child, std::size_t stop) {
    return new Router(child, config, topology,
                      topology.stop_position(cube, static_cast<int>(stop)));
  });
  const auto make_interface = [&](const char* child, std::size_t) {
    return new NetworkInterface(child, config, topology);
  };
  ni_pes_.init(config.stops(), make_interface);
  ni_hbms_.init(config.stops(), make_interface);
  wire();
}

void Noc::wire() {
  const auto bind_local = [](Router& router, RouterPort port, NetworkInterface& interface) {
    const auto p = static_cast<std::size_t>(index(port));
    interface.router_isock.bind(router.tsocks[p]);
    router.isocks[p].bind(interface.router_tsock);
  };
  const auto bind_neighbours = [](Router& a, Direction side, Router& b) {
    const auto to = static_cast<std::size_t>(index(side));
    const auto from = static_cast<std::size_t>(index(opposite(side)));
    a.isocks[to].bind(b.tsocks[from]);
    b.isocks[from].bind(a.tsocks[to]);
  };
  const int columns = static_cast<int>(config_.columns);
  const int rows = static_cast<int>(config_.rows);
  for (std::size_t stop = 0; stop < config_.stops(); ++stop) {
    bind_local(routers_[stop], RouterPort::pe, ni_pes_[stop]);
    bind_local(routers_[stop], RouterPort::hbm, ni_hbms_[stop]);
    const GridPos here = snake_position(static_cast<int>(stop), columns);
    if (here.x + 1 < columns) {
      bind_neighbours(
          routers_[stop], Direction::east,
          routers_[static_cast<std::size_t>(snake_index({here.x + 1, here.y}, columns))]);
    }
    if (here.y + 1 < rows) {
      bind_neighbours(
          routers_[stop], Direction::south,
          routers_[static_cast<std::size_t>(snake_index({here.x, here.y + 1}, columns))]);
    }
  }
}

std::size_t Noc::edge_positions(Direction side) const {
  return side == Direction::east || side == Direction::west ? config_.rows : config_.columns;
}

Router& Noc::edge_router(Direction side, std::size_t position) {
  const int columns = static_cast<int>(config_.columns);
  const int along = static_cast<int>(position);
  GridPos place{};
  switch (side) {
    case Direction::east:
      place = {columns - 1, along};
      break;
    case Direction::west:
      place = {0, along};
      break;
    case Direction::north:
      place = {along, 0};
      break;
    case Direction::south:
      place = {along, static_cast<int>(config_.rows) - 1};
      break;
  }
  return routers_[static_cast<std::size_t>(snake_index(place, columns))];
}

}  // namespace cubevp::hw
