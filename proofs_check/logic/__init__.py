"""SMT proofs for all n, l, alpha, gamma, r at once.

`smt` asks the solvers. `cases` splits a step of the symbolic landscape into finitely many cases;
`induction` proves that `facts` hold at the start and are kept by every case.
"""
