"""A user's own lemmas: claims about runs in a small language, decided on all runs of an instance.

`language` reads a claim, `targets` says what of a run it speaks about, `abstraction` decides it on
all runs with few rows followed at a time, `values` with exact Q-values, `invariants` turns it into
facts that the induction may prove for all n, l, alpha, gamma, r.
"""
