// SPDX-License-Identifier: Apache-2.0
#include "firmware/runtime/run_kernel.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "firmware/tl/context.h"
#include "tests/support/fake_machine.h"

namespace cubevp::runtime {
namespace {

using test::FakeConfig;
using test::FakeMachine;

void writes_argument(tl::Context& ctx, const tl::Args& args) {
  const tl::Tensor t = ctx.full({1, 4}, static_cast<float>(args.real("value")), DType::f32);
  ctx.store(static_cast<std::uint64_t>(args.integer("to")), t);
}
void multiplies_what_does_not_fit(tl::Context& ctx, const tl::Args&) {
  ctx.dot(ctx.empty({8, 128}, DType::f16), ctx.empty({64, 512}, DType::f16));
}
void wants_an_argument(tl::Context&, const tl::Args& args) {
  args.integer("rows", 2);
}

struct Machine {
  Machine() {
    FakeConfig c;
    c.cubes = 4;
    machine = std::make_unique<FakeMachine>(c);
    image.add({"writes", "", tl::Placement::sharded_kv, false, writes_argument});
    image.add(
        {"attention_mesh_mlo", "", tl::Placement::sharded_kv, false, multiplies_what_does_not_fit});
    image.add({"wants", "", tl::Placement::sharded_kv, false, wants_an_argument});
  }
  std::string fault(std::uint32_t kernel, const std::vector<std::uint64_t>& block) {
    const Address address = machine->allocate(CubeId{3}, block.size() * 8);
    machine->write(address, block.data(), block.size() * 8);
    machine->start(CubeId{3}, PeId{5}, [this, kernel, address](CommandPort& port) {
      run_kernel(port, image, kernel, address);
    });
    try {
      machine->run();
    } catch (const tl::KernelFault& e) {
      return e.what();
    }
    return "";
  }
  std::unique_ptr<FakeMachine> machine;
  tl::KernelRegistry image;
};

TEST(RunKernel, ReadsItsArgumentsFromMemory) {
  Machine m;
  const Address to = m.machine->allocate(CubeId{0}, 16);
  tl::Args args;
  args.set_real("value", 2.5);
  args.set("to", static_cast<std::int64_t>(to));
  ASSERT_EQ(m.fault(0, args.to_words()), "");
  std::vector<float> result(4);
  m.machine->read(to, result.data(), 16);
  EXPECT_EQ(result, std::vector<float>(4, 2.5F));
  EXPECT_EQ(m.machine->counted(CubeId{3}, PeId{5}).waits, std::vector<std::string>{"fence"});
}

TEST(RunKernel, FaultsNameKernelCubeAndPe) {
  EXPECT_EQ(Machine().fault(1, {0}),
            "kernel attention_mesh_mlo, cube 3, PE 5: dot: (8, 128) x (64, 512): the inner "
            "dimensions 128 and 64 differ");
}

TEST(RunKernel, MissingArgumentIsAFault) {
  EXPECT_EQ(Machine().fault(2, {0}), "kernel wants, cube 3, PE 5: no argument rows[2]");
}

TEST(RunKernel, UnknownKernelNumberIsAFault) {
  EXPECT_EQ(Machine().fault(9, {0}),
            "kernel number 9, cube 3, PE 5: the firmware image has 3 kernels");
}

TEST(RunKernel, StrayArgumentBlockIsAFault) {
  EXPECT_EQ(Machine().fault(0, {1ULL << 40}),
            "kernel writes, cube 3, PE 5: argument block: a count of 1099511627776 is not "
            "plausible, check PE_ARGS");
}

}  // namespace
}  // namespace cubevp::runtime
