"""What verdicts rest on, written for others to check: queries, automata, closed forms, chains.

`folder` writes it, `proofs_check.checker` reads it with nothing but the standard library;
docs/certificates.md tells the format.
"""
