"""Own lemmas: the language, and claims decided on all runs against runs listed one by one."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from enumeration_of_runs import Model, runs, violates
from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.model.algorithm import Algorithm
from markov_lrsao.model.landscape import JUMP, Landscape
from markov_lrsao.model.law import StepLaw
from markov_lrsao.model.parameters import Parameters
from markov_lrsao.progress import no_progress
from proofs_check import Verdict, check_claims, replay
from proofs_check.own.abstraction import Fails, Holds
from proofs_check.own.checking import Finding, check_instance
from proofs_check.own.language import Claim, parse_claim, position_of
from proofs_check.own.targets import targets_of
from proofs_check.own.values import search_values
from proofs_check.runs.graph import Edge, explore

# -- the language ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("visits <= 5", Claim("visits", "<=", fmpq(5))),
        ("VISITS  per Position<5", Claim("visits", "<", fmpq(5), span="position")),
        ("visits at n - l = 1", Claim("visits", "=", fmpq(1), span="at", at="n - l")),
        ("positive entries per row <= 1", Claim("positive entries", "<=", fmpq(1), span="row")),
        ("uses(J) > -3/2", Claim("uses", ">", fmpq(-3, 2), of="J")),
        ("entry(f 1) >= +0.125", Claim("entry", ">=", fmpq(1, 8), of="f 1")),
        ("moves before hit(l+1) <= 1e2", Claim("moves before hit", "<=", fmpq(100), of="l+1")),
        (
            "moves before hit(3) at 2 <= 7",
            Claim("moves before hit", "<=", fmpq(7), of="3", span="at", at="2"),
        ),
    ],
)
def test_claims_are_read(text: str, claim: Claim) -> None:
    assert parse_claim(text) == claim
    assert parse_claim(str(claim)) == claim


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("visit <= 5", "did you mean 'visits'"),
        ("move before hit(3) <= 5", r"did you mean 'moves before hit\(P\)'"),
        ("visits =< 5", "did you mean '<='"),
        ("visits != 5", "'!=' is no relation"),
        ("visits 5", "has no relation"),
        ("1 < visits < 5", "more than one relation"),
        ("visits <= five", "not a rational number"),
        ("visits <= 1/0", "zero denominator"),
        ("visits per rows <= 5", "did you mean 'row'"),
        ("uses <= 5", r"write uses\(OBJ\)"),
        ("entry() <= 5", r"write entry\(OBJ\)"),
        ("visits(J) <= 5", "write visits"),
        ("visits at x <= 5", "no position"),
        ("visits at 1/0 <= 5", "no position"),
        ("", "has no relation"),
        ("v" * 600 + " <= 5", "at most 500 characters"),
    ],
)
def test_what_is_not_understood_is_told(text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        parse_claim(text)


def test_positions_follow_the_instance() -> None:
    jump = Landscape.jump(14, 3)
    texts = ("0", "l+1", "n - l - 1", "2*l", "n/2", "(n+1)//2")
    assert [position_of(text, jump) for text in texts] == [0, 4, 10, 6, 7, 7]
    for text in ("n+1", "-1", "n/4", "n < 3"):
        with pytest.raises(ParameterError, match="position"):
            position_of(text, jump)
    with pytest.raises(ParameterError, match="has no l"):
        position_of("l", Landscape.onemax(5))


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("uses(X) <= 1", "no objective 'X'"),
        ("entry(j) <= 1", "did you mean 'J'"),
        ("visits at 10 <= 1", r"choose one of 0\.\.9"),
        ("moves before hit(n+2) <= 1", r"choose one of 0\.\.9"),
    ],
)
def test_an_instance_without_the_place_is_refused(claim: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        check_claims(claim, Landscape.jump(9, 2))


# -- claims against all runs, listed one by one ------------------------------------------------

QUANTITIES = (
    ("visits", range(5)),
    ("visits per row", range(6)),
    ("visits at {p}", range(4)),
    ("uses(A) per position", range(4)),
    ("uses(F)", range(5)),
    ("uses(A) at {p}", range(3)),
    ("uses(F) per row", range(4)),
    ("positive entries", range(4)),
    ("positive entries per row", range(3)),
    ("positive entries at {p}", range(2)),
    ("entry(A)", range(-2, 4)),
    ("entry(F) at {p}", range(-2, 3)),
    ("moves before hit({p})", range(6)),
    ("moves before hit({p}) per position", range(4)),
)


def _decided(claim: str, law: StepLaw, limit: int = 100_000) -> Finding:
    with no_progress("") as bar:
        return check_instance(parse_claim(claim), law, limit=limit, bar=bar)


def _random_case(generator: random.Random) -> tuple[Model, str]:
    n = generator.choice([2, 2, 3])
    target = [generator.randint(0, 2) for _ in range(n + 1)]
    target[generator.randint(1, n)] = 3
    model = Model(
        {"F": target, "A": [generator.randint(0, 3) for _ in range(n + 1)]},
        "F",
        generator.choice([Fraction(1, 2), Fraction(4, 5)]),
        generator.choice([Fraction(1, 10), Fraction(1, 2)]),
        generator.choice([Fraction(1, 2), Fraction(1), Fraction(3)]),
    )
    form, numbers = generator.choice(QUANTITIES)
    relation = generator.choice(["<=", "<=", "<", "=", ">=", ">"])
    number = Fraction(2 * generator.choice(list(numbers)) + generator.choice([0, 0, 1]), 2)
    return model, f"{form.format(p=generator.randint(0, n))} {relation} {number}"


def _compare(seed: int, cases: int, longest: int) -> dict[str, int]:
    generator = random.Random(seed)
    outcomes = {"holds": 0, "fails": 0, "undecided": 0}
    for _ in range(cases):
        model, claim = _random_case(generator)
        found = _decided(claim, _law_of(model), 2000)
        outcomes[found.outcome] += 1
        first = next(
            (
                len(steps)
                for steps, tables in runs(model, longest)
                if violates(model, claim, steps, tables)
            ),
            None,
        )
        about = f"{claim} on {model}"
        if found.outcome == "fails":
            length = len(found.choices)
            if found.shortest:
                assert first == (length if length <= longest else None), about
            else:  # some position is undecided: a run through it may be shorter
                assert (first or 0) <= length, about
        else:
            assert first is None, about
    return outcomes


def _law_of(model: Model) -> StepLaw:
    parameters = Parameters(str(model.alpha), str(model.gamma), str(model.r))
    landscape = Landscape.from_arrays(model.objectives, model.target)
    return StepLaw.of(landscape, Algorithm.lrsao(parameters))


def test_claims_agree_with_all_short_runs() -> None:
    outcomes = _compare(seed=14, cases=60, longest=5)
    assert outcomes["holds"] > 10
    assert outcomes["fails"] > 20
    assert outcomes["undecided"] < 15


@pytest.mark.slow
def test_many_claims_agree_with_all_short_runs() -> None:
    outcomes = _compare(seed=2025, cases=700, longest=6)
    assert min(outcomes["holds"], outcomes["fails"]) > 150


# -- claims about Jump -------------------------------------------------------------------------


def _held_against_the_joint_chain(n: int, position: int, most: int) -> None:
    """Check Lemma 10's sharp number, and the lengths of runs that exceed smaller ones."""
    law = StepLaw.of(Landscape.jump(n, 2))
    graph = explore(law)
    assert _decided(f"visits at {position} <= {most}", law).outcome == "holds"
    for number in range(most):
        found = _decided(f"visits at {position} <= {number}", law)
        assert (found.outcome, found.shortest) == ("fails", True)
        assert found.seen == f"visits at {position}: {number + 1}"

        def look(count: int, edge: Edge, k: int = number) -> tuple[int, bool]:
            count += edge.next_position == position != edge.position
            return count, count > k

        path = graph.shortest(look, 0)
        assert path is not None
        assert len(found.choices) == len(path)


def test_four_visits_below_the_top_are_sharp() -> None:
    """The joint chain is another way to all runs."""
    _held_against_the_joint_chain(9, 5, 4)


@pytest.mark.slow
def test_five_visits_are_sharp() -> None:
    _held_against_the_joint_chain(10, 5, 5)


def test_the_cost_is_that_of_the_rows_a_claim_depends_on() -> None:
    """The joint chain at n = 20, l = 2 would not fit into any memory."""
    law = StepLaw.of(Landscape.jump(20, 2))
    assert _decided("visits at l+3 <= 5", law).outcome == "holds"
    found = _decided("visits at l+3 <= 4", law)
    assert (found.outcome, len(found.choices), found.shortest) == ("fails", 13, True)


def test_counts_that_grow_for_ever_fail_at_any_bound() -> None:
    law = StepLaw.of(Landscape.jump(9, 2))
    found = _decided("uses(R) <= 500", law, limit=300)
    assert (found.outcome, found.shortest, found.seen) == ("fails", False, "uses(R): 501")
    found = _decided("uses(R) <= 1000000", law, limit=300)
    assert found.outcome == "undecided"
    assert "grows with every round" in found.reason


def test_lower_bounds_are_judged_when_the_run_ends() -> None:
    law = StepLaw.of(Landscape.jump(9, 2))
    assert _decided("visits >= 1", law).outcome == "holds"
    found = _decided("visits at 4 >= 2", law)
    assert (found.outcome, len(found.choices)) == ("fails", 9)
    assert found.seen == "visits at 4: 1"
    assert _decided("moves before hit(n) >= 9", law).outcome == "holds"
    assert _decided("moves before hit(0) = 0", law).outcome == "holds"
    assert _decided("moves before hit(0) > 0", law).choices == ()


def test_the_shortest_run_is_that_of_any_row() -> None:
    """State 0 comes first, but a run through state 3 is shorter."""
    found = _decided("uses(J) per row <= 2", StepLaw.of(Landscape.jump(9, 2)))
    assert (found.seen, len(found.choices)) == ("uses(J) in state 3: 3", 6)


def test_bounds_on_values_are_exact() -> None:
    """Lemma 2's bound 20/3 is approached by R and never met."""
    law = StepLaw.of(Landscape.jump(9, 2))
    assert _decided("entry(R) < 20/3", law).outcome == "holds"
    found = _decided("entry(L) at 0 <= 1", law)
    assert (found.outcome, len(found.choices), found.seen) == ("fails", 2, "entry(L) at 0: 128/125")
    found = _decided("entry(L) at 0 < 628/625", law)
    assert (found.outcome, len(found.choices)) == ("fails", 2)
    assert _decided("entry(J) at n-l-1 = 0", law).outcome == "holds"
    found = _decided("entry(L) > 0", law)
    assert (found.outcome, found.choices) == ("fails", ())


@pytest.mark.parametrize(
    ("claim", "length"),
    [
        ("entry(J) at 3 < 3616/3125", 6),
        ("entry(J) at 3 <= 6/5", 8),
        ("entry(J) at 3 < 2480964/1953125", 8),
        ("entry(L) at 4 < 233232/78125", 7),
        ("entry(L) at 4 > -14/5", 5),
        ("entry(J) at 3 >= 0", None),
    ],
)
def test_bounds_on_values_agree_with_all_tables(claim: str, length: int | None) -> None:
    """Few rows with bounds on the others' values, against all rows with their exact values."""
    law = StepLaw.of(Landscape.jump(9, 2))
    found = _decided(claim, law)
    below = 7 if length is None else length + 1
    with no_progress("") as bar:
        targets = targets_of(parse_claim(claim), law)
        exact = search_values(law, targets, limit=20_000, below=below, bar=bar)
    if length is None:
        assert found.outcome == "holds"
        assert isinstance(exact, Holds)
    else:
        assert isinstance(exact, Fails)
        assert len(found.choices) == len(exact.choices) == length


def test_a_limit_leaves_a_claim_undecided() -> None:
    law = StepLaw.of(Landscape.jump(9, 2), Algorithm.earl())
    found = _decided("positive entries per row <= 2", law, limit=200)
    assert found.outcome == "undecided"
    assert "more than 200 states" in found.reason


def test_other_algorithms_and_landscapes() -> None:
    rls = StepLaw.of(Landscape.onemax(9), Algorithm.rls())
    assert _decided("visits = 1", rls).outcome == "holds"
    assert _decided("moves before hit(n) = 9", rls).outcome == "holds"
    assert _decided("uses(O) <= 20", rls).outcome == "fails"
    own = Landscape.from_arrays({"F": [0, 0, 1], "f": [0, 1, 0]}, "F")
    [found] = check_claims("uses(f) at 1 <= 7", own, Algorithm.lrsao(Parameters("1/2", "1/10", 2)))
    assert found.outcome == "fails"
    assert found.counterexample is not None
    assert len(replay(found.counterexample)[1]) == 9


# -- the door ------------------------------------------------------------------------------------


def test_results_say_what_they_speak_about() -> None:
    shapes = [Landscape.jump(n, 2) for n in (9, 10, 11)]
    right, wrong = check_claims(["visits at 5 <= 5", "visits at 5 <= 4"], shapes, proof=False)
    assert (right.outcome, right.verdict) == ("holds", Verdict.VERIFIED)
    assert right.scope == "(n = 9, l = 2), (n = 10, l = 2), (n = 11, l = 2)"
    assert (wrong.outcome, wrong.verdict) == ("fails", Verdict.REFUTED)
    assert [f.outcome for f in wrong.findings] == ["holds", "fails"]
    assert wrong.counterexample is not None
    assert wrong.counterexample.values["n"] == "10"
    assert "a shortest run, 13 steps" in wrong.describe()
    assert wrong.to_dict()["counterexample"]["claim"] == "visits at 5 <= 4"


def test_hyper_parameters_outside_h_must_be_allowed() -> None:
    algorithm = Algorithm.lrsao(Parameters.paper(9, None, None, 1))
    with pytest.raises(ParameterError, match="outside hypothesis"):
        check_claims("visits <= 5", Landscape.jump(9, 2), algorithm)
    [found] = check_claims("visits at 5 <= 5", Landscape.jump(9, 2), algorithm, outside_h=True)
    assert found.outcome == "holds"
    assert found.proof is None or not found.proved


@pytest.mark.exhaustive
def test_invariants_are_proved_for_all_sizes() -> None:
    """Lemmas 4 and 8 as own claims; a claim by one too sharp, and one that is no invariant."""
    claims = [
        "positive entries per row <= 1",
        "entry(J) at l + 2 >= 0",
        "positive entries per row < 1",
        "entry(R) <= 100",
    ]
    found = check_claims(claims, [JUMP.at(n, 2) for n in (9, 10)])
    verdicts = [r.verdict for r in found]
    assert verdicts == [Verdict.PROVED, Verdict.PROVED, Verdict.REFUTED, Verdict.VERIFIED]
    assert found[0].scope.startswith("all valid n, l; all of (H)")
    assert found[3].proof is not None
    assert found[3].proof.verdict is Verdict.UNKNOWN
