"""SMT: the solver, the cases of a step, induction over runs, the facts it proves."""
