// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "platform/check/tensors.h"

namespace cubevp::platform {

/// Kinds of generated inputs, by name: random ones, and ones built so that a certain mistake in an
/// attention kernel becomes visible.
struct Distribution {
  std::string_view name;
  std::string_view about;
};
/// All of them, in a fixed order.
const std::vector<Distribution>& distributions();
bool is_distribution(std::string_view name);

/// Inputs generated from (distribution, seed, shape). Element i of a tensor depends on nothing
/// else (a counter-based generator, Philox4x32-10), so pages can be made in any order and by any
/// thread, and the values are the same on every host.
///
/// Normal values are one of the 2^16 quantiles (i + 1/2) / 2^16, rounded to the element type; the
/// largest is 4.3.
class GeneratedInputs final : public InputSource {
 public:
  /// Throws std::invalid_argument for an unknown name or a type other than f16 and bf16.
  GeneratedInputs(std::string_view distribution, std::uint64_t seed, const AttentionShape& shape,
                  DType dtype);

  DType dtype() const override { return dtype_; }
  void read(TensorRole role, std::int64_t first, std::uint16_t* out,
            std::size_t count) const override;
  /// The whole tensor.
  Tensor16 tensor(TensorRole role) const;

  /// Where a run of elements of one row lies.
  struct Position {
    std::int64_t head;
    std::int64_t row;    ///< query or key number
    std::int64_t col;    ///< of the first element
    std::int64_t first;  ///< of the first element, counted from the start of the tensor
  };
  /// Fills a run of elements within a row.
  using Filler = std::function<void(const Position&, std::uint16_t* out, std::size_t count)>;

 private:
  AttentionShape shape_;
  DType dtype_;
  std::array<Filler, 3> fillers_;
};

/// One page: elements first .. first + count - 1 of a generated tensor. Who reads many pages keeps
/// a GeneratedInputs instead.
void generate(std::string_view distribution, std::uint64_t seed, TensorRole role,
              const AttentionShape& shape, DType dtype, std::int64_t first, std::uint16_t* out,
              std::size_t count);

}  // namespace cubevp::platform
