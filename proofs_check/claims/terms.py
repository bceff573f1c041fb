"""The adjustable parts of the statements, as the setting has them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from flint import fmpq

from markov_lrsao.errors import ParameterError
from proofs_check.claims.expressions import brief, evaluate
from proofs_check.claims.setting import Setting

__all__ = ["Terms"]


class Terms:
    """A setting, and (statement, key) -> the statement's own text."""

    def __init__(self, setting: Setting, own: Mapping[tuple[str, str], str]) -> None:
        self.setting, self.own = setting, own

    def term(self, statement: str, key: str) -> str:
        """Return a term of a statement, or what the setting puts in its place."""
        return self.setting.terms.get((statement, key), self.own[statement, key])

    def value(self, statement: str, key: str, **names: Any) -> Any:
        """Evaluate a term over exact rationals."""
        exact = {k: fmpq(v) if isinstance(v, int) else v for k, v in names.items()}
        return evaluate(self.term(statement, key), exact, {"number": fmpq})

    def number(self, statement: str, key: str) -> int:
        """Return a term that is an integer.

        Raises
        ------
        ParameterError
            It is none.
        """
        text = self.term(statement, key)
        if not re.fullmatch(r"\s*-?[0-9]{1,18}\s*", text):
            raise ParameterError(f"{key!r} of {statement} is {brief(text)}: an integer is needed")
        return int(text)

    def actions(self, statement: str, key: str) -> list[str]:
        """Return a term that lists actions, separated by commas.

        Raises
        ------
        ParameterError
            It lists none, or something else.
        """
        text = self.term(statement, key)
        known = [name for name, _ in self.setting.family.objectives]
        found = [part.strip() for part in text.split(",")]
        if not set(found) <= set(known):
            raise ParameterError(
                f"{key!r} of {statement} is {brief(text)}: choose from {', '.join(known)}"
            )
        return found
