"""Crossing counts: the same fractions without the joint chain, at any n.

The joint chain grows about sixfold with every site of the slope. But the sites of the slope
do not influence each other, so it is enough to count how often the walk crosses from one
site to the next: linear time instead of exponential space.
"""

from math import log

from markov_lrsao import Landscape, curve, plots, runtime

# %% Two ways to one number: identical fractions at n = 11, l = 3.
joint = runtime(Landscape.jump(11, 3), method="joint")
crossing = runtime(Landscape.jump(11, 3), method="crossing")
print(f"joint chain, {joint.states:5,} states: {joint.total.rational}")
print(f"crossing,    {crossing.states:5,} states: {crossing.total.rational}")
assert joint.total.rational == crossing.total.rational
assert joint.variance.rational == crossing.variance.rational

# %% n = 500, exactly: the joint chain would have more states than there are atoms.
large = runtime(Landscape.jump(500, 10))
digits = len(str(large.total.rational).split("/")[0])
print(f"n = 500, l = 10: E[T] = {large.total.decimal}, a fraction with {digits} digits on top")
assert large.exact
assert large.method == "crossing"

# %% In floats n = 10,000 takes a blink. With l = 2 phase 3 dominates; its leading term is
# (2/3) n^2 / (l (l+1)) = n^2/9.
n = 10_000
short = runtime(Landscape.jump(n, 2), field="float")
third, leading = float(short.phases[2]), n**2 / 9
print(f"n = 10,000, l =   2: E[T3] = {third:,.0f}, n^2/9 = {leading:,.0f}")
assert third > 0.95 * float(short.total)
assert abs(third / leading - 1) < 0.003

# %% With l = 100 phase 2 dominates, and it follows 3 n ln(n/l) + C n with C = -2.8646...
wide = runtime(Landscape.jump(n, 100), field="float")
second, law = float(wide.phases[1]), 3 * n * log(n / 100) - 2.8646 * n
print(f"n = 10,000, l = 100: E[T2] = {second:,.0f}, 3 n ln(n/l) + C n = {law:,.0f}")
assert second > 0.5 * float(wide.total)
assert abs(second / law - 1) < 0.001

# %% E[T] and its phases over n as a picture, for l = floor(sqrt(n)).
points = curve([20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000], "sqrt")
axes = plots.curve(points)
axes.set_title("E[T] and its phases, l = floor(sqrt(n))")
assert points[-1].ell == 100
