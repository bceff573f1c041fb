"""What sections 3 and 5 say about the three objectives: shapes, values, states, rewards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from markov_lrsao.model.affine import Affine
from markov_lrsao.model.landscape import ELL, LandscapeFamily, N, P
from markov_lrsao.model.law import DOWN, UP
from proofs_check.claims.expressions import evaluate
from proofs_check.claims.scope import SIZES_ONLY
from proofs_check.claims.verdict import Evidence, EvidenceKind, Verdict
from proofs_check.logic.cases import Case, cases, region_solver
from proofs_check.statements.building import size_at
from proofs_check.statements.outcomes import refuted_at
from proofs_check.statements.statement import Check, CheckFunction, PointCheck, Statement
from proofs_check.statements.workspace import Workspace

__all__ = ["STATEMENTS"]

_SHAPES = "Shapes of the objectives"
_PARTS = {
    "J flat on the left": "J, 0, 0, l",
    "J flat on the right": "J, 0, n - l, n - 1",
    "J rises": "J, 1, l + 1, n - l - 1",
    "L rises": "L, 1, 0, l + 1",
    "L flat": "L, 0, l + 2, n",
    "R flat": "R, 0, 0, n - l - 2",
    "R rises": "R, 1, n - l - 1, n",
}
"""Part -> objective, its gain per step up, first and last position."""


def _form(text: str) -> Affine:
    """Read an affine form in n and l."""
    return Affine.of(evaluate(text, {"n": N, "l": ELL}))


def _instances(workspace: Workspace) -> Iterator[tuple[int, int]]:
    yield from workspace.setting.pairs(workspace.setting.pick(20, 40))


def _shapes(workspace: Workspace) -> Iterable[Evidence]:
    """Compare the gain of every step up between two positions of a stretch, n and l unknown."""
    family = workspace.setting.family
    regions = region_solver(family)
    for part in _PARTS:
        action, gain, first, last = (
            x.strip() for x in workspace.term(_SHAPES, part).split(",", maxsplit=3)
        )
        low, high, wanted = _form(first), _form(last), _form(gain)
        stretch = (P - low, high - 1 - P)
        bad = [
            c
            for c in cases(family)
            if c.action == action
            and c.direction == UP
            and any(
                regions.feasible((*c.region, *stretch, side))
                for side in (c.gain - wanted - 1, wanted - c.gain - 1)
            )
        ]
        if not bad:
            yield Evidence(
                kind=EvidenceKind.SMT,
                verdict=Verdict.PROVED,
                part=part,
                summary=f"{action} gains {gain} per step up on {first}..{last}",
                scope=SIZES_ONLY,
            )
            continue
        yield _violated(workspace, part, action, (gain, first, last), bad[0])


def _violated(
    workspace: Workspace, part: str, action: str, claim: tuple[str, str, str], case: Case
) -> Evidence:
    """Return the first instance at which a stretch has another shape."""
    gain, first, last = claim
    for n, ell in _instances(workspace):
        values = workspace.setting.family.at(n, ell).objectives[action].tolist()
        at = {"n": n, "l": ell}
        for p in range(evaluate(first, at), evaluate(last, at)):
            if 0 <= p < n and values[p + 1] - values[p] != int(gain):
                return refuted_at(
                    (_SHAPES, part),
                    f"{action} gains {gain} from {p} to {p + 1}",
                    f"it goes from {values[p]} to {values[p + 1]}",
                    {"n": str(n), "l": str(ell), "p": str(p)},
                    scope=SIZES_ONLY,
                )
    return Evidence(
        kind=EvidenceKind.SMT,
        verdict=Verdict.UNKNOWN,
        part=part,
        summary=f"not excluded: {case}; no instance was found",
        scope=SIZES_ONLY,
    )


def _sizes_at(name: str) -> PointCheck:
    def judge(workspace: Workspace, values: Mapping[str, str]) -> str | None:
        """Count the positions of the two plateaus at (n, l)."""
        n, ell = workspace.setting.family.check(*size_at(values, "n", "l"))
        landscape = workspace.setting.family.at(n, ell)
        zero = [p for p in range(n + 1) if landscape.objectives["J"][p] == 0]
        left = sum(p < landscape.milestones[0] for p in zero)
        for side, found in (("left", left), ("right", len(zero) - left)):
            if workspace.value(name, side, n=n, l=ell) != found:
                return f"{found} positions in the {side} plateau"
        return None

    return judge


def _sizes(name: str) -> CheckFunction:
    def positions(workspace: Workspace) -> Iterable[Evidence]:
        """Count the positions of the two plateaus of Jump: at instances, then from its pieces."""
        family = workspace.setting.family
        for n, ell in _instances(workspace):
            point = {"n": str(n), "l": str(ell)}
            seen = _sizes_at(name)(workspace, point)
            if seen is not None:
                terms = [workspace.term(name, side) for side in ("left", "right")]
                claimed = f"{' and '.join(terms)} positions in the plateaus"
                yield refuted_at((name, ""), claimed, seen, point, scope=SIZES_ONLY)
                return
        flat = [piece for piece in dict(family.objectives)["J"] if piece.value == Affine()]
        counts = [piece.last - piece.first + 1 for piece in flat]
        good = counts == [_form(workspace.term(name, side)) for side in ("left", "right")]
        yield Evidence(
            kind=EvidenceKind.SYMBOLIC,
            verdict=Verdict.PROVED if good else Verdict.UNKNOWN,
            summary=f"the plateaus have {' and '.join(map(str, counts))} positions",
            scope=SIZES_ONLY,
        )

    positions.__qualname__ = f"positions of {name}"
    return positions


def _values(workspace: Workspace) -> Iterable[Evidence]:
    """Bound every piece of every objective by 0 and n; the largest of Jump is at n alone."""
    name, family = "Values", workspace.setting.family
    regions = region_solver(family)
    top = _form(workspace.term(name, "largest"))
    outside, rivals = [], []
    for action, pieces in family.objectives:
        for piece in pieces:
            here = (P - piece.first, piece.last - P)
            for side in (-piece.value - 1, piece.value - top - 1):
                if regions.feasible((*here, side)):
                    outside.append(f"{action} on {piece.first}..{piece.last}")
            if action == family.target and regions.feasible((*here, N - 1 - P, piece.value - N)):
                rivals.append(f"{piece.first}..{piece.last}")
    for part, found, claim in (
        ("range", outside, f"all objectives are in 0..{top}"),
        ("maximum", rivals, "the target is n at 1^n and less elsewhere"),
    ):
        if not found:
            yield Evidence(
                kind=EvidenceKind.SMT,
                verdict=Verdict.PROVED,
                part=part,
                summary=claim,
                scope=SIZES_ONLY,
            )
            continue
        n, ell = next(_instances(workspace))
        arrays = family.at(n, ell).objectives
        largest = {a: int(values.max()) for a, values in arrays.items()}
        yield refuted_at(
            (name, part),
            claim,
            f"{found[0]}; largest values {largest}",
            {"n": str(n), "l": str(ell)},
            scope=SIZES_ONLY,
        )


def _states(workspace: Workspace) -> Iterable[Evidence]:
    """Compare the image of Jump with the state space as printed: at small sizes, then for all.

    Every value is 0, n or in first..last, and J(s) = s for s in first..last and s = n.
    """
    name, family = "State space", workspace.setting.family
    for n, ell in _instances(workspace):
        landscape = family.at(n, ell)
        found = sorted(set(landscape.objectives[landscape.target].tolist()))
        low, high = (int(workspace.value(name, k, n=n, l=ell)) for k in ("first", "last"))
        claimed = [0, *range(low, high + 1), n]
        if found != claimed:
            yield refuted_at(
                (name, ""),
                f"the states {claimed}",
                f"Jump takes the values {found}",
                {"n": str(n), "l": str(ell)},
                scope=SIZES_ONLY,
            )
            return
    first, last = (_form(workspace.term(name, k)) for k in ("first", "last"))
    regions = region_solver(family)
    open_ = []
    for piece in dict(family.objectives)[family.target]:
        here, value = (P - piece.first, piece.last - P), piece.value
        strange = [(value - 1, first - 1 - value), (value - last - 1, N - 1 - value)]
        missed = [
            (*ends, side)
            for ends in ((P - first, last - P), (P - N, N - P))
            for side in (value - P - 1, P - value - 1)
        ]
        open_ += [str(f) for f in (*strange, *missed) if regions.feasible((*here, *f))]
    yield Evidence(
        kind=EvidenceKind.SMT,
        verdict=Verdict.UNKNOWN if open_ else Verdict.PROVED,
        summary=f"not excluded: {open_[0]}" if open_ else "the image of Jump is the state space",
        scope=SIZES_ONLY,
    )


def _largest(workspace: Workspace) -> Iterable[Evidence]:
    """Bound the gain of every step that does not reach the optimum, and attain it."""
    name, family = "Largest reward", workspace.setting.family
    claimed = _form(workspace.term(name, "bound"))
    for n, ell in _instances(workspace):
        landscape = family.at(n, ell)
        largest = max(
            int(values[q] - values[p])
            for values in landscape.objectives.values()
            for p in range(landscape.optimum)
            for q in (p - 1, p + 1)
            if 0 <= q != landscape.optimum
        )
        bound = claimed(n=n, ell=ell)
        if largest != bound:
            yield refuted_at(
                (name, "bound" if largest > bound else "attained"),
                f"the largest gain of a step is {bound}",
                f"it is {largest}",
                {"n": str(n), "l": str(ell)},
                scope=SIZES_ONLY,
            )
            return
    regions, optimum = region_solver(family), family.milestones[-1]
    found = cases(family)
    beyond = [
        c
        for c in found
        if c.outcome > 0
        and regions.feasible((*c.region, optimum - P - 1 - c.moved, c.gain - claimed - 1))
    ]
    attained = any(_gains_everywhere(found, family, at, claimed) for at in family.milestones[:-1])
    for part, good, text in (
        ("bound", not beyond, f"no step that does not reach the optimum gains more than {claimed}"),
        ("attained", attained, f"at every n, l some step gains {claimed}"),
    ):
        yield Evidence(
            kind=EvidenceKind.SMT,
            verdict=Verdict.PROVED if good else Verdict.UNKNOWN,
            part=part,
            summary=text if good else f"not shown: {text}",
            scope=SIZES_ONLY,
        )


def _gains_everywhere(
    found: Iterable[Case], family: LandscapeFamily, at: Affine, gain: Affine
) -> bool:
    """Whether the target's step down from a position gains exactly that, at all n and l."""
    regions = region_solver(family)
    here = (P - at, at - P)
    steps = [
        c
        for c in found
        if c.action == family.target
        and c.direction == DOWN
        and regions.feasible((*c.region, *here))
    ]
    return bool(steps) and not any(
        regions.feasible((*c.region, *here, side))
        for c in steps
        for side in (c.gain - gain - 1, gain - c.gain - 1)
    )


STATEMENTS = (
    Statement(
        id="Plateau sizes",
        title="l positions in each plateau of Jump",
        where="148",
        claim="The left and the right plateau of Jump have l positions each.",
        scope=SIZES_ONLY,
        terms={"left": "l", "right": "l"},
        checks=(Check(EvidenceKind.SYMBOLIC, _sizes("Plateau sizes")),),
        points={"": _sizes_at("Plateau sizes")},
    ),
    Statement(
        id="Plateau sizes, counted",
        title="l+1 and l positions",
        where="148",
        claim="The left plateau 0..l of Jump has l+1 positions, the right one n-l..n-1 has l.",
        scope=SIZES_ONLY,
        group="reading",
        terms={"left": "l + 1", "right": "l"},
        checks=(Check(EvidenceKind.SYMBOLIC, _sizes("Plateau sizes, counted")),),
        points={"": _sizes_at("Plateau sizes, counted")},
    ),
    Statement(
        id="Values",
        title="objectives from {0,1}^n to 0..n, and the maximum",
        where="162, 165",
        claim="All three objectives take values in 0..n, and 1^n is the only maximum of Jump.",
        scope=SIZES_ONLY,
        terms={"largest": "n"},
        checks=(Check(EvidenceKind.SMT, _values, parts=("range", "maximum")),),
    ),
    Statement(
        id=_SHAPES,
        title="where the objectives are flat and where they rise",
        where="148, 863, 967, 974, 976, 997, 1014",
        claim="Jump is flat on 0..l and n-l..n-1 and rises by one per position on l+1..n-l-1; L "
        "rises "
        "on 0..l+1 and is flat on l+2..n; R is flat on 0..n-l-2 and rises on n-l-1..n.",
        scope=SIZES_ONLY,
        terms=dict(_PARTS),
        words=tuple(_PARTS),
        checks=(Check(EvidenceKind.SMT, _shapes, parts=tuple(_PARTS)),),
    ),
    Statement(
        id="State space",
        title="S = {0}, l+1..n-l-1, {n}",
        where="208, 282",
        claim="The agent's states are 0, l+1..n-l-1 and n.",
        scope=SIZES_ONLY,
        terms={"first": "l + 1", "last": "n - l - 1"},
        checks=(Check(EvidenceKind.SMT, _states),),
    ),
    Statement(
        id="Largest reward",
        title="rewards are at most n-l-1",
        where="342",
        claim="A step that does not reach n has a reward of at most n-l-1, and n-l-1 is attained.",
        scope=SIZES_ONLY,
        terms={"bound": "n - l - 1"},
        checks=(Check(EvidenceKind.SMT, _largest, parts=("bound", "attained")),),
    ),
)
