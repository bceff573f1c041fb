"""Hyper-parameters as coordinates: where the law of T stays the same, and where it changes.

`grid` plans and solves a map of points, kept in a `store`; `points` solves one of them, once per
structure. `borders` are the algebraic conditions between regimes. `penalties` and `vanishing` tell
what leaving (H) costs, and what remains for r = 0 and r -> 0+.
"""
