"""Closed forms with symbols for n and l.

`closed` solves explored blocks over Q(n, l); `asymptotics` has the limits and constants;
`catalogue` lists the formulas that `markov-lrsao formula` prints.
"""
