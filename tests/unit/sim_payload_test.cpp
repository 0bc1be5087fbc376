// SPDX-License-Identifier: Apache-2.0
// Payloads: the pool, references, the extension, credits.
#include "hw/sim/payload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hw/sim/packet_switch.h"

namespace cubevp::sim {
namespace {

/// Leaves no field as it was.
void spoil(tlm::tlm_generic_payload& p, unsigned char* bytes) {
  static const Command command;
  p.set_command(tlm::TLM_WRITE_COMMAND);
  p.set_address(0x1234);
  p.set_data_ptr(bytes);
  p.set_data_length(64);
  p.set_streaming_width(8);
  p.set_byte_enable_ptr(bytes);
  p.set_byte_enable_length(4);
  p.set_dmi_allowed(true);
  p.set_gp_option(tlm::TLM_FULL_PAYLOAD);
  p.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
  TransactionExtension& e = *extension(p);
  e.message_class = MessageClass::message;
  e.timing_only = true;
  e.tail_lag_ps = 77;
  e.path[0] = 3;
  e.hops = 1;
  e.command = &command;
  e.message_bytes = 1;
  e.message_offset = 2;
  e.message_number = 3;
  e.initiator_tag = 4;
  e.target_tag = 5;
  e.fault = "broken";
}

void expect_neutral(const tlm::tlm_generic_payload& p) {
  EXPECT_EQ(p.get_command(), tlm::TLM_IGNORE_COMMAND);
  EXPECT_EQ(p.get_address(), 0U);
  EXPECT_EQ(p.get_data_ptr(), nullptr);
  EXPECT_EQ(p.get_data_length(), 0U);
  EXPECT_EQ(p.get_streaming_width(), 0U);
  EXPECT_EQ(p.get_byte_enable_ptr(), nullptr);
  EXPECT_EQ(p.get_byte_enable_length(), 0U);
  EXPECT_FALSE(p.is_dmi_allowed());
  EXPECT_EQ(p.get_gp_option(), tlm::TLM_MIN_PAYLOAD);
  EXPECT_EQ(p.get_response_status(), tlm::TLM_INCOMPLETE_RESPONSE);
  EXPECT_EQ(p.get_ref_count(), 1);
  ASSERT_NE(extension(p), nullptr);
  const TransactionExtension& e = *extension(p);
  EXPECT_EQ(e.message_class, MessageClass::request);
  EXPECT_FALSE(e.timing_only);
  EXPECT_EQ(e.tail_lag_ps, 0);
  EXPECT_EQ(e.hops, 0);
  EXPECT_EQ(e.command, nullptr);
  EXPECT_EQ(e.message_bytes, 0U);
  EXPECT_EQ(e.message_offset, 0U);
  EXPECT_EQ(e.message_number, 0U);
  EXPECT_EQ(e.initiator_tag, 0U);
  EXPECT_EQ(e.target_tag, 0U);
  EXPECT_EQ(e.fault, "");
}

TEST(PayloadPool, GivesNeutralPayloadsAndUsesThemAgain) {
  PayloadPool pool;
  unsigned char bytes[64] = {};
  tlm::tlm_generic_payload& first = pool.allocate();
  expect_neutral(first);
  EXPECT_EQ(pool.in_use(), 1U);
  const TransactionExtension* ext = extension(first);
  spoil(first, bytes);
  first.release();
  EXPECT_EQ(pool.in_use(), 0U);
  tlm::tlm_generic_payload& second = pool.allocate();
  EXPECT_EQ(&second, &first);
  EXPECT_EQ(extension(second), ext);
  expect_neutral(second);
  second.release();
}

TEST(PayloadPool, PayloadsInUseAreDistinct) {
  PayloadPool pool;
  std::set<tlm::tlm_generic_payload*> all;
  for (int round = 0; round < 3; ++round) {
    std::vector<tlm::tlm_generic_payload*> held;
    for (int i = 0; i < 100; ++i) {
      held.push_back(&pool.allocate());
    }
    EXPECT_EQ(pool.in_use(), 100U);
    EXPECT_EQ(std::set<tlm::tlm_generic_payload*>(held.begin(), held.end()).size(), 100U);
    all.insert(held.begin(), held.end());
    for (tlm::tlm_generic_payload* p : held) {
      p->release();
    }
    EXPECT_EQ(pool.in_use(), 0U);
  }
  EXPECT_EQ(all.size(), 100U);  // later rounds make no new ones
}

TEST(PayloadPool, APayloadComesBackWithItsLastReference) {
  PayloadPool pool;
  tlm::tlm_generic_payload& p = pool.allocate();
  p.acquire();
  p.acquire();
  p.release();
  EXPECT_EQ(pool.in_use(), 1U);
  p.release();
  EXPECT_EQ(pool.in_use(), 1U);
  p.release();
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST(PayloadPool, AForeignExtensionDoesNotStayOnARecycledPayload) {
  struct Foreign : tlm::tlm_extension<Foreign> {
    tlm::tlm_extension_base* clone() const override { return new Foreign(*this); }
    void copy_from(const tlm::tlm_extension_base&) override {}
  };
  PayloadPool pool;
  tlm::tlm_generic_payload& p = pool.allocate();
  p.set_auto_extension(new Foreign);
  p.release();
  tlm::tlm_generic_payload& again = pool.allocate();
  ASSERT_EQ(&again, &p);
  EXPECT_EQ(again.get_extension<Foreign>(), nullptr);
  again.release();
}

TEST(PayloadPool, DummyBytesAreEnoughForTheLargestBurst) {
  PayloadPool pool;
  std::fill_n(pool.dummy_data(), PayloadPool::kDummyBytes, static_cast<unsigned char>(1));
  EXPECT_GE(PayloadPool::kDummyBytes, 65536U);
}

TEST(PayloadPtr, HoldsOneReferenceAndMoves) {
  PayloadPool pool;
  {
    PayloadPtr a = PayloadPtr::adopt(pool.allocate());
    EXPECT_TRUE(a);
    EXPECT_EQ(a->get_ref_count(), 1);
    {
      const PayloadPtr shared = PayloadPtr::share(*a);
      EXPECT_EQ(shared.get(), a.get());
      EXPECT_EQ(a->get_ref_count(), 2);
    }
    EXPECT_EQ(a->get_ref_count(), 1);
    PayloadPtr b = std::move(a);
    EXPECT_FALSE(a);  // NOLINT: moved from, and empty
    EXPECT_EQ(b->get_ref_count(), 1);
    PayloadPtr c = PayloadPtr::adopt(pool.allocate());
    EXPECT_EQ(pool.in_use(), 2U);
    c = std::move(b);
    EXPECT_EQ(c->get_ref_count(), 1);
  }
  EXPECT_EQ(pool.in_use(), 0U);
  EXPECT_FALSE(PayloadPtr());
}

TEST(Extension, AForeignPayloadHasNone) {
  tlm::tlm_generic_payload p;
  EXPECT_EQ(extension(p), nullptr);
}

TEST(Extension, ClonesAndCopiesAllOfItself) {
  PayloadPool pool;
  unsigned char bytes[64] = {};
  const PayloadPtr p = PayloadPtr::adopt(pool.allocate());
  spoil(*p, bytes);
  const std::unique_ptr<TransactionExtension> copy(
      static_cast<TransactionExtension*>(extension(*p)->clone()));
  EXPECT_EQ(copy->message_class, MessageClass::message);
  EXPECT_TRUE(copy->timing_only);
  EXPECT_EQ(copy->tail_lag_ps, 77);
  EXPECT_EQ(copy->path[0], 3);
  EXPECT_EQ(copy->command, extension(*p)->command);
  EXPECT_EQ(copy->fault, "broken");
  TransactionExtension other;
  other.copy_from(*copy);
  EXPECT_EQ(other.hops, 1);
  EXPECT_EQ(other.message_number, 3U);
  EXPECT_EQ(other.target_tag, 5U);
}

TEST(SetAccess, SetsWhatAnAccessNeeds) {
  PayloadPool pool;
  unsigned char bytes[96] = {};
  const PayloadPtr p = PayloadPtr::adopt(pool.allocate());
  p->set_response_status(tlm::TLM_OK_RESPONSE);
  set_access(*p, tlm::TLM_WRITE_COMMAND, 0x0100'0000'0040, bytes, sizeof bytes);
  EXPECT_TRUE(p->is_write());
  EXPECT_EQ(p->get_address(), 0x0100'0000'0040U);
  EXPECT_EQ(p->get_data_ptr(), bytes);
  EXPECT_EQ(p->get_data_length(), 96U);
  EXPECT_EQ(p->get_streaming_width(), 96U);
  EXPECT_EQ(p->get_response_status(), tlm::TLM_INCOMPLETE_RESPONSE);
}

TEST(DescribeError, NamesStatusAddressCubeRegionAndReason) {
  PayloadPool pool;
  const PayloadPtr p = PayloadPtr::adopt(pool.allocate());
  p->set_address(make_address(static_cast<CubeId>(3), Region::scratchpad, 0x7000'0010));
  p->set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  const std::string head =
      "TLM_ADDRESS_ERROR_RESPONSE at address 0x31070000010 (cube 3, region scratchpad, offset "
      "0x70000010)";
  EXPECT_EQ(describe_error(*p), head);
  extension(*p)->fault = "no such PE";
  EXPECT_EQ(describe_error(*p), head + ": no such PE");
  tlm::tlm_generic_payload foreign;
  foreign.set_address(~Address{0});
  foreign.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  EXPECT_EQ(describe_error(foreign),
            "TLM_GENERIC_ERROR_RESPONSE at address 0xffffffffffffffff (cube 16777215, region "
            "unmapped, offset 0xfffffffff)");
}

// --- what packets and credits are -----------------------------------------------------------

TEST(PacketBytes, WritesCarryDataOutAndGoodReadsCarryItBack) {
  tlm::tlm_generic_payload p;
  p.set_data_length(640);
  p.set_write();
  p.set_response_status(tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(packet_bytes(p, MessageClass::request), 640U);
  EXPECT_EQ(packet_bytes(p, MessageClass::message), 640U);
  EXPECT_EQ(packet_bytes(p, MessageClass::response), 0U);
  p.set_read();
  EXPECT_EQ(packet_bytes(p, MessageClass::request), 0U);
  EXPECT_EQ(packet_bytes(p, MessageClass::response), 640U);
  p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(packet_bytes(p, MessageClass::response), 0U);
}

TEST(CreditPool, TellsWhenRoomIsOrBecomesFree) {
  CreditPool pool(8);
  EXPECT_EQ(pool.time_for(8, 100), 100);
  EXPECT_EQ(pool.time_for(9, 100), CreditPool::kNever);
  pool.take(6);
  EXPECT_EQ(pool.time_for(2, 100), 100);
  EXPECT_EQ(pool.time_for(3, 100), CreditPool::kNever);
  pool.give(3, 500);
  pool.give(1, 300);  // known later, free earlier
  pool.give(2, 400);
  EXPECT_EQ(pool.time_for(3, 100), 300);
  EXPECT_EQ(pool.time_for(4, 100), 400);
  EXPECT_EQ(pool.time_for(5, 100), 400);
  EXPECT_EQ(pool.time_for(6, 100), 500);
  EXPECT_EQ(pool.time_for(8, 100), 500);
  EXPECT_EQ(pool.time_for(9, 100), CreditPool::kNever);
  EXPECT_EQ(pool.time_for(5, 400), 400);
  pool.take(5);
  EXPECT_EQ(pool.time_for(1, 400), 500);
  EXPECT_EQ(pool.time_for(3, 500), 500);
  EXPECT_EQ(pool.time_for(4, 500), CreditPool::kNever);
}

TEST(Fifo, KeepsTheOrderThroughGrowthAndCompaction) {
  Fifo<int> fifo;
  int in = 0;
  int out = 0;
  EXPECT_TRUE(fifo.empty());
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 7; ++i) {
      fifo.push(in++);
    }
    for (int i = 0; i < 6; ++i) {
      ASSERT_EQ(fifo.front(), out);
      ASSERT_EQ(fifo.pop(), out++);
    }
  }
  while (!fifo.empty()) {
    ASSERT_EQ(fifo.pop(), out++);
  }
  EXPECT_EQ(out, in);
}

}  // namespace
}  // namespace cubevp::sim
