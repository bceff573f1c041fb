"""Hyper-parameters: what E[T] depends on, and what it does not.

alpha, gamma and r enter the walk only through comparisons of Q-entries. Wherever all
comparisons come out as with the paper's choice, E[T] is the same fraction.
"""

from markov_lrsao import (
    Algorithm,
    AlgorithmFamily,
    Landscape,
    LrsaoError,
    MapPlan,
    Parameters,
    hypothesis_h,
    plots,
    regime_map,
    runtime,
)
from markov_lrsao.exact.quantity import Enclosed

landscape = Landscape.jump(9, 2)

# %% The same fraction over a wide range of learning rates, discounts and penalties.
values = set()
for alpha, gamma, r in (
    ("4/5", "1/10", "7/2"),
    ("1/2", "1/10", None),
    ("3/4", "1/10", None),
    ("4/5", "1/10", "3"),
    ("4/5", "1/10", "12"),
    ("4/5", "1/50", None),
):
    parameters = Parameters.paper(9, alpha=alpha, gamma=gamma, r=r)
    h = hypothesis_h(landscape, parameters)
    total = runtime(landscape, Algorithm.lrsao(parameters)).total.rational
    values.add(total)
    print(
        f"alpha = {alpha:>4}, gamma = {gamma:>4}, r = {parameters.r!s:>7} "
        f"in ({h.lower}, {h.upper}): E[T] = {total}"
    )
    assert h.holds
assert values == {"51740216905/1185192162"}

# %% Numbers are read exactly: the text "0.8" is 4/5. The float 0.8 is a slightly different
# number, so it is refused rather than guessed at.
assert Parameters.paper(9, alpha="0.8") == Parameters.paper(9, alpha="4/5")
try:
    Parameters.paper(9, alpha=0.8)  # type: ignore[arg-type]
    raise AssertionError("a binary float was taken for an exact number")
except LrsaoError as error:
    print("refused:", error)

# %% A penalty outside hypothesis (H) is refused too, unless one asks for it. By hand: the bounds
# are (1/(4/5 * 9/10) - 1) * 6 = (7/18) * 6 = 7/3 and 1/(4/5 * 1/10) = 25/2.
try:
    runtime(landscape, AlgorithmFamily(r=2))
    raise AssertionError("a penalty outside (H) went through")
except LrsaoError as error:
    reason = str(error)
print("refused:", reason)
assert "7/3 < r < 25/2" in reason

# %% Elsewhere in (H) comparisons depend on values. They are followed, and the answer is again a
# fraction, but another one: L is used more often on the right plateau.
parameters = Parameters("0.95", "1/10", "1.03")
assert hypothesis_h(landscape, parameters).holds
result = runtime(landscape, Algorithm.lrsao(parameters))
print(
    f"alpha = 0.95, r = 1.03: {result.kind}, E[T] = {result.total.rational}, "
    f"about {float(result.total):.4f}"
)
assert result.kind == "exact"
assert abs(float(result.total) - 45.66) < 0.005

# %% All of it in one picture: the borders between regimes are algebraic curves, and within an area
# E[T] is one and the same fraction.
grid = regime_map(MapPlan.of(9, 2, "0.4:0.96@3", r_relative="0.3:0.7@2"), workers=1)
axes = plots.regime_map(grid)
axes.set_title("E[T] over alpha and r, n = 9, l = 2")
assert {area.name for area in grid.plan.areas if area.decided} >= {"k = 1", "k = 2"}

# %% Above the upper bound of (H) a run can get stuck for ever: E[T] is infinite, and the answer
# shows a trap and the probability of entering it.
far = runtime(Landscape.jump(40, 3), AlgorithmFamily(r=200), outside_h=True)
assert far.kind == "infinite"
assert far.trap is not None
assert isinstance(far.trap.probability, Enclosed)
lower, upper = far.trap.probability.ends
print(
    f"n = 40, l = 3, r = 200: E[T] is {far.kind}; stuck at {far.trap.state.split()[0]} "
    f"with probability in [{lower[:7]}, {upper[:7]}]"
)
