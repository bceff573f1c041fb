"""Where the time goes: expected steps and visits, position by position."""

from fractions import Fraction

from markov_lrsao import Landscape, plots, profile, runtime

n, ell = 12, 3
landscape = Landscape.jump(n, ell)
found = profile(landscape)
steps = [Fraction(str(value)) for value in found.steps]

# %% One line per position. The top of the slope, n-l-1 = 8, costs most: the right plateau shares
# a row of the Q-table with the left one, and what the agent learnt there sends it back down
# until it is unlearnt.
for p in range(n):
    print(f"position {p:2}: {float(steps[p]):7.4f} steps")
axes = plots.profile(found)
axes.set_title("Steps per position, n = 12, l = 3; dashed: ends of phases")
assert max(range(n), key=lambda p: steps[p]) == n - ell - 1

# %% The steps add up to E[T], as fractions.
total = runtime(landscape).total.rational
print("sum of the steps =", sum(steps))
print("E[T]             =", total)
assert str(sum(steps)) == total

# %% By hand: at n-1 one bit is missing, and every objective accepts it. So each step that begins
# there ends the run with probability 1/n, whatever the agent has learnt: n steps on average.
print("expected steps at n-1:", steps[n - 1])
assert steps[n - 1] == n

# %% Lemma 10: interior sites of the slope are visited at most five times.
for site, law in sorted(found.visit_laws.items()):
    chances = ", ".join(f"{k}: {float(Fraction(str(w))):.4f}" for k, w in enumerate(law) if w != 0)
    print(f"site {site}: number of visits and its probability: {chances}")
    assert len(law) - 1 <= 5
    assert sum(Fraction(str(w)) for w in law) == 1
