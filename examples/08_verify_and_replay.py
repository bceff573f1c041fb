"""A verdict on a statement of the paper, and its counterexample replayed step by step."""

from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from markov_lrsao import verify
from proofs_check import Counterexample, replay

# %% Lemma 5, the plateau lemma. Its part (2) does not say that f must not decrease at the end of
# the plateau, and without that it is false.
[result] = verify("Lemma 5")
print(f"{result.id}, {result.title}: {result.verdict.value}")
for evidence in result.evidence:
    if evidence.counterexample is not None:
        print(f"- {evidence.kind.value} {evidence.part}: {evidence.summary}")
assert result.verdict.value == "REFUTED"

# %% A counterexample is a file that anybody can replay: `markov-lrsao replay FILE`.
bad = next(e.counterexample for e in result.evidence if e.counterexample is not None)
with TemporaryDirectory() as folder:
    bad.save(Path(folder) / "lemma-5.json")
    again = Counterexample.load(Path(folder) / "lemma-5.json")
print("values:", dict(again.values))
print("f =", again.objectives["f"])

# %% The run in exact arithmetic: f is learnt in the first step and never lost.
_, records = replay(again)
for r in records:
    print(
        f"t = {r.time}: position {r.position}, {r.sign} "
        f"{'accepted' if r.accepted else 'rejected'}, Q[f] from {r.old} to {r.new}"
    )

# %% By hand: a rejected move multiplies the entry by 1 - alpha(1 - gamma) = 1 - 1/2 * 9/10.
factor = 1 - Fraction(1, 2) * Fraction(9, 10)
value = Fraction(1, 2)
for r in records[1:]:
    assert not r.accepted
    value *= factor
    assert str(value) == str(r.new)
print("the factor", factor, "leaves", value, "after", len(records) - 1, "rejections")
