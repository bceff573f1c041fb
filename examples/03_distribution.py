"""The whole distribution of T: quantiles, tails, and two probabilities by hand."""

from fractions import Fraction

from markov_lrsao import Landscape, distribution, plots

landscape = Landscape.jump(9, 2)

# %% On the left plateau every objective accepts a step upwards. The fastest phase 1 is thus
# three steps up, from 0 (certain), from 1 (probability 8/9) and from 2 (7/9).
first = distribution(landscape, phase=1)
by_hand = Fraction(8, 9) * Fraction(7, 9)
print(f"P(T1 = 3) = {first.pmf(3):.12f}, by hand {by_hand} = {float(by_hand):.12f}")
assert abs(first.pmf(3) - by_hand) <= 2 * first.error
assert first.cdf(2) == 0

# %% Nine bits cannot be set in fewer than nine steps, so P(T <= 8) = 0.
law = distribution(landscape)
print(f"P(T <= 8) = {law.cdf(8):g}, P(T <= 9) = {law.cdf(9):.6f}")
print("every P(T <= t) is within 1e-11 of the truth")
assert law.error < 1e-11
assert law.cdf(8) <= law.error < law.cdf(9)

# %% Quantiles: the smallest t with P(T <= t) >= q.
for q in (0.05, 0.25, 0.5, 0.75, 0.95, 0.99):
    t = law.quantile(q)
    print(f"{q:4.0%} quantile: {t:4}")
    assert law.cdf(t - 1) < q <= law.cdf(t)

# %% The distribution function as a picture; T has a long tail, its mean is above its median.
for t in range(0, 121, 20):
    print(f"P(T <= {t:3}) = {law.cdf(t):.4f}")
axes = plots.distribution(law, quantiles=(0.05, 0.5, 0.95))
axes.set_title("The law of T, n = 9, l = 2")
assert law.mean > law.quantile(0.5)
