// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <stdexcept>

#include "firmware/tl/kernel.h"

namespace cubevp::tl {
namespace {

void nothing(Context&, const Args&) {}

TEST(Args, SurviveTheArgumentBlock) {
  Args args;
  args.set("rows", -7);
  args.set("k", 0x123456789abcdef0, 3);
  args.set_real("scale", 0.08838834764831845);
  const Args back = Args::from_words(args.to_words());
  EXPECT_EQ(back.integer("rows"), -7);
  EXPECT_EQ(back.integer("k", 3), 0x123456789abcdef0);
  EXPECT_EQ(back.real("scale"), 0.08838834764831845);
  EXPECT_FALSE(back.has("k"));
  EXPECT_FALSE(back.has("k", 2));
}

TEST(Args, BlockIsACountAndPairsInKeyOrder) {
  Args args;
  for (std::uint32_t i = 0; i < 50; ++i) {
    args.set("x", i, i);
  }
  const std::vector<std::uint64_t> words = args.to_words();
  ASSERT_EQ(words.size(), 101U);
  EXPECT_EQ(words[0], 50U);
  for (std::size_t i = 3; i < words.size(); i += 2) {
    EXPECT_LT(words[i - 2], words[i]);
  }
}

TEST(Args, SettingAgainReplaces) {
  Args args;
  args.set("x", 1);
  args.set("x", 2);
  EXPECT_EQ(args.integer("x"), 2);
  EXPECT_EQ(args.to_words().size(), 3U);
}

TEST(Args, MissingArgumentIsNamed) {
  try {
    Args().integer("head_dim", 4);
    FAIL() << "no exception";
  } catch (const std::out_of_range& e) {
    EXPECT_STREQ(e.what(), "no argument head_dim[4]");
  }
}

TEST(Args, RejectsWhatIsNoBlock) {
  EXPECT_THROW(Args::from_words({}), std::invalid_argument);
  EXPECT_THROW(Args::from_words({1, 2}), std::invalid_argument);
  EXPECT_THROW(Args::from_words({2, 10, 1}), std::invalid_argument);
  EXPECT_THROW(Args::from_words({2, 10, 1, 10, 2}), std::invalid_argument);
  EXPECT_NO_THROW(Args::from_words({2, 10, 1, 11, 2}));
}

TEST(KernelRegistry, NumbersKernelsInOrder) {
  KernelRegistry registry;
  registry.add({"a", "", Placement::sharded_kv, false, nothing});
  registry.add({"b", "", Placement::ring_kv, true, nothing});
  EXPECT_EQ(registry.number_of("a"), 0U);
  EXPECT_EQ(registry.number_of("b"), 1U);
  EXPECT_EQ(registry.at(1).name, "b");
  EXPECT_TRUE(registry.find("b")->needs_ring);
  EXPECT_EQ(registry.find("c"), nullptr);
  EXPECT_THROW(registry.number_of("c"), std::invalid_argument);
}

TEST(KernelRegistry, RejectsATakenNameAndNoFunction) {
  KernelRegistry registry;
  registry.add({"a", "", Placement::sharded_kv, false, nothing});
  EXPECT_THROW(registry.add({"a", "", Placement::ring_kv, false, nothing}), std::invalid_argument);
  EXPECT_THROW(registry.add({"b", "", Placement::ring_kv, false, nullptr}), std::invalid_argument);
  EXPECT_EQ(registry.all().size(), 1U);
}

}  // namespace
}  // namespace cubevp::tl
