"""The model as data: what a run is, before anything is computed.

A `landscape` has objectives, made of pieces that are `affine` in p, n and l, or given as arrays.
`parameters` are exact, with hypothesis (H). An `algorithm` says what is accepted, what is rewarded
and how Q is updated. The `law` puts the three together: one table of what every action does at
every position. Engine, simulations and proofs all read this table. `statements` records which
code realises which statement of the paper.
"""
