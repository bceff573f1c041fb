"""Numbers that others published, each beside the one that comes out here.

A `Claim` is a number with its source and its convention. `reproduce` computes it anew and says how
far the two are apart: fractions must be identical, floats agree to the digits that their authors'
arithmetic keeps, logs of runs within four standard errors (of the exact variance), and orders of
growth are held against the exponent between n and 2n. Leading constants c of c n^2 are held against
2 c(2n) - c(n) with c(n) = E[T] / n^2, in which terms of the order n cancel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2, sqrt
from typing import Any, Literal

from markov_lrsao.answers.expected import runtime
from markov_lrsao.answers.results import RuntimeResult
from markov_lrsao.exact.rationals import fraction
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import Landscape
from markov_lrsao.model.levels import LeadingOnes
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.tables import table

__all__ = ["CLAIMS", "Claim", "Reproduced", "page", "reproduce", "text"]

Kind = Literal["fraction", "float", "runs", "order", "constant"]
_MOST_ERRORS = 4


@dataclass(frozen=True)
class Claim:
    """A published number.

    Attributes
    ----------
    theirs : a fraction, a float, a mean of runs, the exponent of an upper bound's order, or the
        constant c of c n^2
    runs : how many runs the mean is of
    relative : how far floats and constants may be apart
    n : the size; exponents and constants are from n and 2n
    """

    source: str
    landscape: str
    algorithm: str
    n: int
    start: str
    kind: Kind
    theirs: str
    runs: int = 0
    relative: float = 1e-12

    @property
    def convention(self) -> str:
        """Where runs begin and what is counted."""
        begin = {"zero": "start 0^n", "random": "random start"}[self.start]
        return f"{begin}, first evaluation not counted"


@dataclass(frozen=True)
class Reproduced:
    """A claim and what came out here."""

    claim: Claim
    ours: str
    difference: str
    agrees: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        c = self.claim
        return {
            "source": c.source,
            "landscape": c.landscape,
            "algorithm": c.algorithm,
            "n": c.n,
            "convention": c.convention,
            "kind": c.kind,
            "theirs": c.theirs,
            "ours": self.ours,
            "difference": self.difference,
            "agrees": self.agrees,
        }


_BUZDALOV = "Buzdalova, Buzdalov and others, EA+RL"
_ONEMAX = "Buskulic and Doerr 2021, repository OneMaxOptimal"
_CLIFF = "Doerr, El Ghazi El Houssaini, Rajabi, Witt 2023, repository MAvsEAonCliff"
_MAHH = "Lissovoi, Oliveto, Warwicker 2019; Doerr, Dremaux, Lutzeyer, Stumpf 2023"
_MARKOV = "Bendahi, Doerr, Fradin, Lutzeyer 2025"
_RATES = "Boettcher, Doerr, Neumann 2010"
_PORTFOLIOS = "Lissovoi, Oliveto, Warwicker 2020"
_PANHOLZER = "Hwang, Panholzer, Rolin, Tsai, Chen 2018, expansion to O(log n / n)"


def _cliff_logs() -> list[Claim]:
    """Means of runs on the two-parameter Cliff, n = 100, d = 3, m = 8, 12, .., 32."""
    logs = {
        "ea:rate=1/n": (
            (232, "6504899.28"),
            (232, "701207.78"),
            (245, "163732.81"),
            (237, "54678.62"),
            (234, "26125.28"),
            (229, "12843.24"),
            (235, "7684.00"),
        ),
        "metropolis:base=20": (
            (55, "57873907.80"),
            (55, "3718653.78"),
            (61, "662872.38"),
            (66, "427913.48"),
            (67, "170356.21"),
            (55, "152071.60"),
            (60, "101658.88"),
        ),
        "metropolis:base=20,rate=1/n": (
            (58, "142899636.98"),
            (70, "5115518.54"),
            (67, "188469.79"),
            (62, "53115.02"),
            (52, "32238.52"),
            (52, "14613.62"),
            (55, "15514.64"),
        ),
    }
    return [
        Claim(_CLIFF, f"cliff:m={m},d=3", name, 100, "random", "runs", mean, runs)
        for name, cells in logs.items()
        for m, (runs, mean) in zip(range(8, 33, 4), cells, strict=True)
    ]


def _constants() -> list[Claim]:
    """Leading constants on LeadingOnes."""
    cells = (
        (_RATES, "ea:rate=1/n", "0.859141", 2e-6),  # (e - 1) / 2
        (_RATES, "ea:rate=1.59/n", "0.772", 1e-3),
        (_RATES, "ea:rate=1/(x+1)", "0.679570", 1e-5),  # e / 4
        (_PORTFOLIOS, "portfolio:k=1+2", "0.423287", 5e-6),  # (1 + ln 2) / 4
        (_PORTFOLIOS, "portfolio:k=1+2,choice=random", "0.549306", 5e-6),  # ln(3) / 2
        (_PORTFOLIOS, "gradient:portfolio=1+2,tau=1", "0.549306", 1e-5),
        ("Doerr 2019; Doerr, Wagner 2018", "rls-k:k=optimal", "0.388", 2e-3),
    )
    return [
        Claim(source, "leadingones", name, 250, "random", "constant", value, 0, relative)
        for source, name, value, relative in cells
    ]


CLAIMS: tuple[Claim, ...] = (
    Claim(_BUZDALOV, "onemax:helpers=zeromax", "earl:variant=greedy", 10, "zero", "fraction",
          "6181/120"),
    Claim(_BUZDALOV, "xdivk:k=3", "rls", 12, "zero", "fraction", "414622/1155"),
    Claim(_BUZDALOV, "xdivk:k=3,helpers=onemax", "random", 12, "zero", "fraction", "9911/70"),
    Claim(_BUZDALOV, "onemax:helpers=zeromax", "random:weights=4/5+1/5", 10, "zero", "float",
          "77.24196532415965"),
    Claim(_ONEMAX, "onemax", "rls", 100, "random", "float", "449.4230337079514"),
    Claim(_ONEMAX, "onemax", "ea:rate=1/n", 100, "random", "float", "1069.5384972597178"),
    Claim(_ONEMAX, "onemax", "rls-k:k=optimal", 100, "random", "float", "432.35715093205295"),
    Claim(_ONEMAX, "onemax", "rls-k:k=drift", 100, "random", "float", "432.5806535421"),
    Claim(_ONEMAX, "onemax", "rls-k:k=drift,ties=smaller", 100, "random", "float",
          "432.6097929992"),
    Claim(_ONEMAX, "onemax", "rls", 500, "random", "float", "3049.838124711822", 0, 1e-10),
    Claim(_ONEMAX, "onemax", "rls", 1000, "random", "float", "6792.323679970208", 0, 1e-10),
    Claim(_ONEMAX, "onemax", "rls", 1500, "random", "float", "10796.433251582348", 0, 1e-10),
    Claim(_PANHOLZER, "onemax", "ea:rate=1/n", 1000, "random", "float", "16894.670", 0, 3e-6),
    Claim(f"{_PORTFOLIOS}; Doerr, Wagner 2018", "leadingones",
          "portfolio:k=1+2+3", 50, "random", "float", "1010.5539", 0, 1e-7),
    *_constants(),
    *_cliff_logs(),
    Claim(_MAHH, "jump-m:m=2", "mahh:p=1/n", 100, "random", "order", "3"),
    Claim(_MAHH, "jump-m:m=3", "mahh:p=1/n", 100, "random", "order", "5"),
    Claim(_MAHH, "cliff:d=3", "mahh:p=1/(2*n)", 100, "random", "order", "3"),
    Claim(_MARKOV, "jump-m:m=2", "mmahh:p=1/n,q=1/2", 100, "random", "order", "3"),
    Claim(_MARKOV, "jump-m:m=3", "mmahh:p=1/n,q=1/2", 100, "random", "order", "4"),
    Claim(_MARKOV, "jump-m:m=3", "mmahh:p=1/(10*n),q=1/(4*n),accept=worsening", 100, "random",
          "order", "3"),
    Claim(_MARKOV, "jump-m:m=5", "mmahh:p=1/(10*n),q=1/(4*n),accept=worsening", 100, "random",
          "order", "3"),
)  # fmt: skip
"""Every published number that is reproduced here."""


def reproduce(
    claims: Sequence[Claim] = CLAIMS, progress: Progress = no_progress
) -> list[Reproduced]:
    """Compute every claim anew."""
    found = []
    with progress("reproducing", total=len(claims)) as bar:
        for claim in claims:
            found.append(_reproduced(claim))
            bar.advance(1)
    return found


def _runtime(claim: Claim, n: int) -> RuntimeResult:
    shape: Landscape | LeadingOnes
    shape = LeadingOnes(n) if claim.landscape == "leadingones" else _landscape(claim, n)
    named = Algorithm.named(claim.algorithm)
    learns = claim.algorithm.startswith("earl")
    return runtime(
        shape,
        named,
        start=None if learns else claim.start,
        field="exact" if claim.kind == "fraction" else "float",
    )


def _landscape(claim: Claim, n: int) -> Landscape:
    return Landscape.named(claim.landscape, n=n)


def _reproduced(claim: Claim) -> Reproduced:
    result = _runtime(claim, claim.n)
    mean = float(result.total)
    match claim.kind:
        case "fraction":
            ours = result.total.rational or "-"
            same = ours == claim.theirs
            off = "none" if same else str(fraction(result.total.value))
            return Reproduced(claim, ours, off, same)
        case "float":
            off_by = abs(mean / float(claim.theirs) - 1)
            return Reproduced(
                claim, f"{mean:.15g}", f"{off_by:.0e} relative", off_by <= claim.relative
            )
        case "runs":
            error = sqrt(float(result.variance) / claim.runs)
            errors = (float(claim.theirs) - mean) / error
            return Reproduced(
                claim,
                f"{mean:.2f}",
                f"{errors:+.2f} standard errors of {claim.runs} runs",
                abs(errors) <= _MOST_ERRORS,
            )
    after = float(_runtime(claim, 2 * claim.n).total)
    if claim.kind == "constant":
        ours_now = (after / 2 - mean) / claim.n**2  # 2 c(2n) - c(n)
        off_by = abs(ours_now / float(claim.theirs) - 1)
        return Reproduced(
            claim,
            f"{ours_now:.6f} from n = {claim.n} and {2 * claim.n}",
            f"{off_by:.0e} relative",
            off_by <= claim.relative,
        )
    growth = log2(after / mean)
    return Reproduced(
        claim,
        f"{growth:.3f} from n = {claim.n} to {2 * claim.n}",
        f"{growth - float(claim.theirs):+.3f}",
        abs(growth - float(claim.theirs)) < 0.15,
    )


_TITLES: dict[Kind, str] = {
    "fraction": "Fractions: identical",
    "float": "Floats: to the digits of their arithmetic",
    "runs": "Logs of runs: within four standard errors",
    "order": "Orders of growth: exponents between n and 2n",
    "constant": "Leading constants: c of c n^2",
}


def page(found: Sequence[Reproduced]) -> str:
    """Return the page docs/reproduces.md."""
    lines = [
        "# Published numbers, computed anew",
        "",
        "Made by `markov-lrsao reproduces --write docs/reproduces.md`; a test makes it again and",
        "compares. T counts steps: the first evaluation is not counted. docs/algorithms.md has the",
        "definitions. An order is a theorem's exponent (for only-worsening moves without its log",
        "factor); ours is log2 of E[T] at 2n over E[T] at n, with the parameters shown. Of",
        "constants ours is 2 c(2n) - c(n) with c(n) = E[T] / n^2: terms of the order n cancel.",
    ]
    for kind, title in _TITLES.items():
        some = [one for one in found if one.claim.kind == kind]
        if not some:
            continue
        lines += ["", f"## {title}", ""]
        head = ["source", "landscape", "algorithm", "n", "start", "theirs", "ours", "difference"]
        lines += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        for one in some:
            c = one.claim
            cells = [c.source, f"`{c.landscape}`", f"`{c.algorithm}`", str(c.n), c.start, c.theirs]
            lines.append("| " + " | ".join([*cells, one.ours, one.difference]) + " |")
    return "\n".join(lines) + "\n"


def text(found: Sequence[Reproduced]) -> str:
    """Return a table for people."""
    rows = [
        [
            one.claim.landscape,
            one.claim.algorithm,
            str(one.claim.n),
            one.claim.theirs,
            one.ours,
            one.difference,
            "yes" if one.agrees else "NO",
        ]
        for one in found
    ]
    head = ["landscape", "algorithm", "n", "theirs", "ours", "difference", "agrees"]
    return table(head, rows)
