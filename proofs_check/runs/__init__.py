"""Single runs in exact rationals, and all runs of small instances.

A `run` is played by choices from outside; `monitors` watch it for a violation; `search` plays
random runs on `landscapes` and instances across (H) and shrinks what refutes; `ties` finds corners
that random draws never hit. `graph` is the joint chain with labelled steps: exhaustive evidence.
"""
