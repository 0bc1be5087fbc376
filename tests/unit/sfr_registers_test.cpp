// SPDX-License-Identifier: Apache-2.0
// Every register by itself: offsets, reset values, access rights, wrong accesses.
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "hw/base/address_map.h"
#include "tests/unit/sfr_harness.h"

namespace cubevp::hw {
namespace {

using test::SfrAnswer;
using test::SfrBench;

constexpr std::uint32_t kOnes = 0xffffffff;

/// The programmer's view of cube 9 of SfrBench, written down a second time.
struct Register {
  std::uint32_t offset;
  std::string name;
  std::uint32_t reset;
  std::uint32_t writable;  ///< bits that keep what is written; 0: read-only
};

std::vector<Register> plain_registers() {
  std::vector<Register> all = {
      {0x010, "TOPO_CTRL", 0, 0x3},    {0x014, "RING_SIZE", 0, 0xffff},
      {0x018, "RING_RANK", 0, 0xffff}, {0x01c, "PE_RING_SIZE", 0, 0xff},
      {0x020, "NBR_E", kOnes, kOnes},  {0x024, "NBR_W", kOnes, kOnes},
      {0x028, "NBR_N", kOnes, kOnes},  {0x02c, "NBR_S", kOnes, kOnes},
      {0x064, "IRQ_ENABLE", 0, 0x3},
  };
  for (std::uint32_t p = 0; p < 32; ++p) {
    const std::string at = "[" + std::to_string(p) + "]";
    all.push_back({0x100 + 4 * p, "PE_KERNEL" + at, 0, kOnes});
    all.push_back({0x180 + 4 * p, "PE_ARGS_LO" + at, 0, kOnes});
    all.push_back({0x200 + 4 * p, "PE_ARGS_HI" + at, 0, 0xffff});
  }
  return all;
}

std::vector<Register> read_only_registers() {
  return {
      {0x000, "ID", 9, 0},
      {0x004, "VERSION", 0x00010000, 0},
      {0x008, "CAPS", 4096U << 8 | 8, 0},  // 4096 KiB of scratchpad, 8 PEs
      {0x00c, "GRID_POS", 2U << 16 | 1, 0},
      {0x030, "LINK_STATUS_E", 0, 0},
      {0x034, "LINK_STATUS_W", 0, 0},
      {0x038, "LINK_STATUS_N", 0, 0},
      {0x03c, "LINK_STATUS_S", 0, 0},
      {0x060, "IRQ_STATUS", 0, 0},
      {0x070, "CYCLE_LO", 0, 0},
      {0x074, "CYCLE_HI", 0, 0},
  };
}

// Registers whose writes do something else than store.
std::vector<Register> acting_registers() {
  return {
      {0x040, "LINK_ERRORS_E", 0, 0}, {0x044, "LINK_ERRORS_W", 0, 0},
      {0x048, "LINK_ERRORS_N", 0, 0}, {0x04c, "LINK_ERRORS_S", 0, 0},
      {0x050, "PE_START", 0, 0},      {0x054, "PE_DONE", 0, 0},
      {0x058, "PE_FAULT", 0, 0},      {0x05c, "BARRIER", 0, 0},
      {0x068, "IRQ_CLEAR", 0, 0},
  };
}

TEST(SfrRegisters, EveryOneReadsItsResetValue) {
  SfrBench bench;
  bench.begin();
  std::set<std::uint32_t> offsets;
  for (const auto& group : {plain_registers(), read_only_registers(), acting_registers()}) {
    for (const Register& r : group) {
      const SfrAnswer a = bench.host.read(r.offset);
      EXPECT_EQ(a.status, tlm::TLM_OK_RESPONSE) << r.name;
      EXPECT_EQ(a.value, r.reset) << r.name;
      EXPECT_EQ(bench.sfr.peek(r.offset), r.reset) << r.name;
      EXPECT_EQ(sfr::name_at(r.offset), r.name);
      EXPECT_TRUE(offsets.insert(r.offset).second) << r.name;
    }
  }
  // The lists above are complete, and everything between is answered as an address error.
  for (std::uint32_t offset = 0; offset < 0x400; offset += 4) {
    const bool exists = offsets.count(offset) != 0;
    const SfrAnswer a = bench.host.read(offset);
    EXPECT_EQ(a.status, exists ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE) << offset;
  }
}

TEST(SfrRegisters, ReadWriteOnesKeepTheirBitsAndReservedBitsReadZero) {
  SfrBench bench;
  bench.begin();
  for (const Register& r : plain_registers()) {
    const std::uint32_t patterns[] = {kOnes, 0, 0xa5a5a5a5, 0x5a5a5a5a, r.reset};
    for (const std::uint32_t value : patterns) {
      EXPECT_EQ(bench.host.write(r.offset, value).status, tlm::TLM_OK_RESPONSE) << r.name;
      EXPECT_EQ(bench.host.read(r.offset).value, value & r.writable) << r.name;
    }
  }
}

TEST(SfrRegisters, AWriteChangesNoOtherRegister) {
  SfrBench bench;
  bench.begin();
  const std::vector<Register> all = plain_registers();
  std::uint32_t value = 1;
  for (const Register& r : all) {
    bench.host.write(r.offset, value++);
  }
  value = 1;
  for (const Register& r : all) {
    EXPECT_EQ(bench.host.read(r.offset).value, value++ & r.writable) << r.name;
  }
  for (const Register& r : read_only_registers()) {
    EXPECT_EQ(bench.host.read(r.offset).value, r.reset) << r.name;
  }
}

TEST(SfrRegisters, ReadOnlyOnesRefuseWritesAndKeepTheirValue) {
  SfrBench bench;
  bench.begin();
  for (const Register& r : read_only_registers()) {
    const SfrAnswer a = bench.host.write(r.offset, kOnes);
    EXPECT_EQ(a.status, tlm::TLM_COMMAND_ERROR_RESPONSE) << r.name;
    EXPECT_EQ(a.fault, r.name + " is read-only");
    EXPECT_EQ(bench.host.read(r.offset).value, r.reset) << r.name;
  }
}

TEST(SfrRegisters, CapsAndPositionFollowTheConfiguration) {
  SfrBlock::Config config;
  config.cube = static_cast<CubeId>(255);
  config.position = {15, 16};
  config.pes = 32;
  config.scratchpad_bytes = std::uint64_t{1536} << 10;
  SfrBench bench(config);
  bench.begin();
  EXPECT_EQ(bench.host.read(sfr::kId).value, 255U);
  EXPECT_EQ(bench.host.read(sfr::kCaps).value, 1536U * 256 + 32);
  EXPECT_EQ(bench.host.read(sfr::kGridPos).value, 16U * 65536 + 15);
}

// --- accesses that are not one aligned word -------------------------------------------------

TEST(SfrAccess, OffsetsInsideAWordAndBeyondTheBlockAreAddressErrors) {
  SfrBench bench;
  bench.begin();
  for (const Address address :
       {Address{0x001}, Address{0x002}, Address{0x013}, Address{0x102}, Address{0x280},
        Address{0x1000}, Address{0x100000000}, Address{0x800000010}}) {
    EXPECT_EQ(bench.host.read(address).status, tlm::TLM_ADDRESS_ERROR_RESPONSE) << address;
    EXPECT_EQ(bench.host.write(address, 0).status, tlm::TLM_ADDRESS_ERROR_RESPONSE) << address;
  }
}

TEST(SfrAccess, SystemAddressesReachTheSameRegisters) {
  SfrBench bench;
  bench.begin();
  const Address ring_size =
      make_address(static_cast<CubeId>(9), Region::sfr, std::uint64_t{sfr::kRingSize});
  EXPECT_EQ(bench.network.write(ring_size, 8).status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(bench.host.read(0x014).value, 8U);
  EXPECT_EQ(bench.pes[7]->read(ring_size).value, 8U);
}

TEST(SfrAccess, OtherSizesAreBurstErrorsAndByteEnablesAreRefused) {
  SfrBench bench;
  bench.begin();
  std::array<unsigned char, 16> data{};
  std::array<unsigned char, 4> enables{0xff, 0, 0, 0};
  const auto status = [&](tlm::tlm_command command, unsigned bytes, unsigned width,
                          unsigned char* byte_enables) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(0x014);
    payload.set_data_ptr(data.data());
    payload.set_data_length(bytes);
    payload.set_streaming_width(width);
    payload.set_byte_enable_ptr(byte_enables);
    payload.set_byte_enable_length(byte_enables != nullptr ? 4 : 0);
    sc_core::sc_time t;
    bench.host.isock->b_transport(payload, t);
    const tlm::tlm_response_status blocking = payload.get_response_status();
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    t = sc_core::SC_ZERO_TIME;
    EXPECT_EQ(bench.network.isock->nb_transport_fw(payload, phase, t), tlm::TLM_COMPLETED);
    EXPECT_EQ(payload.get_response_status(), blocking);
    return blocking;
  };
  data.fill(0xff);
  for (const tlm::tlm_command command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
    for (const unsigned bytes : {0U, 1U, 2U, 3U, 5U, 8U, 16U}) {
      EXPECT_EQ(status(command, bytes, bytes, nullptr), tlm::TLM_BURST_ERROR_RESPONSE) << bytes;
    }
    EXPECT_EQ(status(command, 4, 2, nullptr), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(status(command, 4, 4, enables.data()), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  }
  EXPECT_EQ(bench.host.read(0x014).value, 0U);
  EXPECT_EQ(status(tlm::TLM_WRITE_COMMAND, 4, 4, nullptr), tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(bench.host.read(0x014).value, 0xffffU);
}

TEST(SfrAccess, ADelayIsAddedToTheInitiatorsOwn) {
  SfrBlock::Config config = SfrBench::default_config();
  config.access_ps = 12345;
  SfrBench bench(config);
  bench.begin();
  EXPECT_EQ(bench.host.read(0x000).delay, 12345);
  EXPECT_EQ(bench.host.write(0x014, 1, 5000).delay, 17345);
  EXPECT_EQ(bench.host.read(0x500).delay, 12345);  // an error takes its time too
  EXPECT_EQ(sim::now_ps(), 0);
}

TEST(SfrAccess, TheNonBlockingTransportCompletesAtOnceWithTheSameDelay) {
  SfrBench bench;
  bench.begin();
  const sim::PayloadPtr payload = sim::PayloadPtr::adopt(bench.pool.allocate());
  std::uint32_t value = 77;
  auto* bytes = reinterpret_cast<unsigned char*>(&value);
  sim::set_access(*payload, tlm::TLM_WRITE_COMMAND, 0x018, bytes, 4);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time t = sim::to_sc_time(3000);
  EXPECT_EQ(bench.network.isock->nb_transport_fw(*payload, phase, t), tlm::TLM_COMPLETED);
  EXPECT_EQ(payload->get_response_status(), tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(sim::to_ps(t), 13000);
  EXPECT_EQ(bench.sfr.peek(0x018), 77U);
  // A barrier blocks its caller, which this transport cannot.
  sim::set_access(*payload, tlm::TLM_WRITE_COMMAND, sfr::kBarrier, bytes, 4);
  EXPECT_EQ(bench.network.isock->nb_transport_fw(*payload, phase, t), tlm::TLM_COMPLETED);
  EXPECT_EQ(payload->get_response_status(), tlm::TLM_COMMAND_ERROR_RESPONSE);
}

TEST(SfrAccess, AnIgnoreCommandDoesNothing) {
  SfrBench bench;
  bench.begin();
  const SfrAnswer a = bench.host.access(tlm::TLM_IGNORE_COMMAND, 0x014, 5);
  EXPECT_EQ(a.status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(a.value, 5U);
  EXPECT_EQ(bench.sfr.peek(0x014), 0U);
}

TEST(SfrAccess, DebugTransportReadsWithoutSideEffectsAndDoesNotWrite) {
  SfrBlock::Config config = SfrBench::default_config();
  config.clock.hz = 1e12;  // a cycle each picosecond
  SfrBench bench(config);
  bench.begin();
  bench.host.write(0x020, 0x11223344);
  std::uint32_t value = 0;
  const auto debug = [&](tlm::tlm_command command, Address address, unsigned bytes) {
    tlm::tlm_generic_payload payload;
    sim::set_access(payload, command, address, reinterpret_cast<unsigned char*>(&value), bytes);
    return bench.host.isock->transport_dbg(payload);
  };
  EXPECT_EQ(debug(tlm::TLM_READ_COMMAND, 0x020, 4), 4U);
  EXPECT_EQ(value, 0x11223344U);
  value = 7;
  EXPECT_EQ(debug(tlm::TLM_WRITE_COMMAND, 0x020, 4), 0U);
  EXPECT_EQ(bench.sfr.peek(0x020), 0x11223344U);
  EXPECT_EQ(debug(tlm::TLM_READ_COMMAND, 0x06c, 4), 0U);
  EXPECT_EQ(debug(tlm::TLM_READ_COMMAND, 0x020, 2), 0U);
  // CYCLE_HI is latched by a real read of CYCLE_LO only.
  bench.run_until((Ps{5} << 32) + 40);
  EXPECT_EQ(debug(tlm::TLM_READ_COMMAND, sfr::kCycleLo, 4), 4U);
  EXPECT_EQ(value, 40U);
  EXPECT_EQ(bench.sfr.peek(sfr::kCycleHi), 0U);
}

TEST(SfrAccess, ReadingCycleLowLatchesCycleHigh) {
  SfrBlock::Config config = SfrBench::default_config();
  config.clock.hz = 1e12;
  SfrBench bench(config);
  bench.begin();
  bench.run_until((Ps{3} << 32) - 1);
  EXPECT_EQ(bench.host.read(sfr::kCycleLo).value, kOnes);
  bench.run_until((Ps{3} << 32) + 6);  // the counter rolls over between the two reads
  EXPECT_EQ(bench.host.read(sfr::kCycleHi).value, 2U);
  EXPECT_EQ(bench.host.read(sfr::kCycleLo).value, 6U);
  EXPECT_EQ(bench.host.read(sfr::kCycleHi).value, 3U);
}

TEST(SfrAccess, CyclesAreThePesClock) {
  SfrBlock::Config config = SfrBench::default_config();
  config.clock.hz = 500e6;
  SfrBench bench(config);
  bench.begin();
  bench.run_until(19999);
  EXPECT_EQ(bench.host.read(sfr::kCycleLo).value, 9U);
  bench.run_until(20000);
  EXPECT_EQ(bench.host.read(sfr::kCycleLo).value, 10U);
}

}  // namespace
}  // namespace cubevp::hw
