"""The quotient of all (position, Q-table): exact, whatever patterns leave open.

A run's state is its position, its phase and its whole Q-table, and a step is an affine map of the
table, chosen by comparisons of entries. Tables from which the same happens for ever need not be
told apart. `minimising` finds, on line, a partition of the tables by `planes` into `lumps` such
that all tables of a lump take the same greedy actions and are mapped into the same lumps (Lee and
Yannakakis, STOC 1992, "Online minimization of transition systems"): only lumps that a run meets
are made, and a lump is cut only where its successors demand it. `cutting` chooses the planes. If
the partition becomes stable, the chain of the lumps is the run itself, lumped: every number
computed from it is exact. It need not become stable; then nothing is claimed of the lumps that are
not. `systems` says what is needed of a run: `tables` are whole Q-tables, `plateaus` the row that
several plateaus share.
"""
