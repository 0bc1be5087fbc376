// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "hw/link/cube_link.h"
#include "hw/link/link_timing.h"
#include "hw/noc/noc.h"
#include "hw/noc/noc_timing.h"
#include "tests/support/protocol_checker.h"
#include "tests/support/test_initiator.h"
#include "tests/support/test_target.h"

namespace cubevp::test {

/// Cubes that consist of a network, links and test units, every socket between them checked.
class NocMachine {
 public:
  struct Stop {
    std::unique_ptr<TestInitiator> dma;
    std::unique_ptr<TestInitiator> message;
    std::unique_ptr<TestInitiator> cpu;
    std::unique_ptr<TestTarget> scratchpad;
    std::unique_ptr<TestTarget> messages;
    std::unique_ptr<TestTarget> hbm;
  };
  struct Cube {
    std::unique_ptr<hw::Noc> noc;
    std::vector<std::unique_ptr<hw::CubeLink>> links;  // by Direction
    std::vector<Stop> stops;
    std::unique_ptr<TestTarget> sfr;
  };
  static constexpr std::uint64_t kSlabBytes = std::uint64_t{1} << 20;

  explicit NocMachine(const hw::NocConfig& noc_config, int system_columns = 1, int system_rows = 1,
                      const hw::LinkConfig& link_config = {}, bool wired = true,
                      bool checked = true)
      : config(noc_config),
        link(link_config),
        topology{static_cast<int>(config.columns), static_cast<int>(config.rows), system_columns,
                 system_rows, kSlabBytes},
        checked_(checked) {
    for (int c = 0; c < topology.cubes(); ++c) {
      build(c);
    }
    for (int c = 0; wired && c < topology.cubes(); ++c) {
      const GridPos at = topology.cube_position(static_cast<std::uint32_t>(c));
      if (at.x + 1 < system_columns) {
        wire(cubes[size_t(c)], Direction::east, cubes[size_t(c) + 1]);
      }
      if (at.y + 1 < system_rows) {
        wire(cubes[size_t(c)], Direction::south, cubes[size_t(c + system_columns)]);
      }
    }
  }

  Stop& stop(int cube, int s) { return cubes[size_t(cube)].stops[size_t(s)]; }
  Ps flight_ps(bool east_west) const {
    return hw::link_flight_ps(
        link, config.clock.cycles(config.interface_inject_cycles + config.interface_eject_cycles),
        (east_west ? config.columns : config.rows) - 1, config.clock.cycles(config.hop_cycles));
  }
  /// One way from stop to stop in an idle system.
  Ps one_way_ps(int cube_a, int stop_a, int cube_b, int stop_b, std::uint64_t bytes) const {
    const GridPos from =
        topology.stop_position(topology.cube_position(static_cast<std::uint32_t>(cube_a)), stop_a);
    const GridPos to =
        topology.stop_position(topology.cube_position(static_cast<std::uint32_t>(cube_b)), stop_b);
    const hw::RouteLength length = route_length(topology, from, to);
    Ps serialisation = hw::noc_serialisation_ps(config, bytes);
    if (length.links_east_west + length.links_north_south > 0) {
      serialisation = std::max(serialisation, hw::link_serialisation_ps(link, bytes));
    }
    return hw::noc_one_way_ps(config, static_cast<std::uint32_t>(length.hops), bytes) -
           hw::noc_serialisation_ps(config, bytes) + serialisation +
           length.links_east_west * flight_ps(true) + length.links_north_south * flight_ps(false);
  }

  const hw::NocConfig config;
  const hw::LinkConfig link;
  const hw::Topology topology;
  sim::PayloadPool pool;
  ProtocolCheckers checkers;
  std::vector<Cube> cubes;

 private:
  template <typename Initiator, typename Target>
  void bind(Initiator& initiator, Target& target) {
    if (checked_) {
      checkers.bind(initiator, target);
    } else {
      initiator.bind(target);
    }
  }

  void build(int c) {
    const auto named = [c](const char* what, std::size_t i) {
      return std::string(what) + "_" + std::to_string(c) + "_" + std::to_string(i);
    };
    Cube cube;
    cube.noc = std::make_unique<hw::Noc>(named("noc", 0).c_str(), config, topology,
                                         topology.cube_position(static_cast<std::uint32_t>(c)));
    for (int d = 0; d < kDirections; ++d) {
      const auto side = static_cast<Direction>(d);
      hw::LinkPorts ports;
      ports.positions = static_cast<std::uint32_t>(cube.noc->edge_positions(side));
      ports.flight_ps =
          std::max<Ps>(0, flight_ps(side == Direction::east || side == Direction::west));
      ports.noc_cycle_ps = config.clock.period_ps();
      ports.noc_bytes_per_cycle = config.bytes_per_cycle();
      ports.noc_buffer_flits = hw::noc_buffer_flits(config);
      cube.links.push_back(
          std::make_unique<hw::CubeLink>(named("link", size_t(d)).c_str(), link, ports));
      for (std::size_t p = 0; p < ports.positions; ++p) {
        bind(cube.noc->edge_isock(side, p), cube.links.back()->router_tsocks[p]);
        bind(cube.links.back()->router_isocks[p], cube.noc->edge_tsock(side, p));
      }
    }
    for (std::size_t s = 0; s < config.stops(); ++s) {
      Stop stop;
      stop.dma = std::make_unique<TestInitiator>(named("dma", s).c_str(), pool);
      stop.message = std::make_unique<TestInitiator>(named("message", s).c_str(), pool);
      stop.cpu = std::make_unique<TestInitiator>(named("cpu", s).c_str(), pool);
      stop.scratchpad = std::make_unique<TestTarget>(named("scratchpad", s).c_str());
      stop.messages = std::make_unique<TestTarget>(named("messages", s).c_str());
      stop.hbm = std::make_unique<TestTarget>(named("hbm", s).c_str());
      hw::NetworkInterface& pe = cube.noc->ni_pe(s);
      bind(stop.dma->isock, pe.dma_tsock);
      bind(stop.message->isock, pe.message_tsock);
      bind(stop.cpu->isock, pe.cpu_tsock);
      bind(pe.scratchpad_isock, stop.scratchpad->tsock);
      bind(pe.message_isock, stop.messages->tsock);
      bind(cube.noc->ni_hbm(s).hbm_isock, stop.hbm->tsock);
      cube.stops.push_back(std::move(stop));
    }
    cube.sfr = std::make_unique<TestTarget>(named("sfr", 0).c_str());
    bind(cube.noc->ni_pe(0).sfr_isock, cube.sfr->tsock);
    cubes.push_back(std::move(cube));
  }

  void wire(Cube& a, Direction side, Cube& b) {
    hw::CubeLink& out = *a.links[size_t(index(side))];
    hw::CubeLink& in = *b.links[size_t(index(opposite(side)))];
    bind(out.wire_isock, in.wire_tsock);
    bind(in.wire_isock, out.wire_tsock);
  }

  bool checked_;
};

inline Address hbm_address(int cube, int stop, std::uint64_t offset = 0) {
  return make_address(static_cast<CubeId>(cube), Region::hbm,
                      static_cast<std::uint64_t>(stop) * NocMachine::kSlabBytes + offset);
}
inline Address pad_address(int cube, int stop, std::uint64_t offset = 0) {
  return scratchpad_address(static_cast<CubeId>(cube), static_cast<PeId>(stop), offset);
}
inline std::vector<unsigned char> pattern(std::size_t bytes, unsigned seed = 1) {
  std::vector<unsigned char> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    data[i] = static_cast<unsigned char>(seed * 37 + i * 11 + i / 256);
  }
  return data;
}

}  // namespace cubevp::test
