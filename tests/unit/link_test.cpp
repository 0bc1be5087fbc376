// SPDX-License-Identifier: Apache-2.0
#include "hw/link/cube_link.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <vector>

#include "hw/link/link_timing.h"
#include "tests/unit/noc_harness.h"

namespace cubevp {
namespace {

using hw::CubeLink;
using hw::LinkConfig;
using hw::LinkPorts;
using test::hbm_address;
using test::NocMachine;
using test::pad_address;
using test::pattern;

hw::NocConfig mesh(std::uint32_t columns, std::uint32_t rows) {
  hw::NocConfig config;
  config.columns = columns;
  config.rows = rows;
  return config;
}

// ---- closed forms ----

TEST(LinkTiming, FlightIsWhatRemainsOfTheNeighbourLatency) {
  const LinkConfig config;
  EXPECT_EQ(hw::link_flight_ps(config, 5000, 3, 4500), 11500);
  EXPECT_EQ(hw::link_flight_ps(config, 5000, 1, 4500), 20500);
  EXPECT_LT(hw::link_flight_ps(config, 5000, 6, 4500), 0);
}

TEST(LinkTiming, SerialisationAtTheEffectiveBandwidth) {
  const LinkConfig config;                                   // 460.8 GB/s
  EXPECT_EQ(hw::link_serialisation_ps(config, 1024), 2223);  // 2222.2
  EXPECT_EQ(hw::link_serialisation_ps(config, 4608), 10000);
  EXPECT_EQ(hw::link_serialisation_ps(config, 0), 139);  // one flit of 64 B: 138.9
  EXPECT_EQ(hw::link_serialisation_ps(config, 64), 139);
}

TEST(LinkTiming, CreditsCoverTheRoundTripOfTheSmallestPackets) {
  LinkConfig config;
  const std::uint32_t credits = hw::link_credits(config, 11500);
  EXPECT_GE(credits * 139, 2 * 11500 + 139);
  EXPECT_LT((credits - 1) * 139, 2 * 11500 + 139);
  config.credits = 7;
  EXPECT_EQ(hw::link_credits(config, 11500), 7u);
  EXPECT_EQ(hw::link_replay_ps(config, 11500, 1024), 2 * 11500 + 2223);
}

TEST(LinkConfigErrors, WhatCannotBeBuiltIsRejected) {
  const auto build = [](const LinkConfig& config, const LinkPorts& ports) {
    CubeLink link("link", config, ports);
  };
  LinkPorts ports;
  ports.flight_ps = -1;
  EXPECT_THROW(build({}, ports), std::invalid_argument);
  ports.flight_ps = 0;
  LinkConfig config;
  config.bandwidth.bytes_per_s = 0;
  EXPECT_THROW(build(config, ports), std::invalid_argument);
  config = {};
  config.efficiency = 1.5;
  EXPECT_THROW(build(config, ports), std::invalid_argument);
  config = {};
  config.flit_error_rate = 1;
  EXPECT_THROW(build(config, ports), std::invalid_argument);
  config.flit_error_rate = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(build(config, ports), std::invalid_argument);
  ports.positions = 0;
  EXPECT_THROW(build({}, ports), std::invalid_argument);
}

// ---- throughput ----

// Writes from every stop of a column of cube 0 to its counterpart in cube 1; bytes a second.
double streamed_gb_per_s(const LinkConfig& link, std::uint32_t rows, std::size_t bytes, int n) {
  NocMachine machine(mesh(1, rows), 2, 1, link);
  for (int i = 0; i < n; ++i) {
    for (int s = 0; s < static_cast<int>(rows); ++s) {
      machine.stop(0, s).dma->write(hbm_address(1, s, bytes * static_cast<unsigned>(i)),
                                    pattern(bytes));
    }
  }
  sc_core::sc_start();
  Ps first = std::numeric_limits<Ps>::max(), last = 0;
  for (int s = 0; s < static_cast<int>(rows); ++s) {
    const auto& arrivals = machine.stop(1, s).hbm->arrivals();
    EXPECT_EQ(arrivals.size(), static_cast<std::size_t>(n));
    first = std::min(first, arrivals.front().at);
    last = std::max(last, arrivals.back().at);
  }
  EXPECT_EQ(machine.checkers.open(), 0u);
  EXPECT_EQ(machine.cubes[0].links[0]->stats().bytes, bytes * static_cast<unsigned>(n) * rows);
  return static_cast<double>(bytes) * (n * static_cast<int>(rows) - 1) * 1000.0 /
         static_cast<double>(last - first);
}

TEST(LinkThroughput, TwoRowsTogetherAreBoundByTheWire) {
  EXPECT_NEAR(streamed_gb_per_s({}, 2, 1024, 300), 460.8, 1.5);
}
TEST(LinkThroughput, OneRowIsBoundByItsMeshChannel) {
  EXPECT_NEAR(streamed_gb_per_s({}, 1, 1024, 300), 256.0, 0.5);
}
TEST(LinkThroughput, APackageLinkAtItsOwn) {
  EXPECT_NEAR(streamed_gb_per_s({{100e9}, 1.0, 250 * kPsPerNs, 0, 0}, 2, 1024, 200), 100.0, 0.2);
}

// One packet of the train goes each round trip and credit: out, into the router, and back.
void check_credits(std::uint32_t credits) {
  LinkConfig link;
  link.credits = credits;
  const double measured = streamed_gb_per_s(link, 1, 1024, 300);
  const double flight = 30000 - 5000;           // one column: no hops
  const double round_trip = 2 * flight + 4000;  // its tail leaves at the mesh's pace
  EXPECT_NEAR(measured, std::min(256.0, credits * 1024 * 1000.0 / round_trip), 2.0) << credits;
}
TEST(LinkThroughput, OneCreditGivesOnePacketARoundTrip) {
  check_credits(1);
}
TEST(LinkThroughput, FourCreditsGiveFour) {
  check_credits(4);
}
TEST(LinkThroughput, EnoughCreditsGiveAll) {
  check_credits(20);
}

TEST(LinkThroughput, CreditsOfARequestChannelDoNotHoldMessages) {
  LinkConfig link;
  link.credits = 1;
  NocMachine machine(mesh(1, 1), 2, 1, link);
  test::TestTarget::Timing blocked;
  blocked.blocked = true;
  machine.stop(1, 0).hbm->set_timing(blocked);
  for (unsigned i = 0; i < 40; ++i) {
    machine.stop(0, 0).dma->write(hbm_address(1, 0, 1024 * i), pattern(1024));
  }
  const Ps at = 3000 * kPsPerNs;
  const auto& message = machine.stop(0, 0).message->message(
      message_window_address(CubeId{1}, PeId{0}, RankAxis::cube, Direction::west), pattern(128),
      at);
  sc_core::sc_start();
  EXPECT_FALSE(machine.stop(0, 0).dma->all_done());
  EXPECT_EQ(message.done - at,
            machine.one_way_ps(0, 0, 1, 0, 128) + machine.one_way_ps(1, 0, 0, 0, 0));
}

// ---- errors ----

TEST(LinkReplay, EachFailureCostsARoundTripAndIsTheSameEveryRun) {
  LinkConfig link;
  link.flit_error_rate = 0.3;
  NocMachine machine(mesh(1, 1), 2, 1, link);
  auto& dma = *machine.stop(0, 0).dma;
  const Ps gap = 1000 * kPsPerNs;
  for (int i = 0; i < 40; ++i) {
    dma.write(hbm_address(1, 0), pattern(1024), gap * (i + 1));
  }
  sc_core::sc_start();
  CubeLink& out = *machine.cubes[0].links[0];
  CubeLink& back = *machine.cubes[1].links[1];
  const Ps idle = machine.one_way_ps(0, 0, 1, 0, 1024);
  const Ps replay = hw::link_replay_ps(link, 25000, 1024);
  Ps failures = 0;
  std::vector<int> tries;
  const auto& arrivals = machine.stop(1, 0).hbm->arrivals();
  ASSERT_EQ(arrivals.size(), 40u);
  for (std::size_t i = 0; i < 40; ++i) {
    const Ps extra = arrivals[i].at - gap * Ps(i + 1) - idle;
    EXPECT_EQ(extra % replay, 0);
    failures += extra / replay;
    if (i < 12) {
      tries.push_back(static_cast<int>(extra / replay));
    }
  }
  EXPECT_EQ(out.errors(), failures);
  EXPECT_EQ(out.stats().more.at("replays"), static_cast<std::uint64_t>(failures));
  EXPECT_GT(failures, 4);
  EXPECT_LT(failures, 40);
  // What the generator gives for the name "link_0_0", worked out apart from the model.
  EXPECT_EQ(tries, (std::vector<int>{0, 1, 0, 1, 1, 1, 0, 0, 0, 1, 1, 0}));
  EXPECT_GT(back.errors(), 0u);  // acknowledgements fail too
  EXPECT_TRUE(dma.all_done());

  out.clear_errors(~0u);
  EXPECT_EQ(out.errors(), 0u);
  EXPECT_EQ(out.stats().more.at("replays"), static_cast<std::uint64_t>(failures));
}

TEST(LinkReplay, ALinkWithoutErrorsHasNone) {
  NocMachine machine(mesh(1, 1), 2, 1);
  for (unsigned i = 0; i < 100; ++i) {
    machine.stop(0, 0).dma->write(hbm_address(1, 0, 1024 * i), pattern(1024));
  }
  sc_core::sc_start();
  EXPECT_EQ(machine.cubes[0].links[0]->errors(), 0u);
}

TEST(LinkWiring, AnUnwiredSideAnswersWithAnAddressError) {
  NocMachine machine(mesh(2, 2), 2, 1, {}, false);
  EXPECT_FALSE(machine.cubes[0].links[0]->wired());
  std::vector<const test::TestInitiator::Access*> accesses;
  for (int s = 0; s < 4; ++s) {
    accesses.push_back(&machine.stop(0, s).dma->write(hbm_address(1, s), pattern(1024)));
    accesses.push_back(&machine.stop(0, s).cpu->read(pad_address(1, s), 64));
  }
  sc_core::sc_start();
  for (const auto* access : accesses) {
    EXPECT_EQ(access->answers, 1);
    EXPECT_EQ(access->status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_NE(access->fault.find("link_0_0 is not wired"), std::string::npos);
  }
  auto data = pattern(4);
  tlm::tlm_generic_payload payload;
  sim::set_access(payload, tlm::TLM_READ_COMMAND, hbm_address(1, 0), data.data(), 4);
  EXPECT_EQ(machine.stop(0, 0).cpu->isock->transport_dbg(payload), 0u);
  sc_core::sc_time delay;
  sim::set_access(payload, tlm::TLM_READ_COMMAND, hbm_address(1, 0), data.data(), 4);
  machine.stop(0, 0).cpu->isock->b_transport(payload, delay);
  EXPECT_EQ(payload.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(machine.pool.in_use(), 0u);
}

TEST(LinkWiring, StatusIsPerSide) {
  NocMachine machine(mesh(1, 1), 2, 2);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const auto wired = [&](int cube, Direction side) {
    return machine.cubes[size_t(cube)].links[size_t(index(side))]->wired();
  };
  EXPECT_TRUE(wired(0, Direction::east));
  EXPECT_TRUE(wired(0, Direction::south));
  EXPECT_FALSE(wired(0, Direction::west));
  EXPECT_FALSE(wired(0, Direction::north));
  EXPECT_TRUE(wired(3, Direction::west));
  EXPECT_TRUE(wired(3, Direction::north));
}

TEST(LinkStats, BusyTimeBytesAndTrace) {
  struct Sink : sim::TraceSink {
    struct Change {
      std::string signal;
      std::uint64_t value;
      Ps at;
      bool operator==(const Change& o) const {
        return signal == o.signal && value == o.value && at == o.at;
      }
    };
    void change(const sim::TraceSignal& signal, std::uint64_t value, Ps at) override {
      changes.push_back({signal.name(), value, at});
    }
    std::uint64_t text(const sim::TraceSignal&, const char*) override { return 0; }
    std::vector<Change> changes;
  } sink;
  NocMachine machine(mesh(1, 1), 2, 1);
  CubeLink& link = *machine.cubes[0].links[0];
  for (sim::TraceSignal* signal : link.trace_signals()) {
    signal->attach(&sink);
  }
  machine.stop(0, 0).dma->write(hbm_address(1, 0), pattern(1024), 1000);
  machine.stop(0, 0).dma->read(hbm_address(1, 0), 512, 100000);
  sc_core::sc_start();
  EXPECT_EQ(link.stats().bytes, 1024u);
  EXPECT_EQ(link.stats().ops, 2u);
  EXPECT_EQ(link.stats().busy_ps, 2223 + 139);
  EXPECT_STREQ(link.stats_kind(), "link");
  const Ps start = 1000 + 2500;  // injected
  const std::vector<Sink::Change> expected{{"busy", 1, start},
                                           {"busy", 0, start + 2223},
                                           {"bytes_in_flight", 1024, start},
                                           {"bytes_in_flight", 0, start + 2223 + 25000}};
  ASSERT_GE(sink.changes.size(), 4u);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), sink.changes.begin()));
  link.reset_stats();
  EXPECT_EQ(link.stats().ops, 0u);
}

}  // namespace
}  // namespace cubevp
