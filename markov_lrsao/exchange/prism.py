r"""PRISM's explicit files: transitions (.tra), labels (.lab), state rewards (.srew).

PRISM's own form begins with counts ("states transitions") and numbers its labels; Storm's
begins with the word "dtmc" and declares labels by name. Both are read (`_prism_reading`), told
apart by the first line. PRISM reads decimals by default, so doubles (17 digits) are what is
written unless fractions are asked for. The reward's name is not written: neither tool expects
comments in all of its versions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from flint import fmpq

from markov_lrsao.chains.chain import MarkovChain
from markov_lrsao.errors import ParameterError
from markov_lrsao.exact.rationals import rational_text
from markov_lrsao.exchange._prism_reading import ENDINGS, read_prism
from markov_lrsao.exchange._writing import (
    check_label,
    check_reward_names,
    double_text,
    double_texts,
)
from markov_lrsao.exchange.drn import fraction_texts
from markov_lrsao.storage import write_all
from markov_lrsao.texts import printable

__all__ = ["format_labels", "format_transitions", "read_prism", "write_prism"]

_SPACE = re.compile(r"\s")


def format_transitions(chain: MarkovChain, *, values: str = "double", storm: bool = False) -> str:
    """Return the .tra text; `values` is "double" (17 digits) or "rational"."""
    texts = fraction_texts(chain) if values == "rational" else double_texts(chain)
    head = "dtmc" if storm else f"{chain.size} {chain.transitions}"
    lines = [
        f"{i} {j} {text}"
        for i, j, text in zip(chain.sources.tolist(), chain.indices.tolist(), texts, strict=True)
    ]
    return "\n".join([head, *lines, ""])


def format_labels(chain: MarkovChain, *, storm: bool = False) -> str:
    """Return the .lab text."""
    names = ["init", "deadlock", *(name for name in chain.labels if name != "deadlock")]
    carried: dict[int, list[int]] = {int(i): [0] for i in chain.start}
    for index, name in enumerate(names):
        if index:
            check_label(name, "init")
        if storm and (_SPACE.search(name) or name.startswith("#")):
            raise ParameterError(
                f"the label {name!r} has a space or begins with '#', which this format cannot hold"
            )
        for i in chain.labels.get(name, ()) if index else ():
            carried.setdefault(int(i), []).append(index)
    if storm:
        lines = ["#DECLARATION", " ".join(names), "#END"]
        lines += [f"{i} {' '.join(names[k] for k in carried[i])}" for i in sorted(carried)]
    else:
        lines = [" ".join(f'{k}="{name}"' for k, name in enumerate(names))]
        lines += [f"{i}: {' '.join(map(str, carried[i]))}" for i in sorted(carried)]
    return "\n".join([*lines, ""])


def write_prism(
    chain: MarkovChain,
    path: str | Path,
    *,
    values: str = "double",
    storm: bool = False,
    rewards: Mapping[str, Sequence[fmpq]] | None = None,
) -> list[Path]:
    """Write ``stem.tra``, ``stem.lab`` and, with one reward, ``stem.srew``; return the paths.

    All of them are written, or none.

    Parameters
    ----------
    values : "double" or "rational"
    storm : write Storm's form instead of PRISM's
    rewards : at most one, since the format has one file for it
    """
    path = Path(path)
    if path.suffix != ".tra":
        path = path.with_name(path.name + ".tra")
    if rewards and len(rewards) > 1:
        raise ParameterError(
            f"{printable(str(path))}: these files hold one reward, not {len(rewards)}"
        )
    check_reward_names(chain, rewards or {}, bare=False)
    texts = {
        path: format_transitions(chain, values=values, storm=storm),
        path.with_suffix(".lab"): format_labels(chain, storm=storm),
    }
    if rewards:
        (earned,) = rewards.values()
        lines = [
            f"{i} {rational_text(value) if values == 'rational' else _double(value)}"
            for i, value in enumerate(earned)
            if value != 0
        ]
        head = [] if storm else [f"{chain.size} {len(lines)}"]
        suffix = ".state.rew" if storm else ".srew"
        texts[path.with_suffix(suffix)] = "\n".join([*head, *lines, ""])
    _refuse_stale(path, texts)
    write_all(texts)
    return list(texts)


def _double(value: fmpq) -> str:
    return double_text(value, "a reward")


def _refuse_stale(path: Path, texts: Mapping[Path, str]) -> None:
    """Refuse to write beside a file of the same stem that would be read as part of the chain."""
    for ending in ENDINGS:
        for name in (path.with_suffix(ending), path.with_suffix(ending + ".gz")):
            if name not in texts and name.exists():
                raise ParameterError(
                    f"{printable(str(name))} lies there and would be taken for a part of the new "
                    f"files; remove it or choose another name"
                )
