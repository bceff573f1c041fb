"""What is claimed, and what an answer is.

`expressions` reads formulas. A `setting` is the model and what is changed about the statements;
`terms` are the adjustable pieces of the statements as a setting has them. `verdict` defines
evidence, errata and verdicts, `counterexample` a run or point that can be replayed.
"""
