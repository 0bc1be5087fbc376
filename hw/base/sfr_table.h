// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hw/base/ids.h"

namespace cubevp::sfr {

// The special function registers of a cube: the one table that the register block, traces, the
// documentation and the drivers use. All registers are 32 bits wide at byte offsets.

enum class Access : std::uint8_t {
  read_only,
  read_write,
  write_1_to_clear,  ///< reads the bits, writing 1 clears them
  write_1_to_set,    ///< PE_START: writing 1 starts; reads which are running
  write_only,        ///< reads 0
};

inline constexpr std::uint32_t kMaxPes = 32;
inline constexpr std::uint32_t kNoNeighbour = 0xffffffff;

inline constexpr std::uint32_t kId = 0x000;
inline constexpr std::uint32_t kVersion = 0x004;
inline constexpr std::uint32_t kCaps = 0x008;
inline constexpr std::uint32_t kGridPos = 0x00c;
inline constexpr std::uint32_t kTopoCtrl = 0x010;
inline constexpr std::uint32_t kRingSize = 0x014;
inline constexpr std::uint32_t kRingRank = 0x018;
inline constexpr std::uint32_t kPeRingSize = 0x01c;
inline constexpr std::uint32_t kNeighbour = 0x020;   // + 4 * direction
inline constexpr std::uint32_t kLinkStatus = 0x030;  // + 4 * direction
inline constexpr std::uint32_t kLinkErrors = 0x040;  // + 4 * direction
inline constexpr std::uint32_t kPeStart = 0x050;
inline constexpr std::uint32_t kPeDone = 0x054;
inline constexpr std::uint32_t kPeFault = 0x058;
inline constexpr std::uint32_t kBarrier = 0x05c;
inline constexpr std::uint32_t kIrqStatus = 0x060;
inline constexpr std::uint32_t kIrqEnable = 0x064;
inline constexpr std::uint32_t kIrqClear = 0x068;
inline constexpr std::uint32_t kCycleLo = 0x070;
inline constexpr std::uint32_t kCycleHi = 0x074;
inline constexpr std::uint32_t kPeKernel = 0x100;  // + 4 * pe
inline constexpr std::uint32_t kPeArgsLo = 0x180;  // + 4 * pe
inline constexpr std::uint32_t kPeArgsHi = 0x200;  // + 4 * pe
inline constexpr std::uint32_t kBlockBytes = 0x280;

// TOPO_CTRL fields.
inline constexpr std::uint32_t kTopoEnable = 1U << 0;
inline constexpr std::uint32_t kTopoRing = 1U << 1;  // 0 mesh (open chain), 1 ring
// IRQ bits.
inline constexpr std::uint32_t kIrqDone = 1U << 0;   // every started PE is done
inline constexpr std::uint32_t kIrqFault = 1U << 1;  // a PE has faulted

struct Field {
  std::uint32_t offset;
  std::string_view name;
  Access access;
  std::uint32_t reset;
  std::uint32_t writable_mask;  ///< other bits are reserved: read 0, writes ignored
  std::uint32_t count;          ///< registers in the array, 4 bytes apart
  bool locked_while_running;    ///< a write while a PE of the cube runs is an error
  std::string_view description;
};

inline constexpr Field kTable[] = {
    {kId, "ID", Access::read_only, 0, 0, 1, false, "global cube number"},
    {kVersion, "VERSION", Access::read_only, 0x00010000, 0, 1, false, "major << 16 | minor"},
    {kCaps, "CAPS", Access::read_only, 0, 0, 1, false, "PEs in bits 7..0, scratchpad KiB in 31..8"},
    {kGridPos, "GRID_POS", Access::read_only, 0, 0, 1, false, "x in bits 15..0, y in 31..16"},
    {kTopoCtrl, "TOPO_CTRL", Access::read_write, 0, kTopoEnable | kTopoRing, 1, true,
     "bit 0 enable logical neighbours, bit 1 mode: 0 mesh (open chain), 1 ring"},
    {kRingSize, "RING_SIZE", Access::read_write, 0, 0xffff, 1, true,
     "cubes in this cube's chain or ring"},
    {kRingRank, "RING_RANK", Access::read_write, 0, 0xffff, 1, true,
     "this cube's place in the rank order"},
    {kPeRingSize, "PE_RING_SIZE", Access::read_write, 0, 0xff, 1, true,
     "0: the PEs are an open chain; n: PE n-1's east neighbour is PE 0"},
    {kNeighbour, "NBR", Access::read_write, kNoNeighbour, 0xffffffff, 4, true,
     "NBR_E, NBR_W, NBR_N, NBR_S: cube number of the logical neighbour, all ones: none"},
    {kLinkStatus, "LINK_STATUS", Access::read_only, 0, 0, 4, false,
     "LINK_STATUS_E/W/N/S: bit 0 link is up (wired to a cube)"},
    {kLinkErrors, "LINK_ERRORS", Access::write_1_to_clear, 0, 0xffffffff, 4, false,
     "LINK_ERRORS_E/W/N/S: flits replayed after a CRC error"},
    {kPeStart, "PE_START", Access::write_1_to_set, 0, 0xffffffff, 1, false,
     "bit p starts PE p; reads the running PEs; starting a running PE is an error"},
    {kPeDone, "PE_DONE", Access::write_1_to_clear, 0, 0xffffffff, 1, false, "bit p: PE p finished"},
    {kPeFault, "PE_FAULT", Access::write_1_to_clear, 0, 0xffffffff, 1, false,
     "bit p: PE p's kernel faulted"},
    {kBarrier, "BARRIER", Access::write_only, 0, 0xffffffff, 1, false,
     "a PE writes its number; the write completes when every started PE has written"},
    {kIrqStatus, "IRQ_STATUS", Access::read_only, 0, 0, 1, false,
     "bit 0 all started PEs done, bit 1 a PE faulted"},
    {kIrqEnable, "IRQ_ENABLE", Access::read_write, 0, kIrqDone | kIrqFault, 1, false,
     "interrupts that reach the host"},
    {kIrqClear, "IRQ_CLEAR", Access::write_only, 0, kIrqDone | kIrqFault, 1, false,
     "write 1 to clear a status bit"},
    {kCycleLo, "CYCLE_LO", Access::read_only, 0, 0, 1, false,
     "PE cycles since reset, low half; reading it latches CYCLE_HI"},
    {kCycleHi, "CYCLE_HI", Access::read_only, 0, 0, 1, false, "latched high half"},
    {kPeKernel, "PE_KERNEL", Access::read_write, 0, 0xffffffff, kMaxPes, true,
     "PE_KERNEL[p]: number of the kernel in the firmware image"},
    {kPeArgsLo, "PE_ARGS_LO", Access::read_write, 0, 0xffffffff, kMaxPes, true,
     "PE_ARGS_LO[p]: address of the argument block, low half"},
    {kPeArgsHi, "PE_ARGS_HI", Access::read_write, 0, 0xffff, kMaxPes, true,
     "PE_ARGS_HI[p]: address of the argument block, high half"},
};

/// The register at a byte offset, or nullptr.
constexpr const Field* find(std::uint32_t offset) {
  for (const Field& f : kTable) {
    if (offset >= f.offset && offset < f.offset + 4 * f.count && (offset - f.offset) % 4 == 0) {
      return &f;
    }
  }
  return nullptr;
}

/// "NBR_E", "PE_KERNEL[3]", "ID".
inline std::string name_at(std::uint32_t offset) {
  const Field* f = find(offset);
  if (f == nullptr) {
    return "unmapped";
  }
  const std::uint32_t i = (offset - f->offset) / 4;
  if (f->count == 1) {
    return std::string(f->name);
  }
  if (f->count == kDirections) {
    return std::string(f->name) + "_" + std::string(to_string(static_cast<Direction>(i)));
  }
  return std::string(f->name) + "[" + std::to_string(i) + "]";
}

}  // namespace cubevp::sfr
