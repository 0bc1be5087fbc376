// SPDX-License-Identifier: Apache-2.0
#include "hw/cube/cube.h"

#include <algorithm>
#include <string>

#include "hw/base/sfr_table.h"
#include "hw/link/link_timing.h"
#include "hw/noc/noc_timing.h"

namespace cubevp::hw {

namespace {

constexpr std::array<const char*, kDirections> kLinkNames = {"link_e", "link_w", "link_n",
                                                             "link_s"};

Topology topology_of(const SystemConfig& config) {
  return {static_cast<int>(config.noc.columns), static_cast<int>(config.noc.rows),
          static_cast<int>(config.columns()), static_cast<int>(config.rows()),
          config.hbm.bytes / config.noc.stops()};
}

}  // namespace

Cube::Cube(const sc_core::sc_module_name& name, const SystemConfig& config,
           const CubeContext& context)
    : sc_module(name),
      id_(context.id),
      position_(context.position),
      config_(config),
      sfr_("sfr", sfr_config(context)),
      noc_("noc", config.noc, topology_of(config), context.position),
      hbm_("hbm", config.hbm, config.noc.stops()) {
  for (int d = 0; d < kDirections; ++d) {
    const auto side = static_cast<Direction>(d);
    links_[static_cast<std::size_t>(d)] = std::make_unique<CubeLink>(
        kLinkNames[static_cast<std::size_t>(d)], link_config(side), link_ports(side));
  }
  pes_.init(config.pes_per_cube(),
            [&](const char* pe_name, std::size_t i) { return make_pe(pe_name, i, context); });
  control_tsock.register_b_transport(this, &Cube::control_b_transport);
  control_tsock.register_transport_dbg(this, &Cube::control_transport_dbg);
  wire();
}

SfrBlock::Config Cube::sfr_config(const CubeContext& context) {
  SfrBlock::Config sfr;
  sfr.cube = context.id;
  sfr.position = context.position;
  sfr.pes = config_.pes_per_cube();
  sfr.scratchpad_bytes = config_.pe.scratchpad.bytes;
  sfr.clock = config_.pe.clock;
  sfr.access_ps = config_.pe.cpu.sfr_access_ps;
  sfr.link_up = [this](Direction d) { return link(d).wired(); };
  sfr.link_errors = [this](Direction d) { return link(d).errors(); };
  sfr.clear_link_errors = [this](Direction d, std::uint32_t ones) { link(d).clear_errors(ones); };
  return sfr;
}

Pe* Cube::make_pe(const char* name, std::size_t i, const CubeContext& context) {
  const auto pe = static_cast<PeId>(i);
  PeIdentity identity;
  identity.cube = id_;
  identity.pe = pe;
  identity.pes_per_cube = config_.pes_per_cube();
  identity.cubes = config_.cubes();
  identity.scratchpad_bytes = config_.pe.scratchpad.bytes;
  identity.reserved_bytes = message_slot_bytes(config_.pe.message_queue);
  return new Pe(name, config_.pe,
                {identity, context.pool, context.host_pool, context.keep_data, context.firmware,
                 sfr_.start_event(pe), [this, pe](bool faulted) { sfr_.finish(pe, faulted); },
                 [this, pe](RankAxis axis, Direction d) { return neighbour_of(pe, axis, d); }});
}

// A wire that leaves the package belongs to the package link.
const LinkConfig& Cube::link_config(Direction side) const {
  const auto x = static_cast<std::uint32_t>(position_.x);
  const auto y = static_cast<std::uint32_t>(position_.y);
  const bool leaves_package = (side == Direction::east && (x + 1) % config_.package_columns == 0) ||
                              (side == Direction::west && x % config_.package_columns == 0) ||
                              (side == Direction::south && (y + 1) % config_.package_rows == 0) ||
                              (side == Direction::north && y % config_.package_rows == 0);
  return leaves_package ? config_.package_link : config_.link;
}

bool Cube::wired(Direction side) const {
  switch (side) {
    case Direction::east:
      return static_cast<std::uint32_t>(position_.x) + 1 < config_.columns();
    case Direction::west:
      return position_.x > 0;
    case Direction::north:
      return position_.y > 0;
    case Direction::south:
      return static_cast<std::uint32_t>(position_.y) + 1 < config_.rows();
  }
  return false;
}

LinkPorts Cube::link_ports(Direction side) const {
  const NocConfig& noc = config_.noc;
  const bool horizontal = side == Direction::east || side == Direction::west;
  LinkPorts ports;
  ports.positions = horizontal ? noc.rows : noc.columns;
  ports.flight_ps = link_flight_ps(
      link_config(side), noc.clock.cycles(noc.interface_inject_cycles + noc.interface_eject_cycles),
      (horizontal ? noc.columns : noc.rows) - 1, noc.clock.cycles(noc.hop_cycles));
  if (!wired(side)) {
    // No wire, no flight time that could be too short.
    ports.flight_ps = std::max<Ps>(0, ports.flight_ps);
  }
  ports.noc_cycle_ps = noc.clock.period_ps();
  ports.noc_bytes_per_cycle = noc.bytes_per_cycle();
  ports.noc_buffer_flits = noc_buffer_flits(noc);
  return ports;
}

void Cube::wire() {
  for (std::size_t i = 0; i < pes_.size(); ++i) {
    NetworkInterface& ni = noc_.ni_pe(i);
    Pe& pe = pes_[i];
    pe.dma_isock().bind(ni.dma_tsock);
    pe.message_isock().bind(ni.message_tsock);
    pe.cpu_isock().bind(ni.cpu_tsock);
    ni.message_isock.bind(pe.message_tsock());
    ni.scratchpad_isock.bind(pe.scratchpad_tsock());
    pe.sfr_isock().bind(sfr_.pe_tsocks[i]);
    noc_.ni_hbm(i).hbm_isock.bind(hbm_.port_tsocks[i]);
  }
  sfr_isock_.bind(sfr_.host_tsock);
  noc_.ni_pe(0).sfr_isock.bind(sfr_.net_tsock);
  for (int d = 0; d < kDirections; ++d) {
    const auto side = static_cast<Direction>(d);
    CubeLink& endpoint = link(side);
    for (std::size_t p = 0; p < noc_.edge_positions(side); ++p) {
      noc_.edge_isock(side, p).bind(endpoint.router_tsocks[p]);
      endpoint.router_isocks[p].bind(noc_.edge_tsock(side, p));
    }
  }
}

void Cube::connect(Direction direction, Cube& neighbour) {
  CubeLink& here = link(direction);
  CubeLink& there = neighbour.link(opposite(direction));
  here.wire_isock.bind(there.wire_tsock);
  there.wire_isock.bind(here.wire_tsock);
}

Neighbour Cube::neighbour_of(PeId pe, RankAxis axis, Direction direction) const {
  const auto none = [&](const std::string& why) {
    return Neighbour{{}, {}, why + " (cube " + std::to_string(index(id_)) + ")"};
  };
  if (axis == RankAxis::cube) {
    if ((sfr_.peek(sfr::kTopoCtrl) & sfr::kTopoEnable) == 0) {
      return none("no logical neighbours: TOPO_CTRL is not enabled");
    }
    const std::uint32_t reg = sfr::kNeighbour + 4 * static_cast<std::uint32_t>(index(direction));
    const std::uint32_t cube = sfr_.peek(reg);
    if (cube >= config_.cubes()) {
      return none("no neighbour: " + sfr::name_at(reg) + " names no cube");
    }
    return {static_cast<CubeId>(cube), pe, {}};
  }
  const std::uint32_t ring = sfr_.peek(sfr::kPeRingSize);
  const std::uint32_t n = ring != 0 ? ring : config_.pes_per_cube();
  const std::uint32_t at = index(pe);
  const bool east = direction == Direction::east;
  if ((!east && direction != Direction::west) || at >= n) {
    return none("no neighbour on the pe axis in this direction");
  }
  if (ring == 0 && (east ? at + 1 == n : at == 0)) {
    return none("no neighbour: PE_RING_SIZE is 0, the PEs are an open chain");
  }
  return {id_, static_cast<PeId>(east ? (at + 1) % n : (at + n - 1) % n), {}};
}

void Cube::clear_memory(unsigned char fill) {
  hbm_.memory().clear(fill);
  for (Pe& pe : pes_) {
    pe.join_data();
    pe.scratchpad().fill(fill);
  }
}

void Cube::control_b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const DecodedAddress address = decode(payload.get_address());
  if (address.region != static_cast<std::uint8_t>(Region::sfr)) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  sfr_isock_->b_transport(payload, delay);
}

unsigned Cube::control_transport_dbg(tlm::tlm_generic_payload& payload) {
  const DecodedAddress address = decode(payload.get_address());
  switch (static_cast<Region>(address.region)) {
    case Region::hbm:
      return hbm_.debug_access(payload);
    case Region::scratchpad: {
      const std::size_t pe = index(pe_of_offset(address.offset));
      if (pe >= pes_.size()) {
        break;
      }
      pes_[pe].join_data();
      return pes_[pe].scratchpad().debug_access(payload);
    }
    case Region::sfr:
      return sfr_isock_->transport_dbg(payload);
    case Region::message_queue:
      break;
  }
  payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  return 0;
}

}  // namespace cubevp::hw
