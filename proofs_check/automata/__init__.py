"""Finite automata that hold for all parameters in (H), and numbers that follow from them.

An entry is told only by its cell. `abstraction` derives the automata of the slope's rows from the
induction's cases, `plateau` that of row 0 in phase 3. `slope`, `phase3` and `uniform` turn them
into exact expectations or bounds, `quantities` collects these for many instances. `excursions`
says what Lemma 15 counts.
"""
