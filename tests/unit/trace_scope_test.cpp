// SPDX-License-Identifier: Apache-2.0
#include "platform/trace/scope.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cubevp::platform {
namespace {

TEST(Scope, AStarStandsForAnyCharactersDotsIncluded) {
  struct Case {
    const char* pattern;
    const char* name;
    bool matches;
  };
  const Case cases[] = {
      {"*", "", true},
      {"*", "cube_0_0.pe_3.gemm_unit", true},
      {"", "", true},
      {"", "a", false},
      {"cube_0_0.*", "cube_0_0.pe_3.gemm_unit", true},
      {"cube_0_0.*", "cube_0_0", false},
      {"cube_0_0.*", "cube_0_01.sfr", false},
      {"*.gemm_unit", "cube_0_0.pe_3.gemm_unit", true},
      {"*.gemm_unit", "cube_0_0.pe_3.gemm_unit.state", false},
      {"cube_0_0.pe_*.dma", "cube_0_0.pe_12.dma", true},
      {"cube_0_0.pe_*.dma", "cube_0_0.pe_12.cpu.dma", true},
      {"*pe_1*state", "cube_0_0.pe_1.cpu.state", true},
      {"*pe_1*state", "cube_0_0.pe_2.cpu.state", false},
      {"a*ab", "aab", true},
      {"a*ab", "aabab", true},
      {"a*ab", "ab", false},
      {"**a**", "a", true},
      {"cube_0_0.sfr", "cube_0_0.sfr", true},
      {"cube_0_0.sfr", "cube_0_0.sfr2", false},
      {"cube_0_0?sfr", "cube_0_0.sfr", false},  // only * is special
  };
  for (const Case& c : cases) {
    EXPECT_EQ(glob_match(c.pattern, c.name), c.matches) << c.pattern << ' ' << c.name;
  }
}

TEST(Scope, LongPatternsDoNotTakeForEver) {
  const std::string name(2000, 'a');
  std::string pattern;
  for (int i = 0; i < 50; ++i) {
    pattern += "*a";
  }
  EXPECT_TRUE(glob_match(pattern, name));
  EXPECT_FALSE(glob_match(pattern + "b", name));
}

TEST(Scope, CubeNumbersAreCountedRowByRow) {
  EXPECT_EQ(expand_cube_alias("cube0.*", 8), "cube_0_0.*");
  EXPECT_EQ(expand_cube_alias("cube9.pe_0.*", 8), "cube_1_1.pe_0.*");
  EXPECT_EQ(expand_cube_alias("cube63", 8), "cube_7_7");
  EXPECT_EQ(expand_cube_alias("cube5.sfr", 1), "cube_0_5.sfr");
}

TEST(Scope, WhatIsNoCubeNumberStays) {
  for (const char* pattern : {"cube", "cube.*", "cube_0_0.*", "cube1x.*", "cube*", "*.cube0", "cub",
                              "", "cube1234567.*"}) {
    EXPECT_EQ(expand_cube_alias(pattern, 8), pattern);
  }
  EXPECT_EQ(expand_cube_alias("cube0.*", 0), "cube0.*");
}

TEST(Scope, TheMessageNamesTheNearestModule) {
  const std::vector<std::string> modules = {"host", "cube_0_0.pe_0.cpu", "cube_0_0.hbm"};
  EXPECT_EQ(no_match_message("cube_0_0.hbx*", modules),
            "trace.scope: expected a pattern that matches a module, got \"cube_0_0.hbx*\"; there "
            "is \"cube_0_0.hbm\"");
  EXPECT_EQ(no_match_message("x", {}),
            "trace.scope: expected a pattern that matches a module, got \"x\"");
}

}  // namespace
}  // namespace cubevp::platform
