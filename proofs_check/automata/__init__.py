"""Finite automata that hold for all parameters in (H), and numbers that follow from them.

An entry is told only by its cell. `abstraction` derives the automata of the slope's rows from the
induction's cases, `plateau` that of row 0 in phase 3. `slope`, `slope_bounds`, `phase3`,
`potentials` and `uniform` turn them into exact expectations or bounds. `symbolic` decides the
walks on both plateaus with n and l unknown, `elimination` and `closed` solve them. `quantities`
collects what is known of each mean. `excursions` says what Lemma 15 counts.
"""
