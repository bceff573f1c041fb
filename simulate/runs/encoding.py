"""What the kernels read: the generated law as arrays, and the exact numbers behind the floats.

Everything comes from `StepLaw`; no formula of the algorithm is written down again. With
gain = learn * reward, an update is  x' = keep * x + gain + bootstrap * max, and a rejected move
without reward multiplies the chosen entry by lam = keep + bootstrap.

*Tags* certify equality. A tag is an integer that names one rational number; tags are ordered like
their numbers, tag 0 is the number 0. The numbers are those that short histories reach, starting
with 0 and all gains (-alpha r among them). Some of them form the *core*, and `successor` gives the
tag of keep * x + gain + bootstrap * y for all x and y of the core. An entry of tag t
is therefore *known* to be that rational, and equal entries with short histories tie without any
further work.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import to_float
from markov_lrsao.model.law import DOWN, UP, StepLaw
from simulate.kernels.records import KernelLaw, KernelNumbers, KernelSites
from simulate.runs.signs import no_sites, sites_of

MOST_ACTIONS = 40
"""What the kernels have bits for; see `simulate.kernels.tops`."""

__all__ = ["EncodedLaw"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

_LARGEST_TABLE = 60_000  # entries of `successor`; 240 kB, stays in the cache
_LARGEST_CORE = 12
_BASE, _DIGITS = 64, 10
_WORKING_BITS = 256
_SAFE = fmpq(2**200)
_LOST = 2.0**-60  # of a number's size, beyond what adding to it can change
_LARGEST_LAM = 0.95  # up to which entries vanish within some 20,000 rejections


@dataclass(frozen=True, eq=False)
class EncodedLaw:
    """Kernel input for one law, and the rationals that exact decisions need.

    Attributes
    ----------
    law, numbers, sites : arrays and floats, for the kernels
    gains : the distinct values of learn * reward; ``law.gain`` indexes them
    tagged : the rationals of the tags, in increasing order
    skippable : whether rejected moves leave the rewards out, as the event kernel needs
    """

    step_law: StepLaw
    law: KernelLaw
    numbers: KernelNumbers
    sites: KernelSites
    gains: tuple[fmpq, ...]
    tagged: tuple[fmpq, ...]
    skippable: bool

    @cached_property
    def float_numbers(self) -> KernelNumbers:
        """The numbers for plain float64 arithmetic."""
        return _vanishing(self.numbers)

    @classmethod
    def of(cls, step_law: StepLaw) -> EncodedLaw:
        """Derive the arrays.

        Raises
        ------
        ParameterError
            A coefficient is so large or so small that floats cannot hold its products.
        """
        step_law.check_greedy()
        algorithm = step_law.algorithm
        gains = tuple(algorithm.learn * reward for reward in step_law.rewards)
        keep, boot = algorithm.keep, algorithm.bootstrap
        for name, value in (
            ("keep", keep),
            ("bootstrap", boot),
            ("learn", algorithm.learn),
            *(("a reward", reward) for reward in step_law.rewards),
            *(("a learnt reward", gain) for gain in gains),
        ):
            if value != 0 and not 1 / _SAFE <= abs(value) <= _SAFE:
                raise ParameterError(
                    f"{name} = {value} is outside what the simulation can scale: its size must "
                    f"be 0 or between 2^-200 and 2^200"
                )
        if len(step_law.actions) > MOST_ACTIONS:
            raise ParameterError(
                f"{len(step_law.actions)} objectives are too many to simulate: at most "
                f"{MOST_ACTIONS} are possible"
            )
        if abs(keep) + abs(boot) > 4:
            raise ParameterError(f"keep = {keep}, bootstrap = {boot}: their sum must be at most 4")
        n = step_law.n
        accepted = step_law.accepted.copy()
        accepted[0, :, DOWN] = False
        accepted[n, :, UP] = False
        drawn = np.arange(1, n)
        inverse_log = np.zeros(n + 1)
        inverse_log[drawn] = 1.0 / np.log1p(-drawn / n)
        possible = np.ones_like(accepted)
        possible[0, :, DOWN] = possible[n, :, UP] = False
        quiet = np.array([gain == 0 for gain in gains])
        kind, first = _kinds(accepted, step_law.reward_index)
        kernel_law = KernelLaw(
            n=n,
            optimum=step_law.optimum,
            actions=len(step_law.actions),
            rows=int(step_law.row.max()) + 1,
            row=step_law.row.astype(np.int32),
            kind=kind,
            accepted=accepted[first].astype(np.uint8),
            gain=step_law.reward_index[first].astype(np.int32),
            inverse_log=inverse_log,
            milestones=np.array(step_law.landscape.milestones, dtype=np.int64),
        )
        tags = _Tags.of(keep, boot, gains)
        skippable = 0 < keep + boot <= 1 and bool(
            quiet[step_law.reward_index[possible & ~accepted]].all()
        )
        return cls(
            step_law=step_law,
            law=kernel_law,
            gains=gains,
            tagged=tags.numbers,
            numbers=_numbers(step_law, gains, tags),
            sites=sites_of(kernel_law, keep, boot, gains) if skippable else no_sites(),
            skippable=skippable,
        )


def _kinds(
    accepted: npt.NDArray[np.bool_], gain: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int32], IntArray]:
    """Return the kind of each position, and a position of each kind.

    Positions are of one kind if every action accepts the same there, with the same gains.
    """
    count = len(accepted)
    lines = np.concatenate([accepted.reshape(count, -1), gain.reshape(count, -1)], axis=1)
    ends = np.flatnonzero((lines[1:] != lines[:-1]).any(axis=1)) + 1
    begins = np.concatenate([[0], ends])  # of stretches of one kind: few, on long slopes
    _, first, kind = np.unique(lines[begins], axis=0, return_index=True, return_inverse=True)
    lengths = np.diff([*begins, count])
    return np.repeat(kind.reshape(-1), lengths).astype(np.int32), begins[first]


def _numbers(step_law: StepLaw, gains: tuple[fmpq, ...], tags: _Tags) -> KernelNumbers:
    algorithm = step_law.algorithm
    keep, learn, boot = algorithm.keep, algorithm.learn, algorithm.bootstrap
    lam = keep + boot
    mantissas, exponents = _powers(lam)
    discount = boot / learn if learn != 0 else fmpq(0)
    return KernelNumbers(
        keep=to_float(keep),
        boot=to_float(boot),
        lam=to_float(lam),
        log_lam=math.log1p(to_float(lam - 1)) if lam > 0 else 0.0,
        gains=np.array([to_float(gain) for gain in gains]),
        lam_mantissa=mantissas,
        lam_exponent=exponents,
        successor=tags.successor,
        core=tags.core,
        lowest=tags.lowest,
        tag_value=np.array([to_float(value) for value in tags.numbers]),
        learn=to_float(learn),
        discount=to_float(discount),
        # what (1 - alpha) evaluates to in a program written with floats
        complement=1.0 - to_float(learn) if keep + learn == 1 else to_float(keep),
        rewards=np.array([to_float(reward) for reward in step_law.rewards]),
        most=0.0,
        faint=math.inf,
        audible=0.0,
        vanish=np.zeros(0),
    )


def _vanishing(numbers: KernelNumbers) -> KernelNumbers:
    """Add how small entries behave for a program with floats; see `simulate.kernels.floats`.

    vanish[k] is the largest v with f(v) <= vanish[k - 1], and f(v) = 0 for k = 0. With coefficients
    that are not negative and lam < 1 entries stay below max |gain| / (1 - lam), up to rounding.
    """
    complement, rate, discount = numbers.complement, numbers.learn, numbers.discount
    rewards = np.abs(numbers.rewards[numbers.rewards != 0])
    small = complement >= 0 and rate > 0 and discount >= 0 and 0 < numbers.lam < _LARGEST_LAM
    if not small or not rewards.size:
        return numbers
    most = 1.01 * rate * float(rewards.max()) / (1 - numbers.lam)
    audible = 0.5 * rate * float(rewards.min())
    # What is left of the largest entry, times gamma or 1 - alpha, beside the smallest reward.
    lost = _LOST * min(audible, float(rewards.min())) / max(1.0, discount)
    faint = math.ceil(math.log(lost / most) / math.log(numbers.lam * (1 + 2.0**-50)))

    def shrunk(v: float) -> float:
        return complement * v + rate * (0.0 + discount * v)

    found: list[float] = []
    last = 0.0
    while last < most:
        v = last / numbers.lam
        while shrunk(v) > last:
            v = math.nextafter(v, 0.0)
        while shrunk(math.nextafter(v, math.inf)) <= last:
            v = math.nextafter(v, math.inf)
        if v <= last:  # nothing above vanishes: it sticks at a small number
            break
        last = v
        found.append(v)
    return numbers._replace(
        most=most, faint=float(max(faint, 0)), audible=audible, vanish=np.array(found)
    )


def _powers(lam: fmpq) -> tuple[FloatArray, IntArray]:
    """Return lam^(j 64^d), j < 64, as nearest mantissas in [1/2, 1] and exponents <= 0.

    Exact powers would have more digits than memory; an integer of 256 bits is carried instead.
    Each product truncates at most 2^-254 of its size, and all 60 bits of the largest power add
    up to less than 2^-180, far inside the 2.1 u per factor that `decay` allows.
    """
    mantissas = np.ones(_DIGITS * _BASE)
    exponents = np.zeros(_DIGITS * _BASE, dtype=np.int64)
    if not 0 < lam < 1:
        return mantissas, exponents
    shift = _WORKING_BITS - (lam.p.bit_length() - lam.q.bit_length())
    scaled = lam * fmpq(2) ** shift
    base = int(scaled.p // scaled.q), -shift
    for d in range(_DIGITS):
        whole, exponent = base
        for j in range(1, _BASE + 1):
            length = whole.bit_length()
            if j < _BASE:
                mantissa, power = math.frexp((whole >> (length - 64)) / 2**64)
                mantissas[_BASE * d + j] = mantissa
                exponents[_BASE * d + j] = max(exponent + length + power, -(2**60))
                excess = (whole * base[0]).bit_length() - _WORKING_BITS
                whole, exponent = (whole * base[0]) >> excess, exponent + base[1] + excess
        base = whole, exponent
    return mantissas, exponents


@dataclass(frozen=True, eq=False)
class _Tags:
    """The tagged numbers in increasing order, and how they combine."""

    numbers: tuple[fmpq, ...]
    lowest: int
    core: npt.NDArray[np.int32]
    successor: npt.NDArray[np.int32]

    @classmethod
    def of(cls, keep: fmpq, boot: fmpq, gains: tuple[fmpq, ...]) -> _Tags:
        """Collect the core breadth first, as large as the table's size allows."""
        room = max(1, min(_LARGEST_CORE, math.isqrt(_LARGEST_TABLE // len(gains))))
        core = {fmpq(0): 0}
        queue = [fmpq(0)]
        for x in queue:  # grows while it is walked
            for gain in gains:
                value = keep * x + gain + boot * x
                if len(core) < room and value not in core:
                    core[value] = len(core)
                    queue.append(value)
        results = [[[keep * x + gain + boot * y for y in core] for gain in gains] for x in core]
        distinct = {value for plane in results for line in plane for value in line}
        numbers = tuple(sorted(distinct | set(core)))
        lowest = -numbers.index(fmpq(0))
        tag = {value: k + lowest for k, value in enumerate(numbers)}
        return cls(
            numbers=numbers,
            lowest=lowest,
            core=np.array([core.get(value, -1) for value in numbers], dtype=np.int32),
            successor=np.array(
                [[[tag[value] for value in line] for line in plane] for plane in results],
                dtype=np.int32,
            ),
        )
