// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "hw/base/address_map.h"
#include "hw/base/ids.h"

namespace cubevp::hw {

// Where packets go, free of SystemC: XY routing in the global coordinates of the whole system.

/// Ports of a router: the four directions, then the two network interfaces of its stop.
enum class RouterPort : std::uint8_t { east, west, north, south, pe, hbm };
inline constexpr int kRouterPorts = 6;
constexpr int index(RouterPort p) {
  return static_cast<int>(p);
}
constexpr RouterPort port_of(Direction d) {
  return static_cast<RouterPort>(index(d));
}

/// The meshes of all cubes seen as one.
struct Topology {
  int columns = 1;         ///< stops in a row of a cube's mesh
  int rows = 1;            ///< and in a column
  int system_columns = 1;  ///< cubes in a row of the system
  int system_rows = 1;
  std::uint64_t slab_bytes = 1;  ///< of HBM beside each stop

  constexpr int stops() const { return columns * rows; }
  constexpr int cubes() const { return system_columns * system_rows; }
  constexpr GridPos cube_position(std::uint32_t cube) const {
    return {static_cast<int>(cube) % system_columns, static_cast<int>(cube) / system_columns};
  }
  constexpr GridPos stop_position(GridPos cube, int stop) const {
    const GridPos inside = snake_position(stop, columns);
    return {cube.x * columns + inside.x, cube.y * rows + inside.y};
  }
};

struct Destination {
  GridPos router;  ///< global coordinates
  RouterPort port = RouterPort::pe;
  Region region = Region::hbm;
};

/// The stop that serves an address, or nothing when no stop does.
constexpr std::optional<Destination> destination(const Topology& topology, Address address) {
  const DecodedAddress decoded = decode(address);
  if (decoded.region > static_cast<std::uint8_t>(Region::message_queue) ||
      index(decoded.cube) >= static_cast<std::uint32_t>(topology.cubes())) {
    return std::nullopt;
  }
  const auto region = static_cast<Region>(decoded.region);
  std::uint64_t stop = 0;
  if (region == Region::hbm) {
    stop = decoded.offset / topology.slab_bytes;
  } else if (region != Region::sfr) {
    stop = index(pe_of_offset(decoded.offset));
  }
  if (stop >= static_cast<std::uint64_t>(topology.stops())) {
    return std::nullopt;
  }
  return Destination{
      topology.stop_position(topology.cube_position(index(decoded.cube)), static_cast<int>(stop)),
      region == Region::hbm ? RouterPort::hbm : RouterPort::pe, region};
}

/// First along the row to the destination's column, then along the column.
constexpr RouterPort next_port(GridPos here, const Destination& to) {
  if (to.router.x != here.x) {
    return to.router.x > here.x ? RouterPort::east : RouterPort::west;
  }
  if (to.router.y != here.y) {
    return to.router.y > here.y ? RouterPort::south : RouterPort::north;
  }
  return to.port;
}

/// Stops and cube borders that a packet crosses.
struct RouteLength {
  int hops = 0;             ///< router to router, inside cubes
  int links_east_west = 0;  ///< cube borders crossed
  int links_north_south = 0;
};
constexpr RouteLength route_length(const Topology& topology, GridPos from, GridPos to) {
  const auto distance = [](int a, int b) { return a > b ? a - b : b - a; };
  RouteLength length;
  length.links_east_west = distance(from.x / topology.columns, to.x / topology.columns);
  length.links_north_south = distance(from.y / topology.rows, to.y / topology.rows);
  length.hops = distance(from.x, to.x) + distance(from.y, to.y) - length.links_east_west -
                length.links_north_south;
  return length;
}

}  // namespace cubevp::hw
