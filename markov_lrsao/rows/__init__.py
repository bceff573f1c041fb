"""One row of the Q-table: patterns of its entries, the automaton of a site, equal futures
merged.
"""
