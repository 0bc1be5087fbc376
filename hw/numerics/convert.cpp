// SPDX-License-Identifier: Apache-2.0
#include "hw/numerics/convert.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hw/numerics/convert.cpp"
#include <hwy/foreach_target.h>

#include "hw/numerics/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cubevp::numerics::HWY_NAMESPACE {

void to_f32_on_target(const void* src, DType type, std::size_t n, float* dst) {
  read_row(static_cast<const std::uint8_t*>(src), type, n, dst);
}
void from_f32_on_target(const float* src, std::size_t n, DType type, void* dst) {
  write_row(src, n, type, static_cast<std::uint8_t*>(dst));
}

}  // namespace cubevp::numerics::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cubevp::numerics {

HWY_EXPORT(to_f32_on_target);
HWY_EXPORT(from_f32_on_target);

void to_f32(const void* src, DType type, std::size_t n, float* dst) {
  if (n != 0) {
    HWY_DYNAMIC_DISPATCH(to_f32_on_target)(src, type, n, dst);
  }
}
void from_f32(const float* src, std::size_t n, DType type, void* dst) {
  if (n != 0) {
    HWY_DYNAMIC_DISPATCH(from_f32_on_target)(src, n, type, dst);
  }
}

}  // namespace cubevp::numerics
#endif  // HWY_ONCE
