#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the golden data of tests/golden: inputs in f16, outputs of attention in float64.

Attention is computed row by row from its definition in extended precision, with numpy only. It
shares no code with the platform, whose own float64 reference is tested against this data.

    scripts/golden_generate.py [--out tests/golden/data] [--check]

--check writes nothing and fails when the files on disk differ from what would be written.
"""
import argparse
import io
import json
import math
import pathlib
import sys

import numpy as np

WIDE = np.longdouble


# ---------------------------------------------------------------------------------- attention
def visible_keys(t, keys, causal, offset):
    """Query t sees keys 0 .. n-1; returns n."""
    return min(keys, max(0, t + offset + 1)) if causal else keys


def row_of_attention(query, keys, values, scale, softcap):
    if len(keys) == 0:
        return np.zeros(values.shape[1], WIDE)
    score = (keys * query).sum(axis=1) * WIDE(scale)
    if softcap:
        score = WIDE(softcap) * np.tanh(score / WIDE(softcap))
    weight = np.exp(score - score.max())
    return (weight[:, None] * values).sum(axis=0) / weight.sum()


def attention(q, k, v, causal=False, offset=None, scale=None, softcap=0.0):
    """q (.., heads, T, d), k and v (.., kv heads, S, d); f16 in, float64 out."""
    if q.ndim == 4:
        return np.stack([attention(*one, causal, offset, scale, softcap) for one in zip(q, k, v)])
    heads, queries, depth = q.shape
    group = heads // k.shape[0]
    offset = k.shape[1] - queries if offset is None else offset
    # The platform's scale is a double too; an extended one would shift large scores.
    scale = 1.0 / math.sqrt(depth) if scale is None else scale
    out = np.empty(q.shape, np.float64)
    with np.errstate(all='ignore'):
        for h in range(heads):
            keys, values = (x[h // group].astype(WIDE) for x in (k, v))
            for t in range(queries):
                n = visible_keys(t, len(keys), causal, offset)
                row = q[h, t].astype(WIDE)
                out[h, t] = row_of_attention(row, keys[:n], values[:n], scale, softcap)
    return out


# ------------------------------------------------------------------------------------- inputs
class Draw:
    """Random and constant tensors of one input set."""

    def __init__(self, seed, heads, kv_heads, queries, keys, depth):
        self.rng = np.random.Generator(np.random.PCG64(seed))
        self.queries, self.keys, self.depth = queries, keys, depth
        self.q_shape, self.kv_shape = (heads, queries, depth), (kv_heads, keys, depth)
        self.half = keys // 2

    def normals(self):
        return [self.rng.standard_normal(s) for s in (self.q_shape, self.kv_shape, self.kv_shape)]

    def uniforms(self):
        return [self.rng.random(s) for s in (self.q_shape, self.kv_shape, self.kv_shape)]

    def normal_kv(self):
        return self.rng.standard_normal(self.kv_shape)

    def q_of(self, value):
        return np.full(self.q_shape, float(value))

    def kv_of(self, value):
        return np.full(self.kv_shape, float(value))

    def by_key(self, values):
        return np.broadcast_to(np.asarray(values, float)[None, :, None], self.kv_shape).copy()

    def keys_scoring(self, scores):
        """K for which every query of ones has these scores after scaling."""
        return self.by_key(np.asarray(scores, float) / math.sqrt(self.depth))

    def after(self, first, early, late):
        return np.where(np.arange(self.keys) < first, float(early), float(late))


def one_hot(x):
    n = min(x.depth, x.keys)
    q, k = x.q_of(0), x.kv_of(0)
    k[:, np.linspace(0, x.keys - 1, n).astype(int), np.arange(n)] = 64
    h, t = np.indices(x.q_shape[:2])
    q[h, t, (h + t) % n] = 4 * math.sqrt(x.depth)
    return q, k, x.normal_kv()


def masked_dominates(x):
    v = x.normal_kv() + x.by_key(x.after(x.half, 0, 100))
    return x.q_of(8.0 / x.depth), x.by_key(x.after(x.half, -8, 64)), v


def l_gap(x):
    position = np.arange(x.keys) - x.half
    scores = np.where((position >= 0) & (position % 8 != 0), -20.0, 0.0)
    return x.q_of(1), x.keys_scoring(scores), x.by_key(x.after(x.half, 0, 1))


def with_changes(x, q_factor=1, **changes):
    """Normal Q, K, V, then each named tensor changed in place."""
    tensors = dict(zip('qkv', x.normals()))
    tensors['q'] *= q_factor
    for name, change in changes.items():
        change(tensors[name])
    return tensors['q'], tensors['k'], tensors['v']


def put(where, value):
    def change(tensor):
        tensor[where] = value
    return change


def subnormal(x):
    q, k, _ = x.normals()
    return q, k, x.rng.integers(1, 512, x.kv_shape) * 2.0 ** -24


def subnormal_qk(x):
    q = np.clip(x.rng.standard_normal(x.q_shape) * 20000, -60000, 60000)
    return q, x.rng.integers(-600, 600, x.kv_shape) * 2.0 ** -24, x.normal_kv()


def huge_scores(x):
    q, k, v = x.normals()
    return q * 40, k * 40, v


def masked_nans(x):
    tail = np.s_[:, x.keys - x.keys // 4:]
    return with_changes(x, k=put(tail, np.nan), v=put(tail, np.nan))


ALL = np.s_[...]
RAMP = np.linspace
INPUTS = {
    'normal': lambda x: x.normals(),
    'uniform01': lambda x: x.uniforms(),
    'uniform_pm1': lambda x: [2 * u - 1 for u in x.uniforms()],
    'peaked': lambda x: with_changes(x, q_factor=4),
    'zero_scores': lambda x: (x.q_of(0), x.normal_kv(), x.normal_kv()),
    'zero_scores_ones': lambda x: (x.q_of(0), x.normal_kv(), x.kv_of(1)),
    'shard_ramp': lambda x: (x.q_of(0), x.normal_kv(), x.by_key(np.arange(x.keys) / x.keys)),
    'head_tag': lambda x: with_changes(
        x, v=put(ALL, np.arange(1.0, x.kv_shape[0] + 1)[:, None, None])),
    'huge_scores': huge_scores,
    'score_overflow_const': lambda x: (x.q_of(64), x.kv_of(64), x.normal_kv()),
    'below_sentinel': lambda x: (x.q_of(64), x.kv_of(-64), x.kv_of(1)),
    'masked_dominates': masked_dominates,
    'one_hot': one_hot,
    'alternating': lambda x: (
        x.q_of(0), x.normal_kv(), x.by_key(1000 * (1 - 2 * (np.arange(x.keys) % 2)))),
    'alternating_scores': lambda x: (
        x.q_of(8 / math.sqrt(x.depth)), x.by_key(1 - 2 * (np.arange(x.keys) % 2)), x.normal_kv()),
    'ascending': lambda x: (x.q_of(1), x.keys_scoring(RAMP(-40, 40, x.keys)), x.normal_kv()),
    'descending': lambda x: (x.q_of(1), x.keys_scoring(RAMP(-40, 40, x.keys)[::-1]), x.normal_kv()),
    'lse_gap': lambda x: (x.q_of(1), x.keys_scoring(x.after(x.half, 0, 200)), x.normal_kv()),
    'lse_gap2': lambda x: (
        x.q_of(1), x.keys_scoring(x.after(x.half, 0, 2)), x.by_key(x.after(x.half, 0, 1))),
    'l_gap': l_gap,
    'long_prefix_short_suffix': lambda x: with_changes(
        x, v=put(np.s_[:, x.keys - max(1, x.keys // 48):], 8)),
    'subnormal': subnormal,
    'subnormal_qk': subnormal_qk,
    'v_max': lambda x: with_changes(x, v=put(ALL, 65504)),
    'neg_zero': lambda x: with_changes(x, v=put(ALL, -0.0)),
    'nan_in_masked_tail': masked_nans,
    'inf_v': lambda x: with_changes(x, v=put(np.s_[:, x.keys // 2, 0], np.inf)),
    'nan_q_row': lambda x: with_changes(x, q=put(np.s_[:, 0, 0], np.nan)),
}


# -------------------------------------------------------------------------------------- cases
class Writer:
    """Collects files and the manifest."""

    def __init__(self):
        self.files, self.cases = {}, []

    def add_file(self, name, array):
        buffer = io.BytesIO()
        np.save(buffer, np.ascontiguousarray(array))
        self.files[name] = buffer.getvalue()
        return name

    def inputs(self, name, dist, heads, kv_heads, queries, keys, depth, seed=0, batch=1):
        sets = [INPUTS[dist](Draw(seed + b, heads, kv_heads, queries, keys, depth))
                for b in range(batch)]
        tensors = [np.stack([np.asarray(s[i]).astype(np.float16) for s in sets]) for i in range(3)]
        if batch == 1:
            tensors = [x[0] for x in tensors]
        for letter, x in zip('qkv', tensors):
            self.add_file(f'{name}.{letter}.npy', x)
        about = dict(dist=dist, seed=seed, batch=batch, q_heads=heads, kv_heads=kv_heads,
                     t_q=queries, s_kv=keys, d=depth)
        return name, tensors, about

    def case(self, inputs, suffix='', **attributes):
        name, tensors, about = inputs
        full = name + suffix
        self.add_file(f'{full}.o.npy', attention(*tensors, **attributes))
        files = {x: f'{name}.{x}.npy' for x in 'qkv'}
        self.cases.append(dict(name=full, **about, **files, o=f'{full}.o.npy',
                               causal=attributes.get('causal', False),
                               offset=attributes.get('offset'), scale=attributes.get('scale'),
                               softcap=attributes.get('softcap', 0.0)))


def reported_cases(w):
    """Situations of faults that users of other projects reported."""
    table = [  # name, inputs, q heads, kv heads, T, S, d, causal
        ('merge_two_empty_ranks', 'normal', 4, 2, 1, 2, 64, False),
        ('merge_three_empty_ranks', 'normal', 4, 2, 1, 1, 64, False),
        ('merge_overflow_decode', 'lse_gap', 4, 2, 1, 64, 64, False),
        ('merge_overflow_prefill', 'lse_gap', 4, 2, 16, 64, 64, False),
        ('log_base_64', 'lse_gap2', 4, 2, 1, 64, 64, False),
        ('log_base_3136', 'lse_gap2', 4, 2, 1, 3136, 64, False),
        ('below_sentinel_d128', 'below_sentinel', 32, 4, 1, 64, 128, False),
        ('head_map_12_12', 'head_tag', 12, 12, 1, 64, 64, False),
        ('head_map_32_8', 'head_tag', 32, 8, 1, 64, 64, False),
        ('head_map_28_4', 'head_tag', 28, 4, 1, 64, 64, False),
        ('causal_2_of_5', 'normal', 2, 2, 2, 5, 64, True),
        ('causal_113_of_203', 'normal', 4, 2, 113, 203, 64, True),
        ('odd_keys_prefill', 'normal', 2, 2, 7, 7, 8, False),
        ('odd_keys_decode', 'normal', 2, 1, 1, 7, 8, False),
        ('odd_keys_ramp', 'shard_ramp', 2, 2, 7, 7, 8, False),
        ('poisoned_memory', 'normal', 4, 2, 5, 37, 64, False),
        ('ring_order_ramp', 'shard_ramp', 4, 4, 16, 64, 64, False),
        ('causal_step_skip', 'normal', 8, 2, 64, 64, 64, True),
        ('ring_not_causal', 'normal', 2, 1, 64, 64, 64, False),
    ]
    for name, dist, heads, kv_heads, queries, keys, depth, causal in table:
        w.case(w.inputs(name, dist, heads, kv_heads, queries, keys, depth), causal=causal)


def distribution_cases(w):
    """Every kind of input, with and without a causal mask, in shapes that divide nothing."""
    depths = [16, 24, 32, 40, 64]
    for i, dist in enumerate(INPUTS):
        inputs = w.inputs('dist_' + dist, dist, 4, 2, 5, 37, depths[i % len(depths)], seed=i)
        w.case(inputs)
        w.case(inputs, '_causal', causal=True)


def attribute_cases(w):
    plain = w.inputs('attributes', 'normal', 4, 2, 5, 37, 32, seed=100)
    peaked = w.inputs('attributes_peaked', 'peaked', 4, 2, 5, 37, 32, seed=101)
    w.case(plain, '_scale', scale=0.25)
    w.case(plain, '_softcap50', softcap=50.0)
    w.case(peaked, '_softcap3_causal', softcap=3.0, causal=True)
    w.case(plain, '_top_left', causal=True, offset=0)
    w.case(plain, '_empty_rows', causal=True, offset=-3)
    w.case(plain, '_offset_beyond', causal=True, offset=50)
    w.case(w.inputs('more_queries_than_keys', 'normal', 4, 2, 9, 5, 16, seed=102), causal=True)
    w.case(w.inputs('one_kv_head_d59', 'normal', 6, 1, 11, 23, 59, seed=103), causal=True)
    w.case(w.inputs('batch_of_two', 'normal', 4, 2, 3, 19, 24, seed=104, batch=2), causal=True)
    w.case(w.inputs('many_blocks', 'normal', 2, 1, 3, 777, 40, seed=105), causal=True)


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--out', type=pathlib.Path, default=root / 'tests/golden/data')
    parser.add_argument('--check', action='store_true')
    options = parser.parse_args()
    writer = Writer()
    reported_cases(writer)
    distribution_cases(writer)
    attribute_cases(writer)
    cases = ',\n '.join(json.dumps(case) for case in writer.cases)
    writer.files['manifest.json'] = f'[\n {cases}\n]\n'.encode()
    if options.check:
        wrong = [name for name, content in writer.files.items()
                 if not (options.out / name).is_file()
                 or (options.out / name).read_bytes() != content]
        print('\n'.join(wrong) or f'{len(writer.files)} files are up to date')
        sys.exit(bool(wrong))
    options.out.mkdir(parents=True, exist_ok=True)
    for name, content in writer.files.items():
        (options.out / name).write_bytes(content)
    total = sum(map(len, writer.files.values()))
    print(f'{len(writer.cases)} cases, {len(writer.files)} files, {total / 1e6:.1f} MB')


if __name__ == '__main__':
    main()
