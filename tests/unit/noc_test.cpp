// SPDX-License-Identifier: Apache-2.0
#include "hw/noc/noc.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <string>

#include "tests/unit/noc_harness.h"

namespace cubevp {
namespace {

using hw::NocConfig;
using hw::RouterPort;
using hw::Topology;
using test::hbm_address;
using test::NocMachine;
using test::pad_address;
using test::pattern;
using test::TestInitiator;
using test::TestTarget;

NocConfig mesh(std::uint32_t columns, std::uint32_t rows) {
  NocConfig config;
  config.columns = columns;
  config.rows = rows;
  return config;
}

Address window(int cube, int stop, std::uint64_t offset = 0) {
  return message_window_address(static_cast<CubeId>(cube), static_cast<PeId>(stop), RankAxis::pe,
                                Direction::east, offset);
}

// ---- closed forms ----

TEST(NocTiming, HeaderRidesWithTheFirstFlit) {
  const NocConfig config;
  EXPECT_EQ(hw::noc_flits(config, 0), 1u);
  EXPECT_EQ(hw::noc_flits(config, 1), 1u);
  EXPECT_EQ(hw::noc_flits(config, 128), 1u);
  EXPECT_EQ(hw::noc_flits(config, 129), 2u);
  EXPECT_EQ(hw::noc_flits(config, 1024), 8u);
}

TEST(NocTiming, WormholePresetOfTheTable) {
  // 32 B at 1 GHz, 9 cycles a hop, 5 + 5: the cycles are nanoseconds.
  NocConfig config;
  config.clock = Clock{1e9};
  config.planes = 1;
  config.plane_bytes_per_cycle = 32;
  EXPECT_EQ(hw::noc_one_way_ps(config, 0, 0), 11 * kPsPerNs);
  EXPECT_EQ(hw::noc_one_way_ps(config, 3, 1024), (10 + 27 + 32) * kPsPerNs);
  EXPECT_EQ(hw::noc_round_trip_ps(config, 3, 1024), (10 + 27 + 32 + 10 + 27 + 1) * kPsPerNs);
}

TEST(NocTiming, RejectsWhatCannotBeBuilt) {
  EXPECT_STREQ(hw::noc_config_error(NocConfig{}), "");
  EXPECT_STRNE(hw::noc_config_error(mesh(0, 2)), "");
  EXPECT_STRNE(hw::noc_config_error(mesh(17, 16)), "");
  NocConfig config;
  config.buffer_packets = 0;
  EXPECT_STRNE(hw::noc_config_error(config), "");
  config = {};
  config.planes = 0;
  EXPECT_STRNE(hw::noc_config_error(config), "");
}

// ---- routing ----

// Every way is as short as can be, goes along the row first and never turns back.
void check_routes(const Topology& topology) {
  const int columns = topology.columns * topology.system_columns;
  const int rows = topology.rows * topology.system_rows;
  for (int from = 0; from < columns * rows; ++from) {
    for (int to = 0; to < columns * rows; ++to) {
      const GridPos goal{to % columns, to / columns};
      GridPos here{from % columns, from / columns};
      const hw::RouteLength length = route_length(topology, here, goal);
      int steps = 0;
      bool turned = false;
      for (;;) {
        const RouterPort port = hw::next_port(here, {goal, RouterPort::pe, Region::scratchpad});
        if (port == RouterPort::pe) {
          break;
        }
        const bool along_row = port == RouterPort::east || port == RouterPort::west;
        EXPECT_FALSE(along_row && turned);
        turned = turned || !along_row;
        here.x += port == RouterPort::east ? 1 : port == RouterPort::west ? -1 : 0;
        here.y += port == RouterPort::south ? 1 : port == RouterPort::north ? -1 : 0;
        ++steps;
        ASSERT_LE(steps, columns + rows);
      }
      EXPECT_EQ(here, goal);
      EXPECT_EQ(steps, length.hops + length.links_east_west + length.links_north_south);
    }
  }
}

TEST(Routing, XyOnEveryPair) {
  check_routes({4, 2, 1, 1, 1});
  check_routes({4, 2, 3, 2, 1});
  check_routes({1, 5, 2, 2, 1});
  check_routes({5, 1, 1, 3, 1});
  check_routes({1, 1, 4, 4, 1});
}

TEST(Routing, StopsOfAddresses) {
  const Topology topology{4, 2, 2, 2, 1024};
  for (int cube = 0; cube < 4; ++cube) {
    for (int stop = 0; stop < 8; ++stop) {
      const GridPos inside = snake_position(stop, 4);
      const GridPos at{cube % 2 * 4 + inside.x, cube / 2 * 2 + inside.y};
      const auto hbm =
          destination(topology, make_address(static_cast<CubeId>(cube), Region::hbm,
                                             static_cast<std::uint64_t>(stop) * 1024 + 1023));
      ASSERT_TRUE(hbm);
      EXPECT_EQ(hbm->router, at);
      EXPECT_EQ(hbm->port, RouterPort::hbm);
      for (const Address address : {pad_address(cube, stop, 7), window(cube, stop)}) {
        const auto pe = destination(topology, address);
        ASSERT_TRUE(pe);
        EXPECT_EQ(pe->router, at);
        EXPECT_EQ(pe->port, RouterPort::pe);
      }
    }
    const auto sfr = destination(topology, make_address(static_cast<CubeId>(cube), Region::sfr, 4));
    ASSERT_TRUE(sfr);
    EXPECT_EQ(sfr->router, (GridPos{cube % 2 * 4, cube / 2 * 2}));
    EXPECT_EQ(sfr->port, RouterPort::pe);
  }
}

TEST(Routing, AddressesThatNoStopServes) {
  const Topology topology{4, 2, 2, 2, 1024};
  EXPECT_FALSE(destination(topology, pad_address(4, 0)));
  EXPECT_FALSE(destination(topology, pad_address(0, 8)));
  EXPECT_FALSE(destination(topology, window(3, 8)));
  EXPECT_FALSE(destination(topology, make_address(CubeId{0}, Region::hbm, 8 * 1024)));
  EXPECT_FALSE(destination(topology, make_address(CubeId{0}, static_cast<Region>(4), 0)));
  EXPECT_FALSE(destination(topology, make_address(CubeId{1}, static_cast<Region>(15), 0)));
  EXPECT_FALSE(destination(topology, Address{1} << 63));
}

// ---- idle latency ----

struct Expected {
  const TestInitiator::Access* access;
  Ps done;
};

// Every pair of stops, reads and writes of several sizes, HBM and scratchpad, one at a time.
void check_idle_latency(NocMachine& machine, const std::vector<std::size_t>& sizes) {
  std::vector<Expected> expected;
  const Ps gap = 2000 * kPsPerNs;
  Ps at = gap;
  const int cubes = machine.topology.cubes();
  const int stops = machine.topology.stops();
  for (int from = 0; from < cubes * stops; ++from) {
    for (int to = 0; to < cubes * stops; ++to) {
      for (const std::size_t bytes : sizes) {
        const int a = from / stops, b = to / stops;
        auto& dma = *machine.stop(a, from % stops).dma;
        const Ps there = machine.one_way_ps(a, from % stops, b, to % stops, 0);
        const Ps data = machine.one_way_ps(a, from % stops, b, to % stops, bytes);
        const Address address = (to + bytes) % 2 == 0 ? hbm_address(b, to % stops, 256)
                                                      : pad_address(b, to % stops, 256);
        expected.push_back({&dma.read(address, bytes, at), at + there + data});
        at += gap;
        expected.push_back({&dma.write(address, pattern(bytes), at), at + data + there});
        at += gap;
      }
    }
  }
  sc_core::sc_start();
  for (const Expected& e : expected) {
    ASSERT_EQ(e.access->answers, 1);
    ASSERT_EQ(e.access->status, tlm::TLM_OK_RESPONSE);
    ASSERT_EQ(e.access->done - e.access->begun, e.done - e.access->at)
        << "address " << std::hex << e.access->address << std::dec << ", " << e.access->data.size()
        << " B, " << (e.access->command == tlm::TLM_READ_COMMAND ? "read" : "write");
  }
  EXPECT_EQ(machine.checkers.open(), 0u);
  EXPECT_EQ(machine.pool.in_use(), 0u);
}

const std::vector<std::size_t> kSizes{1, 127, 128, 129, 1000, 1024};

TEST(NocIdle, Mesh4x2) {
  NocMachine machine(mesh(4, 2));
  check_idle_latency(machine, kSizes);
}
TEST(NocIdle, Mesh1x5) {
  NocMachine machine(mesh(1, 5));
  check_idle_latency(machine, kSizes);
}
TEST(NocIdle, Mesh6x1) {
  NocMachine machine(mesh(6, 1));
  check_idle_latency(machine, kSizes);
}
TEST(NocIdle, Mesh1x1) {
  NocMachine machine(mesh(1, 1));
  check_idle_latency(machine, kSizes);
}
TEST(NocIdle, Mesh3x3) {
  NocMachine machine(mesh(3, 3));
  check_idle_latency(machine, kSizes);
}
TEST(NocIdle, Mesh5x2) {
  NocMachine machine(mesh(5, 2));
  check_idle_latency(machine, kSizes);
}
TEST(NocIdle, ManyRowsOfOne) {
  NocMachine machine(mesh(1, 40));
  check_idle_latency(machine, {200});
}
TEST(NocIdle, OtherWidthsAndCycles) {
  NocConfig config = mesh(2, 2);
  config.clock = Clock{1.5e9};
  config.planes = 3;
  config.plane_bytes_per_cycle = 16;
  config.hop_cycles = 2;
  config.interface_inject_cycles = 1;
  config.interface_eject_cycles = 0;
  NocMachine machine(config);
  check_idle_latency(machine, kSizes);
}
TEST(NocIdle, TwoCubes) {
  NocMachine machine(mesh(4, 2), 2, 1);
  check_idle_latency(machine, {1, 128, 1024});
}
TEST(NocIdle, TwoByTwoCubesOfOneStop) {
  NocMachine machine(mesh(1, 1), 2, 2);
  check_idle_latency(machine, kSizes);
}
TEST(NocIdle, SeveralCubesAwayOverASlowLink) {
  NocMachine machine(mesh(2, 1), 3, 2, {{100e9}, 1.0, 250 * kPsPerNs, 0, 0});
  check_idle_latency(machine, {1, 64, 1024});
}

TEST(NocIdle, SamePeOfTheNeighbouringCubeIsTheConfiguredLatencyAway) {
  const NocConfig config;
  NocMachine machine(config, 3, 3);
  const int neighbours[] = {5, 3, 1, 7};  // E, W, N, S of cube 4
  std::vector<const TestInitiator::Access*> accesses;
  Ps at = 0;
  for (const int cube : neighbours) {
    for (int pe = 0; pe < 8; ++pe) {
      at += 1000 * kPsPerNs;
      accesses.push_back(&machine.stop(4, pe).message->message(window(cube, pe), pattern(512), at));
    }
  }
  sc_core::sc_start();
  std::size_t i = 0;
  for (const int cube : neighbours) {
    for (int pe = 0; pe < 8; ++pe, ++i) {
      const auto& arrivals = machine.stop(cube, pe).messages->arrivals();
      ASSERT_EQ(arrivals.size(), 1u);
      EXPECT_EQ(arrivals[0].at - accesses[i]->at,
                30 * kPsPerNs + hw::noc_serialisation_ps(config, 512))
          << "cube " << cube << " pe " << pe;
      EXPECT_EQ(accesses[i]->status, tlm::TLM_OK_RESPONSE);
    }
  }
}

// ---- contention ----

double gb_per_s(std::uint64_t bytes, Ps time) {
  return static_cast<double>(bytes) * 1000.0 / static_cast<double>(time);
}

TEST(NocThroughput, OneStreamFillsAChannel) {
  NocMachine machine(mesh(4, 1));
  auto& dma = *machine.stop(0, 0).dma;
  const int n = 400;
  for (int i = 0; i < n; ++i) {
    dma.write(hbm_address(0, 3, 1024u * static_cast<unsigned>(i)), pattern(1024));
  }
  sc_core::sc_start();
  EXPECT_TRUE(dma.all_done());
  const auto& arrivals = machine.stop(0, 3).hbm->arrivals();
  ASSERT_EQ(arrivals.size(), static_cast<std::size_t>(n));
  EXPECT_EQ(arrivals.back().at - arrivals.front().at, (n - 1) * 4 * kPsPerNs);  // 256 GB/s
}

TEST(NocThroughput, OneFlitPacketsFillAChannel) {
  NocMachine machine(mesh(4, 1));
  auto& dma = *machine.stop(0, 0).dma;
  const int n = 400;
  for (int i = 0; i < n; ++i) {
    dma.write(hbm_address(0, 3, 64u * static_cast<unsigned>(i)), pattern(64));
  }
  sc_core::sc_start();
  const auto& arrivals = machine.stop(0, 3).hbm->arrivals();
  ASSERT_EQ(arrivals.size(), static_cast<std::size_t>(n));
  EXPECT_EQ(arrivals.back().at - arrivals.front().at, (n - 1) * 500);
}

TEST(NocThroughput, TwoStreamsShareALinkInHalves) {
  NocMachine machine(mesh(4, 1));
  const int n = 400;
  for (int i = 0; i < n; ++i) {
    const auto offset = 1024u * static_cast<unsigned>(i);
    machine.stop(0, 0).dma->write(hbm_address(0, 2, offset), pattern(1024));
    machine.stop(0, 1).dma->write(hbm_address(0, 3, offset), pattern(1024));
  }
  sc_core::sc_start();
  const auto& a = machine.stop(0, 2).hbm->arrivals();
  const auto& b = machine.stop(0, 3).hbm->arrivals();
  ASSERT_EQ(a.size(), static_cast<std::size_t>(n));
  ASSERT_EQ(b.size(), static_cast<std::size_t>(n));
  for (const auto* arrivals : {&a, &b}) {
    const Ps time = arrivals->back().at - arrivals->front().at;
    EXPECT_NEAR(gb_per_s(1024u * (n - 1), time), 128.0, 1.0);
  }
  EXPECT_EQ(machine.checkers.open(), 0u);
}

TEST(NocThroughput, UnequalDistancesToAHotspotAreStillServed) {
  // Locally fair arbitration halves the share at each merge; nobody starves.
  NocMachine machine(mesh(4, 1));
  const int n = 100;
  for (int i = 0; i < n; ++i) {
    for (int s = 0; s < 3; ++s) {
      machine.stop(0, s).dma->write(hbm_address(0, 3, 1024u * static_cast<unsigned>(i * 3 + s)),
                                    pattern(1024));
    }
  }
  sc_core::sc_start();
  for (int s = 0; s < 3; ++s) {
    EXPECT_TRUE(machine.stop(0, s).dma->all_done());
  }
  const auto& arrivals = machine.stop(0, 3).hbm->arrivals();
  EXPECT_EQ(arrivals.back().at - arrivals.front().at, (3 * n - 1) * 4 * kPsPerNs);
}

TEST(NocThroughput, ReadsOfTwoSharersSplitTheResponseChannel) {
  NocMachine machine(mesh(4, 1));
  const int n = 200;
  for (int i = 0; i < n; ++i) {
    const auto offset = 1024u * static_cast<unsigned>(i);
    machine.stop(0, 0).dma->read(hbm_address(0, 3, offset), 1024);
    machine.stop(0, 1).dma->read(hbm_address(0, 3, (1u << 19) + offset), 1024);
  }
  sc_core::sc_start();
  Ps first = -1, last = 0;
  for (int s = 0; s < 2; ++s) {
    auto& dma = *machine.stop(0, s).dma;
    EXPECT_TRUE(dma.all_done());
    for (const auto& access : dma.accesses()) {
      first = first < 0 ? access->done : std::min(first, access->done);
      last = std::max(last, access->done);
    }
  }
  // The answers leave the memory's port one after the other without a gap.
  EXPECT_NEAR(gb_per_s(1024u * (2 * n - 1), last - first), 256.0, 3.0);
}

TEST(NocContention, ResponsesAndRequestsShareTheirDirectionsChannel) {
  // Stop 1 writes westwards to stop 0 while stop 0's reads of stop 1 send data westwards too.
  NocMachine machine(mesh(2, 1));
  const int n = 200;
  for (int i = 0; i < n; ++i) {
    const auto offset = 1024u * static_cast<unsigned>(i);
    machine.stop(0, 0).dma->read(hbm_address(0, 1, offset), 1024);
    machine.stop(0, 1).dma->write(hbm_address(0, 0, offset), pattern(1024));
  }
  sc_core::sc_start();
  const Ps end = std::max(machine.stop(0, 0).dma->last_done(), machine.stop(0, 1).dma->last_done());
  EXPECT_GE(end, 2 * n * 4 * kPsPerNs);
  EXPECT_LE(end, 2 * n * 4 * kPsPerNs + 400 * kPsPerNs);
}

TEST(NocChannels, ABlockedRequestChannelLetsMessagesAndResponsesPass) {
  NocMachine machine(mesh(4, 1));
  TestTarget::Timing blocked;
  blocked.blocked = true;
  machine.stop(0, 3).hbm->set_timing(blocked);
  for (int i = 0; i < 200; ++i) {  // fills every buffer from stop 0 to stop 3
    machine.stop(0, 0).dma->write(hbm_address(0, 3, 1024u * static_cast<unsigned>(i)),
                                  pattern(1024));
  }
  const Ps at = 1000 * kPsPerNs;
  const auto& message = machine.stop(0, 0).message->message(window(0, 3), pattern(256), at);
  machine.stop(0, 3).dma->read(hbm_address(0, 0), 1024, at);  // its answer follows the same way
  sc_core::sc_start();
  EXPECT_FALSE(machine.stop(0, 0).dma->all_done());
  EXPECT_EQ(machine.stop(0, 3).hbm->arrivals().size(), 1u);
  EXPECT_EQ(message.answers, 1);
  EXPECT_EQ(message.done - at,
            machine.one_way_ps(0, 0, 0, 3, 256) + machine.one_way_ps(0, 0, 0, 3, 0));
  EXPECT_TRUE(machine.stop(0, 3).dma->all_done());
}

TEST(NocChannels, ABlockedTargetHoldsWhatTheBuffersHoldAndThenLosesNothing) {
  NocMachine machine(mesh(4, 1));
  TestTarget::Timing timing;
  timing.blocked = true;
  timing.depth = 2;
  timing.interval_ps = 10 * kPsPerNs;
  machine.stop(0, 3).hbm->set_timing(timing);
  const int n = 100;
  for (int i = 0; i < n; ++i) {
    machine.stop(0, 0).dma->write(hbm_address(0, 3, 1024u * static_cast<unsigned>(i)),
                                  pattern(1024, static_cast<unsigned>(i)));
  }
  machine.stop(0, 3).hbm->unblock(5000 * kPsPerNs);
  std::size_t accepted_while_blocked = 0;
  sc_core::sc_start();
  for (const auto& access : machine.stop(0, 0).dma->accesses()) {
    accepted_while_blocked += access->accepted >= 0 && access->accepted < 5000 * kPsPerNs;
  }
  // Four packets in the input buffer of each of four routers and of the last interface.
  EXPECT_EQ(accepted_while_blocked, 20u);
  EXPECT_TRUE(machine.stop(0, 0).dma->all_done());
  const auto& arrivals = machine.stop(0, 3).hbm->arrivals();
  ASSERT_EQ(arrivals.size(), static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(arrivals[size_t(i)].address, hbm_address(0, 3, 1024u * static_cast<unsigned>(i)));
    EXPECT_EQ(machine.stop(0, 3).hbm->byte(hbm_address(0, 3, 1024u * static_cast<unsigned>(i) + 5)),
              pattern(1024, static_cast<unsigned>(i))[5]);
  }
  EXPECT_EQ(machine.checkers.open(), 0u);
  EXPECT_EQ(machine.pool.in_use(), 0u);
}

// Uniform random reads, writes and messages, all at once; every one answered exactly once with the
// right bytes.
void flood(NocMachine& machine, unsigned accesses_per_stop, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  const auto cubes = static_cast<unsigned>(machine.topology.cubes());
  const auto stops = static_cast<unsigned>(machine.topology.stops());
  std::vector<std::size_t> messages_to(cubes * stops, 0);
  std::uint64_t slot = 0;
  for (unsigned i = 0; i < accesses_per_stop; ++i) {
    for (unsigned s = 0; s < cubes * stops; ++s) {
      auto& stop = machine.stop(static_cast<int>(s / stops), static_cast<int>(s % stops));
      const int cube = below(cubes), to = below(stops);
      const auto bytes = static_cast<std::size_t>(1 + below(1024));
      ++slot;
      switch (below(4)) {
        case 0:
          stop.dma->write(hbm_address(cube, to, slot * 1024 % NocMachine::kSlabBytes),
                          pattern(bytes, s));
          break;
        case 1:
          stop.dma->read(hbm_address(cube, to, slot * 1024 % NocMachine::kSlabBytes), bytes);
          break;
        case 2:
          stop.cpu->read(pad_address(cube, to, 64), bytes);
          break;
        default:
          stop.message->message(window(cube, to), pattern(bytes));
          ++messages_to[static_cast<unsigned>(cube) * stops + static_cast<unsigned>(to)];
      }
    }
  }
  sc_core::sc_start();
  for (unsigned s = 0; s < cubes * stops; ++s) {
    auto& stop = machine.stop(static_cast<int>(s / stops), static_cast<int>(s % stops));
    EXPECT_TRUE(stop.dma->all_done());
    EXPECT_TRUE(stop.cpu->all_done());
    EXPECT_TRUE(stop.message->all_done());
    EXPECT_EQ(stop.messages->arrivals().size(), messages_to[s]);
  }
  EXPECT_EQ(machine.checkers.open(), 0u);
  EXPECT_EQ(machine.pool.in_use(), 0u);
}

TEST(NocFlood, OneCube) {
  NocMachine machine(mesh(4, 2));
  flood(machine, 300, 1);
}
TEST(NocFlood, FourByFour) {
  NocMachine machine(mesh(4, 4));
  flood(machine, 150, 2);
}
TEST(NocFlood, SmallBuffersManyCubes) {
  NocConfig config = mesh(2, 2);
  config.buffer_packets = 1;
  NocMachine machine(config, 3, 3);
  flood(machine, 40, 3);
}
TEST(NocFlood, SlowTargetsOfEveryKind) {
  NocMachine machine(mesh(4, 2), 2, 1);
  for (int c = 0; c < 2; ++c) {
    for (int s = 0; s < 8; ++s) {
      TestTarget::Timing timing;
      timing.latency_ps = 100 * kPsPerNs;
      timing.interval_ps = 7 * kPsPerNs;
      timing.depth = 3;
      machine.stop(c, s).hbm->set_timing(timing);
      timing.depth = 1;
      machine.stop(c, s).messages->set_timing(timing);
      timing.complete_early = true;
      machine.stop(c, s).scratchpad->set_timing(timing);
    }
  }
  flood(machine, 60, 4);
}
TEST(NocFlood, InitiatorsThatEndResponsesLate) {
  NocMachine machine(mesh(3, 2));
  for (int s = 0; s < 6; ++s) {
    machine.stop(0, s).dma->end_resp_after_ps = 20 * kPsPerNs;
    machine.stop(0, s).cpu->end_resp_after_ps = 0;
  }
  flood(machine, 60, 5);
}
TEST(NocFlood, PacketsLargerThanTheirBuffers) {
  NocConfig config = mesh(3, 1);
  config.buffer_packets = 1;
  config.packet_bytes = 256;
  NocMachine machine(config);
  flood(machine, 60, 6);
}
TEST(NocFlood, LossyLinksLoseNothing) {
  hw::LinkConfig link;
  link.flit_error_rate = 0.2;
  NocMachine machine(mesh(2, 1), 2, 2, link);
  flood(machine, 60, 7);
}

// ---- errors ----

TEST(NocErrors, UnservedAddressesAreAnsweredWhereTheyEnter) {
  NocMachine machine(mesh(4, 2), 2, 1);
  auto& dma = *machine.stop(0, 5).dma;
  const Ps gap = 100 * kPsPerNs;
  std::vector<const TestInitiator::Access*> bad;
  for (const Address address : {pad_address(2, 0), pad_address(0, 8), hbm_address(1, 8),
                                Address{4} << 36, window(255, 255), Address{1} << 50}) {
    bad.push_back(&dma.read(address, 64, gap * Ps(bad.size() + 1)));
  }
  const auto& good = dma.read(hbm_address(0, 5), 64, 10 * gap);
  sc_core::sc_start();
  for (const auto* access : bad) {
    EXPECT_EQ(access->status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(access->answers, 1);
    EXPECT_EQ(access->done - access->begun, 10 * 500);  // inject + eject
  }
  EXPECT_EQ(good.status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(machine.pool.in_use(), 0u);
}

TEST(NocErrors, AMeshThatCannotBeBuiltIsRejected) {
  const Topology topology{4, 2, 1, 1, 1024};
  EXPECT_THROW(hw::Noc("a", mesh(0, 2), topology, {0, 0}), std::invalid_argument);
  EXPECT_THROW(hw::Noc("b", mesh(2, 2), topology, {0, 0}), std::invalid_argument);
  EXPECT_THROW(hw::Noc("c", mesh(4, 2), Topology{4, 2, 40, 2, 1024}, {0, 0}),
               std::invalid_argument);
}

// ---- blocking and debug transport, foreign initiators ----

TEST(NocBlocking, SameDelayAsTheIdleNetwork) {
  NocMachine machine(mesh(4, 2), 2, 2);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  for (const bool with_extension : {true, false}) {
    for (int to = 0; to < 32; ++to) {
      for (const std::size_t bytes : {4u, 128u, 1000u}) {
        auto data = pattern(bytes, static_cast<unsigned>(to));
        tlm::tlm_generic_payload plain;
        tlm::tlm_generic_payload& payload = with_extension ? machine.pool.allocate() : plain;
        auto& isock = machine.stop(1, 6).cpu->isock;
        const Ps there = machine.one_way_ps(1, 6, to / 8, to % 8, 0);
        const Ps with_data = machine.one_way_ps(1, 6, to / 8, to % 8, bytes);
        sc_core::sc_time delay = sim::to_sc_time(123);
        sim::set_access(payload, tlm::TLM_WRITE_COMMAND, hbm_address(to / 8, to % 8), data.data(),
                        bytes);
        isock->b_transport(payload, delay);
        EXPECT_EQ(sim::to_ps(delay), 123 + with_data + there);
        EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
        std::vector<unsigned char> back(bytes);
        delay = sc_core::SC_ZERO_TIME;
        sim::set_access(payload, tlm::TLM_READ_COMMAND, hbm_address(to / 8, to % 8), back.data(),
                        bytes);
        isock->b_transport(payload, delay);
        EXPECT_EQ(sim::to_ps(delay), there + with_data);
        EXPECT_EQ(back, data);
        if (with_extension) {
          payload.release();
        } else {
          EXPECT_EQ(sim::extension(payload), nullptr);
        }
      }
    }
  }
}

TEST(NocBlocking, DebugReachesEverywhereAndErrorsAreReported) {
  NocMachine machine(mesh(3, 2), 2, 2);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  tlm::tlm_generic_payload payload;
  auto& isock = machine.stop(0, 4).cpu->isock;
  for (int to = 0; to < 24; ++to) {
    auto data = pattern(300, static_cast<unsigned>(to));
    sim::set_access(payload, tlm::TLM_WRITE_COMMAND, pad_address(to / 6, to % 6, 3), data.data(),
                    300);
    EXPECT_EQ(isock->transport_dbg(payload), 300u);
    EXPECT_EQ(machine.stop(to / 6, to % 6).scratchpad->byte(pad_address(to / 6, to % 6, 302)),
              data[299]);
  }
  unsigned char byte = 0;
  for (const Address address : {pad_address(4, 0), pad_address(0, 6), hbm_address(0, 6)}) {
    sim::set_access(payload, tlm::TLM_READ_COMMAND, address, &byte, 1);
    EXPECT_EQ(isock->transport_dbg(payload), 0u);
    EXPECT_EQ(payload.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    sc_core::sc_time delay;
    sim::set_access(payload, tlm::TLM_READ_COMMAND, address, &byte, 1);
    isock->b_transport(payload, delay);
    EXPECT_EQ(payload.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
  sim::set_access(payload, tlm::TLM_READ_COMMAND, make_address(CubeId{3}, Region::sfr, 0), &byte,
                  1);
  EXPECT_EQ(isock->transport_dbg(payload), 1u);
}

TEST(NocForeign, AnInitiatorWithoutTheExtensionWorks) {
  const NocConfig config = mesh(2, 1);
  const Topology topology{2, 1, 1, 1, NocMachine::kSlabBytes};
  hw::Noc noc("noc", config, topology, {0, 0});
  test::ForeignPool pool;
  TestInitiator initiator("initiator", pool);
  TestTarget hbm("hbm"), messages("messages");
  test::ProtocolCheckers checkers;
  checkers.bind(initiator.isock, noc.ni_pe(0).dma_tsock);
  checkers.bind(noc.ni_hbm(1).hbm_isock, hbm.tsock);
  checkers.bind(noc.ni_pe(1).message_isock, messages.tsock);
  for (unsigned i = 0; i < 20; ++i) {
    initiator.write(hbm_address(0, 1, 1024 * i), pattern(1024, i));
    initiator.write(window(0, 1, 64 * i), pattern(64, i));
    initiator.read(hbm_address(0, 1, 1024 * i), 1024);
  }
  const auto& unbound = initiator.read(pad_address(0, 1), 4);
  sc_core::sc_start();
  EXPECT_TRUE(initiator.all_done());
  EXPECT_EQ(unbound.status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(messages.arrivals().size(), 20u);
  EXPECT_EQ(pool.in_use(), 0);
  EXPECT_EQ(checkers.open(), 0u);
}

// ---- statistics ----

TEST(NocStats, BytesPacketsHopsAndBusyTime) {
  NocMachine machine(mesh(4, 1));
  auto& dma = *machine.stop(0, 0).dma;
  for (unsigned i = 0; i < 10; ++i) {
    dma.write(hbm_address(0, 2, 1024 * i), pattern(1024));
  }
  dma.read(hbm_address(0, 2), 256);
  sc_core::sc_start();
  std::uint64_t hop_bytes = 0;
  for (std::size_t s = 0; s < 4; ++s) {
    hop_bytes += machine.cubes[0].noc->router(s).stats().more.at("flit_hops_bytes");
  }
  EXPECT_EQ(hop_bytes, 2u * (10 * 1024 + 256));
  hw::Router& router = machine.cubes[0].noc->router(1);
  EXPECT_EQ(router.stats().ops, 22u);  // eleven requests and their answers
  EXPECT_EQ(router.stats().bytes, 10 * 1024u + 256);
  EXPECT_EQ(router.stats().busy_ps, 10 * 4000 + 500);  // eastwards
  router.reset_stats();
  EXPECT_EQ(router.stats().ops, 0u);
  EXPECT_EQ(router.stats().busy_ps, 0);
}

}  // namespace
}  // namespace cubevp
