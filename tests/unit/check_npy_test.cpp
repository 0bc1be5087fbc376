// SPDX-License-Identifier: Apache-2.0
#include "platform/check/npy.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "platform/check/load_inputs.h"

namespace cubevp::platform {
namespace {

class Npy : public testing::Test {
 protected:
  Npy() {
    std::string pattern = (std::filesystem::temp_directory_path() / "npyXXXXXX").string();
    dir_ = ::mkdtemp(pattern.data());
  }
  ~Npy() override { std::filesystem::remove_all(dir_); }

  std::string path(const std::string& name = "a.npy") const { return dir_ + "/" + name; }

  /// A file with this header and data; version 1 has a length of 2 bytes, others of 4.
  std::string file(std::string header, const std::string& data, char version = 1) {
    std::string bytes = "\x93NUMPY";
    bytes += version;
    bytes += '\0';
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
      bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
    }
    return raw(bytes + header + data);
  }
  std::string raw(const std::string& bytes) {
    std::ofstream(path(), std::ios::binary) << bytes;
    return path();
  }

  /// Reading must fail with one line that names the file and holds `what`.
  void expect_error(const std::string& what) {
    expect_error([this] { read_npy(path()); }, what);
  }
  void expect_error(const std::function<void()>& action, const std::string& what,
                    const std::string& name = "a.npy") {
    try {
      action();
      ADD_FAILURE() << "no error";
    } catch (const InputError& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.rfind(path(name) + ": ", 0), 0U) << message;
      EXPECT_NE(message.find(what), std::string::npos) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
  }

  std::string dir_;
};

const char* const kHeader = "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }   \n";
const std::string kSixHalves("\x00\x3c\x00\x40\x00\x42\x00\x44\x00\x45\x00\x46", 12);

TEST_F(Npy, ReadsAllVersions) {
  for (const char version : {1, 2, 3}) {
    const NpyArray array = read_npy(file(kHeader, kSixHalves, version));
    EXPECT_EQ(array.type, NpyType::f16);
    EXPECT_EQ(array.shape, (std::vector<std::int64_t>{2, 3}));
    ASSERT_EQ(array.size(), 6U);
    EXPECT_EQ(array.at(0), 1.0);
    EXPECT_EQ(array.at(5), 6.0);
  }
}

TEST_F(Npy, ReadsKeysInAnyOrderAndOneDimension) {
  const NpyArray array =
      read_npy(file("{\"shape\":(6,),'fortran_order':False,'descr':'<f2'}", kSixHalves));
  EXPECT_EQ(array.shape, (std::vector<std::int64_t>{6}));
}

TEST_F(Npy, WhatIsWrittenIsReadBack) {
  for (const NpyType type : {NpyType::f16, NpyType::f32, NpyType::f64}) {
    NpyArray array{type, {2, 1, 3}, std::vector<std::byte>(6 * size_bytes(type))};
    for (std::size_t i = 0; i < array.data.size(); ++i) {
      array.data[i] = static_cast<std::byte>(i * 37);
    }
    write_npy(path(), array);
    const NpyArray back = read_npy(path());
    EXPECT_EQ(back.type, type);
    EXPECT_EQ(back.shape, array.shape);
    EXPECT_EQ(back.data, array.data);
  }
}

TEST_F(Npy, WritesWhatNumpyWrites) {
  NpyArray array{NpyType::f16, {2, 3}, std::vector<std::byte>(12)};
  write_npy(path(), array);
  std::ifstream in(path(), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  ASSERT_EQ(bytes.size(), 128U + 12U);
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(bytes.substr(10, 57), "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3),");
  EXPECT_EQ(bytes[127], '\n');
}

TEST_F(Npy, WritingReplacesAndLeavesNothingElse) {
  raw("old");
  write_npy(path(), {NpyType::f32, {1}, std::vector<std::byte>(4)});
  EXPECT_EQ(read_npy(path()).size(), 1U);
  const auto entries = std::filesystem::directory_iterator(dir_);
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

TEST_F(Npy, UnwritableDirectoryIsAnError) {
  const NpyArray array{NpyType::f32, {1}, std::vector<std::byte>(4)};
  expect_error([&] { write_npy(path("missing/o.npy"), array); }, "cannot write", "missing/o.npy");
}

TEST_F(Npy, TargetThatCannotBeReplacedIsAnErrorAndLeavesNoTemporary) {
  std::filesystem::create_directory(path("o.npy"));
  const NpyArray array{NpyType::f32, {1}, std::vector<std::byte>(4)};
  expect_error([&] { write_npy(path("o.npy"), array); }, "cannot write", "o.npy");
  const auto entries = std::filesystem::directory_iterator(dir_);
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

TEST_F(Npy, MissingFileAndDirectoryAreErrors) {
  expect_error("cannot read: No such file");
  std::filesystem::create_directory(path());
  expect_error("not a regular file");
}

TEST_F(Npy, WrongMagic) {
  raw("PK\x03\x04 a zip file of arrays");
  expect_error("not a .npy file");
  raw("");
  expect_error("not a .npy file");
}

TEST_F(Npy, UnknownVersion) {
  file(kHeader, kSixHalves, 4);
  expect_error("version 1, 2 or 3, got 4");
}

TEST_F(Npy, CorruptHeaders) {
  for (const char* header :
       {"", "{", "{'descr': '<f2'", "{'descr': '<f2', 'fortran_order': False}", "garbage",
        "{'descr': '<f2', 'fortran_order': 0, 'shape': (2, 3)}",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (2, -3)}",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (2 3)}",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 99999999999999999999)}",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), 'more': 1}",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3)} and more"}) {
    file(header, kSixHalves);
    expect_error("corrupt .npy header");
  }
}

TEST_F(Npy, HeaderThatNeverEnds) {
  raw(std::string("\x93NUMPY\x01\x00\xff\xff{", 11));
  expect_error("the file ends in it");
  raw(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13));
  expect_error("its length is 4294967295 bytes");
}

TEST_F(Npy, FortranOrder) {
  file("{'descr': '<f2', 'fortran_order': True, 'shape': (2, 3), }", kSixHalves);
  expect_error("Fortran order");
}

TEST_F(Npy, WrongElementTypes) {
  for (const char* descr : {">f2", "<u2", "<i4", "|V2", "<c8"}) {
    file(std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (2, 3), }",
         kSixHalves);
    expect_error(std::string("expected element type <f2, <f4 or <f8, got ") + descr);
  }
  file("{'descr': [('a', '<f2')], 'fortran_order': False, 'shape': (2, 3), }", kSixHalves);
  expect_error("got a structured type");
}

TEST_F(Npy, WrongNumberOfDimensions) {
  file("{'descr': '<f2', 'fortran_order': False, 'shape': (), }", std::string(2, 'x'));
  expect_error("expected 1 to 4 dimensions, got 0");
  file("{'descr': '<f2', 'fortran_order': False, 'shape': (1, 1, 1, 2, 3), }", kSixHalves);
  expect_error("got 5");
}

TEST_F(Npy, TruncatedDataAndTrailingBytes) {
  file(kHeader, kSixHalves.substr(1));
  expect_error("expected 12 bytes of data for shape (2, 3) of <f2, got 11 (truncated)");
  file(kHeader, kSixHalves + "x");
  expect_error("got 13 (trailing bytes)");
}

TEST_F(Npy, ShapeThatOverflowsIsNotAllocated) {
  file("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", "");
  expect_error("more than 2^64");
  file("{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }", "");
  expect_error("truncated");
}

class Inputs : public Npy {
 protected:
  const AttentionShape shape_{1, 4, 2, 1, 3, 2};

  std::string write(const std::string& name, NpyType type, std::vector<std::int64_t> extents,
                    double value = 1) {
    NpyArray array{type, std::move(extents), {}};
    for (std::int64_t i = 0; i < element_count(array.shape); ++i) {
      const std::uint16_t half = f16_from_double(value);
      const auto single = static_cast<float>(value);
      const void* from = type == NpyType::f16   ? static_cast<const void*>(&half)
                         : type == NpyType::f32 ? static_cast<const void*>(&single)
                                                : &value;
      const auto* bytes = static_cast<const std::byte*>(from);
      array.data.insert(array.data.end(), bytes, bytes + size_bytes(type));
    }
    write_npy(path(name), array);
    return path(name);
  }
};

TEST_F(Inputs, ThreeAndFourDimensionsAreRead) {
  const auto q = write("q.npy", NpyType::f16, {4, 1, 2});
  const auto k = write("k.npy", NpyType::f16, {1, 2, 3, 2}, 2);
  const LoadedInputs loaded = load_inputs(q, k, k, shape_, DType::f16);
  EXPECT_TRUE(loaded.notes.empty());
  EXPECT_EQ(loaded.inputs.tensor(TensorRole::q).shape, (std::vector<std::int64_t>{1, 4, 1, 2}));
  EXPECT_EQ(loaded.inputs.tensor(TensorRole::k).bits, std::vector<std::uint16_t>(12, 0x4000));
}

TEST_F(Inputs, F32IsNarrowedWithANote) {
  const auto q = write("q.npy", NpyType::f32, {4, 1, 2}, 1e6);
  const auto k = write("k.npy", NpyType::f16, {2, 3, 2});
  const LoadedInputs loaded = load_inputs(q, k, k, shape_, DType::f16);
  ASSERT_EQ(loaded.notes.size(), 1U);
  EXPECT_EQ(loaded.notes[0], q + ": narrowed from <f4 to f16; 8 of 8 values became infinite");
  EXPECT_EQ(loaded.inputs.tensor(TensorRole::q).bits[0], 0x7c00);
  const LoadedInputs brain = load_inputs(q, k, k, shape_, DType::bf16);
  EXPECT_EQ(brain.notes.size(), 3U);
  EXPECT_EQ(brain.inputs.dtype(), DType::bf16);
  EXPECT_EQ(brain.inputs.tensor(TensorRole::k).bits[0], 0x3f80);
}

TEST_F(Inputs, WrongShapeNamesTheFileAndWhatWasExpected) {
  const auto q = write("q.npy", NpyType::f16, {4, 1, 2});
  const auto k = write("k.npy", NpyType::f16, {2, 3, 2});
  const auto bad = write("bad.npy", NpyType::f16, {3, 2, 2});
  expect_error([&] { load_inputs(q, bad, k, shape_, DType::f16); },
               "expected shape (batch, kv_heads, context, head_dim) = (1, 2, 3, 2), got (3, 2, 2)",
               "bad.npy");
  expect_error([&] { load_golden(k, shape_); },
               "(batch, q_heads, new_tokens, head_dim) = (1, 4, 1, 2), got (2, 3, 2)", "k.npy");
  AttentionShape two = shape_;
  two.batch = 2;
  expect_error([&] { load_inputs(q, k, k, two, DType::f16); }, "(2, 4, 1, 2), got (4, 1, 2)",
               "q.npy");
}

TEST_F(Inputs, F64IsNoInput) {
  const auto q = write("q.npy", NpyType::f64, {4, 1, 2});
  expect_error([&] { load_inputs(q, q, q, shape_, DType::f16); }, "<f2 or <f4, got <f8", "q.npy");
  EXPECT_EQ(load_golden(q, shape_), std::vector<double>(8, 1.0));
}

TEST_F(Inputs, OutputsAreWrittenInTheirTypeOrAWiderOne) {
  write_tensor(path("o.npy"), {DType::f16, {1, 1, 1, 2}, {0x3c00, 0x7e00}});
  EXPECT_EQ(read_npy(path("o.npy")).type, NpyType::f16);
  EXPECT_EQ(read_npy(path("o.npy")).at(0), 1.0);
  write_tensor(path("o.npy"), {DType::bf16, {1, 1, 1, 2}, {0x3f81, 0xc000}});
  const NpyArray wide = read_npy(path("o.npy"));
  EXPECT_EQ(wide.type, NpyType::f32);
  EXPECT_EQ(wide.at(0), 1 + 0x1p-7);
  EXPECT_EQ(wide.at(1), -2.0);
}

}  // namespace
}  // namespace cubevp::platform
