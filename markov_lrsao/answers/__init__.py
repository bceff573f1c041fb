"""What a user asks for, and records of the answer.

`expected` gives E[T], phases and variance (`results`); `distribution` the law of T, by `powers` of
a chain or `inversion` of its generating function; `profile` steps and visits per position; `curves`
many n at once. `plan` decides once by which way a law is answered: patterns, values, an enclosure
or a trap.
"""
