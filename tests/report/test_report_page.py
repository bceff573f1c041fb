"""The page as text: complete, self-contained, well-formed, and readable."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest
from jinja2 import UndefinedError

from markov_lrsao.cli import main
from markov_lrsao.report import Content, render
from markov_lrsao.report.markup import anchor, embedded, typeset
from markov_lrsao.report.page import template, templates
from markov_lrsao.report.remarks import SHARPER, SURVIVES
from markov_lrsao.report.verdicts import counterexample_file
from markov_lrsao.web import SCRIPTS, STYLES, asset
from proofs_check.verification.registry import all_statements

pytestmark = pytest.mark.slow  # half a minute until there is a page
VOID = {"meta", "link", "input", "br", "img", "hr"}


class Reader(HTMLParser):
    """Collects tags and checks that they are closed in order."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.stack: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.commands: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {k: v or "" for k, v in attrs}
        self.tags.append((tag, attributes))
        if "data-copy" in attributes:
            self.commands.append(attributes["data-copy"])
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack, f"</{tag}> closes nothing"
        assert self.stack.pop() == tag, f"</{tag}> at {self.getpos()}"


@pytest.fixture(scope="module")
def read(page_text: str) -> Reader:
    reader = Reader()
    reader.feed(page_text)
    reader.close()
    assert reader.stack == []
    return reader


def test_tags_are_balanced_and_ids_unique(read: Reader) -> None:
    ids = [a["id"] for _, a in read.tags if "id" in a]
    assert len(ids) == len(set(ids)) > 80


def test_links_lead_somewhere_on_the_page(read: Reader) -> None:
    ids = {a["id"] for _, a in read.tags if "id" in a}
    links = [a["href"] for tag, a in read.tags if tag == "a"]
    assert links
    assert all(link.startswith("#") and link[1:] in ids for link in links)


def test_nothing_comes_from_outside(read: Reader, page_text: str) -> None:
    loaded = [
        (tag, a.get("src") or a.get("href"))
        for tag, a in read.tags
        if tag in ("script", "link", "img", "iframe", "source") and {"src", "href"} & set(a)
    ]
    assert loaded == [("link", "data:,")]
    own = "".join(template(name) for name in ("style.css", "explorer.js", "page.js"))
    own += "".join(asset(name) for name in (*SCRIPTS[1:], *STYLES))
    assert not re.findall(r"@import|url\((?!#)|https?://(?!www\.w3\.org/2000/svg)", own)
    policy = next(
        a["content"] for _, a in read.tags if a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'")
    assert "http:" not in policy
    assert not re.search(r"fetch\(|XMLHttpRequest|WebSocket|sendBeacon|import\(", page_text)


def test_headings_go_down_one_level_at_a_time(read: Reader) -> None:
    levels = [int(tag[1]) for tag, _ in read.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


def test_controls_have_names(read: Reader) -> None:
    labelled = {a["for"] for tag, a in read.tags if tag == "label" and "for" in a}
    for tag, a in read.tags:
        if tag == "input" and a["type"] == "range":
            assert a["id"] in labelled
        if a.get("role") in ("region", "group"):
            assert a["aria-label"]


def test_every_statement_is_there_with_its_verdict(
    read: Reader, verification: dict[str, Any]
) -> None:
    shown = {
        a["data-id"]: a["data-verdict"]
        for tag, a in read.tags
        if tag == "details" and a.get("class") == "statement"
    }
    assert shown == {s["id"]: s["verdict"] for s in verification["statements"]}
    assert set(shown) == set(all_statements())
    assert len({anchor(name) for name in shown}) == len(shown)


def test_data_are_embedded_unchanged(page_text: str, content: Content) -> None:
    for name, data in (("values", content.values), ("figures", content.figures)):
        found = re.search(
            rf'<script type="application/json" id="data-{name}">(.*?)</script>',
            page_text,
            re.DOTALL,
        )
        assert found is not None
        assert json.loads(found[1]) == json.loads(json.dumps(data))


def test_commands_can_be_pasted(read: Reader, capsys: pytest.CaptureFixture[str]) -> None:
    """Every command of the page exists with the options that it is given."""
    import shlex

    import typer.main

    from markov_lrsao.cli.app import app

    group = typer.main.get_command(app)
    commands = {c for c in read.commands if c.startswith("markov-lrsao ")}
    assert len(commands) > 50
    for text in commands:
        _, name, *rest = shlex.split(text.split(" > ")[0])
        command = group.commands[name]  # type: ignore[attr-defined]
        context = group.make_context("markov-lrsao", [name, *rest])
        command.make_context(name, list(rest), parent=context)


def test_replaying_finds_the_file_that_verify_saves(tmp_path: Any) -> None:
    for statement, count in (("Smallest n", 1), ("Failing excursions, no way out", 2)):
        assert main(["verify", statement, "--save", str(tmp_path / statement)]) == 0
        saved = {path.name for path in (tmp_path / statement).iterdir()}
        assert saved == {counterexample_file(statement, k, count) for k in range(count)}


def test_a_run_on_the_page_is_the_replayed_one(verification: dict[str, Any]) -> None:
    statement = next(
        s for s in verification["statements"] if s["id"] == "Failing excursions, no way out"
    )
    example = next(e["counterexample"] for e in statement["evidence"] if e["counterexample"])
    nothing: dict[str, Any] = {"statements": [], "counts": {}, "groups": {}}
    macros: Any = templates().get_template("statements.html").make_module(nothing)
    text = macros.counterexample(statement["id"], example, 0, 2)
    assert "a run of 14 steps" in text
    rows = re.findall(r"<tr>(.*?)</tr>", text)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]
    assert [row[4] for row in cells[1:]] == [
        a + ("+" if d == "up" else "-") for a, d in example["steps"]
    ]
    for row, after in pairwise(cells[1:]):
        assert row[-1] == after[2]  # where a step ends the next one begins


def test_words_about_statements_are_about_statements() -> None:
    assert set(SHARPER) | set(SURVIVES) <= set(all_statements())


def test_findings_carry_the_engines_numbers(content: Content, page_text: str) -> None:
    from markov_lrsao.forms.asymptotics import phase2_asymptotics

    found = content.numbers["constants"]["phase2"]
    exact = phase2_asymptotics()
    assert float(found["constant"]) == pytest.approx(float(exact.constant), abs=1e-11)
    assert f"C = {found['constant']}" in page_text
    for row in content.numbers["constants"]["phase3"]["rows"]:
        assert abs(row["error"]) < 1e-4
    for row in found["rows"]:
        assert row["constant"] == pytest.approx(float(exact.constant), abs=0.15)
    law = content.numbers["concentration"]
    assert f"{law['quantiles'][2][1]:,}" in page_text


def test_what_lies_beyond_the_paper_is_the_engines(content: Content, page_text: str) -> None:
    relaxed = content.numbers["relaxed"]
    assert relaxed["zero"][0]["limit"]["value"] == pytest.approx(9647632255879 / 28577564400)
    assert relaxed["zero"][0]["inside"]["value"] == pytest.approx(51740216905 / 1185192162)
    below = relaxed["below"]
    assert below[0]["outside"] == below[0]["inside"]  # at n = 32 the bound is not felt yet
    growth = math.log(below[1]["inside"]["value"] / below[0]["inside"]["value"]) / math.log(2)
    assert below[1]["inside"]["exponent"] == pytest.approx(growth)
    assert 0.19 < relaxed["above"][0]["low"] <= relaxed["above"][0]["high"] < 0.25
    (learning,) = content.numbers["learning"]
    assert learning["best"] == pytest.approx(7129 / 280)  # 9 H_9
    assert learning["price"] == pytest.approx(learning["agent"] / learning["best"])
    (cutoff,) = content.numbers["cutoffs"]["rows"]
    assert cutoff["cutoff"] is None  # LRSAO runs on at small n
    assert cutoff["value"] == pytest.approx(cutoff["without"], rel=1e-6)
    assert cutoff["other"][1] < cutoff["other"][0] < cutoff["other"][2]
    shared, own = content.numbers["plateaus"]["rows"]
    assert (shared["kind"], own["kind"]) == ("exact", "simulated")
    assert own["low"] < own["value"] < own["high"]
    for number in ("337.59463", "43.655551", "× 1.7146", "(simulated, "):
        assert number in page_text
    for section in ("relaxed", "plateaus", "restarts", "cutoffs", "learning"):
        assert f'id="finding-{section}"' in page_text


def test_the_float64_card_has_its_error(content: Content, page_text: str) -> None:
    row = content.numbers["float64"]["rows"][-1]["float64"]
    assert f"× {row['factor']:.2f} ± {row['factor_error']:.2f}" in page_text


def test_the_papers_claims_stand_apart(page_text: str, verification: dict[str, Any]) -> None:
    """A count for each group and verdict, and a scope beside every verdict."""
    groups = {s["group"] for s in verification["statements"]}
    assert groups == {"claim", "reading", "sharper"}
    for group in groups:
        members = [s for s in verification["statements"] if s["group"] == group]
        heading = re.search(rf'id="group-{group}">([^<]*) \((\d+)\)</h3>', page_text)
        assert heading is not None
        assert int(heading[2]) == len(members)
    assert page_text.count('<span class="scope">for ') == len(verification["statements"])


def test_errata_are_mathematics(page_text: str) -> None:
    visible = page_text.partition('<script type="application/json"')[0]
    assert "<munderover><mo>∑</mo>" in visible
    assert "0.072131774774…" in visible
    assert not re.search(r"summation\(|\+/-|EulerGamma|\[0\.0721", visible)


def test_the_same_content_gives_the_same_page(content: Content, page_text: str) -> None:
    assert render(content) == page_text


def test_a_misspelt_name_is_an_error(content: Content) -> None:
    with pytest.raises(UndefinedError, match="nubmers"):
        templates().from_string("{{ nubmers }}").render(numbers=content.numbers)


def test_hostile_text_stays_text(content: Content) -> None:
    """Whatever a file of verdicts holds: it is shown, not run, and not filled in."""
    hostile = "<img src=x onerror=alert(1)> \" ' {{ version }} </script>"

    def poisoned(value: Any) -> Any:
        if isinstance(value, dict):
            kept = ("id", "group", "verdict", "kind", "counterexample")
            return {k: v if k in kept else poisoned(v) for k, v in value.items()}
        if isinstance(value, list):
            return [poisoned(v) for v in value]
        return hostile if isinstance(value, str) else value

    page = render(
        replace(
            content,
            verification=poisoned(content.verification),
            version=hostile,
            command=hostile,
            figures=[{**content.figures[0], "name": hostile, "title": hostile}],
        )
    )
    assert page.count("&lt;img src=x") > 500
    assert "<img" not in page
    assert "{{ version }}" in page
    assert not re.search(r'="[^"<>]*<img', page)
    assert "<img" not in typeset("<img src=x> & T_<b>")
    assert "</script><b>" not in embedded({"a": "</script><b>"}, "x")


def _palettes() -> dict[str, dict[str, str]]:
    blocks = re.findall(r"(:root[^{]*)\{([^}]*)\}", template("style.css"))
    light = dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6})", blocks[0][1]))
    dark = light | dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6})", blocks[1][1]))
    system = light | dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6})", blocks[3][1]))
    assert system == dark  # chosen by the system or by the button: the same colours
    return {"light": light, "dark": dark}


def _contrast(a: str, b: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        red, green, blue = (
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast_is_enough_to_read(theme: str) -> None:
    """At least 4.5 for text (WCAG 2, level AA) and 3 for the focus ring."""
    colours = _palettes()[theme]
    for back in ("paper", "raised", "sunk"):
        for text in ("ink", "quiet", "accent", "bad", "doubt"):
            assert _contrast(colours[text], colours[back]) >= 4.5, (text, back)
        assert _contrast(colours["focus"], colours[back]) >= 3
    for name in ("good", "fine", "doubt", "bad"):
        assert _contrast(colours[name], colours[f"{name}-back"]) >= 4.5, name
    assert _contrast(colours["accent-ink"], colours["accent"]) >= 4.5
