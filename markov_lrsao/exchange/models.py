"""The project's own chains, labelled for other tools.

"target" marks the states where the chain's run (or part) ends, "milestone1", ... the
positions where the earlier phases have ended; a step from any other state earns 1 in the
reward "steps", whose expected sum until the target is the runtime.
"""

from __future__ import annotations

from functools import partial

from flint import fmpq

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.errors import Refused, UndecidedComparisonError, attempt
from markov_lrsao.joint.enumeration import enumerate_joint
from markov_lrsao.model.law import StepLaw
from markov_lrsao.progress import Progress, no_progress
from markov_lrsao.values.whole_run import chain_with_values, chains_with_values

__all__ = ["model_chain", "step_rewards"]

_MOST_VALUED = 60_000
"""Default limit of states where values are followed: seconds, and most answers need far fewer."""


def model_chain(
    law: StepLaw,
    part: str | None = None,
    *,
    merge: bool = True,
    max_states: int | None = None,
    progress: Progress = no_progress,
) -> MarkovChain:
    """Return the joint chain, or one part of it, with labels.

    Where patterns leave a comparison open, the whole chain is that of values, if these decide it.

    Raises
    ------
    UndecidedComparisonError
        Values do not decide everything either: there is no one chain.

    >>> from markov_lrsao import Algorithm, Landscape, Parameters
    >>> law = StepLaw.of(Landscape.jump(9, 2), Algorithm.lrsao(Parameters.paper(9)))
    >>> chain = model_chain(law)
    >>> chain.size, sorted(chain.labels)
    (1879, ['milestone1', 'milestone2', 'target'])
    """
    ends = law.landscape.milestones
    if part is None:
        way = partial(
            enumerate_joint,
            law,
            merge=merge,
            field="float",
            max_states=max_states,
            progress=progress,
        )
        found = attempt(way, (UndecidedComparisonError,))
        if isinstance(found, Refused):
            chain = _decided_by_values(law, max_states or _MOST_VALUED, progress)
        else:
            chain = found.chain
        return chain.with_labels(
            {
                "target": chain.positions >= ends[-1],
                **{f"milestone{k}": chain.positions >= end for k, end in enumerate(ends[:-1], 1)},
            }
        )
    from markov_lrsao.joint.parts import part_chain

    chain = part_chain(law, part, merge=merge, progress=progress)
    end = ends[law.landscape.phases.index(part)]
    return chain.with_labels({"target": chain.positions >= end})


def _decided_by_values(law: StepLaw, largest: int, progress: Progress) -> MarkovChain:
    """Return the chain of a whole run in which values decide every comparison."""
    levels = chains_with_values(law, largest, progress)
    if not isinstance(levels, Refused):
        for block in levels:
            if not block.undecided:
                return chain_with_values(block)[0]
    raise UndecidedComparisonError(
        f"comparisons of Q-entries stay open on {law.landscape.name}, by patterns and by values "
        f"(up to {largest:,} states; `max_states` allows more), so that there is no one chain to "
        f"write; `runtime()` bounds E[T] over all that it may be, `simulate()` plays it",
        advised=True,
    )


def step_rewards(chain: MarkovChain) -> dict[str, tuple[fmpq, ...]]:
    """Return the reward "steps": 1 in every state that does not carry the label "target"."""
    one, zero = fmpq(1), fmpq(0)
    return {"steps": tuple(zero if done else one for done in chain.labelled("target").tolist())}
