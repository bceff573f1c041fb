"""A small page with every figure and every statement, and a browser to open it in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import chromium

from markov_lrsao.figures import FIGURES, Settings
from markov_lrsao.progress import no_progress
from markov_lrsao.release import SCHEMA
from markov_lrsao.report import Content, beyond, findings, render
from markov_lrsao.report.values import exact_values
from proofs_check import verify
from proofs_check.verification.registry import all_statements
from proofs_check.verification.report import json_report

SMALL = Settings(
    runs=8,
    small=(20, 20, 1),
    large=(20, 60, 40),
    curve_n=(16, 40, 3),
    earl_n=(20, 20, 1),
    earl_runs=8,
    earl_budget=2,
    float_n=(50, 50, 1),
    float_runs=8,
    law_n=13,
    law_runs=10,
    quantile_n=(16, 16, 1),
    profile_n=20,
    map_at=(9, 2),
    map_alpha=("0.5", "0.97"),
    map_grid=(3, 2),
)
PLATEAUS = ((13, "3+3", "shared"), (13, "2+2+2", "own"))
CHECKED = [
    "Smallest n",
    "End points",
    "Range of l",
    "Lemma 3, one position",
    "Failing excursions, no way out",
]
"""Statements that are checked for real; for the others the page gets a verdict to show."""
ERRATUM = {
    "line": "Lemma 12:2",
    "location": "source lines 1033",
    "printed": "n*(H(n - k) - H(n - b)) = summation(n/(n - m), m, k, b)",
    "corrected": "n*(H(n - k) - H(n - (b + 1))) = summation(n/(n - m), m, k, b)",
    "reason": "fails at k = 2: [0.072131774774831 +/- 8.33e-16] against -EulerGamma",
    "inherited": ["n*summation(1/m, m, n - b, n - k) (should be n*(H(n - b) - EulerGamma))"],
}

LONG_LINE = (
    "= 1 + " + " + ".join(f"{k}/3*(1 + {k}/(2*n - {k}))" for k in range(1, 9)) + ": proved (z3)"
)
"""Wider than a small screen."""

MAP: dict[str, Any] = {
    "name": "a-map",
    "title": "A map <of> & regimes",
    "caption": "Cells & borders.",
    "setting": "n = 10..40",
    "command": "markov-lrsao figures --only a-map",
    "kind": "map",
    "settings": {},
    "version": "0",
    "x": {"label": "n", "scale": "log"},
    "y": {"label": "l", "scale": "linear"},
    "series": [],
    "grid": {
        "x": [10, 20, 40],
        "y": [2, 3],
        "values": [[1.5, 2.5, None], [3.5, 4.5, 5.5]],
        "exact": [[True, True, True], [True, False, True]],
        "borders": [{"name": "edge", "condition": "l <= n/8", "x": [10, 40], "y": [2, 3]}],
    },
    "notes": {"</script><script>document.title='broken'": "<img src=x onerror=alert(1)>"},
}
BARS: dict[str, Any] = {
    "name": "bars",
    "title": "Bars and bands",
    "caption": "",
    "setting": "",
    "command": "true",
    "kind": "chart",
    "settings": {},
    "version": "0",
    "x": {"label": "x", "scale": "linear"},
    "y": {"label": "y", "scale": "linear"},
    "notes": {},
    "series": [
        {"name": "bars", "kind": "bars", "x": [1, 2, 3], "y": [4, None, -6], "colour": 1},
        {"name": "band", "kind": "band", "x": [1, 2, 3], "low": [0, 1, 2], "high": [2, 3, 4]},
        {
            "name": "one",
            "kind": "points",
            "x": [2],
            "y": [3],
            "low": [2],
            "high": [4],
            "exact": ["3/1"],
            "marker": "s",
            "colour": 9,
        },
        {"name": "nothing", "kind": "line", "x": [], "y": []},
    ],
}


@pytest.fixture(scope="session")
def verification() -> dict[str, Any]:
    """Verdicts on all statements: some checked, the rest made up for the page."""
    report = json_report(verify(CHECKED), "quick")
    real = {s["id"]: s for s in report["statements"]}
    made_up: dict[str, dict[str, Any]] = {
        s.id: {
            "id": s.id,
            "title": s.title,
            "location": f"source lines {s.where}",
            "claim": s.claim,
            "group": s.group,
            "scope": s.scope.to_dict(),
            "covered": s.scope.to_dict(),
            "verdict": "PROVED",
            "errata": [],
            "depends": list(s.depends),
            "refuted_support": [],
            "code": list(s.code),
            "seconds": 0.0,
            "evidence": [
                {
                    "kind": "smt",
                    "verdict": "PROVED",
                    "part": "",
                    "summary": "made up",
                    "scope": s.scope.to_dict(),
                    "details": ["a", "b"],
                    "second_solver": "",
                    "seconds": 0.0,
                    "counterexample": None,
                }
            ],
        }
        for s in all_statements().values()
    }
    made_up["Lemma 12"]["errata"] = [ERRATUM]
    line = {"kind": "lines", "part": "display", "details": [LONG_LINE]}
    made_up["Lemma 9"]["evidence"].append(made_up["Lemma 9"]["evidence"][0] | line)
    statements = [real.get(name, record) for name, record in made_up.items()]
    return {"schema": SCHEMA, "level": "quick", "counts": {}, "statements": statements}


@pytest.fixture(scope="session")
def content(verification: dict[str, Any]) -> Content:
    values = exact_values(12, (100, 1000), workers=2)
    figures = [json.loads(f.compute(SMALL, no_progress).to_json()) for f in FIGURES.values()]
    return Content(
        values=values,
        verification=verification,
        numbers={
            "constants": findings.constants(values),
            "concentration": findings.concentration(20, 2),
            "float64": findings.float64_effect((50,), 8),
            "relaxed": beyond.relaxed((9,), (32, 64), (9,)),
            "plateaus": beyond.more_plateaus(PLATEAUS, runs=20, max_states=200),
            "learning": beyond.price_of_learning(((9, 2),)),
            "cutoffs": beyond.best_cutoffs((9,), runs=200),
        },
        figures=[*figures, MAP, BARS],
        version="1.2.3",
        command="markov-lrsao report --quick",
    )


@pytest.fixture(scope="session")
def page_text(content: Content) -> str:
    return render(content)


@pytest.fixture(scope="session")
def page_file(page_text: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report with a space.html"
    path.write_text(page_text, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A headless Chromium that downloads nothing and calls nobody."""
    with chromium(tmp_path_factory.mktemp("profile")) as session:
        yield session


ORDER = list(FIGURES)


@pytest.fixture(autouse=True)
def figures_in_their_order() -> Iterator[None]:
    """A test that takes figures away puts them back at the end: others see the usual order."""
    yield
    kept = {name: FIGURES[name] for name in ORDER}
    FIGURES.clear()
    FIGURES.update(kept)
