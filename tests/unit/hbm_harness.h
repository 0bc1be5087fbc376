// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hw/base/address_map.h"
#include "hw/hbm/hbm_stack.h"
#include "hw/sim/stats.h"
#include "tests/support/protocol_checker.h"
#include "tests/support/test_initiator.h"

namespace cubevp::test {

/// A stack with `pseudo_channels` on each port and no refresh.
inline hw::HbmConfig small_stack(std::uint32_t ports, std::uint32_t pseudo_channels) {
  hw::HbmConfig config;
  config.bytes = (std::uint64_t{1} << 30) * ports;
  config.channels = ports;
  config.pseudo_channels_per_channel = pseudo_channels;
  config.refresh = hw::Refresh::off;
  return config;
}

inline Address hbm(std::uint64_t offset) {
  return make_address(CubeId{0}, Region::hbm, offset);
}

/// A stack with an initiator behind a protocol checker on every port.
class StackMachine {
 public:
  explicit StackMachine(const hw::HbmConfig& config, std::uint32_t ports = 1)
      : stack("hbm", config, ports) {
    for (std::uint32_t p = 0; p < ports; ++p) {
      initiators.push_back(
          std::make_unique<TestInitiator>(("initiator_" + std::to_string(p)).c_str(), pool));
      checkers.bind(initiators.back()->isock, stack.port_tsocks[p]);
    }
  }

  TestInitiator& port(std::size_t p = 0) { return *initiators[p]; }
  void run() {
    sc_core::sc_start();
    for (const auto& initiator : initiators) {
      EXPECT_TRUE(initiator->all_done());
    }
    EXPECT_EQ(checkers.open(), 0u);
    EXPECT_EQ(pool.in_use(), 0u);
  }
  sim::UnitStats stats(std::uint32_t channel = 0) const {
    const std::string name = "hbm.channel_" + std::to_string(channel);
    const auto* unit =
        dynamic_cast<const sim::StatsProvider*>(sc_core::sc_find_object(name.c_str()));
    EXPECT_NE(unit, nullptr) << name;
    return unit == nullptr ? sim::UnitStats{} : unit->stats();
  }

  sim::PayloadPool pool;
  hw::HbmStack stack;
  std::vector<std::unique_ptr<TestInitiator>> initiators;
  ProtocolCheckers checkers;
};

inline std::vector<unsigned char> bytes_from(unsigned seed, std::size_t bytes) {
  std::vector<unsigned char> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    data[i] = static_cast<unsigned char>(seed * 37 + i * 11 + i / 256);
  }
  return data;
}

}  // namespace cubevp::test
