"""`markov-lrsao verify` with `--claim`: a user's own lemmas, decided on all runs of instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markov_lrsao.cli.options import helper_names
from markov_lrsao.cli.output import emit, json_text
from markov_lrsao.errors import ParameterError
from markov_lrsao.progress import terminal_progress
from markov_lrsao.storage import check_writable, write_whole
from markov_lrsao.tables import VERDICT_COLOURS

if TYPE_CHECKING:
    from markov_lrsao.model.algorithm import Algorithm, AlgorithmFamily
    from markov_lrsao.model.landscape import Landscape, LandscapeFamily

__all__ = ["check_own"]

_CODES = {"holds": 0, "undecided": 3, "fails": 1}
_MOST_INSTANCES = 10_000


def check_own(
    claims: Sequence[str], given: Mapping[str, Any], save: Path | None, as_json: bool
) -> int:
    """Decide claims and return the exit code; `given` are the options of the command line."""
    from markov_lrsao.cli.wording import in_options
    from proofs_check.own.language import parse_claim
    from proofs_check.verification.own_claims import check_claims

    read = list(dict.fromkeys(parse_claim(text) for text in claims))
    shapes = _landscapes(given)
    if save is not None:
        save.mkdir(parents=True, exist_ok=True)
        check_writable(save / "x", "save")
    results = check_claims(
        read,
        shapes,
        _algorithm(given),
        outside_h=bool(given.get("--outside-h")),
        max_states=given.get("--max-states"),
        proof=not given.get("--no-proof"),
        progress=terminal_progress,
    )
    bad = [r.counterexample for r in results if r.counterexample is not None]
    if save is not None:
        for number, found in enumerate(bad, start=1):
            name = f"claim{f'-{number}' if len(bad) > 1 else ''}.json"
            write_whole(save / name, json_text(found.to_dict(), indent=1) + "\n")
    emit(
        as_json,
        lambda: {"claims": [r.to_dict() for r in results]},
        lambda: in_options("\n\n".join(r.describe() for r in results), "verify"),
        VERDICT_COLOURS,
    )
    outcomes = {r.outcome for r in results}
    return next(
        _CODES[outcome] for outcome in ("fails", "undecided", "holds") if outcome in outcomes
    )


def _landscapes(given: Mapping[str, Any]) -> list[Landscape]:
    """Return the instances, smallest n first."""
    from markov_lrsao.answers.curves import ell_of
    from markov_lrsao.exact.ranges import integers
    from markov_lrsao.model.catalogue import entry

    name = given.get("--landscape", "jump")
    named = entry(name, helper_names(given.get("--helpers")))
    if named.fixed is not None:
        if "--ell" in given:
            raise ParameterError(f"--ell has no meaning for {name}; omit it")
        if "--n" in given and named.fixed.n not in integers(given["--n"]):
            raise ParameterError(
                f"--n {given['--n']} is without the n = {named.fixed.n} of {name}; omit it"
            )
        return [named.fixed]
    if "--n" not in given:
        raise ParameterError("--n is missing: give lengths of the bit strings, e.g. --n 9:14")
    shapes: list[tuple[LandscapeFamily, int, int]] = []
    sizes = sorted(set(integers(given["--n"])))
    for n in sizes:
        family = named.family(n)
        span = family.ell_range(n)
        gap = named.gap(n)
        if gap is not None or "--ell" in given:
            if gap is not None and "--ell" in given:
                raise ParameterError(f"--ell has no meaning for {name}; omit it")
            texts = [gap] if gap is not None else [x.strip() for x in given["--ell"].split(",")]
            wanted = sorted({ell_of(text, n) for text in texts})
            shapes += [(family, n, x) for x in wanted if span and span[0] <= x <= span[1]]
            if len(sizes) == len(wanted) == 1:
                family.check(n, wanted[0])  # one instance: say what is wrong with it
        elif span is not None and not family.lacking(family.constraints, n, span[0]):
            shapes += [(family, n, x) for x in range(span[0], span[1] + 1)]
        if len(shapes) > _MOST_INSTANCES:
            raise ParameterError(f"--n {given['--n']} has too many instances; give --ell too")
    if not shapes and "--ell" in given:
        raise ParameterError(f"no l of --ell {given['--ell']} is admissible at --n {given['--n']}")
    if not shapes:
        named.family(sizes[-1]).check(sizes[-1], 0)  # raises: there is no l at all
    return [family.at(n, ell) for family, n, ell in shapes]


def _algorithm(given: Mapping[str, Any]) -> Algorithm | AlgorithmFamily:
    """Return the algorithm; LRSAO's hyper-parameters follow n where they are not given."""
    from markov_lrsao.model.algorithm import AlgorithmFamily
    from simulate.sweeps.plan import build_algorithm

    values = [given.get(f"--{name}") for name in ("alpha", "gamma", "r")]
    name = given.get("--algorithm")
    if name is None or name.value == "lrsao":
        return AlgorithmFamily(*values)
    return build_algorithm(name.value, 1, *values)
