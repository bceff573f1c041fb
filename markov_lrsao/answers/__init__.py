"""What a user asks for, and records of the answer.

`expected` gives E[T], phases and variance (`results`); `distribution` the law of T, by `powers` of
a chain or `inversion` of its generating function; `profile` steps and visits per position; `curves`
many n at once. Each takes a landscape and an algorithm and chooses its way through the rooms below.
"""
