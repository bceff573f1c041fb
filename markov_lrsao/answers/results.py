"""Results: frozen records that know how to write themselves, for machines and for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from math import fsum, inf, isfinite
from typing import TYPE_CHECKING, Any

from flint import arb, fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.digits import Digits, refined, with_digits
from markov_lrsao.exact.frames import data_frame
from markov_lrsao.exact.quantity import Approximate, Enclosed, Exact, Quantity, Trap
from markov_lrsao.exact.rationals import harmonic_difference, rational_text, shorten, to_float
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.parameters import Parameters
from markov_lrsao.tables import html_table, table

if TYPE_CHECKING:
    from pandas import DataFrame

    from markov_lrsao.model.landscape import Landscape
    from markov_lrsao.model.levels import LeadingOnes
    from markov_lrsao.model.search import Search

__all__ = ["Phase", "RuntimeResult"]

_SHORT = 40
"""Fractions of more characters are left to the JSON form."""

_EXACT_HARMONIC_LIMIT = 20_000


@dataclass(frozen=True)
class Phase:
    """What is known of the time of one phase, or of T.

    Attributes
    ----------
    symbol : "T", "T1", "T2", ..
    name : what the landscape calls the phase
    higher : third and fourth central moments, if asked for
    """

    symbol: str
    name: str
    mean: Quantity
    variance: Quantity
    higher: tuple[Quantity, ...] = ()

    @property
    def std(self) -> Quantity:
        """The standard deviation."""
        return self.variance.sqrt()


@dataclass(frozen=True, kw_only=True)
class RuntimeResult:
    """Expected runtime of one instance, in total and per phase.

    Attributes
    ----------
    total, phases : E[T] and E[T_1], E[T_2], ...; the phases end at the milestones
    variance, phase_variances : Var[T] and Var[T_k]; phases are dependent, so the variances
        do not add up
    higher, phase_higher : third and fourth central moments, if asked for
    optimum : position of the optimum, for the coupon collector's bound
    phase_names : what the landscape calls the phases
    undecided : where the answer is an enclosure, a bound of the probability that a run ever
        meets a comparison that is not decided
    trap : where a run can get stuck for ever, if it can
    method : "joint", "quotient" (of all Q-tables), "crossing", "segments", "forward" (tables
        carried forwards), "layers" (of tables), "lumps" (of tables), "signs" (of few rows) or
        "runs" (that are proved to be stuck)
    states : number of states solved
    merged : whether equivalent patterns were merged
    seconds : wall-clock time of deriving, enumerating and solving
    digits : how many significant digits were asked for instead of fractions; None: fractions
    """

    landscape: str
    algorithm: str
    n: int
    ell: int
    parameters: Parameters | None
    hypothesis_h: bool | None
    method: str
    merged: bool
    states: int
    seconds: float
    total: Quantity
    phases: tuple[Quantity, ...]
    variance: Quantity
    phase_variances: tuple[Quantity, ...]
    higher: tuple[Quantity, ...] = ()
    phase_higher: tuple[tuple[Quantity, ...], ...] = ()
    optimum: int | None = None
    undecided: Quantity | None = None
    trap: Trap | None = None
    phase_names: tuple[str, ...] = ()
    digits: int | None = None

    @classmethod
    def of(
        cls,
        landscape: Landscape | LeadingOnes,
        algorithm: Algorithm | Search,
        moments: Sequence[Sequence[Quantity]],
        **how: Any,
    ) -> RuntimeResult:
        """Return the result of an algorithm on a landscape.

        Parameters
        ----------
        moments : mean and central moments of T, then those of every phase; of T alone where the
            whole run is one phase
        how : the other attributes
        """
        total, *phases = moments
        phases = phases or [total]
        return cls(
            landscape=landscape.name,
            algorithm=algorithm.name,
            n=landscape.n,
            ell=landscape.ell,
            parameters=algorithm.parameters if isinstance(algorithm, Algorithm) else None,
            total=total[0],
            phases=tuple(p[0] for p in phases),
            variance=total[1],
            phase_variances=tuple(p[1] for p in phases),
            higher=tuple(total[2:]),
            phase_higher=tuple(tuple(p[2:]) for p in phases),
            **how,
        )

    @property
    def kind(self) -> str:
        """What the answer is: "exact", "digits", "float", "enclosure" or "infinite"."""
        if self.total.infinite:
            return "infinite"
        if isinstance(self.total, Digits) and self.total.certified:
            return "digits"
        if isinstance(self.total, Enclosed):
            return "enclosure"
        return "exact" if self.exact else "float"

    @property
    def std(self) -> Quantity:
        """The standard deviation of T."""
        return self.variance.sqrt()

    @property
    def phase_stds(self) -> tuple[Quantity, ...]:
        """The standard deviations of the phases."""
        return tuple(v.sqrt() for v in self.phase_variances)

    def phase(self, which: int | str) -> Phase:
        """Return one phase, by its number from 1, by "T2" or "T_2", or by its name.

        Raises
        ------
        ParameterError
            There is no such phase.
        """
        for number, phase in enumerate(self._named()[1:], start=1):
            if which in (number, phase.symbol, f"T_{number}", phase.name):
                return phase
        known = ", ".join(f"{p.symbol} ({p.name})" for p in self._named()[1:])
        raise ParameterError(f"phase = {which!r} is unknown: choose one of {known}")

    def _named(self) -> list[Phase]:
        """Return T and the phases with their symbols."""
        count = len(self.phases)
        names = self.phase_names or tuple(f"phase{k + 1}" for k in range(count))
        higher = self.phase_higher or ((),) * count
        found = [Phase("T", "total", self.total, self.variance, self.higher)]
        for k, known in enumerate(
            zip(names, self.phases, self.phase_variances, higher, strict=True), start=1
        ):
            found.append(Phase(f"T{k}", *known))
        return found

    @property
    def coupon_collector(self) -> Quantity:
        """The time n (H_n - H_{n-m}) in which m = optimum ones are collected, none being lost.

        No local search from 0 that flips one bit at a time is faster on average.
        """
        n, found = self.n, self.n if self.optimum is None else self.optimum
        if self.digits is not None:
            ((value,),) = refined(
                lambda: [[n * (arb(n + 1).digamma() - arb(n - found + 1).digamma())]],
                self.digits,
                n.bit_length(),
            )
            return value
        if n <= _EXACT_HARMONIC_LIMIT:
            return Exact(n * harmonic_difference(n - found, n))
        total = n * fsum(1 / k for k in range(n - found + 1, n + 1))
        return Approximate(total, 4 * 2.0**-53 * total)  # quotients, their sum and the product

    @property
    def exact(self) -> bool:
        """Whether E[T] and its phases are known exactly; infinite ones are."""
        return all(q.exact or q.infinite for q in (self.total, *self.phases))

    def to_digits(self, digits: int) -> RuntimeResult:
        """Return the same by so many significant digits, as far as they are certain."""

        def shown(numbers: tuple[Quantity, ...]) -> tuple[Quantity, ...]:
            return tuple(with_digits(number, digits) for number in numbers)

        return replace(
            self,
            digits=digits,
            total=with_digits(self.total, digits),
            phases=shown(self.phases),
            variance=with_digits(self.variance, digits),
            phase_variances=shown(self.phase_variances),
            higher=shown(self.higher),
            phase_higher=tuple(shown(numbers) for numbers in self.phase_higher),
        )

    @property
    def certified(self) -> bool:
        """Whether every digit that was asked for is certain, of every number; infinite ones are."""
        return self.digits is not None and all(
            number.infinite or (isinstance(number, Digits) and number.certified)
            for phase in self._named()
            for number in (phase.mean, phase.variance, *phase.higher)
        )

    @property
    def _relative_width(self) -> fmpq | None:
        return self.total.relative_width if isinstance(self.total, Enclosed) else None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form that `markov-lrsao exact --json` prints."""
        parameters = self.parameters
        result: dict[str, Any] = {
            "landscape": self.landscape,
            "algorithm": self.algorithm,
            "n": self.n,
            "ell": self.ell,
            "alpha": rational_text(parameters.alpha) if parameters else None,
            "gamma": rational_text(parameters.gamma) if parameters else None,
            "r": rational_text(parameters.r) if parameters else None,
            "hypothesis_h": self.hypothesis_h,
            "method": self.method,
            "kind": self.kind,
            "exact": self.exact,
            "merged": self.merged,
            "states": self.states,
            "seconds": round(self.seconds, 6),
            "total": self.total.to_dict(),
        }
        if self.digits is not None:
            result |= {"digits": self.digits, "certified": self.certified}
        for k, (mean, variance) in enumerate(
            zip(self.phases, self.phase_variances, strict=True), start=1
        ):
            result[f"phase{k}"] = mean.to_dict() | {"variance": variance.to_dict()}
            if self.phase_higher:
                result[f"phase{k}"] |= _moments(self.phase_higher[k - 1])
        result["variance"] = self.variance.to_dict()
        if self.undecided is not None:
            result["undecided_probability"] = self.undecided.to_dict()
            width = self._relative_width
            result["relative_width"] = None if width is None else to_float(width)
        if self.trap is not None:
            result["trap"] = self.trap.to_dict()
        bound = self.coupon_collector
        ratio = self._over(bound)
        return (
            result
            | _moments(self.higher)
            | {
                "coupon_collector": bound.to_dict() | {"ratio": ratio if isfinite(ratio) else None},
            }
        )

    def _over(self, bound: Quantity) -> float:
        """Return E[T] over a bound, infinity where E[T] exceeds all floats."""
        try:
            return float(self.total) / float(bound)
        except OverflowError:
            return inf

    def to_frame(self) -> DataFrame:
        """Return a table with one line per quantity and phase; phase "total" is the whole run."""
        kinds = ("mean", "variance", "third_central_moment", "fourth_central_moment")
        return data_frame(
            {
                "quantity": kind,
                "phase": phase.name,
                "exact": number.rational,
                "decimal": number.decimal,
                "float": float(number),
                "lower": number.to_dict().get("lower"),
                "upper": number.to_dict().get("upper"),
            }
            for phase in self._named()
            for kind, number in zip(
                kinds, (phase.mean, phase.variance, *phase.higher), strict=False
            )
        )

    # -- for people ---------------------------------------------------------------------------

    def __str__(self) -> str:
        """Return what `markov-lrsao exact` prints: means and moments, and how they were found."""
        return f"{self._head()}\n\n{table(_HEADER, self._rows())}\n\n{self._foot()}"

    def _repr_html_(self) -> str:
        """Return the same as HTML, for notebooks."""
        head, foot = (escape(text).replace("\n", "<br>") for text in (self._head(), self._foot()))
        return f"<p>{head}</p>{html_table(_HEADER, self._rows())}<p>{foot}</p>"

    def _head(self) -> str:
        """Return which instance it is."""
        size = f"n = {self.n}" + (f", l = {self.ell}" if self.ell else "")
        head = f"{self.algorithm} on {self.landscape}, {size}"
        if self.parameters is None:
            return head
        values = ", ".join(
            f"{name} = {shorten(rational_text(getattr(self.parameters, name)), 30)}"
            for name in ("alpha", "gamma", "r")
        )
        holds = "(H) holds" if self.hypothesis_h else "(H) does not hold"
        return f"{head}\n{values}; {holds}"

    def _rows(self) -> list[list[str]]:
        """Return the table: T, and the phases where there are several."""
        named = self._named() if len(self.phases) > 1 else self._named()[:1]
        rows = [[f"E[{q.symbol}]", *q.mean.cells] for q in named]
        rows += [[f"Var[{q.symbol}]", *q.variance.cells] for q in named]
        for k in range(len(self.higher)):
            rows += [[f"mu{k + 3}[{q.symbol}]", *q.higher[k].cells] for q in named]
        return rows

    def _foot(self) -> str:
        """Return what kind of answer it is, and how it was found."""
        lines = []
        if self.undecided is not None and self.undecided.upper is not None:
            width = self._relative_width
            relative = "" if width is None else f" of relative width {to_float(width):.1e}"
            kind = "infinite" if self.total.infinite else f"an enclosure{relative}"
            met = to_float(self.undecided.upper)
            open_ = "; a run meets an undecided comparison with probability at most"
            lines.append(f"E[T] is {kind}" + (f"{open_} {met:.3g}" if met < 1 else ""))
            if width is not None and width > 1:
                lines.append("this is what is certain; a simulation estimates E[T]")
        if self.trap is not None:
            probability = self.trap.probability
            text = f"{float(probability):.6g}" if probability.exact else f"in {probability}"
            if "/" in (fraction := probability.rational or "") and len(fraction) <= _SHORT:
                text += f" = {fraction}"
            lines.append(
                f"a run gets stuck for ever with probability {text}, e.g. in the state\n"
                f"  {self.trap.state}"
            )
        if self.digits is not None:
            lines.append(
                f"{self.digits} digits, each certain"
                if self.certified
                else f"not all of {self.digits} digits are certain; those that are not are left out"
            )
        if isinstance(self.total, Exact | Approximate | Digits):
            bound = float(self.coupon_collector)
            ratio = self._over(self.coupon_collector)
            if isfinite(ratio):
                lines.append(f"E[T] is {ratio:.4g} times the coupon collector's {bound:.6g}")
        merged = ", equivalent patterns merged" if self.merged and self.method == "joint" else ""
        lines.append(f"method: {self.method}{merged}; {self.states:,} states; {self.seconds:.3f} s")
        return "\n".join(lines)


_HEADER = ["quantity", "decimal", "fraction or enclosure"]


def _moments(higher: tuple[Quantity, ...]) -> dict[str, Any]:
    names = ("third_central_moment", "fourth_central_moment")
    return {name: moment.to_dict() for name, moment in zip(names, higher, strict=False)}
