"""Phases and variance: where a run is slow, and how much it varies.

A run has three phases: it leaves the left plateau (reaches l+1), climbs the slope (reaches
n-l), and crosses the right plateau (reaches n). Expectations add up, variances do not.
"""

from fractions import Fraction
from math import sqrt

from markov_lrsao import Landscape, plots, runtime

n, ell = 9, 2
landscape = Landscape.jump(n, ell)
result = runtime(landscape)

# %% Every phase has a mean and a variance, both exact.
means = [Fraction(str(phase.rational)) for phase in result.phases]
variances = [Fraction(str(variance.rational)) for variance in result.phase_variances]
for name, mean, variance in zip(landscape.phases, means, variances, strict=True):
    print(f"{name:5}  E = {mean!s:>22} = {float(mean):8.5f}, sd = {sqrt(variance):8.5f}")
print(
    f"total  E = {result.total.rational:>22} = {float(result.total):8.5f}, "
    f"sd = {sqrt(result.variance):8.5f}"
)
assert sum(means) == Fraction(str(result.total.rational))

# %% Phase 1 by hand, formula (A): the coupon collector's n(1/n + 1/(n-1) + .. + 1/(n-l)), plus
# 2/(3(2n-1)) for the detours of an agent that has not learnt anything yet.
collector = n * sum(Fraction(1, n - k) for k in range(ell + 1))
detours = Fraction(2, 3 * (2 * n - 1))
print(f"phase 1 by hand: {collector} + {detours} = {collector + detours}")
assert collector + detours == means[0] == Fraction(9853, 2856)

# %% The phases are not independent: what the agent learns on the way up, row 0 of its table,
# is used again on the right plateau. The covariances make up the difference.
difference = Fraction(str(result.variance.rational)) - sum(variances)
print(f"Var[T] - sum of the phases' variances = {float(difference):.5f}")
assert difference < 0

# %% As a picture: the wider the gap, the less the right plateau costs.
gaps = [runtime(Landscape.jump(20, gap)) for gap in (2, 4, 7)]
axes = plots.phases(gaps)
axes.set_title("E[T] by phases, n = 20")
assert len(axes.patches) == 9
