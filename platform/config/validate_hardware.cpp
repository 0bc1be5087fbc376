// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "hw/base/address_map.h"
#include "hw/base/sfr_table.h"
#include "platform/config/checker.h"
#include "platform/config/quantities.h"
#include "platform/config/validate.h"

namespace cubevp::platform {

namespace {

constexpr std::uint64_t kMaxScratchpadBytes = std::uint64_t{1} << kPeShift;
constexpr std::uint64_t kMaxStackBytes = std::uint64_t{1} << kOffsetBits;
constexpr std::uint64_t kMaxWindowBytes = kCreditBit;
// A payload notes its way in this many places (sim::TransactionExtension).
constexpr std::uint64_t kMaxStops = 120;
constexpr double kFastestClockHz = 1e11;
constexpr double kSlowestClockHz = 1e3;
// A kernel's C++ frames, and what a host can map for every PE of a system.
constexpr std::uint64_t kLeastStack = 64 * 1024;
constexpr std::uint64_t kMostStack = std::uint64_t{64} << 20;

bool power_of_two(std::uint64_t n) {
  return n != 0 && (n & (n - 1)) == 0;
}

bool clock_fits(double hz) {
  return hz >= kSlowestClockHz && hz <= kFastestClockHz;
}

/// Counts in 64 bits: each factor is at most 65536.
struct GridSize {
  std::uint64_t stops;
  std::uint64_t columns;
  std::uint64_t rows;

  explicit GridSize(const hw::SystemConfig& s)
      : stops(std::uint64_t{s.noc.columns} * s.noc.rows),
        columns(std::uint64_t{s.package_columns} * s.packages_x),
        rows(std::uint64_t{s.package_rows} * s.packages_y) {}

  bool few_stops() const { return stops <= sfr::kMaxPes; }
  bool few_cubes() const {
    return columns <= kMaxCubes && rows <= kMaxCubes && columns * rows <= kMaxCubes;
  }
};

void check_clocks(const hw::SystemConfig& s, const Checker& check) {
  for (const auto& [key, hz] : {std::pair<const char*, double>{"hardware.pe.clock", s.pe.clock.hz},
                                {"hardware.noc.clock", s.noc.clock.hz}}) {
    check.that(clock_fits(hz), {key},
               fmt::format("expected a frequency from 1 kHz to 100 GHz, got \"{}\"",
                           format_real_quantity(hz, Dimension::frequency)));
  }
}

void check_grid(const hw::SystemConfig& s, const Checker& check) {
  const GridSize size(s);
  check.that(size.few_stops(), {"hardware.noc.columns", "hardware.noc.rows"},
             fmt::format("expected at most {} stops in a cube's mesh, got {} x {}", sfr::kMaxPes,
                         s.noc.columns, s.noc.rows));
  check.that(size.few_cubes(),
             {"hardware.package.columns", "hardware.package.rows", "hardware.system.packages_x",
              "hardware.system.packages_y"},
             fmt::format("expected at most {} cubes in the system, got {} x {}", kMaxCubes,
                         size.columns, size.rows));
  if (size.few_cubes() && size.few_stops()) {
    const std::uint64_t longest =
        size.columns * (s.noc.columns + 1) + size.rows * (s.noc.rows + 1) - 2;
    check.that(
        longest <= kMaxStops,
        {"hardware.noc.columns", "hardware.noc.rows", "hardware.package.columns",
         "hardware.package.rows", "hardware.system.packages_x", "hardware.system.packages_y"},
        fmt::format("expected at most {} stops on the longest way through the system, got {}",
                    kMaxStops, longest));
  }
}

void check_hbm(const hw::SystemConfig& s, const Checker& check) {
  const hw::HbmConfig& h = s.hbm;
  const std::uint64_t stops = std::uint64_t{s.noc.columns} * s.noc.rows;
  check.that(
      h.channels % stops == 0,
      {"hardware.hbm.channels", "hardware.noc.columns", "hardware.noc.rows"},
      fmt::format("expected a multiple of the {} stops of the NoC, got \"{}\"", stops, h.channels));
  check.that(h.bytes <= kMaxStackBytes, {"hardware.hbm.capacity"},
             fmt::format("expected at most {}, got \"{}\"", format_bytes(kMaxStackBytes),
                         format_bytes(h.bytes)));
  check.that(h.bytes % (stops * h.page_bytes) == 0,
             {"hardware.hbm.capacity", "hardware.hbm.page_size", "hardware.noc.columns",
              "hardware.noc.rows"},
             fmt::format("expected whole pages of {} for each of {} PEs, got \"{}\"",
                         format_bytes(h.page_bytes), stops, format_bytes(h.bytes)));
  const std::uint32_t burst = s.pe.dma.burst_bytes;
  for (const auto& [key, bytes] :
       {std::pair<const char*, std::uint32_t>{"hardware.hbm.access_size", h.access_bytes},
        {"hardware.hbm.page_size", h.page_bytes},
        {"hardware.hbm.interleave", h.interleave_bytes},
        {"hardware.pe.dma.burst_size", burst}}) {
    check.that(power_of_two(bytes), {key},
               fmt::format("expected a power of two of bytes, got \"{}\"", format_bytes(bytes)));
    check.that(bytes >= h.access_bytes, {key, "hardware.hbm.access_size"},
               fmt::format("expected at least hbm.access_size ({}), got \"{}\"",
                           format_bytes(h.access_bytes), format_bytes(bytes)));
  }
  const hw::HbmTiming& t = h.timing;
  check.that(t.tccd_l >= t.tccd_s, {"hardware.hbm.timing.tccd_l", "hardware.hbm.timing.tccd_s"},
             fmt::format("expected at least tccd_s ({}), got \"{}\"", format_time(t.tccd_s),
                         format_time(t.tccd_l)));
  const bool all = h.refresh == hw::Refresh::all_bank;
  const Ps refresh = all ? t.trfc_ab : t.trfc_pb;
  const Ps least = std::max<Ps>(refresh, Ps{h.bank_groups} * static_cast<Ps>(h.banks_per_group));
  check.that(h.refresh == hw::Refresh::off || t.trefi > least,
             {"hardware.hbm.timing.trefi", "hardware.hbm.timing.trfc_ab",
              "hardware.hbm.timing.trfc_pb", "hardware.hbm.refresh"},
             fmt::format("expected more than {} ({}), got \"{}\"", all ? "trfc_ab" : "trfc_pb",
                         format_time(refresh), format_time(t.trefi)));
}

void check_pe(const hw::SystemConfig& s, const Checker& check) {
  const hw::MessageQueueConfig& q = s.pe.message_queue;
  const std::uint64_t scratchpad = s.pe.scratchpad.bytes;
  check.that(scratchpad <= kMaxScratchpadBytes, {"hardware.pe.scratchpad.size"},
             fmt::format("expected at most {}, got \"{}\"", format_bytes(kMaxScratchpadBytes),
                         format_bytes(scratchpad)));
  check.that(q.packet_bytes <= q.slot_bytes,
             {"hardware.pe.message_queue.packet_size", "hardware.pe.message_queue.slot_size"},
             fmt::format("expected at most slot_size ({}), got \"{}\"", format_bytes(q.slot_bytes),
                         format_bytes(q.packet_bytes)));
  const std::uint64_t window = std::uint64_t{q.slots} * q.slot_bytes;
  check.that(window <= kMaxWindowBytes,
             {"hardware.pe.message_queue.slots", "hardware.pe.message_queue.slot_size"},
             fmt::format("expected slots of one direction within {}, got {} of {}",
                         format_bytes(kMaxWindowBytes), q.slots, format_bytes(q.slot_bytes)));
  check.that(window > kMaxWindowBytes || q.reserved_bytes() < scratchpad,
             {"hardware.pe.message_queue.slots", "hardware.pe.message_queue.slot_size",
              "hardware.pe.scratchpad.size"},
             fmt::format("expected slots that fit the scratchpad: 8 x {} slots of {} need {} B, it "
                         "has {} B",
                         q.slots, format_bytes(q.slot_bytes), q.reserved_bytes(), scratchpad));
  const std::uint64_t stack = s.pe.cpu.stack_bytes;
  check.that(stack >= kLeastStack && stack <= kMostStack, {"hardware.pe.cpu.stack_size"},
             fmt::format("expected {} to {}, got \"{}\"", format_bytes(kLeastStack),
                         format_bytes(kMostStack), format_bytes(stack)));
}

/// The flight time of a link is its latency less the network interfaces and the hops on both
/// dies.
void check_links(const hw::SystemConfig& s, const Checker& check) {
  if (!clock_fits(s.noc.clock.hz)) {
    return;
  }
  const hw::NocConfig& n = s.noc;
  const std::int64_t hops = std::int64_t{std::max(n.columns, n.rows)} - 1;
  const Ps least = n.clock.cycles(std::int64_t{n.interface_inject_cycles} +
                                  n.interface_eject_cycles + hops * n.hop_cycles);
  for (const auto& [key, latency] :
       {std::pair<const char*, Ps>{"hardware.link.latency", s.link.neighbour_latency_ps},
        {"hardware.package_link.latency", s.package_link.neighbour_latency_ps}}) {
    check.that(latency >= least,
               {key, "hardware.noc.clock", "hardware.noc.hop_cycles", "hardware.noc.columns",
                "hardware.noc.rows", "hardware.noc.interface_inject_cycles",
                "hardware.noc.interface_eject_cycles"},
               fmt::format("expected at least {}, which network interfaces and {} hops take, got "
                           "\"{}\"",
                           format_time(least), hops, format_time(latency)));
  }
}

}  // namespace

bool grid_fits(const hw::SystemConfig& system) {
  const GridSize size(system);
  return size.few_stops() && size.few_cubes();
}

void validate_hardware(const hw::SystemConfig& system, const Origins& origins, Problems& problems) {
  const Checker check(origins, problems);
  check_clocks(system, check);
  check_grid(system, check);
  check_hbm(system, check);
  check_pe(system, check);
  check_links(system, check);
}

}  // namespace cubevp::platform
