"""Families of landscapes: the benchmarks of runtime analysis as symbolic pieces.

Every function returns a `LandscapeFamily` whose pieces are affine forms in the position p = |x|_1,
in n and in the family's parameters. Where definitions in the literature differ, the docstring says
which one is meant. All targets have one optimum, at n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from markov_lrsao.errors import ParameterError
from markov_lrsao.model.affine import ELL, Affine, Derived, J, N, P, Piece, parameter
from markov_lrsao.model.landscape import ONEMAX, LandscapeFamily

__all__ = [
    "BRIDGES",
    "HELPERS",
    "cliff",
    "hurdle",
    "jump_m",
    "needle",
    "onemax",
    "plateau",
    "regions",
    "seqopt",
    "steep_cliff",
    "with_helpers",
    "xdivk",
    "zeromax",
]

BRIDGES = ("own", "shared", "all-but-last")
_MOST_REGIONS = 60
_NO_ELL = (ELL, -ELL)

HELPERS: dict[str, tuple[str, str, Affine]] = {
    "onemax": ("O", "OneMax", P),
    "zeromax": ("Z", "ZeroMax", N - P),
    "constant": ("K", "constant", Affine()),
}
"""Objectives that can be added to a landscape: name -> (short name, full name, value)."""


def with_helpers(family: LandscapeFamily, helpers: Sequence[str]) -> LandscapeFamily:
    """Add objectives to a landscape that has one: onemax, zeromax, constant.

    Raises
    ------
    ParameterError
        The landscape has helpers of its own, or a helper is unknown or there already.
    """
    if not helpers:
        return family
    if len(family.objectives) > 1:
        names = ", ".join(name for name, _ in family.objectives)
        raise ParameterError(
            f"helpers = {','.join(helpers)} cannot be added to {family.name}, which has the "
            f"objectives {names} already: choose a landscape with one objective, or no helpers"
        )
    objectives, titles = list(family.objectives), list(family.titles)
    for k, helper in enumerate(helpers):
        if helper in helpers[:k]:
            raise ParameterError(f"helper {helper} is given twice: name it once")
        if helper not in HELPERS:
            raise ParameterError(f"helper {helper!r} is not one of {', '.join(HELPERS)}")
        short, title, value = HELPERS[helper]
        pieces = (Piece.of(0, N, value),)
        if any(short == name or pieces == own for name, own in objectives):
            raise ParameterError(f"helper {helper} is an objective of {family.name} already")
        objectives.append((short, pieces))
        titles.append((short, title))
    return replace(
        family,
        name=f"{family.name} with {', '.join(HELPERS[helper][1] for helper in helpers)}",
        objectives=tuple(objectives),
        titles=tuple(titles),
    )


def _single(
    name: str,
    short: str,
    pieces: Sequence[Piece],
    *needs: Affine,
    milestones: Sequence[Affine] = (N,),
    phases: Sequence[str] = (),
    **parameters: int,
) -> LandscapeFamily:
    """Return a family with one objective; `needs` are forms that must be >= 0."""
    return LandscapeFamily(
        name=name,
        objectives=((short, tuple(pieces)),),
        target=short,
        milestones=tuple(milestones),
        constraints=(*_NO_ELL, *needs),
        titles=((short, name),),
        phases=tuple(phases),
        parameters=tuple(parameters.items()),
    )


def _at_least(value: int, least: int, name: str, of: str) -> int:
    if not least <= value <= 10**9:
        raise ParameterError(
            f"{name} = {value} of {of} is out of range: {name} >= {least} is needed"
        )
    return value


def jump_m(m: int) -> LandscapeFamily:
    """Jump_m(x) = m + |x| if |x| <= n - m or |x| = n, else n - |x| (Droste, Jansen, Wegener 2002).

    >>> jump_m(3).at(8).objectives["J"].tolist()
    [3, 4, 5, 6, 7, 8, 2, 1, 11]
    """
    _at_least(m, 1, "m", "jump-m")
    gap = parameter("m")
    pieces = [
        Piece.of(0, N - gap, P + gap),
        Piece.of(N - gap + 1, N - 1, N - P),
        Piece.of(N, N, N + gap),
    ]
    return _with_gap(f"Jump_{m}", "J", pieces, N - gap, m=m)


def _with_gap(
    name: str, short: str, pieces: Sequence[Piece], peak: Affine, **parameters: int
) -> LandscapeFamily:
    """Return a family with one objective: a climb to a local optimum, and a gap behind it."""
    return _single(
        name,
        short,
        pieces,
        peak - 1,
        milestones=(peak, N),
        phases=("slope", "gap"),
        **parameters,
    )


def cliff(d: int) -> LandscapeFamily:
    """Cliff_d(x) = |x| if |x| <= n - d, else |x| - d + 1/2 (Jaegerskuepper and Storch 2007).

    >>> [str(cliff(3).at(6).value("C", p)) for p in range(7)]
    ['0', '1', '2', '3', '3/2', '5/2', '7/2']
    """
    _at_least(d, 1, "d", "cliff")
    drop = parameter("d")
    pieces = [
        Piece.of(0, N - drop, P),
        Piece.of(N - drop + 1, N, 2 * P - 2 * drop + 1, over=2),
    ]
    return _with_gap(f"Cliff_{d}", "C", pieces, N - drop, d=d)


def steep_cliff(m: int, d: int) -> LandscapeFamily:
    """Cliff_{m,d}(x) = |x| if |x| <= n - m, else |x| - d - 1.

    Doerr, El Ghazi El Houssaini, Rajabi and Witt, GECCO 2023: m is the distance of the cliff from
    the optimum, d the depth of the valley. The optimum is the largest value if d + 1 < m.

    >>> steep_cliff(4, 2).at(8).objectives["C"].tolist()
    [0, 1, 2, 3, 4, 2, 3, 4, 5]
    """
    _at_least(d, 0, "d", "cliff")
    _at_least(m, d + 2, "m", f"cliff with d = {d}")
    distance, depth = parameter("m"), parameter("d")
    pieces = [
        Piece.of(0, N - distance, P),
        Piece.of(N - distance + 1, N, P - depth - 1),
    ]
    return _with_gap(f"Cliff_{m},{d}", "C", pieces, N - distance, m=m, d=d)


def xdivk(k: int) -> LandscapeFamily:
    """XdivK(x) = floor(|x| / k); n must be a multiple of k (Buzdalova and Buzdalov 2012).

    >>> xdivk(3).at(6).objectives["X"].tolist()
    [0, 0, 0, 1, 1, 1, 2]
    """
    _at_least(k, 1, "k", "xdivk")
    width = parameter("k")
    family = _single(f"XdivK, k = {k}", "X", [Piece.of(0, width - 1, J, every=width)], k=k)
    return replace(family, divisible=((N, width),))


def hurdle(w: int) -> LandscapeFamily:
    """Hurdle(x) = -ceil(z/w) - (z mod w)/w with z = n - |x| (Pruegel-Bennett 2004).

    As Nguyen and Sudholt (Artificial Intelligence 287, 2020) write it. That is -z/w where w
    divides z, the local optima, and -z/w - 1 elsewhere.

    >>> [str(hurdle(2).at(4).value("H", p)) for p in range(5)]
    ['-2', '-5/2', '-1', '-3/2', '0']
    """
    _at_least(w, 2, "w", "hurdle")
    width = parameter("w")
    pieces = [
        Piece.of(N, N, P - N, over=width, every=-width),
        Piece.of(N - width + 1, N - 1, P - N - width, over=width, every=-width),
    ]
    return _single(f"Hurdle, w = {w}", "H", pieces, N - width, w=w)


def plateau(k: int) -> LandscapeFamily:
    """Plateau_k(x) = |x| if |x| <= n - k, n - k if n - k < |x| < n, and n at the optimum.

    Antipov and Doerr, ACM Transactions on Evolutionary Learning and Optimization 1, 2021.

    >>> plateau(3).at(6).objectives["P"].tolist()
    [0, 1, 2, 3, 3, 3, 6]
    """
    _at_least(k, 1, "k", "plateau")
    width = parameter("k")
    pieces = [
        Piece.of(0, N - width, P),
        Piece.of(N - width + 1, N - 1, N - width),
        Piece.of(N, N, N),
    ]
    return _single(
        f"Plateau_{k}",
        "P",
        pieces,
        N - width - 1,
        milestones=(N - width, N),
        phases=("slope", "plateau"),
        k=k,
    )


def needle() -> LandscapeFamily:
    """Needle(x) = 1 if |x| = n, else 0.

    >>> needle().at(3).objectives["N"].tolist()
    [0, 0, 0, 1]
    """
    return _single("Needle", "N", [Piece.of(0, N - 1, 0), Piece.of(N, N, 1)])


def zeromax() -> LandscapeFamily:
    """Refuse ZeroMax(x) = n - |x| as a target: its optimum 0 is where runs begin."""
    raise ParameterError(
        "zeromax has its optimum at 0^n, where runs begin: take it as a helper "
        "(`helpers=zeromax`), or onemax, which is the same with zeros and ones exchanged"
    )


def onemax() -> LandscapeFamily:
    """OneMax(x) = |x|."""
    return ONEMAX


def _slopes(first: Affine, count: int) -> tuple[Derived, ...]:
    """Return the lengths of `count` slopes that share the rest of n, longer ones first."""
    return tuple(
        Derived(f"s{i}", N - first + count - i, Affine(constant=count)) for i in range(1, count + 1)
    )


def regions(widths: Sequence[int], bridges: str = "own") -> LandscapeFamily:
    """Plateaus of given widths with slopes between them: Jump with any number of regions.

    Plateau i has w_i positions on which the target F is 0; the first begins at 0, the last ends at
    n - 1. The other positions form slopes of equal length (longer ones first) on which F is |x|,
    as it is at n. A bridge is |x| on its plateaus and on the one position next to them on either
    side, and 0 elsewhere. Bridges are "own" (one for each plateau), "shared" (two, in turn) or
    "all-but-last" (one for all plateaus but the last, one for that). Widths l + 1, l give Jump,
    with its objectives L, J, R called B1, F, B2.

    >>> regions((3, 2, 2), "shared").at(13).objectives["B1"].tolist()
    [0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 10, 11, 12, 13]
    """
    count = len(widths)
    if not 2 <= count <= _MOST_REGIONS:
        raise ParameterError(
            f"widths of regions has {count} plateau(s): 2 to {_MOST_REGIONS} are possible"
        )
    for each in widths:
        _at_least(each, 1, "widths", "regions")
    if bridges not in BRIDGES:
        raise ParameterError(f"bridges = {bridges!r} of regions is not one of {', '.join(BRIDGES)}")
    width = [parameter(f"w{i}") for i in range(1, count + 1)]
    slopes = _slopes(sum(width, Affine()), count - 1)
    slope = [parameter(one.name) for one in slopes]
    lengths = [part for pair in zip(width, [*slope, Affine()], strict=True) for part in pair]
    ends = list(accumulate(lengths, initial=Affine()))[:-1]  # of plateau, slope, .., plateau
    starts, stops = [*ends[0:-2:2], N - width[-1]], [*ends[1:-1:2], N]
    target = [Piece.of(0, stops[0] - 1, 0)]
    for below, above, after in zip(stops, starts[1:], stops[1:], strict=False):
        target += [Piece.of(below, above - 1, P), Piece.of(above, after - 1, 0)]
    target.append(Piece.of(N, N, P))
    owner = _owners(bridges, count)
    found = [
        (f"B{b + 1}", _bridge([i for i in range(count) if owner[i] == b], starts, stops))
        for b in range(max(owner) + 1)
    ]
    names = "+".join(map(str, widths))
    return LandscapeFamily(
        name=f"regions {names}, bridges {bridges}",
        objectives=(found[0], ("F", tuple(target)), *found[1:]),
        target="F",
        milestones=tuple(m for pair in zip(stops, [*starts[1:], N], strict=True) for m in pair)[
            :-1
        ],
        constraints=(*_NO_ELL, slope[-1] - 1),
        titles=(("F", "target"), *((name, f"bridge {name[1:]}") for name, _ in found)),
        phases=tuple(f"{kind}{i}" for i in range(1, count + 1) for kind in ("plateau", "slope"))[
            :-1
        ],
        parameters=tuple((f"w{i}", w) for i, w in enumerate(widths, start=1)),
        derived=(
            *slopes,
            *(
                Derived(f"t{i}", parameter(one.name) - 1, most=Affine(constant=1))
                for i, one in enumerate(slopes, start=1)
            ),
        ),
    )


def _owners(bridges: str, count: int) -> list[int]:
    """Return for each plateau the number of its bridge."""
    match bridges:
        case "own":
            return list(range(count))
        case "shared":
            return [i % 2 for i in range(count)]
    return [int(i == count - 1) for i in range(count)]


def _bridge(
    own: Sequence[int], starts: Sequence[Affine], stops: Sequence[Affine]
) -> tuple[Piece, ...]:
    """Return the pieces of the bridge over some plateaus, each on starts[i]..stops[i] - 1."""
    pieces: list[Piece] = []
    begun = Affine()  # the first position that is not covered yet
    for i in own:
        first = starts[i] - 1 if i else starts[i]
        if i and i - 1 in own:
            # One position between two plateaus is next to both: t = min(length of slope - 1, 1).
            first = starts[i] - parameter(f"t{i}")
        if i:
            pieces.append(Piece.of(begun, first - 1, 0))
        pieces.append(Piece.of(first, stops[i], P))
        begun = stops[i] + 1
    if own[-1] != len(starts) - 1:
        pieces.append(Piece.of(begun, N, 0))
    return tuple(pieces)


def seqopt(gaps: Sequence[int]) -> LandscapeFamily:
    """Slopes with a gap behind each: Jump_m with any number of successive local optima.

    A member of SEQOPT_k (Bendahi, Doerr, Fradin and Lutzeyer, IJCAI 2025), the functions of |x|
    with k successive local optima, the last of which is 1^n; that class leaves the values open.
    Here there are k - 1 slopes of equal length (longer ones first), the first from 0. Behind the
    top a of slope i the values fall for g_i - 1 positions and rise again at a + g_i, where the
    next slope begins, or the optimum n lies. With m the widest gap the value is m + |x| on slopes
    and at n, and a + g_i - |x| in gaps. One gap is Jump_m; two gaps have three local optima.

    >>> seqopt((3, 2)).at(10).objectives["S"].tolist()
    [3, 4, 5, 6, 2, 1, 9, 10, 11, 1, 13]
    """
    count = len(gaps)
    if not 1 <= count <= _MOST_REGIONS:
        raise ParameterError(f"gaps of seqopt has {count} items: 1 to {_MOST_REGIONS} are possible")
    for each in gaps:
        _at_least(each, 2, "gaps", "seqopt")
    gap = [parameter(f"g{i}") for i in range(1, count + 1)]
    # A slope has a top and positions below it; a gap g takes g - 1 positions, n stands alone.
    slopes = _slopes(sum(gap, Affine()) - count, count)
    slope = [parameter(one.name) for one in slopes]
    pieces, milestones, begun = [], [], Affine()
    for length, width in zip(slope, gap, strict=True):
        top = begun + length - 1
        pieces.append(Piece.of(begun, top, P + parameter("m")))
        begun = top + width if width is not gap[-1] else N
        pieces.append(Piece.of(top + 1, begun - 1, top + width - P))
        milestones += [top, begun]
    pieces.append(Piece.of(N, N, N + parameter("m")))
    names = "+".join(map(str, gaps))
    family = _single(
        f"SEQOPT_{count + 1} with gaps {names}",
        "S",
        pieces,
        slope[-1] - 2,
        milestones=milestones,
        phases=[f"{kind}{i}" for i in range(1, count + 1) for kind in ("slope", "gap")],
        m=max(gaps),
        **{f"g{i}": g for i, g in enumerate(gaps, start=1)},
    )
    return replace(family, derived=slopes)
