"""Solvers and induction: facts that are false, or need more than they are given, are refused."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq

import proofs_check
from markov_lrsao import Algorithm, Parameters, StepLaw
from markov_lrsao.errors import ParameterError, SolverError, VerificationError
from markov_lrsao.model.landscape import JUMP, JUMP_OPEN, ONEMAX, Affine, LandscapeFamily, N, P
from proofs_check import Erratum, Evidence, EvidenceKind, Setting, StatementResult, Verdict
from proofs_check.claims.counterexample import Counterexample
from proofs_check.claims.expressions import to_sympy
from proofs_check.claims.scope import EVERYWHERE, NOWHERE, PAPER
from proofs_check.claims.verdict import combine
from proofs_check.logic.cases import cases, region_solver
from proofs_check.logic.facts import facts
from proofs_check.logic.induction import Fact, Induction, StepFact
from proofs_check.logic.journal import Query
from proofs_check.logic.smt import Answer, Prover, _ask_cvc5, from_sympy, summary_of
from proofs_check.verification.registry import workspace_of

QUICK = Setting(second_solver=False)


# -- the solver's door ------------------------------------------------------------


@pytest.mark.parametrize(
    ("assumptions", "goal", "status"),
    [
        (["x > 0"], "x >= 0", "proved"),
        (["x >= 0"], "x > 0", "refuted"),
        (["x > 1 or x < -1"], "x*x > 1", "proved"),
        (["x > 1 or y > 1"], "x > 1", "refuted"),
        (["x > 0 -> y > 0", "x > 1"], "y > 0", "proved"),
        (["x > 0 -> y > 0"], "y > 0", "refuted"),
        (["x > 0 and y > 0"], "x*y > 0", "proved"),
        (["x > 0"], "x > 0 and y > 0", "refuted"),
        (["x != 0"], "x*x > 0", "proved"),
        (["x != 1"], "x*x > 0", "refuted"),
        (["1 < x < 2"], "x < 2", "proved"),
        (["1 < x < 2"], "1 < x < 3/2", "refuted"),
        (["x = 3"], "x*x = 9", "proved"),
        (["x*x = 9"], "x = 3", "refuted"),
        (["x = 1", "x = 2"], "0 > 1", "proved"),
        ([], "x < x + 1", "proved"),
        (["x > 2"], "1/x < 1/2", "proved"),
        (["x > 2"], "x**2 - x > 2", "proved"),
    ],
)
def test_queries(assumptions: list[str], goal: str, status: str) -> None:
    answer = Prover().prove(assumptions, goal)
    assert answer.status == status
    assert bool(answer.model) == (status == "refuted" and bool(assumptions))


def test_models_satisfy_what_was_asked() -> None:
    answer = Prover().prove(["3*x = 1", "y*y = 2", "y > 0"], "x > y")
    assert answer.model["x"] == "1/3"
    assert answer.model["y"].startswith("~1.41421356")


def test_satisfiable_has_three_answers() -> None:
    prover = Prover()
    assert prover.satisfiable(["x > 0"]) is True
    assert prover.satisfiable(["x > 0", "x < 0"]) is False
    names = "abcdefg"
    hard = [
        f"{x}*{x}*{x} + {y}*{y}*{z} - {x}*{z} = {i}"
        for i, (x, y, z) in enumerate(
            zip(names, names[1:] + names[:1], names[2:] + names[:2], strict=True), 1
        )
    ]
    assert Prover(seconds=0.05).satisfiable([*hard, "a*b*c >= d*e*f*g"]) is None


def test_the_second_solver_is_asked_where_it_should_be(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def note(text: str, seconds: float) -> str:
        asked.append(text)
        return "agrees"

    monkeypatch.setattr("proofs_check.logic.smt._ask_cvc5", note)
    for on_search, count in ((False, 0), (True, 1)):
        prover = Prover(second=True, second_on_search=on_search)
        prover.second = True
        asked.clear()
        assert prover.satisfiable(["x > 0", "x < 0"]) is False
        assert len(asked) == count
        assert prover.second is True
        assert prover.prove(["x > 1"], "x > 0").second == "agrees"
        assert prover.prove(["x > 0"], "x > 1").second == "not asked"
        assert len(asked) == count + 1
    assert Prover(second=False).prove(["x > 1"], "x > 0").second == "not asked"


def test_a_contradicting_second_solver_is_an_error() -> None:
    head = "(declare-const x Real)"
    empty, open_ = f"{head}(assert (and (> x 0.0) (< x 0.0)))", f"{head}(assert (> x 0.0))"
    assert _ask_cvc5(Query(status="unsat", text=empty), 5) == "agrees"
    assert _ask_cvc5(Query(status="sat", text=open_), 5) == "agrees"
    for query in (Query(status="unsat", text=open_), Query(status="sat", text=empty)):
        with pytest.raises(SolverError, match="disagree"):
            _ask_cvc5(query, 5)
    assert _ask_cvc5(Query(status="unknown", text=open_), 5) == "unknown"


def test_confirmations_are_counted() -> None:
    answers = [
        Answer("proved", second="agrees"),
        Answer("proved", second="unknown"),
        Answer("proved"),
        Answer("proved", second="agrees"),
    ]
    assert summary_of(answers) == "cvc5 confirms 2 of 3 queries"
    assert summary_of([Answer("proved")]) == ""


@pytest.mark.parametrize(
    "text",
    ["n", "3/7", "n + l - 2", "2*n*l", "n**3 - l", "1/n", "n**-2 + l/n", "(n - l)/(n + l)**2"],
)
def test_rational_functions_become_the_same_terms(text: str) -> None:
    import z3

    prover = Prover()
    names = {"n": prover.name("n"), "l": prover.name("l")}
    term = from_sympy(to_sympy(text), names)
    at = {"n": 7, "l": 3}
    value = z3.simplify(z3.substitute(term, *((names[k], z3.RealVal(v)) for k, v in at.items())))
    exact = to_sympy(text).subs({s: at[s.name] for s in to_sympy(text).free_symbols})
    assert fmpq(value.numerator_as_long(), value.denominator_as_long()) == fmpq(
        int(exact.p), int(exact.q)
    )


# -- regions and cases, by brute force ------------------------------------------------------------

SMALL = {JUMP: [(9, 2), (11, 3), (12, 2)], JUMP_OPEN: [(11, 3)], ONEMAX: [(4, 0)]}


def satisfied(region: tuple[Affine, ...], n: int, ell: int, p: int) -> bool:
    return all(form(n=n, ell=ell, p=p) >= 0 for form in region)


@pytest.mark.parametrize("family", list(SMALL), ids=lambda f: f.name)
def test_every_step_is_an_instance_of_its_cases(family: LandscapeFamily) -> None:
    """With the landscape's plain arrays as reference: outcome, gain, states and move."""
    for n, ell in SMALL[family]:
        shape = family.at(n, ell)
        target = shape.objectives[shape.target]
        for p in range(n):
            for action, values in shape.objectives.items():
                for direction in (0, 1):
                    q = p + 2 * direction - 1
                    if not 0 <= q <= n:
                        continue
                    found = [
                        c
                        for c in cases(family)
                        if (c.action, c.direction) == (action, direction)
                        and satisfied(c.region, n, ell, p)
                    ]
                    assert found, (n, ell, p, action, direction)
                    gain = int(values[q]) - int(values[p])
                    after = q if gain >= 0 else p
                    for c in found:
                        at = {"n": n, "ell": ell, "p": p}
                        assert c.outcome == (gain > 0) - (gain < 0)
                        assert (c.gain(**at), c.moved) == (gain, after - p)
                        assert c.state(**at) == target[p]
                        assert c.next_state(**at) == target[after]
                        assert c.same_row == (target[p] == target[after])


def test_no_case_begins_at_the_optimum_or_leaves_the_cube() -> None:
    for c in cases(JUMP):
        for n, ell in SMALL[JUMP]:
            for p in range(-2, n + 3):
                if satisfied((*c.region, *region_solver(JUMP).base), n, ell, p):
                    assert 0 <= p < n
                    assert 0 <= p + 2 * c.direction - 1 <= n


def test_feasibility_and_pruning_against_brute_force() -> None:
    regions = region_solver(JUMP)
    ell = Affine(ell=1)
    forms = [
        (P - ell,),
        (ell - P, P - ell - 1),
        (N - P - 5, P - ell - 1),
        (P - N,),
        (P - N - 1,),
        (2 * ell + 4 - N,),
        (2 * ell + 5 - N, P - 3, 3 - P),
    ]
    points = [
        (n, l_, p) for n in range(9, 16) for l_ in range(2, (n - 5) // 2 + 1) for p in range(n + 1)
    ]
    for region in forms:
        some = [x for x in points if satisfied(region, *x)]
        assert regions.feasible(region) == bool(some)
        weaker = (*region, P + 7)
        assert [x for x in points if satisfied(regions.pruned(weaker), *x)] == some
        assert P + 7 not in regions.pruned(weaker)


def test_an_undecided_region_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither empty nor full: an empty region drops cases, and proofs with them."""
    import z3

    monkeypatch.setattr("proofs_check.logic.cases.check", lambda solver: z3.unknown)
    with pytest.raises(SolverError, match="does not decide"):
        region_solver(JUMP).feasible((P - 3,))
    monkeypatch.undo()
    assert region_solver(JUMP).feasible((P - 3,))  # nothing of the failed question is left


# -- the induction ------------------------------------------------------------


@pytest.fixture(scope="module")
def induction() -> Induction:
    return workspace_of(QUICK).induction


TRUE: list[Fact | StepFact] = [
    Fact("not beyond the optimum", "p <= n"),
    Fact("left plateau", "p <= l", (1,)),
    StepFact("J loses on a plateau", "zJ1 <= zJ", when="zJ <= 0", phases=(1,), actions=("J",)),
    StepFact("steps", "p1 <= p + 1"),
    StepFact("steps back", "p1 >= p - 1", final=True),
]
FALSE: list[tuple[Fact | StepFact, str]] = [
    (Fact("false at the start", "zL > 0", (1,)), "at the start"),
    (Fact("false at the start, too", "p >= 1"), "at the start"),
    (Fact("not kept", "L <= 0"), "phase"),
    (Fact("not kept in phase 3", "zR >= 0"), "phase"),
    (Fact("too sharp by one", "p <= l - 1", (1,)), "phase 1"),
    (Fact("too sharp in phase 2", "p <= n - l - 2", (2,)), "phase"),
    (Fact("no mistakes at all", "zJ = 0", (1,)), "phase 1"),
    (StepFact("always up", "p1 >= p"), "phase"),
    (StepFact("always moving", "p1 != p"), "phase"),
    (StepFact("J keeps", "zJ1 = zJ", phases=(1,), actions=("J",)), "phase 1, J"),
    (StepFact("flipped", "zJ1 >= zJ", when="zJ <= 0", phases=(1,), actions=("J",)), "phase 1, J"),
    (StepFact("never the optimum", "p1 <= n - 1", final=True), "phase 3"),
]


@pytest.mark.parametrize("fact", TRUE, ids=lambda f: f.name)
def test_true_facts_are_derived(fact: Fact | StepFact, induction: Induction) -> None:
    evidence = induction.prove([fact])
    assert evidence.verdict is Verdict.PROVED, evidence.details


@pytest.mark.parametrize(("fact", "where"), FALSE, ids=[f.name for f, _ in FALSE])
def test_false_facts_are_refused(fact: Fact | StepFact, where: str, induction: Induction) -> None:
    evidence = induction.prove([fact])
    assert evidence.verdict is Verdict.UNKNOWN
    assert any(where in line for line in evidence.details[1:]), evidence.details
    assert "not derived" in evidence.summary


def test_facts_of_other_phases_are_not_demanded(induction: Induction) -> None:
    """The same formula, asked for in the phases in which it holds, and in one more."""
    text = "p >= n - l - 1"
    assert induction.prove([Fact("phase 3", text, (3,))]).verdict is Verdict.PROVED
    assert induction.prove([Fact("phases 2, 3", text, (2, 3))]).verdict is Verdict.UNKNOWN


def test_a_fact_without_its_companions_is_refused() -> None:
    """Lemma 6's last formula rests on the others; alone it is not inductive."""
    every = facts(workspace_of(QUICK).terms)
    [few] = [f for f in every if f.name == "few mistakes"]
    alone = Induction(QUICK, [few])
    assert alone.prove([few]).verdict is Verdict.UNKNOWN


@pytest.mark.exhaustive
def test_the_hypothesis_is_used(induction: Induction) -> None:
    """Lemma 12's bound on row n-l-1 needs the upper end of (H)."""
    every = facts(workspace_of(QUICK).terms)
    [bound] = [f for f in every if f.name == "R at n - l - 1"]
    assert induction.prove([bound]).verdict is Verdict.PROVED
    weaker = tuple(t for t in QUICK.hypothesis if t != "r < 1/(alpha*gamma)")
    changed = Induction(QUICK.mutate(hypothesis=weaker), every)
    assert changed.prove([bound]).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("text", "generic"),
    [
        ("L <= 0", True),
        ("L <= 0 or J <= 0", True),
        ("s = l + 1 -> L = 0", True),
        ("tR > tL", False),
        ("s >= l + 1 and s <= n - l - 1 -> J >= 0", True),
        ("zL > 0", False),
        ("p <= l", False),
        ("zL != 0", False),
        ("R != p", True),
        ("zJ = 0 or zJ = -alpha*r", False),
    ],
)
def test_facts_about_every_row_are_told_from_those_about_one(text: str, generic: bool) -> None:
    """A fact about every row is assumed once per row that a step touches."""
    assert Fact("", text).generic is generic


def test_the_steps_are_not_vacuous(induction: Induction) -> None:
    """As docs/statements.md has it."""
    text = (Path(proofs_check.__file__).parents[1] / "docs" / "statements.md").read_text("utf-8")
    assert f"{induction.satisfiable_steps()} of its {len(induction.steps)} step cases" in text


def test_an_unsatisfiable_hypothesis_proves_nothing() -> None:
    contradiction = Induction(QUICK.mutate(hypothesis=(*QUICK.hypothesis, "r < 0")), [])
    with pytest.raises(SolverError, match="satisfy the hypothesis"):
        contradiction.prove([Fact("anything", "p < 0")])


def test_a_fact_about_all_rows_holds_in_all_phases() -> None:
    """A step shows it for its own row only, so a new phase may not bring a new one."""
    with pytest.raises(ParameterError, match="must hold in all phases"):
        Fact("late", "L <= 0", (3,))


@pytest.mark.exhaustive  # derives everything anew
def test_a_false_fact_takes_those_with_it_that_lean_on_it() -> None:
    """With the bound of Lemma 2 at -1 nothing that needs an upper bound is proved."""
    changed = QUICK.mutate(terms={("Lemma 2", "bound"): "-1"})
    induction = workspace_of(changed).induction
    names = {fact.name for fact in induction.established}
    assert "upper bound" not in names
    assert "L or J" in names  # Lemma 4 needs no other fact
    wanted = next(f for f in induction.facts if f.name == "upper bound")
    assert induction.prove([wanted]).verdict is Verdict.UNKNOWN
    assert induction.satisfiable_steps() > 0


def test_dependencies_of_facts(induction: Induction) -> None:
    """Lemma 4 leans on itself, not on the bound of Lemma 2; and the facts it names suffice."""
    by_name = {fact.name: fact for fact in induction.facts}
    used = induction.leans_on(by_name["L or J"])
    assert by_name["L or J"] in used
    assert by_name["upper bound"] not in used
    core = induction.prover.core(["a > 0"], ["b > 0", "c > 0"], "a*c > 0")
    assert core == {1}
    with pytest.raises(SolverError, match="not derived"):
        induction.leans_on(Fact("false", "zJ = 0"))


def test_the_second_solver_hears_every_twelfth_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofs_check.logic.smt._ask_cvc5", lambda text, seconds: "agrees")
    evidence = Induction(Setting(), []).prove([StepFact("steps", "p1 <= p + 1")])
    [cases_] = re.findall(r"all (\d+) cases", evidence.summary)
    heard = -(-int(cases_) // 12)
    assert evidence.second == f"cvc5 confirms {heard} of {heard} queries"


def test_updates_in_the_induction_are_those_of_real_runs(induction: Induction) -> None:
    """The symbolic new value at numbers, against a run's exact arithmetic."""
    import z3

    from proofs_check.runs.run import Run

    n, ell, parameters = 11, 3, Parameters.paper(11)
    law = StepLaw.of(JUMP.at(n, ell), Algorithm.lrsao(parameters))
    run, seen = Run(law), 0
    numbers = {
        "alpha": parameters.alpha,
        "gamma": parameters.gamma,
        "r": parameters.r,
        "n": fmpq(n),
        "l": fmpq(ell),
    }
    for k in range(200):
        if run.finished:
            break
        p, action = run.position, run.greedy()[k % len(run.greedy())]
        up = 1 if p == 0 or k % 3 else 0
        row = dict(zip(law.actions, run.row(p), strict=True))
        largest = {q: max(run.row(q)) for q in range(max(0, p - 1), p + 2)}
        record = run.step(action, up)
        for context in induction.steps:
            c = context.case
            if (
                (c.action, c.direction) != (action, up)
                or not satisfied(c.region, n, ell, p)
                or (record.phase != context.phase)
            ):
                continue
            assert context.following == min(record.next_phase, 3)  # the optimum ends it
            values = {**numbers, "p": fmpq(p), "M": largest[record.next_position]}
            values |= {str(context.entries[a]): x for a, x in row.items()}
            pairs = [(z3.Real(k), z3.RealVal(f"{v.p}/{v.q}")) for k, v in values.items()]
            new = z3.simplify(z3.substitute(context.new, *pairs))
            assert fmpq(new.numerator_as_long(), new.denominator_as_long()) == record.new
            seen += 1
    assert seen > 10


# -- verdicts ------------------------------------------------------------


def item(verdict: Verdict, part: str = "", kind: EvidenceKind = EvidenceKind.SMT) -> Evidence:
    witness = Counterexample(statement="", expected="", observed="")
    return Evidence(
        kind=kind,
        verdict=verdict,
        summary="",
        part=part,
        scope=EVERYWHERE,
        counterexample=witness if verdict is Verdict.REFUTED else None,
    )


def test_verdicts_are_ordered() -> None:
    assert [v.value for v in sorted(Verdict, key=lambda v: v.rank)] == [
        "PROVED",
        "VERIFIED",
        "SUPPORTED",
        "UNKNOWN",
        "REFUTED",
    ]


@pytest.mark.parametrize("reverse", [False, True])
def test_combinations(reverse: bool) -> None:
    """Best per part unless refuted or a proof is open, then the worst part; in any order."""

    def combined(*items: Evidence) -> str:
        return combine(items[::-1] if reverse else items).value

    verdicts = list(Verdict)
    for better, worse in pairwise(verdicts[:-1]):
        kept = Verdict.UNKNOWN if worse is Verdict.UNKNOWN and better.rank else better
        assert combined(item(better, "a"), item(worse, "a")) == kept
        weaker = item(worse, "a", EvidenceKind.EXHAUSTIVE)
        assert combined(item(better, "a"), weaker) == better
        assert combined(item(better, "a"), item(worse, "b")) == worse
    for other in verdicts[:-1]:
        assert combined(item(other, "a"), item(Verdict.REFUTED, "a")) == "REFUTED"
        assert combined(item(other, "a"), item(Verdict.REFUTED, "b")) == "REFUTED"
    lines: Any = item(Verdict.REFUTED, "display", EvidenceKind.LINES)
    assert combined(item(Verdict.PROVED), lines) == "PROVED"
    assert combined(lines) == "REFUTED"
    assert combined(item(Verdict.PROVED, "d", EvidenceKind.LINES), lines) == "REFUTED"
    assert combined() == "UNKNOWN"


def test_a_proof_for_less_than_is_claimed_is_none() -> None:
    proved = replace(item(Verdict.PROVED), scope=PAPER)
    assert combine([proved]) is Verdict.VERIFIED
    assert combine([proved], PAPER) is Verdict.PROVED
    assert combine([replace(proved, scope=NOWHERE)], PAPER) is Verdict.VERIFIED


def test_an_open_proof_is_not_outranked() -> None:
    """Instances do not make up for a proof that was tried and is open."""
    for kind in (EvidenceKind.SMT, EvidenceKind.AUTOMATA, EvidenceKind.SYMBOLIC):
        tried = item(Verdict.UNKNOWN, kind=kind)
        instances = item(Verdict.VERIFIED, kind=EvidenceKind.EXHAUSTIVE)
        assert combine([tried, instances]) is Verdict.UNKNOWN
        assert combine([tried, instances, item(Verdict.PROVED)]) is Verdict.PROVED


def test_random_runs_that_could_not_be_made_decide_nothing() -> None:
    idle = item(Verdict.UNKNOWN, kind=EvidenceKind.STATISTICAL)
    assert combine([item(Verdict.PROVED, "a"), idle]) is Verdict.PROVED
    assert combine([idle]) is Verdict.UNKNOWN


def test_a_refutation_needs_a_witness() -> None:
    with pytest.raises(VerificationError, match="without a witness"):
        Evidence(kind=EvidenceKind.EXHAUSTIVE, verdict=Verdict.REFUTED, summary="bad")


def test_results_for_machines() -> None:
    """The keys and values that readers of `verify --json` find."""
    evidence = Evidence(
        kind=EvidenceKind.SMT,
        verdict=Verdict.PROVED,
        summary="s",
        part="(1)",
        scope=PAPER,
        facts=("f",),
        details=("d",),
        second="cvc5",
        seconds=1.23456,
    )
    erratum = Erratum(
        line="a:1", location="here", printed="x", corrected="y", reason="why", inherited=("z",)
    )
    result = StatementResult(
        id="Lemma 0",
        title="t",
        location="l",
        claim="c",
        scope=PAPER,
        group="sharper",
        evidence=(evidence,),
        errata=(erratum,),
        depends=("Lemma 1",),
        code=("f",),
        refuted_support=("Lemma 1",),
        seconds=2.34567,
    )
    assert result.to_dict() == {
        "id": "Lemma 0",
        "title": "t",
        "location": "l",
        "claim": "c",
        "group": "sharper",
        "scope": {"sizes": "all valid n, l", "hyper_parameters": "the paper's"},
        "covered": {"sizes": "all valid n, l", "hyper_parameters": "the paper's"},
        "verdict": "PROVED",
        "evidence": [
            {
                "kind": "smt",
                "verdict": "PROVED",
                "part": "(1)",
                "summary": "s",
                "scope": {"sizes": "all valid n, l", "hyper_parameters": "the paper's"},
                "facts": ["f"],
                "details": ["d"],
                "second_solver": "cvc5",
                "seconds": 1.235,
                "counterexample": None,
            }
        ],
        "errata": [
            {
                "line": "a:1",
                "location": "here",
                "printed": "x",
                "corrected": "y",
                "reason": "why",
                "inherited": ["z"],
                "point": {},
            }
        ],
        "depends": ["Lemma 1"],
        "refuted_support": ["Lemma 1"],
        "solvers": {"queries": 0, "confirmed_by_second": 0},
        "code": ["f"],
        "seconds": 2.346,
    }
    assert (result.kinds, result.counterexamples) == ((EvidenceKind.SMT,), ())
