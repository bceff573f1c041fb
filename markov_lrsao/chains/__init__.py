"""Finite Markov chains, ours and those of others.

A `chain` is a sparse matrix of exact probabilities with labels; `sources` makes one from rows,
arrays or graphs. `solvers` solves v = c + P v and x = s + x P, exactly or in floats. On top of
them stand `hitting` (moments of hitting times), `visits`, and `reaching` (probabilities, rewards
and times for any target).
"""
