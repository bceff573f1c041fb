"""Automata over cells of Q-values, derived by the solver, and the expectations they give."""
