"""First steps: the landscape, the hyper-parameters, and E[T] as a fraction.

LRSAO walks on bit strings of length n. Only the number p of ones matters, so everything is
a function of the position p = 0..n. In every step one bit is flipped at random, and a greedy
Q-learning agent picks one of three objectives to accept or reject the flip.
"""

from fractions import Fraction

from markov_lrsao import Algorithm, Landscape, Parameters, hypothesis_h, runtime

# %% The three objectives at the smallest size that the paper allows, n = 9 and l = 2.
landscape = Landscape.jump(n=9, ell=2)
print("position      ", *range(10))
for name, values in landscape.objectives.items():
    print(f"objective {name}:  ", *values)
assert landscape.target == "J"
assert list(landscape.objectives["J"]) == [0, 0, 0, 3, 4, 5, 6, 0, 0, 9]

# %% The paper's hyper-parameters are exact numbers; hypothesis (H) says which r are allowed.
parameters = Parameters.paper(9)
allowed = hypothesis_h(landscape, parameters)
print(f"alpha = {parameters.alpha}, gamma = {parameters.gamma}, r = {parameters.r}")
print(f"(H): {allowed.lower} < r < {allowed.upper}")
assert Fraction(9) * (1 / (Fraction(4, 5) * Fraction(9, 10)) - 1) == Fraction(7, 2)
assert allowed.holds

# %% The expected number of steps until the optimum is a fraction, not an estimate.
# Without an algorithm, it is LRSAO with these hyper-parameters.
result = runtime(landscape)
print("E[T] =", result.total.rational)
print("     =", result.total.decimal)
assert result.total.rational == "51740216905/1185192162"

# %% A case to check by hand: one objective, OneMax. Of n = 3 bits the first missing one is hit
# with probability 3/3, the second with 2/3, the last with 1/3: E[T] = 3/3 + 3/2 + 3/1.
by_hand = Fraction(3, 3) + Fraction(3, 2) + Fraction(3, 1)
coupons = runtime(Landscape.onemax(3), Algorithm.rls())
print("coupon collector, n = 3:", coupons.total.rational)
assert Fraction(str(coupons.total.rational)) == by_hand == Fraction(11, 2)
