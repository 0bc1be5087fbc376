// SPDX-License-Identifier: Apache-2.0
#include "platform/config/schema.h"

#include <algorithm>

#include "platform/config/choice.h"

namespace cubevp::platform {

namespace {

constexpr std::uint64_t kMaxInt64 = std::numeric_limits<std::int64_t>::max();
// Far beyond any machine, and small enough that products of a few of them fit 64 bits.
constexpr std::uint64_t kMaxTokens = std::uint64_t{1} << 32;
constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 20;

bool ends_in_npy(const std::string& text) {
  return text.size() > 4 && text.compare(text.size() - 4, 4, ".npy") == 0;
}

TextField npy_file(std::string& target) {
  return {&target,
          "the name of a .npy file",
          [](const std::string& t) { return ends_in_npy(t) && is_file_name(t); },
          {},
          {}};
}

Section params_schema(WorkloadConfig& w) {
  Section s;
  s.extra = &w.extra_params;
  s.entries = {
      {"exchange", "decode: type in which (m, l, O) travel between ranks",
       choice(w.exchange, {{"f32", Exchange::f32}, {"f16", Exchange::f16}})},
      {"pack", "decode: m, l and O are one message instead of three", BoolField{&w.pack}},
      {"overlap", "whether transfers between ranks run beside computation",
       choice(w.overlap, {{"none", Overlap::none}, {"async", Overlap::async}})},
      {"gemm", "tiles are loaded by the kernel (dot), or streamed by a macro-command (composite)",
       choice(w.gemm, {{"dot", GemmMode::dot}, {"composite", GemmMode::composite}})},
      {"pe_tiling", "prefill: all PEs of a cube share the query rows; false: one PE works",
       BoolField{&w.pe_tiling}},
      {"shard", "prefill: which keys a rank starts with",
       choice(w.shard, {{"contiguous", Shard::contiguous},
                        {"striped", Shard::striped},
                        {"zigzag", Shard::zigzag}})},
      {"tile_keys", "keys in a tile; 0 sizes it to the scratchpad",
       IntegerField{&w.tile_keys, 0, kMaxTokens}},
  };
  return s;
}

Section workload_schema(WorkloadConfig& w, const Known& known) {
  std::vector<std::string> kernels;
  for (const KnownKernel& k : known.kernels) {
    kernels.push_back(k.name);
  }
  Section s;
  s.entries = {
      {"kernel", "the kernel that every started PE runs; required",
       TextField{&w.kernel, "the name of a kernel", is_file_name, kernels,
                 "platform list kernels"}},
      {"q_heads", "query heads, a multiple of kv_heads", IntegerField{&w.q_heads, 1, kMaxCount}},
      {"kv_heads", "key and value heads", IntegerField{&w.kv_heads, 1, kMaxCount}},
      {"head_dim", "elements of a head's row", IntegerField{&w.head_dim, 1, 512}},
      {"context", "keys and values of a user in tokens, the new ones included (S_kv); required",
       IntegerField{&w.context, 1, kMaxTokens}},
      {"new_tokens", "query tokens of a user (T_q)", IntegerField{&w.new_tokens, 1, kMaxTokens}},
      {"batch", "users", IntegerField{&w.batch, 1, kMaxCount}},
      {"ranks", "PEs or cubes that share a KV group's keys", IntegerField{&w.ranks, 1, kMaxCount}},
      {"rank_axis", "whether ranks are the PEs of a cube, or cubes",
       choice(w.rank_axis, {{"pe", RankAxis::pe}, {"cube", RankAxis::cube}})},
      {"causal", "query i of T_q sees keys 0 .. S_kv - T_q + i only", BoolField{&w.causal}},
      {"softmax_scale", "factor of the scores; auto is 1/sqrt(head_dim)",
       OptionalRealField{&w.softmax_scale, "auto"}},
      {"softcap", "scores become c * tanh(score / c); 0 leaves them",
       RealField{&w.softcap, 0, std::numeric_limits<double>::max(), false, false,
                 "a number of at least 0"}},
      {"params", "the kernel's own parameters; a kernel of your own takes numbers of any name",
       params_schema(w)},
  };
  return s;
}

Section input_schema(InputConfig& input, const Known& known) {
  Section s;
  s.entries = {
      {"generate", "distribution that Q, K and V are drawn from, or none when files are named",
       TextField{&input.generate, "the name of a distribution", is_file_name, known.distributions,
                 "platform list inputs"}},
      {"seed", "of the generator",
       IntegerField{&input.seed, 0, std::numeric_limits<std::uint64_t>::max()}},
      {"q", "file of Q (batch, q_heads, new_tokens, head_dim)", npy_file(input.q)},
      {"k", "file of K (batch, kv_heads, context, head_dim)", npy_file(input.k)},
      {"v", "file of V, as K", npy_file(input.v)},
  };
  return s;
}

Section check_schema(CheckConfig& check) {
  Section s;
  s.entries = {
      {"golden", "what the output is compared with: reference (computed), none, or a .npy file",
       TextField{&check.golden,
                 "reference, none or the name of a .npy file",
                 [](const std::string& t) {
                   return t == "reference" || t == "none" || (ends_in_npy(t) && is_file_name(t));
                 },
                 {},
                 {}}},
      {"gate", "how close is close enough: strict, seq, wire16",
       TextField{&check.gate, "a gate", is_file_name, {"strict", "seq", "wire16"}, {}}},
      {"rows", "check this many sampled rows of O; 0 checks all",
       IntegerField{&check.rows, 0, kMaxInt64}},
  };
  s.is_none = [&check] {
    return check.golden == "none" && check.gate == CheckConfig{}.gate &&
           check.rows == CheckConfig{}.rows;
  };
  s.set_none = [&check](bool none) {
    if (none) {
      check = {};
      check.golden = "none";
    }
  };
  return s;
}

Section output_schema(RunConfig& config) {
  Section s;
  s.entries = {
      {"o", "file in the output directory that O is written to", npy_file(config.output_o)}};
  s.is_none = [&config] { return config.output_o.empty(); };
  s.set_none = [&config](bool none) {
    if (none) {
      config.output_o.clear();
    }
  };
  return s;
}

Section trace_schema(TraceConfig& trace) {
  Section s;
  s.entries = {
      {"vcd", "file in the output directory",
       TextField{&trace.vcd, "a file name", is_file_name, {}, {}}},
      {"scope", "patterns of the unit names to trace; * stands for anything",
       TextListField{&trace.scope, "a list of patterns"}},
      {"start", "simulated time from which to trace",
       QuantityField{Dimension::time, &trace.start_ps, false}},
      {"stop", "simulated time until which to trace, or end",
       OptionalTimeField{&trace.stop_ps, "end"}},
  };
  s.is_none = [&trace] { return !trace.enabled; };
  s.set_none = [&trace](bool none) {
    if (none) {
      trace = {};
    }
    trace.enabled = !none;
  };
  return s;
}

void find_key(const Section& section, const std::string& prefix, const std::string& key,
              std::string& found) {
  for (const Entry& e : section.entries) {
    if (!found.empty()) {
      return;
    }
    if (e.key == key) {
      found = prefix + key;
    } else if (const auto* inner = std::get_if<Section>(&e.value)) {
      find_key(*inner, prefix + e.key + ".", key, found);
    }
  }
}

}  // namespace

bool is_file_name(const std::string& text) {
  return !text.empty() && text.size() <= 4096 && std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

bool is_run_name(const std::string& text) {
  return !text.empty() && text.size() <= 200 && text.front() != '.' && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '-' || c == '_';
         });
}

Section run_schema(RunConfig& c, const Known& known) {
  Section numerics;
  numerics.entries = {
      {"io", "type of Q, K, V and O",
       choice(c.numerics.io, {{"f16", DType::f16}, {"bf16", DType::bf16}})},
      {"p", "type that P is rounded to before the second GEMM; io's when not given",
       choice(c.numerics.p, {{"f16", DType::f16}, {"bf16", DType::bf16}, {"f32", DType::f32}})},
  };
  Section limits;
  limits.entries = {
      {"sim_time", "simulated time after which a run is stopped",
       QuantityField{Dimension::time, &c.limits.sim_time_ps}},
      {"wall_time", "host time after which a run is stopped",
       QuantityField{Dimension::time, &c.limits.wall_time_s}},
  };
  Section s;
  s.entries = {
      {"name", "of the run and its output directory; the file's name when not given",
       TextField{&c.name, "a name of letters, digits, '.', '-' and '_'", is_run_name, {}, {}}},
      {"hardware", "the machine: the name of a preset, or a mapping", hardware_schema(c)},
      {"workload", "what is computed", workload_schema(c.workload, known)},
      {"input", "where Q, K and V come from: generate and seed, or q, k and v",
       input_schema(c.input, known)},
      {"check", "how the output is checked, or none", check_schema(c.check)},
      {"output", "tensors to keep, or none", output_schema(c)},
      {"numerics", "types of the arithmetic", std::move(numerics)},
      {"trace", "the waveform to write, or none", trace_schema(c.trace)},
      {"limits", "when to give up", std::move(limits)},
  };
  return s;
}

std::vector<std::string> keys_of(const Section& section) {
  std::vector<std::string> keys;
  for (const Entry& e : section.entries) {
    keys.push_back(e.key);
  }
  return keys;
}

std::string find_elsewhere(const Section& root, const std::string& key) {
  std::string found;
  find_key(root, "", key, found);
  return found;
}

const Entry* find_entry(const Section& root, const std::string& dotted_key) {
  const std::size_t dot = dotted_key.find('.');
  const std::string key = dotted_key.substr(0, dot);
  for (const Entry& e : root.entries) {
    if (e.key == key) {
      if (dot == std::string::npos) {
        return &e;
      }
      const auto* inner = std::get_if<Section>(&e.value);
      return inner == nullptr ? nullptr : find_entry(*inner, dotted_key.substr(dot + 1));
    }
  }
  return nullptr;
}

}  // namespace cubevp::platform
