"""Results: frozen records that know how to write themselves for machines."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, isfinite
from typing import TYPE_CHECKING, Any

from markov_lrsao.exact.frames import data_frame
from markov_lrsao.exact.quantity import Quantity, Trap
from markov_lrsao.exact.rationals import harmonic_difference, rational_text, to_float
from markov_lrsao.model.parameters import Parameters

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["RuntimeResult"]

_EXACT_HARMONIC_LIMIT = 20_000


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
    undecided : where the answer is an enclosure, a bound of the probability that a run ever
        meets a comparison that is not decided
    trap : where a run can get stuck for ever, if it can
    method : "joint" or "crossing"
    states : number of states solved
    merged : whether equivalent patterns were merged
    seconds : wall-clock time of deriving, enumerating and solving
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

    @property
    def kind(self) -> str:
        """What the answer is: "exact", "float", "enclosure" or "infinite"."""
        if self.total.infinite:
            return "infinite"
        if self.total.lower is not None:
            return "enclosure"
        return "exact" if self.exact else "float"

    @property
    def coupon_collector(self) -> Quantity:
        """The time n (H_n - H_{n-m}) in which m = optimum ones are collected, none being lost.

        No local search from 0 that flips one bit at a time is faster on average.
        """
        found = self.n if self.optimum is None else self.optimum
        if self.n <= _EXACT_HARMONIC_LIMIT:
            return Quantity(self.n * harmonic_difference(self.n - found, self.n))
        return Quantity(self.n * fsum(1 / k for k in range(self.n - found + 1, self.n + 1)))

    @property
    def exact(self) -> bool:
        """Whether E[T] and its phases are known exactly; infinite ones are."""
        return all(q.exact or q.infinite for q in (self.total, *self.phases))

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
        for k, (mean, variance) in enumerate(
            zip(self.phases, self.phase_variances, strict=True), start=1
        ):
            result[f"phase{k}"] = mean.to_dict() | {"variance": variance.to_dict()}
            if self.phase_higher:
                result[f"phase{k}"] |= _named(self.phase_higher[k - 1])
        result["variance"] = self.variance.to_dict()
        if self.undecided is not None:
            result["undecided_probability"] = self.undecided.to_dict()
            width = self.total.width
            result["relative_width"] = (
                to_float(width / self.total.lower)
                if width is not None and self.total.lower
                else None
            )
        if self.trap is not None:
            result["trap"] = self.trap.to_dict()
        bound = self.coupon_collector
        ratio = float(self.total) / float(bound)
        return (
            result
            | _named(self.higher)
            | {
                "coupon_collector": bound.to_dict() | {"ratio": ratio if isfinite(ratio) else None},
            }
        )

    def to_frame(self) -> DataFrame:
        """Return a table with one line per quantity and phase; phase "total" is the whole run."""
        names = ("mean", "variance", "third_central_moment", "fourth_central_moment")
        rows = [(self.total, self.variance, *self.higher)]
        higher = self.phase_higher or ((),) * len(self.phases)
        rows += [
            (mean, variance, *more)
            for mean, variance, more in zip(self.phases, self.phase_variances, higher, strict=True)
        ]
        return data_frame(
            {
                "quantity": name,
                "phase": f"phase{k}" if k else "total",
                "exact": number.rational,
                "decimal": number.decimal,
                "float": float(number),
                "lower": number.to_dict().get("lower"),
                "upper": number.to_dict().get("upper"),
            }
            for k, numbers in enumerate(rows)
            for name, number in zip(names, numbers, strict=False)
        )


def _named(higher: tuple[Quantity, ...]) -> dict[str, Any]:
    names = ("third_central_moment", "fourth_central_moment")
    return {name: moment.to_dict() for name, moment in zip(names, higher, strict=False)}
