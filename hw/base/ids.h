// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace cubevp {

/// Global cube number, row-major over the system's cube grid. A PE number never converts to it.
enum class CubeId : std::uint32_t {};
/// PE number inside its cube. PEs are numbered in snake order over the cube's mesh of stops, so
/// PE i and PE i+1 are always one NoC hop apart.
enum class PeId : std::uint32_t {};
/// Number of a command in the order its PE issued it, from 1; 0 is "no command".
enum class CommandId : std::uint64_t {};

constexpr std::uint32_t index(CubeId id) {
  return static_cast<std::uint32_t>(id);
}
constexpr std::uint32_t index(PeId id) {
  return static_cast<std::uint32_t>(id);
}
constexpr std::uint64_t index(CommandId id) {
  return static_cast<std::uint64_t>(id);
}

/// Directions, physical (links, routers) and logical (messages between neighbours in rank order).
enum class Direction : std::uint8_t { east, west, north, south };
inline constexpr int kDirections = 4;

constexpr int index(Direction d) {
  return static_cast<int>(d);
}
constexpr Direction opposite(Direction d) {
  switch (d) {
    case Direction::east:
      return Direction::west;
    case Direction::west:
      return Direction::east;
    case Direction::north:
      return Direction::south;
    case Direction::south:
      return Direction::north;
  }
  return d;
}
/// "E", "W", "N" or "S".
constexpr std::string_view to_string(Direction d) {
  constexpr std::string_view names[] = {"E", "W", "N", "S"};
  return names[index(d)];
}

/// Which chain of ranks a message follows: the PEs of one cube, or the same PE of other cubes.
enum class RankAxis : std::uint8_t { pe, cube };
constexpr std::string_view to_string(RankAxis axis) {
  return axis == RankAxis::pe ? "pe" : "cube";
}

/// Column (x, eastwards) and row (y, southwards) in a grid, from 0.
struct GridPos {
  int x = 0;
  int y = 0;
  friend constexpr bool operator==(GridPos a, GridPos b) { return a.x == b.x && a.y == b.y; }
  friend constexpr bool operator!=(GridPos a, GridPos b) { return !(a == b); }
};

/// Position of element `i` of the snake (boustrophedon) order over rows of `width`.
constexpr GridPos snake_position(int i, int width) {
  const int y = i / width;
  const int x = i % width;
  return {y % 2 == 0 ? x : width - 1 - x, y};
}
/// Inverse of snake_position.
constexpr int snake_index(GridPos pos, int width) {
  return pos.y * width + (pos.y % 2 == 0 ? pos.x : width - 1 - pos.x);
}

}  // namespace cubevp
