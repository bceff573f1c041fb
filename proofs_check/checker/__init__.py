"""Check a folder of certificates: `python -m proofs_check.checker DIR [--solver "z3 -smt2"]`.

Nothing of the toolkit is imported here, nor anything but the standard library: rationals are
`fractions.Fraction`, polynomials are dictionaries, the runs are played by a simulator of its own.
This folder can be copied elsewhere and run as `python -m checker DIR`. docs/certificates.md tells
the format and what such a check does not cover. What is looked at, by kind of file:

- all: the SHA-256, and that the index lists what is there and what is named;
- queries: one answer per query, as many as the index says; a model that is given is put in; every
  query goes to each solver given, and without one it counts as not re-checked;
- automata, graph: nothing but what a greedy choice allows, closed under its moves, every cell
  either reached or excluded by a query; counts as longest walks;
- chain: rows sum to 1, the vector satisfies x = c + P x, and some exit is reached from everywhere,
  so that it is the only one; values: as in their chains;
- symbolic chain: the same as identities of polynomials in n, l and H, expanded term by term;
- closed form: it solves its symbolic chain, and has the values of chains at instances;
- potential: for every decision V is at least (at most) 1 + E[V after], by signs of coefficients;
- point: a displayed line fails there, and what is assumed holds;
- run: every step is one that the algorithm can make, with the entries that are told.

Exit codes: 0 nothing fails (with --all: and nothing is left unchecked), 1 something fails,
2 something cannot be read.
"""

from __future__ import annotations

from .folder import main

__all__ = ["main"]
