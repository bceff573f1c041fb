"""Options that several commands share: one block for "this algorithm on this landscape".

`asking` puts the block in front of a command's own options; the command gets what it describes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from markov_lrsao.cli.algorithms import AlgorithmOption, chosen_algorithm, searched
from markov_lrsao.cli.options import (
    HELPERS,
    LANDSCAPE,
    AlphaOption,
    EllOption,
    GammaOption,
    NOption,
    OutsideHOption,
    ROption,
)

if TYPE_CHECKING:
    from markov_lrsao.model.algorithm import Algorithm
    from markov_lrsao.model.landscape import Landscape
    from markov_lrsao.model.levels import LeadingOnes
    from markov_lrsao.model.search import Search

__all__ = ["Question", "asking"]


@dataclass(frozen=True)
class Question:
    """What the shared options describe.

    Attributes
    ----------
    text : the algorithm as it was named
    """

    landscape: Landscape | LeadingOnes
    algorithm: Algorithm | Search
    text: str
    outside_h: bool


def _block(
    n: NOption = None,
    ell: EllOption = None,
    alpha: AlphaOption = None,
    gamma: GammaOption = None,
    r: ROption = None,
    landscape: Annotated[str, LANDSCAPE] = "jump",
    helpers: Annotated[str | None, HELPERS] = None,
    algorithm: AlgorithmOption = "lrsao",
    outside_h: OutsideHOption = False,
) -> Question:
    shape = searched(n, ell, landscape, helpers)
    chosen = chosen_algorithm(algorithm, shape, alpha, gamma, r)
    return Question(shape, chosen, algorithm, outside_h)


def asking(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the shared options before its own, instead of its `Question`."""
    shared = inspect.signature(_block).parameters
    own = list(inspect.signature(command).parameters.values())[1:]
    hints = get_type_hints(_block, include_extras=True)
    hints |= {p.name: _hint(command, p.annotation) for p in own}

    @wraps(command)
    def asked(**given: Any) -> None:
        question = _block(**{name: given.pop(name) for name in shared})
        command(question, **given)

    parameters = [
        p.replace(annotation=hints[p.name], kind=inspect.Parameter.KEYWORD_ONLY)
        for p in (*shared.values(), *own)
    ]
    asked.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    asked.__annotations__ = {p.name: hints[p.name] for p in parameters}
    return asked


def _hint(command: Callable[..., None], annotation: object) -> object:
    """Return an annotation that may be a text."""
    if isinstance(annotation, str):
        return eval(annotation, command.__globals__)
    return annotation
