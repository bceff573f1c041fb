"""The joint chain: every reachable (position, patterns of all rows).

`enumeration` finds all states and their steps as array arithmetic; `parts` are the chains of single
phases. Exponential in n on the slope, so for small n: the second way to what crossing counts give.
"""
