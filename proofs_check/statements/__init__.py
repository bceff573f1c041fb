"""The paper's statements as data, one module each; `STATEMENTS` has them in the paper's order.

`statement` says what a statement and a check are; `workspace` is what checks read, computed when
first asked for; `building` has pieces that several statements are built from. A statement's module
imports these, and nothing here imports the registry.
"""

from proofs_check.statements import (
    excursion_claims,
    lemma_02,
    lemma_03,
    lemma_04,
    lemma_05,
    lemma_06,
    lemma_08,
    lemma_09,
    lemma_10,
    lemma_12,
    lemma_14,
    lemma_15,
    lemma_17,
    setup,
    theorem_01,
    theorem_07,
    theorem_11,
    theorem_16,
)

__all__ = ["STATEMENTS"]

_MODULES = (
    setup,
    theorem_01,
    lemma_02,
    lemma_03,
    lemma_04,
    lemma_05,
    lemma_06,
    theorem_07,
    lemma_08,
    lemma_09,
    lemma_10,
    theorem_11,
    lemma_12,
    lemma_14,
    excursion_claims,
    lemma_15,
    theorem_16,
    lemma_17,
)
STATEMENTS = tuple(statement for module in _MODULES for statement in module.STATEMENTS)
