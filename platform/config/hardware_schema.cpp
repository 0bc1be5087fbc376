// SPDX-License-Identifier: Apache-2.0
#include "platform/config/choice.h"
#include "platform/config/schema.h"

namespace cubevp::platform {

namespace {

// Cycle counts and widths beyond this are typing errors.
constexpr std::uint64_t kMaxCycles = 1000000;
constexpr std::uint64_t kMaxUnits = 1 << 16;

QuantityField time(Ps& target) {
  return {Dimension::time, &target, false};
}
QuantityField positive_time(Ps& target) {
  return {Dimension::time, &target, true};
}
QuantityField size(std::uint32_t& target) {
  return {Dimension::bytes, &target, true};
}
QuantityField size(std::uint64_t& target) {
  return {Dimension::bytes, &target, true};
}
QuantityField energy(double& target) {
  return {Dimension::energy, &target, false};
}
IntegerField count(std::uint32_t& target) {
  return {&target, 1, kMaxUnits};
}
IntegerField cycles(std::uint32_t& target) {
  return {&target, 0, kMaxCycles};
}

Section section(std::vector<Entry> entries) {
  Section s;
  s.entries = std::move(entries);
  return s;
}

Section gemm_schema(hw::GemmConfig& c) {
  return section({
      {"rows", "m: result rows in parallel", count(c.rows)},
      {"cols", "n: result columns in parallel", count(c.cols)},
      {"depth", "k: inner products in parallel (block dataflow)", count(c.depth)},
      {"fill_cycles", "cycles to fill the pipeline, once a dependent chain", cycles(c.fill_cycles)},
      {"dataflow",
       "block: rows x cols x depth MACs a cycle; os, ws: rows x cols systolic array, output- or "
       "weight-stationary",
       choice(c.dataflow, {{"block", hw::Dataflow::block},
                           {"os", hw::Dataflow::output_stationary},
                           {"ws", hw::Dataflow::weight_stationary}})},
      {"overlap_fill", "systolic: hide the fill of all folds but the first",
       BoolField{&c.overlap_fill}},
  });
}

Section pe_schema(hw::PeConfig& c) {
  return section({
      {"clock", "of every unit of the PE", QuantityField{Dimension::frequency, &c.clock.hz}},
      {"cpu", "the core that runs the kernel",
       section({
           {"sfr_access", "one way to the register block", time(c.cpu.sfr_access_ps)},
           {"stack_size", "of a kernel, in host memory", size(c.cpu.stack_bytes)},
           {"blocking", "wait for each command before the next is issued",
            BoolField{&c.cpu.blocking}},
       })},
      {"command", "the command processor",
       section({
           {"issue", "firmware time to write one command", time(c.cpu.issue_ps)},
           {"queue_depth", "commands issued and not complete",
            count(c.command_processor.queue_depth)},
       })},
      {"dma", "loads and stores between HBM and scratchpad",
       section({
           {"read_channels", "loads in progress at once", count(c.dma.read_channels)},
           {"write_channels", "stores in progress at once", count(c.dma.write_channels)},
           {"burst_size", "a transfer is cut at multiples of this", size(c.dma.burst_bytes)},
           {"outstanding_bursts", "bursts under way at once", count(c.dma.outstanding_bursts)},
       })},
      {"gemm", "the matrix unit", gemm_schema(c.gemm)},
      {"vector", "the vector unit",
       section({
           {"lanes", "f32 elements a cycle", count(c.vector.lanes)},
           {"exp_per_cycle", "exponentials a cycle", count(c.vector.exp_per_cycle)},
       })},
      {"scratchpad", "the PE's memory",
       section({
           {"size", "in all, message slots included", size(c.scratchpad.bytes)},
           {"banks", "that serve one word a cycle each", count(c.scratchpad.banks)},
           {"bank_bytes_per_cycle", "width of a bank", count(c.scratchpad.bank_bytes_per_cycle)},
       })},
      {"message_queue", "send and receive between neighbours",
       section({
           {"software_cost", "post, doorbell and pop, once a message",
            time(c.message_queue.software_cost_ps)},
           {"slots", "receive slots for each axis and direction", count(c.message_queue.slots)},
           {"slot_size", "a larger message takes several slots", size(c.message_queue.slot_bytes)},
           {"packet_size", "what crosses the network at a time",
            size(c.message_queue.packet_bytes)},
       })},
  });
}

Section noc_schema(hw::NocConfig& c) {
  return section({
      {"clock", "of routers and network interfaces",
       QuantityField{Dimension::frequency, &c.clock.hz}},
      {"columns", "stops in a row of the cube's mesh; a PE beside each", count(c.columns)},
      {"rows", "rows of stops", count(c.rows)},
      {"planes", "parallel networks", count(c.planes)},
      {"plane_bytes_per_cycle", "width of a plane", count(c.plane_bytes_per_cycle)},
      {"hop_cycles", "router and wire", cycles(c.hop_cycles)},
      {"interface_inject_cycles", "network interface, into the network",
       cycles(c.interface_inject_cycles)},
      {"interface_eject_cycles", "network interface, out of it", cycles(c.interface_eject_cycles)},
      {"buffer_packets", "packets that an input buffer of a virtual channel holds",
       count(c.buffer_packets)},
      {"packet_size", "the packet that buffer_packets counts in", size(c.packet_bytes)},
  });
}

Section timing_schema(hw::HbmTiming& t) {
  return section({
      {"tck", "clock", positive_time(t.tck)},
      {"trcd_rd", "activate to read", time(t.trcd_rd)},
      {"trcd_wr", "activate to write", time(t.trcd_wr)},
      {"trp", "precharge", time(t.trp)},
      {"tras", "activate to precharge", time(t.tras)},
      {"tcl", "read to data", time(t.tcl)},
      {"tcwl", "write to data", time(t.tcwl)},
      {"burst", "data of one access", positive_time(t.burst)},
      {"tccd_s", "column to column, other bank group", positive_time(t.tccd_s)},
      {"tccd_l", "column to column, same bank group", positive_time(t.tccd_l)},
      {"trrd_s", "activate to activate, other bank group", time(t.trrd_s)},
      {"trrd_l", "activate to activate, same bank group", time(t.trrd_l)},
      {"tfaw", "window of four activates", time(t.tfaw)},
      {"twr", "write data to precharge", time(t.twr)},
      {"trtp", "read to precharge", time(t.trtp)},
      {"twtr_s", "write data to read, other bank group", time(t.twtr_s)},
      {"twtr_l", "write data to read, same bank group", time(t.twtr_l)},
      {"trtw", "read to write", time(t.trtw)},
      {"trefi", "refresh interval", positive_time(t.trefi)},
      {"trfc_ab", "refresh of all banks", time(t.trfc_ab)},
      {"trfc_pb", "refresh of one bank", time(t.trfc_pb)},
  });
}

Section hbm_schema(hw::HbmConfig& c) {
  return section({
      {"capacity", "of a stack", size(c.bytes)},
      {"channels", "of a stack, spread evenly over the NoC's stops", count(c.channels)},
      {"pseudo_channels_per_channel", "independent halves of a channel",
       count(c.pseudo_channels_per_channel)},
      {"access_size", "one column access", size(c.access_bytes)},
      {"page_size", "an open row", size(c.page_bytes)},
      {"bank_groups", "of a pseudo-channel", count(c.bank_groups)},
      {"banks_per_group", "banks in a bank group", count(c.banks_per_group)},
      {"interleave", "consecutive bytes in one pseudo-channel", size(c.interleave_bytes)},
      {"queue_entries", "bursts waiting in a pseudo-channel", count(c.queue_entries)},
      {"controller", "added to every access", time(c.controller_ps)},
      {"refresh", "which refresh commands are issued",
       choice(c.refresh, {{"off", hw::Refresh::off},
                          {"all_bank", hw::Refresh::all_bank},
                          {"per_bank", hw::Refresh::per_bank}})},
      {"page_policy", "whether a row stays open after an access",
       choice(c.page_policy, {{"open", hw::PagePolicy::open}, {"closed", hw::PagePolicy::closed}})},
      {"timing", "DRAM timing parameters, JEDEC's names", timing_schema(c.timing)},
  });
}

Section link_schema(hw::LinkConfig& c) {
  return section({
      {"bandwidth", "raw, each direction",
       QuantityField{Dimension::bandwidth, &c.bandwidth.bytes_per_s}},
      {"efficiency", "what flit headers and CRC leave of it",
       RealField{&c.efficiency, 0, 1, true, false, "a number above 0, at most 1"}},
      {"latency", "PE to the same PE of the neighbouring cube, everything in between counted",
       time(c.neighbour_latency_ps)},
      {"credits", "packets that may be under way; 0 sizes it to the round trip",
       IntegerField{&c.credits, 0, kMaxUnits}},
      {"flit_error_rate", "probability that a packet fails its CRC and is replayed",
       RealField{&c.flit_error_rate, 0, 1, false, true, "a number of at least 0, below 1"}},
  });
}

Section energy_schema(hw::EnergyConfig& c) {
  return section({
      {"gemm_per_flop", "multiply or add of the GEMM unit", energy(c.gemm_pj_per_flop)},
      {"sram_per_byte", "scratchpad access", energy(c.sram_pj_per_byte)},
      {"hbm_per_bit", "HBM access", energy(c.hbm_pj_per_bit)},
      {"link_per_bit", "die-to-die link", energy(c.link_pj_per_bit)},
      {"package_link_per_bit", "link between packages", energy(c.package_link_pj_per_bit)},
      {"noc_per_byte_hop", "a byte over one hop of the NoC", energy(c.noc_pj_per_byte_hop)},
  });
}

}  // namespace

Section hardware_schema(RunConfig& config) {
  hw::SystemConfig& c = config.hardware;
  Section s = section({
      {"name", "what results call the machine; the preset's name, or inline, when not given",
       TextField{&config.hardware_name,
                 "a name of letters, digits, '.', '-' and '_'",
                 is_run_name,
                 {},
                 {}}},
      {"system", "packages",
       section({
           {"packages_x", "packages in a row", count(c.packages_x)},
           {"packages_y", "rows of packages", count(c.packages_y)},
       })},
      {"package", "cubes of a package",
       section({
           {"columns", "cubes in a row", count(c.package_columns)},
           {"rows", "rows of cubes", count(c.package_rows)},
       })},
      {"pe", "a processing element", pe_schema(c.pe)},
      {"noc", "the network of a cube", noc_schema(c.noc)},
      {"hbm", "the memory stack of a cube", hbm_schema(c.hbm)},
      {"link", "die-to-die link between cubes of a package", link_schema(c.link)},
      {"package_link", "link between cubes of different packages", link_schema(c.package_link)},
      {"energy", "energy of one operation", energy_schema(c.energy)},
  });
  s.preset = true;
  return s;
}

}  // namespace cubevp::platform
