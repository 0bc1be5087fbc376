// SPDX-License-Identifier: Apache-2.0
#include "hw/noc/router.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "hw/noc/noc_timing.h"
#include "hw/sim/credit_phase.h"

namespace cubevp {
namespace {

using hw::NocConfig;
using hw::Router;
using hw::RouterPort;
using sim::MessageClass;

// What a router's port meets, with the test in charge of when credits go back.
class Peer : public sc_core::sc_module {
 public:
  struct Event {
    Ps at;
    tlm::tlm_generic_payload* payload;
  };
  tlm_utils::simple_initiator_socket<Peer> isock{"isock"};
  tlm_utils::simple_target_socket<Peer> tsock{"tsock"};
  std::vector<Event> requests, responses;                // heads that arrived
  std::vector<Event> request_credits, response_credits;  // of what this peer sent
  bool return_credits = true;

  Peer(const sc_core::sc_module_name& name, Router& router, RouterPort port) : sc_module(name) {
    tsock.register_nb_transport_fw(this, &Peer::fw);
    isock.register_nb_transport_bw(this, &Peer::bw);
    isock.bind(router.tsocks[size_t(index(port))]);
    router.isocks[size_t(index(port))].bind(tsock);
  }
  void send(tlm::tlm_generic_payload& payload, Ps after = 0) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time t = sim::to_sc_time(after);
    EXPECT_EQ(isock->nb_transport_fw(payload, phase, t), tlm::TLM_UPDATED);
    EXPECT_EQ(phase, tlm::END_REQ);
  }
  void respond(tlm::tlm_generic_payload& payload) {
    sim::extension(payload)->tail_lag_ps = 0;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time t;
    EXPECT_EQ(tsock->nb_transport_bw(payload, phase, t), tlm::TLM_COMPLETED);
  }
  void credit_request(tlm::tlm_generic_payload& payload, Ps after = 0) {
    tlm::tlm_phase phase = sim::vc_credit;
    sc_core::sc_time t = sim::to_sc_time(after);
    tsock->nb_transport_bw(payload, phase, t);
  }

 private:
  tlm::tlm_sync_enum fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                        sc_core::sc_time& delay) {
    const Event event{sim::now_ps() + sim::to_ps(delay), &payload};
    if (phase == tlm::BEGIN_REQ) {
      requests.push_back(event);
      if (return_credits) {
        credit_request(payload, sim::to_ps(delay));
      }
      phase = tlm::END_REQ;
      return tlm::TLM_UPDATED;
    }
    if (phase == sim::vc_credit) {
      response_credits.push_back(event);
    }
    return tlm::TLM_ACCEPTED;
  }
  tlm::tlm_sync_enum bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                        sc_core::sc_time& delay) {
    const Event event{sim::now_ps() + sim::to_ps(delay), &payload};
    if (phase == tlm::BEGIN_RESP) {
      responses.push_back(event);
      phase = tlm::END_RESP;
      return tlm::TLM_COMPLETED;
    }
    if (phase == sim::vc_credit) {
      request_credits.push_back(event);
    }
    return tlm::TLM_ACCEPTED;
  }
};

// The router of the middle of a 3x3 mesh, or another place, with a peer at every port.
struct Bench {
  explicit Bench(GridPos place = {1, 1}) : router("router", config, topology, place) {
    for (int port = 0; port < hw::kRouterPorts; ++port) {
      peers.push_back(std::make_unique<Peer>(("peer_" + std::to_string(port)).c_str(), router,
                                             static_cast<RouterPort>(port)));
    }
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  ~Bench() {
    for (auto* payload : payloads) {
      payload->release();
    }
    EXPECT_EQ(pool.in_use(), 0u);
  }
  Peer& peer(RouterPort port) { return *peers[size_t(index(port))]; }
  tlm::tlm_generic_payload& write(int column, int row, std::size_t bytes,
                                  MessageClass vc = MessageClass::request) {
    auto& payload = pool.allocate();
    const int stop = snake_index({column, row}, 3);
    sim::set_access(payload, tlm::TLM_WRITE_COMMAND,
                    scratchpad_address(CubeId{0}, static_cast<PeId>(stop), 0), pool.dummy_data(),
                    bytes);
    sim::extension(payload)->message_class = vc;
    payloads.push_back(&payload);
    return payload;
  }
  void run_until(Ps at) {
    if (at > sim::now_ps()) {
      sc_core::sc_start(sim::to_sc_time(at - sim::now_ps()));
    }
  }

  NocConfig config = [] {
    NocConfig c;
    c.columns = 3;
    c.rows = 3;
    return c;
  }();
  hw::Topology topology{3, 3, 1, 1, 1024};
  sim::PayloadPool pool;
  Router router;
  std::vector<std::unique_ptr<Peer>> peers;
  std::vector<tlm::tlm_generic_payload*> payloads;
};

TEST(RouterPorts, EveryDestinationLeavesByItsPort) {
  Bench bench;
  const struct {
    int column, row;
    RouterPort port;
  } ways[] = {{2, 0, RouterPort::east},  {2, 1, RouterPort::east},  {0, 2, RouterPort::west},
              {1, 0, RouterPort::north}, {1, 2, RouterPort::south}, {1, 1, RouterPort::pe}};
  for (const auto& way : ways) {
    auto& payload = bench.write(way.column, way.row, 128);
    const Ps sent = sim::now_ps() + 100;
    bench.peer(RouterPort::pe).send(payload, 100);
    bench.run_until(sent + 10000);
    ASSERT_EQ(bench.peer(way.port).requests.size(),
              way.port == RouterPort::east && way.row == 1 ? 2u : 1u);
    const Ps hop = way.port == RouterPort::pe ? 0 : 9 * 500;
    EXPECT_EQ(bench.peer(way.port).requests.back().at, sent + hop);
    EXPECT_EQ(sim::extension(payload)->tail_lag_ps, 500);
  }
}

TEST(RouterPorts, TheWayOffTheMeshIsFreeOfHops) {
  Bench bench({2, 2});
  bench.topology = {};
  auto& hbm = bench.pool.allocate();
  sim::set_access(hbm, tlm::TLM_READ_COMMAND, make_address(CubeId{0}, Region::hbm, 6 * 1024),
                  bench.pool.dummy_data(), 32);
  bench.peer(RouterPort::west).send(hbm, 100);  // stop 6 is at column 0, row 2
  bench.run_until(10000);
  ASSERT_EQ(bench.peer(RouterPort::west).requests.size(), 1u);
  EXPECT_EQ(bench.peer(RouterPort::west).requests[0].at, 100 + 4500);
  hbm.release();
}

TEST(RouterCredits, APlaceIsFreeWhenTheTailHasLeft) {
  Bench bench;
  auto& quick = bench.write(2, 1, 1024);
  bench.peer(RouterPort::west).send(quick);
  auto& slow = bench.write(1, 2, 128);
  sim::extension(slow)->tail_lag_ps = 10240;  // its body still comes over a slow link
  bench.peer(RouterPort::north).send(slow);
  bench.run_until(1000);
  ASSERT_EQ(bench.peer(RouterPort::west).request_credits.size(), 1u);
  EXPECT_EQ(bench.peer(RouterPort::west).request_credits[0].at, 8 * 500);
  ASSERT_EQ(bench.peer(RouterPort::north).request_credits.size(), 1u);
  EXPECT_EQ(bench.peer(RouterPort::north).request_credits[0].at, 10240);
  EXPECT_EQ(sim::extension(slow)->tail_lag_ps, 10240);
}

TEST(RouterCredits, WithoutCreditsOnlyThatVirtualChannelStops) {
  Bench bench;
  Peer& east = bench.peer(RouterPort::east);
  east.return_credits = false;
  Ps t = 0;
  for (int i = 0; i < 6; ++i, t += 4000) {  // four fill the buffer behind the port
    bench.peer(RouterPort::west).send(bench.write(2, 1, 1024), t);
  }
  bench.run_until(100000);
  EXPECT_EQ(east.requests.size(), 4u);
  auto& message = bench.write(2, 1, 1024, MessageClass::message);
  bench.peer(RouterPort::west).send(message);
  bench.run_until(101000);
  ASSERT_EQ(east.requests.size(), 5u);
  EXPECT_EQ(east.requests.back().payload, &message);
  EXPECT_EQ(east.requests.back().at, 100000 + 4500);

  east.credit_request(*east.requests[0].payload, 77);
  bench.run_until(200000);
  ASSERT_EQ(east.requests.size(), 6u);                // one place, one packet
  EXPECT_EQ(east.requests.back().at, 104000 + 4500);  // the message had the channel until then
  east.credit_request(*east.requests[1].payload, 77);
  bench.run_until(300000);
  ASSERT_EQ(east.requests.size(), 7u);
  EXPECT_EQ(east.requests.back().at, 200000 + 77 + 4500);
}

TEST(RouterArbitration, InputsTakeTurns) {
  Bench bench;
  for (int i = 0; i < 4; ++i) {
    for (const RouterPort from : {RouterPort::west, RouterPort::north, RouterPort::pe}) {
      bench.peer(from).send(bench.write(2, 1, 1024), i * 100);
    }
  }
  bench.run_until(100000);
  const auto& out = bench.peer(RouterPort::east).requests;
  ASSERT_EQ(out.size(), 12u);
  std::vector<int> order;
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(out[i].at, static_cast<Ps>(i) * 4000 + 4500);  // no gaps
    order.push_back(sim::extension(*out[i].payload)->path[0]);
  }
  for (std::size_t i = 3; i < order.size(); ++i) {
    EXPECT_EQ(order[i], order[i - 3]);
    EXPECT_NE(order[i], order[i - 1]);
  }
}

TEST(RouterArbitration, AnInputSendsOnePacketAtATime) {
  Bench bench;
  bench.peer(RouterPort::west).send(bench.write(2, 1, 1024));
  bench.peer(RouterPort::west).send(bench.write(1, 2, 128), 1);  // another output, free
  bench.run_until(100000);
  ASSERT_EQ(bench.peer(RouterPort::south).requests.size(), 1u);
  EXPECT_EQ(bench.peer(RouterPort::south).requests[0].at, 4000 + 4500);
}

TEST(RouterResponses, GoBackTheWayTheyCame) {
  Bench bench;
  auto& payload = bench.write(2, 1, 1024);
  bench.peer(RouterPort::north).send(payload);
  bench.run_until(50000);
  bench.peer(RouterPort::east).respond(payload);
  bench.run_until(60000);
  ASSERT_EQ(bench.peer(RouterPort::north).responses.size(), 1u);
  EXPECT_EQ(bench.peer(RouterPort::north).responses[0].at, 50000 + 4500);
  ASSERT_EQ(bench.peer(RouterPort::east).response_credits.size(), 1u);
  EXPECT_EQ(bench.peer(RouterPort::east).response_credits[0].at, 50000 + 500);
  EXPECT_EQ(sim::extension(payload)->hops, 0);
}

TEST(RouterErrors, AMissingNeighbourIsAnAddressError) {
  NocConfig config;
  config.columns = 2;
  config.rows = 1;
  const hw::Topology topology{2, 1, 2, 1, 1024};
  sim::PayloadPool pool;
  Router router("router", config, topology, {1, 0});
  Peer west("west", router, RouterPort::west);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  auto& payload = pool.allocate();
  sim::set_access(payload, tlm::TLM_READ_COMMAND, scratchpad_address(CubeId{1}, PeId{0}, 0),
                  pool.dummy_data(), 64);
  west.send(payload);
  sc_core::sc_start(sim::to_sc_time(20000));
  ASSERT_EQ(west.responses.size(), 1u);
  EXPECT_EQ(payload.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(west.request_credits.size(), 1u);
  EXPECT_NE(sim::describe_error(payload).find("router"), std::string::npos);
  payload.release();
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST(RouterTrace, ShowsPacketsBuffered) {
  struct Sink : sim::TraceSink {
    void change(const sim::TraceSignal&, std::uint64_t value, Ps) override {
      values.push_back(value);
    }
    std::uint64_t text(const sim::TraceSignal&, const char*) override { return 0; }
    std::vector<std::uint64_t> values;
  } sink;
  Bench bench;
  ASSERT_EQ(bench.router.trace_signals().size(), 1u);
  bench.router.trace_signals()[0]->attach(&sink);
  for (const RouterPort from : {RouterPort::west, RouterPort::north, RouterPort::pe}) {
    bench.peer(from).send(bench.write(2, 1, 1024));
  }
  bench.run_until(100000);
  EXPECT_EQ(sink.values, (std::vector<std::uint64_t>{1, 2, 1, 0}));
}

}  // namespace
}  // namespace cubevp
