"""The paper's statements as data, one module each; `STATEMENTS` has them in the paper's order.

`statement` says what a statement and a check are; `workspace` is what checks read, computed when
first asked for; `building` has pieces that several statements are built from. A statement's module
imports these, and nothing here imports the registry.
"""

from proofs_check.statements import (
    algorithm_1,
    excursion_claims,
    excursion_times,
    exits,
    lemma_02,
    lemma_03,
    lemma_04,
    lemma_05,
    lemma_06,
    lemma_08,
    lemma_09,
    lemma_09_sites,
    lemma_10,
    lemma_12,
    lemma_14,
    lemma_14_uses,
    lemma_15,
    lemma_17,
    narrow_plateau,
    objectives,
    optimal_order,
    right_plateau,
    section_6,
    setup,
    theorem_01,
    theorem_07,
    theorem_11,
    theorem_11_sites,
    theorem_16,
    transition_figures,
    uniform,
)

__all__ = ["STATEMENTS"]

_MODULES = (
    objectives,
    algorithm_1,
    setup,
    narrow_plateau,
    section_6,
    theorem_01,
    optimal_order,
    lemma_02,
    lemma_03,
    lemma_04,
    lemma_05,
    lemma_06,
    transition_figures,
    theorem_07,
    lemma_08,
    lemma_09,
    lemma_09_sites,
    lemma_10,
    theorem_11,
    theorem_11_sites,
    lemma_12,
    lemma_14,
    lemma_14_uses,
    right_plateau,
    excursion_claims,
    excursion_times,
    lemma_15,
    theorem_16,
    uniform,
    exits,
    lemma_17,
)
STATEMENTS = tuple(statement for module in _MODULES for statement in module.STATEMENTS)
