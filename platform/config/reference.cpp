// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "platform/config/emit.h"
#include "platform/config/load.h"
#include "platform/config/schema.h"

namespace cubevp::platform {

namespace {

constexpr const char* kIntroduction = R"(# Configuration reference

This file is made from the table that reads configurations; change it there.

A run file is YAML, in UTF-8. It describes one run: the machine, what it computes, and what to keep.
Start from one in `configs/`. `platform validate --config FILE` checks a file,
`platform show --config FILE` prints it with every default filled in, and `--set dotted.key=value`
overrides any key below.

- Quantities carry their unit: `"1.2 GHz"`, `"512 GB/s"`, `"20 ns"`, `"4 MiB"`. A bare number where
  a unit belongs is an error. k, M, G, T are powers of 1000; Ki, Mi, Gi, Ti powers of 1024.
- Integers are plain decimal; `010`, `0x10` and `1e3` are errors, not surprises. Booleans are `true`
  and `false`.
- Unknown and repeated keys are errors. All errors of a file are reported at once, as
  `file:line:column: key: expected what, got "what was there"`; exit status 2.
- `hardware:` is the name of a preset (`hardware/NAME.yaml` beside the run file or in `configs/`),
  or a mapping that changes some keys of its `base:` preset; without a base, of the defaults below.
  A preset's file holds the keys below `hardware`, and may have a `base:` itself. A name with a
  slash or ending in .yaml is the path of a preset, from the file that names it; one that `--set`
  gives is as seen from the working directory, or else from the run file. Without `hardware:` it is
  `cube64_hbm4`.
- `input.q`, `k`, `v` and `check.golden` name files beside the run file, or else as seen from the
  working directory. Arrays are (batch, heads, tokens, head_dim); three dimensions are batch 1.
- A configuration's file is looked up as named, then in the installed or source `configs/`.

What is checked between keys, before anything is built:

- `q_heads` is a multiple of `kv_heads`; `ranks` fit the PEs of a cube (`rank_axis: pe`) or the
  cubes (`rank_axis: cube`); prefill kernels need `rank_axis: cube`.
- A cube has at most 32 PEs, the system at most 256 cubes, the longest way through it at most 120
  stops. Any mesh from 1 x 1 up will do.
- Clocks run at 1 kHz to 100 GHz. A kernel's `stack_size` is 64 KiB to 64 MiB.
- HBM: `channels` and `capacity`, in whole pages, divide evenly over the NoC's stops; a stack holds
  at most 64 GiB; `access_size`, `page_size`, `interleave` and the DMA's `burst_size` are powers of
  two and none of the latter three is smaller than an access; `tccd_l` >= `tccd_s`; a refresh is
  shorter than its interval.
- A packet of the message queue fits its slot; the slots of one direction take at most 16 MiB, all
  slots (8 x `slots` x `slot_size`, for two axes and four directions) fit the scratchpad. A
  scratchpad has at most 256 MiB.
- The latency of a link is no less than the network interfaces and hops on its way take.
- Memory: the busiest PE's slab (`capacity` / PEs) holds at least its share of K and V, two blocks
  of them for a rotating kernel on more than one rank, and of Q and O:
  `items * (blocks * 2 * ceil(context / ranks / PEs of a block) + 2 * rows) * head_dim * 2 B`, where
  the PEs of a block are those that share it.
- Scratchpad: what is left beside the slots holds the smallest tile that a kernel can use: one query
  row (Q, m, l, O and a result row), three tiles each of `tile_keys` (or 1) rows of K and V, two
  rows of scores and two of P. With `gemm: composite`, two tiles each of at most 64 rows.
- `input` has `generate` or all of `q`, `k` and `v`; `trace.stop` is after `trace.start`.

`hardware.name` and the preset's name only label results.
)";

struct Kind {
  std::string operator()(const IntegerField& f) const {
    return f.max >= std::numeric_limits<std::uint32_t>::max()
               ? (f.min == 0 ? "integer, at least 0" : "positive integer")
               : fmt::format("integer, {} to {}", f.min, f.max);
  }
  std::string operator()(const RealField& f) const { return f.expected.substr(2); }
  std::string operator()(const QuantityField& f) const {
    constexpr const char* names[] = {"frequency", "bandwidth", "time", "size", "energy"};
    return names[static_cast<std::size_t>(f.dimension)];
  }
  std::string operator()(const BoolField&) const { return "true or false"; }
  std::string operator()(const ChoiceField& f) const {
    return fmt::format("{}", fmt::join(f.names, ", "));
  }
  std::string operator()(const TextField& f) const {
    return f.names.empty() ? f.expected : fmt::format("{}", fmt::join(f.names, ", "));
  }
  std::string operator()(const TextListField& f) const { return f.expected; }
  std::string operator()(const OptionalRealField& f) const { return f.word + " or a number"; }
  std::string operator()(const OptionalTimeField& f) const { return f.word + " or a time"; }
  std::string operator()(const Section&) const { return {}; }
};

std::string default_of(const Entry& e) {
  const auto* text = std::get_if<TextField>(&e.value);
  if ((text != nullptr && text->target->empty()) || e.key == "context") {
    return "";
  }
  return "`" + format_field(e) + "`";
}

void describe(const Section& section, const std::string& prefix, const std::string& about,
              std::string& out) {
  if (!prefix.empty()) {
    out += fmt::format("\n## {}\n\n{}.\n", prefix, about);
  }
  std::string table;
  for (const Entry& e : section.entries) {
    if (!std::holds_alternative<Section>(e.value)) {
      table += fmt::format("| `{}` | {} | {} | {} |\n", e.key, e.description,
                           std::visit(Kind{}, e.value), default_of(e));
    }
  }
  if (!table.empty()) {
    out += "\n| key | what | kind | default |\n| --- | --- | --- | --- |\n" + table;
  }
  for (const Entry& e : section.entries) {
    if (const auto* inner = std::get_if<Section>(&e.value)) {
      describe(*inner, prefix.empty() ? e.key : prefix + "." + e.key, e.description, out);
    }
  }
}

}  // namespace

std::string config_reference_markdown() {
  RunConfig defaults;
  std::string out = kIntroduction;
  describe(run_schema(defaults, {}), "", "", out);
  return out;
}

}  // namespace cubevp::platform
