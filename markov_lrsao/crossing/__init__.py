"""Crossing counts: the law of T at any n, without enumerating joint states.

`decomposition` cuts the positions into sites and blocks and says when that is valid. `blocks` are
explored as small chains, `exits` counts how a site is left. `generating` multiplies the generating
functions of all pieces, from the top down.

Where counts are unbounded, agent states have several positions or rows come back more than once,
`segments` are taken as a whole. Without shared rows (`line`), `composition` joins neighbours, and
`minimal` keeps their automata small. Between `shared` rows, the middles of slopes are known by
their `histories`.
"""
