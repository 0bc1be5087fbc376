// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cubevp::tl {

class Context;

/// The arguments of a kernel launch: named 64-bit values, integers or doubles. An array is a name
/// with an index. The driver writes them to a block in HBM, the firmware thread reads the block
/// back: what a kernel sees went through the modelled memory.
class Args {
 public:
  /// Setting the same name and index again replaces the value. Throws std::invalid_argument when
  /// two names share a key, which is a hash.
  void set(std::string_view name, std::int64_t value, std::uint32_t i = 0);
  void set_real(std::string_view name, double value, std::uint32_t i = 0);

  bool has(std::string_view name, std::uint32_t i = 0) const;
  /// Throws std::out_of_range naming the argument when it is not there.
  std::int64_t integer(std::string_view name, std::uint32_t i = 0) const;
  double real(std::string_view name, std::uint32_t i = 0) const;

  /// The block: a count, then (key, value) pairs of 64-bit little-endian words in key order.
  std::vector<std::uint64_t> to_words() const;
  /// Throws std::invalid_argument when the words are not a block.
  static Args from_words(const std::vector<std::uint64_t>& words);

 private:
  static std::uint64_t key(std::string_view name, std::uint32_t i);
  void put(std::string_view name, std::uint32_t i, std::uint64_t bits);
  std::uint64_t word(std::string_view name, std::uint32_t i) const;

  std::unordered_map<std::uint64_t, std::uint64_t> values_;
  std::unordered_map<std::uint64_t, std::string> names_;  // of the keys set here, to see collisions
};

using KernelFunction = void (*)(Context&, const Args&);

/// How the driver places tensors and which PEs it starts.
enum class Placement : std::uint8_t {
  /// Q on every rank, K and V sharded over the ranks, which stay put (decode).
  sharded_kv,
  /// A group's query rows divided over its cubes, K and V blocks rotating around the ring of
  /// cubes (prefill).
  ring_kv,
};

struct KernelInfo {
  std::string name;
  std::string summary;
  Placement placement = Placement::sharded_kv;
  /// The logical neighbours that the kernel needs are a closed ring (host configures the SFRs).
  bool needs_ring = false;
  KernelFunction function = nullptr;
};

/// The firmware image: kernels by name and by number (PE_KERNEL holds the number).
class KernelRegistry {
 public:
  /// Throws std::invalid_argument when the name is taken.
  void add(KernelInfo info);
  /// nullptr when there is none.
  const KernelInfo* find(std::string_view name) const;
  /// Throws std::invalid_argument when there is none.
  std::uint32_t number_of(std::string_view name) const;
  const KernelInfo& at(std::uint32_t number) const { return kernels_.at(number); }
  const std::vector<KernelInfo>& all() const { return kernels_; }

 private:
  std::vector<KernelInfo> kernels_;
};

/// What a shared library given to --kernel-lib exports:
///   extern "C" void cubevp_register_kernels(cubevp::tl::KernelRegistry&)
inline constexpr const char* kKernelLibraryEntry = "cubevp_register_kernels";
using KernelLibraryEntry = void (*)(KernelRegistry&);

/// Misuse of the API by a kernel; faults the PE. The message names op, shapes, bytes needed and
/// free; the runtime adds kernel, cube and PE.
class KernelFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace cubevp::tl
