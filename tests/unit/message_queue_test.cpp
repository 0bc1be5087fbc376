// SPDX-License-Identifier: Apache-2.0
#include "hw/message_queue/message_queue.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hw/message_queue/nonfinite.h"
#include "hw/numerics/convert.h"
#include "tests/unit/engines_harness.h"

namespace cubevp::hw {
namespace {

using test::block;
using test::CommandSource;
using test::kCycle;
using test::PeBench;
using test::recv;
using test::send;

/// A network of one latency that every PE enters at one bandwidth: the last byte of a packet is
/// there latency + bytes / bandwidth after the packet started. Acknowledgements take the latency.
class TestNetwork : public sc_core::sc_module {
 public:
  struct Timing {
    Ps latency_ps = 30 * kCycle;
    double bytes_per_ns = 256;
  };
  sc_core::sc_vector<tlm_utils::simple_target_socket_tagged<TestNetwork>> tsocks{"tsock"};
  sc_core::sc_vector<tlm_utils::simple_initiator_socket_tagged<TestNetwork>> isocks{"isock"};

  TestNetwork(const sc_core::sc_module_name& name, std::size_t pes, const Timing& timing)
      : sc_module(name), timing_(timing), free_(pes, 0) {
    tsocks.init(pes);
    isocks.init(pes);
    for (std::size_t i = 0; i < pes; ++i) {
      tsocks[i].register_nb_transport_fw(this, &TestNetwork::enter, static_cast<int>(i));
      isocks[i].register_nb_transport_bw(this, &TestNetwork::unexpected, static_cast<int>(i));
    }
    SC_HAS_PROCESS(TestNetwork);
    SC_METHOD(run);
    sensitive << agenda_.event();
    dont_initialize();
  }
  std::uint64_t packets = 0;

 private:
  struct Event {
    tlm::tlm_generic_payload* payload = nullptr;
    int from = 0;
    bool ack = false;
  };
  tlm::tlm_sync_enum enter(int from, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                           sc_core::sc_time& delay) {
    EXPECT_EQ(phase, tlm::BEGIN_REQ);
    EXPECT_EQ(sim::extension(payload)->message_class, sim::MessageClass::message);
    payload.acquire();
    ++packets;
    Ps& free = free_[static_cast<std::size_t>(from)];
    const Ps start = std::max(free, sim::now_ps() + sim::to_ps(delay));
    free = start + static_cast<Ps>(payload.get_data_length() * 1000.0 / timing_.bytes_per_ns);
    agenda_.push(free + timing_.latency_ps, {&payload, from, false});
    phase = tlm::END_REQ;
    delay = sim::to_sc_time(free - sim::now_ps());
    return tlm::TLM_UPDATED;
  }
  tlm::tlm_sync_enum unexpected(int, tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                sc_core::sc_time&) {
    ADD_FAILURE() << "the message queue answers at once";
    return tlm::TLM_ACCEPTED;
  }
  void run() {
    Event event;
    while (agenda_.take_due(event)) {
      tlm::tlm_generic_payload& payload = *event.payload;
      sc_core::sc_time t;
      if (!event.ack) {
        const auto to = index(pe_of_offset(decode(payload.get_address()).offset));
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        EXPECT_EQ(isocks[to]->nb_transport_fw(payload, phase, t), tlm::TLM_COMPLETED);
        EXPECT_TRUE(payload.is_response_ok()) << sim::describe_error(payload);
        event.ack = true;
        agenda_.push(sim::now_ps() + timing_.latency_ps, event);
      } else {
        tlm::tlm_phase phase = tlm::BEGIN_RESP;
        tsocks[static_cast<std::size_t>(event.from)]->nb_transport_bw(payload, phase, t);
        payload.release();
      }
    }
    agenda_.rearm();
  }
  const Timing timing_;
  std::vector<Ps> free_;
  sim::Agenda<Event> agenda_{"agenda"};
};

/// A ring of PEs: E is the next one.
struct RingBench {
  struct Pe : PeBench {
    Pe(std::uint32_t pe, std::uint32_t pes, bool keep_data, sim::PayloadPool& machine_pool,
       const MessageQueueConfig& config)
        : PeBench(keep_data, pe, &machine_pool),
          source(("source_" + std::to_string(pe)).c_str(), machine_pool),
          queue(("message_queue_" + std::to_string(pe)).c_str(), config, shared,
                [pe, pes](RankAxis axis, Direction d) {
                  Neighbour n;
                  if (axis == RankAxis::cube || d == Direction::north || d == Direction::south) {
                    n.error = "no neighbour " + std::string(to_string(d)) + ": NBR_" +
                              std::string(to_string(d)) + " is none";
                  } else {
                    n.pe = static_cast<PeId>((pe + (d == Direction::east ? 1 : pes - 1)) % pes);
                  }
                  return n;
                }) {
      queue.mem_isock.bind(scratchpad.mem_tsocks[0]);
      leave_memory_open(1);
    }
    CommandSource source;
    MessageQueue queue;
  };

  explicit RingBench(std::uint32_t n, const TestNetwork::Timing& timing = {},
                     const MessageQueueConfig& config = {}, bool keep_data = true)
      : network("network", n, timing) {
    for (std::uint32_t i = 0; i < n; ++i) {
      pes.push_back(std::make_unique<Pe>(i, n, keep_data, pool, config));
      checkers.bind(pes[i]->queue.net_isock, network.tsocks[i]);
      checkers.bind(network.isocks[i], pes[i]->queue.net_tsock);
      checkers.bind(pes[i]->source.isock, pes[i]->queue.cmd_tsock);
    }
  }
  Pe& operator[](std::size_t i) { return *pes[i]; }
  void expect_clean() {
    EXPECT_EQ(checkers.open(), 0U);
    EXPECT_EQ(pool.in_use(), 0U);
    for (const auto& pe : pes) {
      EXPECT_TRUE(pe->queue.waiting().empty());
    }
  }

  sim::PayloadPool pool;
  TestNetwork network;
  std::vector<std::unique_ptr<Pe>> pes;
  test::ProtocolCheckers checkers;
};

Operand bytes_at(std::uint64_t address, std::uint32_t bytes) {
  return block(address, 1, bytes / 2, DType::f16);
}

// --- one message ----------------------------------------------------------------------------

class MessageSizes : public testing::TestWithParam<std::uint32_t> {};

TEST_P(MessageSizes, TimeIsSoftwareCostNetworkAndSerialisation) {
  const std::uint32_t bytes = GetParam();
  RingBench ring(2);
  std::vector<std::uint16_t> values(bytes / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::uint16_t>(i * 7);
  }
  ring[0].put<std::uint16_t>(0, values);
  const Ps start = 5 * kCycle;
  const auto& sent = ring[0].source.add(send(bytes_at(0, bytes), Direction::east), start);
  const auto& received = ring[1].source.add(recv(bytes_at(128, bytes), Direction::west));
  sc_core::sc_start();
  const Ps wire = static_cast<Ps>(bytes * 1000.0 / 256);
  // Packet times are rounded down to a picosecond each.
  const Ps rounding = bytes / 1024 + 1;
  EXPECT_NEAR(sent.done, start + 50 * kCycle + wire, rounding);
  EXPECT_NEAR(received.done, start + 50 * kCycle + wire + 30 * kCycle, rounding);
  EXPECT_EQ(ring[1].get<std::uint16_t>(128, bytes / 2), values);
  EXPECT_EQ(ring[0].queue.stats().more.at("bytes_sent"), bytes);
  EXPECT_EQ(ring[1].queue.stats().more.at("bytes_received"), bytes);
  EXPECT_EQ(ring[1].queue.stats().more.at("credits"), (bytes + 8191) / 8192);
  ring.expect_clean();
}

INSTANTIATE_TEST_SUITE_P(Bytes, MessageSizes,
                         testing::Values(2, 64, 1024, 1026, 4160, 8192, 8194, 65536, 100000,
                                         1 << 20));

TEST(MessageQueue, SmallestMessageIsOneElement) {
  RingBench ring(2);
  ring[0].put<std::uint16_t>(0, {0x3c00});
  ring[0].source.add(send(bytes_at(0, 2), Direction::west));
  const auto& received = ring[1].source.add(recv(bytes_at(64, 2), Direction::east));
  sc_core::sc_start();
  EXPECT_EQ(received.fault, "");
  EXPECT_EQ(ring[1].get<std::uint16_t>(64, 1)[0], 0x3c00);
}

TEST(MessageQueue, ALateReceiveFindsTheBytesInTheirSlots) {
  RingBench ring(2);
  ring[0].put<std::uint16_t>(0, std::vector<std::uint16_t>(4096, 9));
  const auto& sent = ring[0].source.add(send(bytes_at(0, 8192), Direction::east));
  const auto& received = ring[1].source.add(recv(bytes_at(0, 8192), Direction::west), 500 * kCycle);
  sc_core::sc_start();
  EXPECT_LT(sent.done, 100 * kCycle);
  EXPECT_EQ(received.done, 500 * kCycle);
  EXPECT_EQ(ring[1].get<std::uint16_t>(0, 4096), std::vector<std::uint16_t>(4096, 9));
  ring.expect_clean();
}

TEST(MessageQueue, MessagesOfADirectionKeepTheirOrderAndPayTheSoftwareCostEach) {
  RingBench ring(2);
  std::vector<CommandSource::Issued*> sent;
  std::vector<CommandSource::Issued*> received;
  for (std::uint16_t i = 0; i < 5; ++i) {
    ring[0].put<std::uint16_t>(i * 1024U, std::vector<std::uint16_t>(512, i));
    sent.push_back(&ring[0].source.add(send(bytes_at(i * 1024U, 1024), Direction::east)));
    received.push_back(&ring[1].source.add(recv(bytes_at(i * 1024U, 1024), Direction::west)));
  }
  sc_core::sc_start();
  for (std::uint16_t i = 0; i < 5; ++i) {
    EXPECT_EQ(sent[i]->done, (i + 1) * (50 + 4) * kCycle);
    EXPECT_EQ(received[i]->done, sent[i]->done + 30 * kCycle);
    EXPECT_EQ(ring[1].get<std::uint16_t>(i * 1024U, 1)[0], i);
  }
  ring.expect_clean();
}

TEST(MessageQueue, DirectionsRunInParallel) {
  RingBench ring(3);
  const auto& east = ring[0].source.add(send(bytes_at(0, 1024), Direction::east));
  const auto& west = ring[0].source.add(send(bytes_at(0, 1024), Direction::west));
  const auto& first = ring[1].source.add(recv(bytes_at(0, 1024), Direction::west));
  const auto& second = ring[2].source.add(recv(bytes_at(0, 1024), Direction::east));
  sc_core::sc_start();
  EXPECT_EQ(east.done, 54 * kCycle);
  EXPECT_EQ(west.done, 58 * kCycle);  // the packets share the port, the software does not
  EXPECT_EQ(first.done, 84 * kCycle);
  EXPECT_EQ(second.done, 88 * kCycle);
  ring.expect_clean();
}

TEST(MessageQueue, TwoPesExchangeBothWaysAroundARingOfTwo) {
  RingBench ring(2);
  for (std::size_t pe = 0; pe < 2; ++pe) {
    ring[pe].put<std::uint16_t>(
        0, std::vector<std::uint16_t>(8192, static_cast<std::uint16_t>(1 + pe)));
    ring[pe].put<std::uint16_t>(
        32768, std::vector<std::uint16_t>(8192, static_cast<std::uint16_t>(11 + pe)));
    ring[pe].source.add(send(bytes_at(0, 16384), Direction::east));
    ring[pe].source.add(send(bytes_at(32768, 16384), Direction::west));
    ring[pe].source.add(recv(bytes_at(65536, 16384), Direction::east));
    ring[pe].source.add(recv(bytes_at(131072, 16384), Direction::west));
  }
  sc_core::sc_start();
  for (std::size_t pe = 0; pe < 2; ++pe) {
    EXPECT_EQ(ring[pe].get<std::uint16_t>(65536, 8192),
              std::vector<std::uint16_t>(8192, static_cast<std::uint16_t>(12 - pe)));
    EXPECT_EQ(ring[pe].get<std::uint16_t>(131072, 8192),
              std::vector<std::uint16_t>(8192, static_cast<std::uint16_t>(2 - pe)));
  }
  ring.expect_clean();
}

// --- credits --------------------------------------------------------------------------------

TEST(MessageQueue, WithoutAReceiveTheSlotsFillAndTheSenderWaitsForCredits) {
  RingBench ring(2);
  const auto& sent = ring[0].source.add(send(bytes_at(0, 9 * 8192), Direction::east));
  sc_core::sc_start();
  EXPECT_EQ(sent.done, -1);
  EXPECT_EQ(ring.network.packets, 8U * 8);
  auto waiting = ring[0].queue.waiting();
  ASSERT_EQ(waiting.size(), 1U);
  EXPECT_EQ(waiting[0].why, MessageQueue::Why::credits);
  EXPECT_EQ(waiting[0].op, Opcode::send);
  EXPECT_EQ(waiting[0].direction, Direction::east);
  EXPECT_EQ(index(waiting[0].peer.pe), 1U);
  const auto& received =
      ring[1].source.add(recv(bytes_at(0, 9 * 8192), Direction::west), sim::now_ps());
  sc_core::sc_start();
  EXPECT_GT(sent.done, 0);
  EXPECT_EQ(received.fault, "");
  ring.expect_clean();
}

TEST(MessageQueue, ABlockedSendDoesNotHoldUpAReceive) {
  RingBench ring(2);
  ring[0].source.add(send(bytes_at(0, 100 * 1024), Direction::east));
  const auto& received = ring[0].source.add(recv(bytes_at(0, 64), Direction::east));
  ring[1].source.add(send(bytes_at(0, 64), Direction::west));
  sc_core::sc_start();
  EXPECT_GT(received.done, 0);
  EXPECT_LT(received.done, 100 * kCycle);
}

TEST(MessageQueue, FewSlotsLimitTheRateToSlotsByRoundTrip) {
  MessageQueueConfig config;
  config.slots = 2;
  config.slot_bytes = 1024;
  TestNetwork::Timing timing;
  timing.latency_ps = 200 * kCycle;
  RingBench ring(2, timing, config);
  const std::uint32_t bytes = 200 * 1024;
  ring[0].source.add(send(bytes_at(0, bytes), Direction::east));
  const auto& received = ring[1].source.add(recv(bytes_at(0, bytes), Direction::west));
  sc_core::sc_start();
  // A slot is used again after its chunk (4 ns, 200 ns) and its credit (200 ns) have travelled.
  const double expected_ns = bytes / (2 * 1024.0) * (200 + 200 + 4);
  EXPECT_NEAR(static_cast<double>(received.done) / kCycle / expected_ns, 1.0, 0.03);
  EXPECT_EQ(ring[1].queue.stats().more.at("credits"), 200U);
  ring.expect_clean();
}

TEST(MessageQueue, EnoughSlotsSustainTheBandwidth) {
  TestNetwork::Timing timing;
  timing.latency_ps = 100 * kCycle;
  RingBench ring(2, timing);
  const std::uint32_t bytes = 1 << 20;
  const auto& sent = ring[0].source.add(send(bytes_at(0, bytes), Direction::east));
  ring[1].source.add(recv(bytes_at(0, bytes), Direction::west));
  sc_core::sc_start();
  EXPECT_NEAR(static_cast<double>(sent.done - 50 * kCycle), bytes * 1000.0 / 256,
              0.01 * bytes * 1000.0 / 256);
}

// --- errors ---------------------------------------------------------------------------------

TEST(MessageQueue, SizesThatDifferFaultTheReceiverNamingBoth) {
  RingBench ring(2);
  ring[0].source.add(send(bytes_at(0, 256), Direction::east));
  const auto& received = ring[1].source.add(recv(bytes_at(0, 128), Direction::west));
  sc_core::sc_start();
  EXPECT_EQ(received.fault, "recv W of 128 bytes met a message of 256 bytes from PE 0 of cube 0");
}

TEST(MessageQueue, NoNeighbourFaultsWithTheRegister) {
  RingBench ring(2);
  const auto& sent = ring[0].source.add(send(bytes_at(0, 256), Direction::north));
  const auto& received =
      ring[0].source.add(recv(bytes_at(0, 256), Direction::east, RankAxis::cube));
  sc_core::sc_start();
  EXPECT_EQ(sent.fault, "send N (pe axis): no neighbour N: NBR_N is none");
  EXPECT_EQ(received.fault, "recv E (cube axis): no neighbour E: NBR_E is none");
}

TEST(MessageQueue, AReceiveWithoutASenderIsNamed) {
  RingBench ring(2);
  ring[0].source.add(recv(bytes_at(0, 256), Direction::east), 7 * kCycle);
  ring[0].source.add(recv(bytes_at(0, 256), Direction::east), 8 * kCycle);
  sc_core::sc_start();
  const auto waiting = ring[0].queue.waiting();
  ASSERT_EQ(waiting.size(), 2U);
  EXPECT_EQ(waiting[0].why, MessageQueue::Why::arrival);
  EXPECT_EQ(waiting[0].since_ps, 7 * kCycle);
  EXPECT_EQ(index(waiting[0].command), 1U);
  EXPECT_EQ(waiting[1].why, MessageQueue::Why::order);
}

TEST(MessageQueue, SlotsThatDoNotFitAreRefused) {
  MessageQueueConfig config;
  config.slots = 100;
  config.slot_bytes = 8192;
  EXPECT_THROW(RingBench(1, {}, config), std::invalid_argument);
}

TEST(MessageQueue, AForeignPacketWithoutFramingIsRefused) {
  PeBench pe;
  MessageQueue queue("message_queue", {}, pe.shared,
                     [](RankAxis, Direction) { return Neighbour{}; });
  queue.mem_isock.bind(pe.scratchpad.mem_tsocks[0]);
  pe.leave_memory_open(1);
  CommandSource source("source", pe.pool);
  source.isock.bind(queue.cmd_tsock);
  test::TestTarget nowhere("nowhere");
  queue.net_isock.bind(nowhere.tsock);
  test::SocketStub stub("stub");
  stub.isock.bind(queue.net_tsock);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::vector<unsigned char> data(64);
  const auto status = [&](Address address, tlm::tlm_command command) {
    tlm::tlm_generic_payload payload;
    sim::set_access(payload, command, address, data.data(), data.size());
    sc_core::sc_time t;
    stub.isock->b_transport(payload, t);
    return payload.get_response_status();
  };
  const Address window = message_window_address({}, {}, RankAxis::pe, Direction::west);
  EXPECT_EQ(status(window, tlm::TLM_WRITE_COMMAND), tlm::TLM_GENERIC_ERROR_RESPONSE);
  EXPECT_EQ(status(window, tlm::TLM_READ_COMMAND), tlm::TLM_COMMAND_ERROR_RESPONSE);
  EXPECT_EQ(status(window + 65536 - 32, tlm::TLM_WRITE_COMMAND), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(status(message_window_address({}, static_cast<PeId>(1), RankAxis::pe, Direction::west),
                   tlm::TLM_WRITE_COMMAND),
            tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

// --- what is counted ------------------------------------------------------------------------

TEST(MessageQueue, CountsValuesThatNoReceiverMaySee) {
  RingBench ring(2);
  const float inf = std::numeric_limits<float>::infinity();
  ring[0].put<float>(0, {-inf, -inf, 1, -inf, inf, std::nanf("")});
  Command c = send(block(0, 1, 6), Direction::east);
  c.message.may_be_neg_inf = 2;
  ring[0].source.add(c);
  ring[1].source.add(recv(block(0, 1, 6), Direction::west));
  sc_core::sc_start();
  EXPECT_EQ(ring[0].queue.stats().more.at("nonfinite"), 3U);
}

TEST(Nonfinite, KnowsEveryType) {
  const std::uint16_t f16[] = {0x7c00, 0xfc00, 0x7bff, 0x7e01, 0x7f80};
  EXPECT_EQ(count_nonfinite(reinterpret_cast<const unsigned char*>(f16), DType::f16, 5, 0), 4U);
  EXPECT_EQ(count_nonfinite(reinterpret_cast<const unsigned char*>(f16), DType::f16, 5, 2), 3U);
  const std::uint16_t bf16[] = {0x7f80, 0xff80, 0x7f7f, 0x7c00};
  EXPECT_EQ(count_nonfinite(reinterpret_cast<const unsigned char*>(bf16), DType::bf16, 4, 0), 2U);
  EXPECT_EQ(count_nonfinite(reinterpret_cast<const unsigned char*>(bf16), DType::bf16, 4, 4), 1U);
}

TEST(MessageQueue, TimeGoesToSendAndReceiveWaits) {
  RingBench ring(2);
  const auto& sent = ring[0].source.add(send(bytes_at(0, 1024), Direction::east), 10 * kCycle);
  const auto& received = ring[1].source.add(recv(bytes_at(0, 1024), Direction::west), 4 * kCycle);
  sc_core::sc_start();
  const auto of = [](PeBench& pe, sim::PeActivity a) {
    return pe.activity.spent_ps()[static_cast<std::size_t>(a)];
  };
  EXPECT_EQ(of(ring[0], sim::PeActivity::send_wait), sent.done - 10 * kCycle);
  EXPECT_EQ(of(ring[1], sim::PeActivity::recv_wait), received.done - 4 * kCycle);
}

TEST(MessageQueue, TimingOnlyTakesTheSameTime) {
  RingBench ring(2, {}, {}, false);
  const auto& sent = ring[0].source.add(send(bytes_at(0, 102400), Direction::east));
  const auto& received = ring[1].source.add(recv(bytes_at(0, 102400), Direction::west));
  sc_core::sc_start();
  EXPECT_EQ(sent.done, 450 * kCycle);  // 50 + 102400 / 256
  EXPECT_EQ(received.done, 480 * kCycle);
  ring.expect_clean();
}

}  // namespace
}  // namespace cubevp::hw
