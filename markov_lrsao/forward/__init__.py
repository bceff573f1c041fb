"""The law of T carried forwards: bounds of P(T <= t) for agents that nothing else decides.

After t steps a run has a position and a table of Q-values. `model` writes the one-step law as
arrays; `kernels` move a cloud of (position, table, probability) by one step, a table being known by
an interval for every entry and by the order within each row; `law` does so step by step. Tables
that are alike are merged into their hull, and what is too unlikely to be kept, or whose greedy
action the hull leaves open, is *lost*: counted, and part of every bound. Nothing is guessed, so
the bounds hold for every algorithm and landscape; how narrow they are depends on the memory given.

`layers` loses nothing: open actions are all followed, tables that matter little are joined, and
E[T] is bounded backwards over all ways in which what is open may turn out. Behind the last layer
stands what is true of every table (`coarse`).
"""
