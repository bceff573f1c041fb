"""The joint chain by hand: a part small enough to write on a blackboard, solved twice.

The walk sees the Q-table only through the largest entry of the current row. A state of the
chain is the position and, per row, the order of its entries and 0. The label
`p=1 [0: L>0=J=R]` is position 1 where in row 0 objective L has a positive entry and J and R
have not been used.
"""

from fractions import Fraction

from markov_lrsao import Landscape, StepLaw
from markov_lrsao.chains.hitting import hitting_times
from markov_lrsao.joint.parts import part_chain

# %% Phase 1 at n = 9, l = 2: from position 0 until position 3 is hit.
law = StepLaw.of(Landscape.jump(9, 2))
left = part_chain(law, "left")
rows = [{j: Fraction(int(w.p), int(w.q)) for j, w in left.row(i)} for i in range(left.size)]
print(left.size, "states")
for i in (0, 1, 4, 8):
    print(f"from {i:2} {left.label(i)}")
    for j, w in rows[i].items():
        print(f"   {w!s:>5} to {j:2} {left.label(j)}")
assert all(sum(row.values()) == 1 for row in rows)
assert rows[0] == {1: Fraction(1, 3), 4: Fraction(1, 3), 5: Fraction(1, 3)}

# %% The expected times solve E_i = 1 + sum_j P(i, j) E_j, with E_j = 0 at position 3. Apart
# from waiting (i to i) this chain never comes back to a state, so one substitutes:
# E_i (1 - P(i, i)) = 1 + the sum over j other than i.
done: dict[int, Fraction] = {}


def expected(i: int) -> Fraction:
    """Solve for one state, after those that can follow it."""
    if i not in done:
        others = sum(w * expected(j) for j, w in rows[i].items() if j != i)
        waits = rows[i].get(i, Fraction(0))
        done[i] = Fraction(0) if left.positions[i] == 3 else (1 + others) / (1 - waits)
    return done[i]


print("E[T1] by substitution:", expected(0))

# %% The toolkit's solver does the same for any chain, with millions of states.
solved = hitting_times(left, left.at_positions([3]))
print("E[T1] by the solver:  ", solved[0])
assert str(solved[0]) == str(expected(0)) == "9853/2856"
assert [str(value) for value in solved] == [str(expected(i)) for i in range(left.size)]
