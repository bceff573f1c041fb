"""Searches that do not learn, solved exactly: chains on (mode, position).

`reaching` says which states matter, and whether all of them reach the target. `methods` has one
solver for every class of chains: birth-death, block-tridiagonal, back-substitution, dense.
`best` finds the best action of every position. `times` puts them together: moments of T from
any start to any target, in rationals or balls. `budgets` has the law of f(x_t) after t steps,
`tails` the law of T.
"""
