"""`markov-lrsao oracle`: the best selectors, with full information or what the agent sees."""

from __future__ import annotations

from markov_lrsao.cli.options import JsonOption
from markov_lrsao.cli.output import emit
from markov_lrsao.cli.questions import Question, asking
from markov_lrsao.errors import ParameterError
from markov_lrsao.progress import terminal_progress

__all__ = ["oracle"]


@asking
def oracle(question: Question, as_json: JsonOption = False) -> None:
    """Print what the agent pays for learning: E[T] against selectors that need not learn.

    The oracle knows the position. The best objective per agent state is the best of all selectors
    that see what the agent sees and have no memory; with weights it may draw objectives at random,
    and a bound says what no weights can beat.
    """
    from markov_lrsao.answers.oracle import oracle as solve
    from markov_lrsao.model.algorithm import Algorithm
    from markov_lrsao.model.landscape import Landscape

    shape, chosen = question.landscape, question.algorithm
    if not isinstance(chosen, Algorithm) or not isinstance(shape, Landscape):
        raise ParameterError(
            f"--algorithm {question.text} on {shape.name} does not learn: choose lrsao or earl on "
            f"a landscape with helpers, whose choice of objectives an oracle can make"
        )
    found = solve(shape, chosen, outside_h=question.outside_h, progress=terminal_progress)
    emit(as_json, found.to_dict, lambda: str(found))
