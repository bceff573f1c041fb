"""Displayed lines of proofs, checked by computer algebra.

`lines` compares each line with its neighbour; `brackets` decides one comparison, with the help of
`polynomials` and `harmonics`; `points` looks for numbers that refute it.
"""
