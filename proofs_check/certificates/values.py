"""Exact values that are used as evidence, each with the chain and the vector it comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flint import fmpq

from markov_lrsao.errors import StateSpaceTooLargeError, VerificationError
from markov_lrsao.exact.rationals import rational_text
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.parameters import Parameters
from markov_lrsao.rows.automata import derive_automata
from proofs_check.certificates.chains import joint_chain, plateaus
from proofs_check.claims.setting import Setting
from proofs_check.runs.graph import explore

__all__ = ["ChainFiles", "write_values"]

_LARGEST_N = 16
"""Chains of larger instances are left out: there are hundreds, and they are made alike."""

_MOST_STATES = 5_000
"""E[T2] has no chain but the joint one; larger ones are left out."""

_COLUMNS = {
    "plateaus": {"E[T1]": "phase 1", "E[T3]": "phase 3"},
    "first": {"E[T_3^1]": "phase 3"},
    "whole": {"E[T1]": "phase 1", "E[T2]": "phase 2", "E[T3]": "phase 3", "E[T]": "steps"},
}
_CHAIN = {"E[T1]": "plateaus", "E[T3]": "plateaus", "E[T_3^1]": "first", "E[T2]": "whole"}


class ChainFiles:
    """Writes chains, each once."""

    def __init__(self, setting: Setting, add: Callable[[str, Mapping[str, Any]], str]) -> None:
        self.setting, self.add = setting, add
        self.chains: dict[tuple[str, int, int], tuple[str, dict[str, str]] | str] = {}
        self.valid = set(setting.pairs(_LARGEST_N))

    def of(self, quantity: str, n: int, ell: int) -> tuple[str, dict[str, str]] | str:
        """Return the file of a quantity's chain and its results, or why there is none."""
        if quantity not in _CHAIN:
            return "no chain of its own"
        key = (_CHAIN[quantity], n, ell)
        if key not in self.chains:
            self.chains[key] = self._written(*key)
        return self.chains[key]

    def _written(self, which: str, n: int, ell: int) -> tuple[str, dict[str, str]] | str:
        if n > _LARGEST_N:
            return f"n > {_LARGEST_N}"
        setting, parameters = self.setting, Parameters.paper(n)
        if (n, ell) not in self.valid or not setting.admits(n, ell, parameters):
            return "not with the paper's hyper-parameters"
        law = StepLaw.of(setting.family.at(n, ell), setting.algorithm(parameters))
        if which == "whole":
            try:
                chain = joint_chain(explore(law, limit=_MOST_STATES))
            except StateSpaceTooLargeError:
                return f"the joint chain has more than {_MOST_STATES:,} states"
        else:
            chain = plateaus(derive_automata(law), until_right=which == "first")
        document = chain.document(_COLUMNS[which])
        results = {column["name"]: column["result"] for column in document["columns"]}
        return self.add(f"chains/{which}-{n}-{ell}.json", document), results


def write_values(
    slug: str,
    values: Mapping[tuple[str, int, int], fmpq],
    add: Callable[[str, Mapping[str, Any]], str],
    chains: ChainFiles,
) -> list[str]:
    """Write the values that one artefact used, with their chains; return its files.

    Raises
    ------
    VerificationError
        A value is not that of its chain.
    """
    entries: list[dict[str, Any]] = []
    left_out: dict[str, int] = {}
    files: dict[str, None] = {}
    for (quantity, n, ell), value in values.items():
        chain = chains.of(quantity, n, ell)
        if isinstance(chain, str):
            reason = f"{quantity}: {chain}"
            left_out[reason] = left_out.get(reason, 0) + 1
            continue
        path, results = chain
        if results[quantity] != rational_text(value):
            raise VerificationError(
                f"{quantity} at n = {n}, l = {ell} is {value} as used, {results[quantity]} by "
                f"its chain"
            )
        files[path] = None
        entry = {"quantity": quantity, "n": n, "l": ell, "value": rational_text(value)}
        entries.append({**entry, "chain": path})
    document = {"kind": "values", "values": entries, "left_out": left_out}
    return [add(f"values/{slug}.json", document), *files]
