// SPDX-License-Identifier: Apache-2.0
#include "platform/host/diagnosis.h"

#include <gtest/gtest.h>

namespace cubevp::platform {
namespace {

using Nodes = std::vector<std::size_t>;

TEST(FindCycle, ChainsAndTreesHaveNone) {
  EXPECT_EQ(find_cycle({}), Nodes{});
  EXPECT_EQ(find_cycle({{1}, {2}, {}}), Nodes{});
  EXPECT_EQ(find_cycle({{1, 2}, {3}, {3}, {}}), Nodes{});
}

TEST(FindCycle, NamesTheNodesOfTheCycleOnly) {
  EXPECT_EQ(find_cycle({{1}, {2}, {3}, {1}}), (Nodes{1, 2, 3}));
  EXPECT_EQ(find_cycle({{0}}), Nodes{0});
  EXPECT_EQ(find_cycle({{}, {}, {3}, {2}}), (Nodes{2, 3}));
}

}  // namespace
}  // namespace cubevp::platform
