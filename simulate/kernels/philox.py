"""Philox4x64-10 inside compiled code: one counter per run, the same numbers as NumPy's Philox.

A stream is an array of ten 64-bit words: key (2), counter (4), and the four words of the
current block, of which `_USED` says how many are spent. The counter is (block, 0, run, purpose),
so that streams of different runs and purposes never overlap however long they are.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from markov_lrsao.compiled import compiled

__all__ = ["below", "raw", "start", "unit"]

_KEY, _COUNTER, _BLOCK, _USED, WORDS = 0, 2, 6, 10, 11

_M0 = np.uint64(0xD2E7470EE14C6C93)
_M1 = np.uint64(0xCA5A826395121157)
_W0 = np.uint64(0x9E3779B97F4A7C15)
_W1 = np.uint64(0xBB67AE8584CAA73B)
_11 = np.uint64(11)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@intrinsic
def _high(typing_context, a, b):
    """Return the upper 64 bits of the 128-bit product, one instruction on most machines."""

    def generate(context, builder, signature, arguments):
        wide = ir.IntType(128)
        x, y = (builder.zext(argument, wide) for argument in arguments)
        product = builder.lshr(builder.mul(x, y), wide(64))
        return builder.trunc(product, ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


@compiled(allocates=False)
def start(stream, key0, key1, run, purpose):
    """Set a stream to the beginning of run `run`."""
    stream[_KEY] = key0
    stream[_KEY + 1] = key1
    stream[_COUNTER] = _ZERO
    stream[_COUNTER + 1] = _ZERO
    stream[_COUNTER + 2] = run
    stream[_COUNTER + 3] = purpose
    stream[_USED] = np.uint64(4)


@compiled(allocates=False)
def _refill(stream):
    """Compute the next block of four words."""
    stream[_COUNTER] += _ONE
    if stream[_COUNTER] == _ZERO:
        stream[_COUNTER + 1] += _ONE
    k0, k1 = stream[_KEY], stream[_KEY + 1]
    c0, c1 = stream[_COUNTER], stream[_COUNTER + 1]
    c2, c3 = stream[_COUNTER + 2], stream[_COUNTER + 3]
    for _ in range(10):
        high0, low0 = _high(_M0, c0), _M0 * c0
        high1, low1 = _high(_M1, c2), _M1 * c2
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0 += _W0
        k1 += _W1
    stream[_BLOCK] = c0
    stream[_BLOCK + 1] = c1
    stream[_BLOCK + 2] = c2
    stream[_BLOCK + 3] = c3
    stream[_USED] = _ZERO


@compiled(forceinline=True, allocates=False)
def raw(stream):
    """Return the next 64 random bits."""
    if stream[_USED] == np.uint64(4):
        _refill(stream)
    used = stream[_USED]
    stream[_USED] = used + _ONE
    return stream[_BLOCK + np.int64(used)]


@compiled(forceinline=True, allocates=False)
def unit(stream):
    """Return a multiple of 2^-53 in (0, 1], uniformly."""
    return ((raw(stream) >> _11) + _ONE) * 1.1102230246251565e-16


@compiled(forceinline=True, allocates=False)
def below(stream, bound):
    """Return an integer in 0 .. bound - 1, exactly uniformly (multiply, reject the excess)."""
    size = np.uint64(bound)
    word = raw(stream)
    low = word * size
    if low < size:
        excess = (_ZERO - size) % size
        while low < excess:
            word = raw(stream)
            low = word * size
    return np.int64(_high(word, size))
