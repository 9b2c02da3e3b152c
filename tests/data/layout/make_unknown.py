#!/usr/bin/env python3
"""Answers of CuTe DSL for layouts with unknown leaves, written as unknown.json next to this file.

    pip install nvidia-cutlass-dsl==4.8.1 && ./make_unknown.py

Runs without a GPU: the answers are what the DSL prints while it traces. Extents of 1 are left out,
since the DSL and CuTe C++ keep different strides for them.
"""
import json
import os
import pathlib
import random

os.environ.setdefault("CUTE_DSL_ARCH", "sm_90a")
import cutlass
from cutlass import cute

CASES = 40  # an operation
DIVISORS = [1, 2, 4, 8, 16]
random.seed(20261121)


def leaf(values, unknown_share):
    """An integer, or (divisor,) for an unknown."""
    if random.random() < unknown_share:
        return (random.choice(DIVISORS),)
    return random.choice(values)


def shape(modes, unknown_share):
    extents = [2, 3, 4, 6, 8, 12, 16]
    return [
        [leaf(extents, unknown_share) for _ in range(2)]
        if random.random() < 0.2
        else leaf(extents, unknown_share)
        for _ in range(modes)
    ]


def map_tree(tree, convert):
    if isinstance(tree, list):
        return [map_tree(mode, convert) for mode in tree]
    return convert(tree)


def layout(modes, unknown_share):
    extents = shape(modes, unknown_share)
    strides = map_tree(extents, lambda _: leaf([0, 1, 2, 4, 8, 16, 24, 64], unknown_share))
    return (extents[0], strides[0]) if modes == 1 else (extents, strides)


def text(tree):
    if isinstance(tree, list):
        return "(" + ",".join(text(mode) for mode in tree) + ")"
    if isinstance(tree, tuple):
        return "?" if tree == (1,) else f"?{{div={tree[0]}}}"
    return str(tree)


def traced(tree, unknown):
    if isinstance(tree, list):
        return tuple(traced(mode, unknown) for mode in tree)
    return cute.assume(unknown, divby=tree[0]) if isinstance(tree, tuple) else tree


def pair_text(pair):
    return text(pair[0]) + ":" + text(pair[1])


def collect(unknown, cases):
    def made(pair):
        return cute.make_layout(traced(pair[0], unknown), stride=traced(pair[1], unknown))

    def add(op, arguments, answer):
        try:
            printed = str(answer())
        except Exception:  # the DSL has no answer
            return
        if printed == "x:x" or "(0," in printed or ",0," in printed.split(":")[0]:
            return  # no answer either; or an extent of 0, for modes that overlap
        cases.append({"op": op, "in": arguments, "out": {"text": printed}})

    def both_unknown():
        a = layout(random.choice([1, 2, 2, 3]), 0.4)
        return a, made(a)

    for _ in range(CASES):
        a, la = both_unknown()
        add("coalesce", {"layout": pair_text(a)}, lambda: cute.coalesce(la))
        add("filter_zeros", {"layout": pair_text(a)}, lambda: cute.filter_zeros(la))
        b = layout(random.choice([1, 1, 2]), random.choice([0, 0, 0.3]))
        lb = made(b)
        operands = {"a": pair_text(a), "b": pair_text(b)}
        add("composition", operands, lambda: cute.composition(la, lb))
        tile = random.choice([2, 3, 4, 8])
        divided = {"layout": pair_text(a), "tiler": tile}
        add("logical_divide", divided, lambda: cute.logical_divide(la, tile))
        c, lc = both_unknown()
        if isinstance(c[0], list):
            tiler = [random.choice([2, 4, 8]) for _ in c[0]]
            divided = {"layout": pair_text(c), "tiler": tiler}
            add("composition_tiler", {"a": pair_text(c), "tiler": tiler},
                lambda: cute.composition(lc, tuple(tiler)))
            add("logical_divide", divided, lambda: cute.logical_divide(lc, tuple(tiler)))
            add("zipped_divide", divided, lambda: cute.zipped_divide(lc, tuple(tiler)))
            add("tiled_divide", divided, lambda: cute.tiled_divide(lc, tuple(tiler)))
            add("flat_divide", divided, lambda: cute.flat_divide(lc, tuple(tiler)))
        d = layout(1, 0.5)
        ld = made(d)
        add("complement", {"layout": pair_text(d), "cotarget": 4096},
            lambda: cute.complement(ld, 4096))
        extents = shape(random.choice([2, 3]), 0.4)
        add("make_layout", {"shape": text(extents), "order": "left"},
            lambda: cute.make_layout(traced(extents, unknown)))


def main():
    cases = []

    @cute.jit
    def trace(unknown: cutlass.Int32):
        collect(unknown, cases)

    cute.compile(trace, 64)
    unique = list({json.dumps(case): case for case in cases}.values())
    unique = [case for case in unique if "?" in json.dumps(case["in"])]
    lines = ",\n  ".join(json.dumps(case) for case in sorted(unique, key=lambda case: case["op"]))
    path = pathlib.Path(__file__).with_name("unknown.json")
    path.write_text('{"source": "CuTe DSL 4.8.1",\n "cases": [\n  ' + lines + "\n ]}\n")
    print(f"{len(unique)} cases in {path}")


main()
