"""A landscape of your own: arrays of integers, a file, or formulas in n and l.

Nothing in the engine knows Jump. Any named objectives over the positions 0..n will do, one
of them the target with one largest value; the agent's state is the target's value.
"""

import json
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from markov_lrsao import Algorithm, Landscape, LandscapeFamily, runtime, simulate, summary
from markov_lrsao.model.affine import N, P, Piece

# %% A needle: the target F says nothing until the optimum, the helper H counts ones. On F alone
# the walk is blind, and by hand E = 10 from position 0 (9 from 1, 7 from 2). With the helper
# the agent is a coupon collector: H is rewarded, F is penalised and dropped.
needle = Landscape.from_arrays({"F": [0, 0, 0, 1], "H": [0, 1, 2, 3]}, target="F")
alone = runtime(needle, Algorithm.rls()).total.rational
helped = runtime(needle).total.rational
print(f"needle, n = 3: E[T] = {alone} without helper, {helped} with it")
assert (alone, helped) == ("10", "11/2")

# %% A trap: position 1 is a local optimum of the target. Random local search never leaves it,
# and the toolkit says so instead of running for ever.
trap = {"F": [0, 1, 0, 0, 2], "H": [0, 1, 2, 3, 4]}
landscape = Landscape.from_arrays(trap, target="F", name="trap")
stuck = runtime(landscape, Algorithm.rls())
assert stuck.kind == "infinite"
assert stuck.trap is not None
print(
    f"RLS: E[T] is {stuck.kind}, stuck at {stuck.trap.state} "
    f"with probability {stuck.trap.probability.rational}"
)
assert (stuck.trap.state, stuck.trap.probability.rational) == ("p=1", "1")

# %% LRSAO leaves it. By hand: 4(1/4 + 1/3 + 1/2 + 1) = 25/3 as a coupon collector; at position 1
# the two objectives tie until H has been accepted, 8/3 steps instead of 4/3; and with
# probability 1/2 the first step taught the agent F, which at position 2 goes back half of the
# time: t = 1 + (4/3 + t)/2 = 10/3 steps instead of 2.
result = runtime(landscape)
by_hand = Fraction(25, 3) + Fraction(4, 3) + Fraction(1, 2) * (Fraction(10, 3) - 2)
print(f"LRSAO on the trap: E[T] = {result.total.rational}, by hand {by_hand}")
assert Fraction(str(result.total.rational)) == by_hand

# %% Simulation takes the same landscape ...
found = summary(simulate(landscape, runs=10_000, seed=1)).total
assert found is not None
print(f"simulated: {found.point:.3f} +- {found.error:.3f}, exact: {float(result.total):.3f}")
assert abs(found.point - float(result.total)) < 4 * found.error

# %% ... and so does the command line, from a file: `markov-lrsao exact --landscape trap.json`.
with TemporaryDirectory() as folder:
    path = Path(folder) / "trap.json"
    path.write_text(json.dumps({"objectives": trap, "target": "F", "name": "trap"}))
    loaded = Landscape.load(path)
assert loaded == landscape
print("trap.json:", json.dumps({"objectives": trap, "target": "F"}))

# %% A family for all n: pieces that are affine in the position p and in n. Here the target is
# flat but for its last position, the helper counts ones.
family = LandscapeFamily(
    name="Needle",
    objectives=(("F", (Piece.of(0, N - 1, 0), Piece.of(N, N, 1))), ("H", (Piece.of(0, N, P),))),
    target="F",
    milestones=(N,),
)
for n in (3, 10, 30):
    total = runtime(family.at(n)).total
    collector = n * sum(Fraction(1, k) for k in range(1, n + 1))
    print(
        f"needle with helper, n = {n:2}: E[T] = {float(total):8.4f}, "
        f"n H_n = {float(collector):8.4f}"
    )
    assert Fraction(str(total.rational)) == collector
