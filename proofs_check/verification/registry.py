"""All statements, by name, and the workspace in which they are checked."""

from __future__ import annotations

from functools import cache

from markov_lrsao.errors import ParameterError
from proofs_check.claims.expressions import brief
from proofs_check.claims.setting import Setting
from proofs_check.claims.terms import Terms
from proofs_check.statements import STATEMENTS
from proofs_check.statements.statement import Statement
from proofs_check.statements.workspace import Workspace
from proofs_check.verification.changes import near, plain_name

__all__ = ["all_statements", "find", "workspace_of"]


@cache
def all_statements() -> dict[str, Statement]:
    """Return all statements in the paper's order."""
    found: dict[str, Statement] = {}
    for statement in STATEMENTS:
        if statement.id in found:
            raise ParameterError(f"statement {statement.id} is registered twice")
        found[statement.id] = statement
    return found


def find(name: str) -> Statement:
    """Return the statement of that name, ignoring case, spaces and punctuation.

    >>> find("lemma-10").id, find("Thm. 7").id
    ('Lemma 10', 'Theorem 7')

    Raises
    ------
    ParameterError
        There is none; the message names near ones.
    """
    wanted = plain_name(name)
    for key, statement in all_statements().items():
        if plain_name(key) == wanted:
            return statement
    raise ParameterError(
        f"no statement {brief(name)}{near(name, all_statements())}; `all_statements()` lists all"
    )


def workspace_of(setting: Setting) -> Workspace:
    """Return a workspace in which the terms of all statements can be read."""
    own = {(s.id, key): text for s in all_statements().values() for key, text in s.terms.items()}
    return Workspace(Terms(setting, own))
