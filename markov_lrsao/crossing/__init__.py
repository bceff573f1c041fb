"""Crossing counts: the law of T at any n, without enumerating joint states.

`decomposition` cuts the positions into sites and blocks and says when that is valid. `blocks` are
explored as small chains, `exits` counts how a site is left. `generating` multiplies the generating
functions of all pieces, from the top down.

Where counts are unbounded or agent states have several positions, `segments` are composed instead:
`composition` joins neighbours, and `minimal` keeps their automata small.
"""
