"""Agents that explore: epsilon-greedy Q-learning, enclosed by finite abstractions of its table.

`tables` rounds all Q-entries outwards to a grid, so that finitely many tables remain; `bounds`
solves for the least and the largest E[T] over everything that rounding leaves open, and certifies
both; `enclosure` refines the grid as far as the number of states allows.
"""
