// SPDX-License-Identifier: Apache-2.0
#include "platform/check/load_inputs.h"

#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace cubevp::platform {
namespace {

/// Throws unless the array has the shape `expected`, or that without a batch of 1.
void check_shape(const std::string& path, const NpyArray& array,
                 const std::vector<std::int64_t>& expected, const char* axes) {
  const std::vector<std::int64_t> without_batch(expected.begin() + 1, expected.end());
  if (array.shape == expected || (expected[0] == 1 && array.shape == without_batch)) {
    return;
  }
  throw InputError(fmt::format("{}: expected shape {} = {}, got {}", path, axes, describe(expected),
                               describe(array.shape)));
}

Tensor16 load_tensor(const std::string& path, TensorRole role, const AttentionShape& shape,
                     DType dtype, std::vector<std::string>& notes) {
  const NpyArray array = read_npy(path);
  if (array.type == NpyType::f64) {
    throw InputError(path + ": expected element type <f2 or <f4, got <f8");
  }
  Tensor16 tensor{dtype, tensor_shape(role, shape), {}};
  check_shape(path, array, tensor.shape,
              role == TensorRole::q ? "(batch, q_heads, new_tokens, head_dim)"
                                    : "(batch, kv_heads, context, head_dim)");
  tensor.bits.resize(array.size());
  if (array.type == NpyType::f16 && dtype == DType::f16) {
    if (!array.data.empty()) {
      std::memcpy(tensor.bits.data(), array.data.data(), array.data.size());
    }
    return tensor;
  }
  std::size_t overflows = 0;
  for (std::size_t i = 0; i < array.size(); ++i) {
    const double value = array.at(i);
    tensor.bits[i] = narrow(value, dtype);
    overflows += std::isfinite(value) && std::isinf(widen(tensor.bits[i], dtype)) ? 1 : 0;
  }
  std::string note =
      fmt::format("{}: narrowed from {} to {}", path, descr(array.type), to_string(dtype));
  if (overflows > 0) {
    note += fmt::format("; {} of {} values became infinite", overflows, array.size());
  }
  notes.push_back(std::move(note));
  return tensor;
}

}  // namespace

LoadedInputs load_inputs(const std::string& q_path, const std::string& k_path,
                         const std::string& v_path, const AttentionShape& shape, DType dtype) {
  std::vector<std::string> notes;
  Tensor16 q = load_tensor(q_path, TensorRole::q, shape, dtype, notes);
  Tensor16 k = load_tensor(k_path, TensorRole::k, shape, dtype, notes);
  Tensor16 v = load_tensor(v_path, TensorRole::v, shape, dtype, notes);
  return {TensorInputs(std::move(q), std::move(k), std::move(v)), std::move(notes)};
}

std::vector<double> load_golden(const std::string& path, const AttentionShape& shape) {
  const NpyArray array = read_npy(path);
  check_shape(path, array, tensor_shape(TensorRole::q, shape),
              "(batch, q_heads, new_tokens, head_dim)");
  std::vector<double> values(array.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = array.at(i);
  }
  return values;
}

void write_tensor(const std::string& path, const Tensor16& tensor) {
  NpyArray array{tensor.dtype == DType::f16 ? NpyType::f16 : NpyType::f32, tensor.shape, {}};
  array.data.resize(tensor.bits.size() * size_bytes(array.type));
  for (std::size_t i = 0; i < tensor.bits.size(); ++i) {
    std::byte* element = array.data.data() + i * size_bytes(array.type);
    if (array.type == NpyType::f16) {
      std::memcpy(element, &tensor.bits[i], sizeof tensor.bits[i]);
    } else {
      const auto value = static_cast<float>(double_from_bf16(tensor.bits[i]));
      std::memcpy(element, &value, sizeof value);
    }
  }
  write_npy(path, array);
}

}  // namespace cubevp::platform
