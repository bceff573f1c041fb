"""One row of the Q-table at a time: what the walk can see of it, and how that changes.

`regions` groups positions by the row they show. A pattern (`patterns`, `orders`) keeps signs and
order of a row's entries; `bounds` finds the least bounds on their values. From these `automata`
derives the automaton of every row: its patterns and the transitions between them. `steps` says
what one step can do to a pattern. `lumping` merges patterns with the same future; `derived` keeps
the result per law.
"""
