"""The page in a real browser: what it shows, and what hands, keys and small screens can do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from browsers import ask, back_tab, emulate, keys, violations, wait

from markov_lrsao import Algorithm, Landscape, Parameters, runtime
from markov_lrsao.answers.curves import ell_of
from markov_lrsao.figures import FIGURES
from markov_lrsao.report import Content
from markov_lrsao.report.values import deviation_text

pytestmark = pytest.mark.slow  # a minute and more together

TABBABLE = """
return [...document.querySelectorAll(
    'a[href], button, input, summary, select, textarea, [tabindex="0"]')]
  .filter(e => !e.disabled && e.tabIndex >= 0 && e.checkVisibility({visibilityProperty: true})
    && !(e.type === 'radio' && !e.checked))
"""


@pytest.fixture(scope="module")
def opened(browser: Any, page_file: Path) -> Any:
    """The page, opened once for the tests that only look or undo what they do."""
    emulate(browser)
    browser.get(page_file.as_uri())
    wait(browser, "return document.documentElement.dataset.ready")
    return browser


@pytest.fixture
def page(opened: Any) -> Iterator[Any]:
    """The page with everything folded, at its top, light and wide."""
    emulate(opened)
    opened.execute_script(
        "document.querySelectorAll('details').forEach(d => { d.open = false; });"
        "document.activeElement.blur(); window.scrollTo(0, 0);"
    )
    yield opened
    severe = [e for e in opened.get_log("browser") if e["level"] in ("SEVERE", "WARNING")]
    assert not severe


def test_nothing_is_asked_of_the_network_and_no_errors(browser: Any, page_file: Path) -> None:
    emulate(browser)
    browser.get("about:blank")
    browser.get_log("performance")
    browser.get_log("browser")
    browser.get(page_file.as_uri())
    wait(browser, "return document.documentElement.dataset.ready")
    sent = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        m["params"]["request"]["url"] for m in sent if m["method"] == "Network.requestWillBeSent"
    ]
    assert asked
    assert [url for url in asked if not url.startswith("data:")] == [page_file.as_uri()]
    assert ask(browser, "performance.getEntriesByType('resource').length") == 0
    assert browser.get_log("browser") == []
    assert browser.title == "LRSAO on Jump, exactly"


def drawable(data: Mapping[str, Any]) -> int:
    """How many marks a figure must have: one per datum that its axes can show."""
    if data["kind"] == "graph":
        return len(data["nodes"]) + len(data["edges"])
    if data["kind"] == "map":
        grid = data["grid"]
        cells = sum(v is not None for row in grid["values"] for v in row)
        return cells + sum("label" in area for area in grid.get("areas", ()))

    def shown(axis: str, *values: float | None) -> bool:
        log = data[axis]["scale"] == "log"
        return all(v is not None and (not log or v > 0) for v in values)

    count = 0
    for s in data["series"]:
        rows = zip(s["low"], s["high"], strict=True) if s["kind"] == "band" else zip(s["y"])
        count += sum(shown("x", x) and shown("y", *ys) for x, ys in zip(s["x"], rows, strict=True))
    return count


def test_every_figure_is_drawn_from_its_data(page: Any, content: Content) -> None:
    found = page.execute_script(
        "return Object.fromEntries([...document.querySelectorAll('.figure')].map(f => "
        "[f.dataset.figure, [f.querySelector('.canvas').field.marks.length,"
        " f.querySelectorAll('.stage[tabindex=\"0\"]').length]]))"
    )
    assert set(FIGURES) <= set(found)
    top = found.pop("hero")
    assert found == {f["name"]: [drawable(f), 1] for f in content.figures}
    assert drawable(content.figures[-1]) == 2 + 3 + 1
    curves = [f for f in content.figures if f["name"].endswith("-10000")]
    longest = next(s for s in curves[0]["series"] if s["name"].startswith("n H_n"))
    lines = [s for f in curves for s in f["series"] if s["name"] == "E[T], exact"]
    assert top == [sum(len(s["x"]) for s in [*lines, longest]), 1]
    assert (
        page.execute_script(
            "return document.querySelectorAll('[d*=NaN], [cx=NaN], [x=NaN]').length"
        )
        == 0
    )


def marks(page: Any, figure: str, group: int | None = None) -> list[dict[str, Any]]:
    """The marks of a figure: where they are in its stage, and what they say."""
    found: list[dict[str, Any]] = page.execute_script(
        "return document.querySelector(`[data-figure='${arguments[0]}'] .canvas`).field.marks"
        ".map(m => ({x: m.x, y: m.y, group: m.group, hidden: !!m.hidden, lines: m.lines}))",
        figure,
    )
    return [m for m in found if group is None or m["group"] == group]


def test_marks_stand_where_the_data_say(page: Any, content: Content) -> None:
    """On linear axes distances of marks are proportional to those of the data, and ink is there."""
    data = next(f for f in content.figures if f["name"] == "runtime-2-10000")
    k = next(i for i, s in enumerate(data["series"]) if s["kind"] == "line")
    series, drawn = data["series"][k], marks(page, "runtime-2-10000", k)
    assert len(drawn) == len(series["y"]) >= 2
    for axis, values in (("x", series["x"]), ("y", series["y"])):
        (v0, p0), (v1, p1) = (values[0], drawn[0][axis]), (values[-1], drawn[-1][axis])
        for value, mark in zip(values, drawn, strict=True):
            assert mark[axis] == pytest.approx(p0 + (value - v0) / (v1 - v0) * (p1 - p0), abs=0.5)
    inked = page.execute_script(
        "const stage = document.querySelector(`[data-figure='runtime-2-10000'] .stage`);"
        "const canvas = stage.querySelector('canvas'), at = stage.getBoundingClientRect();"
        "const c = canvas.getBoundingClientRect(), pen = canvas.getContext('2d');"
        "const {width, height} = canvas, d = pen.getImageData(0, 0, width, height).data;"
        "const blue = (x, y) => { const i = 4 * (y * width + x);"
        " return d[i + 2] > d[i] + 60 && d[i + 3] > 100; };"
        "return arguments[0].map(m => { const x = Math.round(m.x + at.left - c.left),"
        " y = Math.round(m.y + at.top - c.top); let n = 0;"
        " for (let a = -2; a <= 2; a += 1) for (let b = -2; b <= 2; b += 1)"
        " n += blue(x + a, y + b); return n; })",
        drawn,
    )
    assert all(inked)  # the line is blue


def tip(page: Any, figure: str) -> str:
    text: str = page.execute_script(
        "const t = document.querySelector(`[data-figure='${arguments[0]}'] .tip`);"
        "return t.hidden ? '' : t.innerText",
        figure,
    )
    return text


def enter_figure(page: Any, name: str) -> None:
    """Put the focus where the Tab key would put it, as if nobody had pointed there before."""
    page.execute_script(
        "const c = document.querySelector(`[data-figure='${arguments[0]}'] .canvas`);"
        "c.field.last = null; c.field.stage.focus()",
        name,
    )


def test_values_appear_under_the_pointer(page: Any) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By

    stage = page.find_element(By.CSS_SELECTOR, "[data-figure='bars'] .stage")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", stage)
    assert tip(page, "bars") == ""
    (mark,) = marks(page, "bars", 2)
    size = stage.size
    away = (round(mark["x"] - size["width"] / 2), round(mark["y"] - size["height"] / 2))
    ActionChains(page, duration=0).move_to_element_with_offset(stage, *away).perform()
    assert tip(page, "bars").split("\n") == ["one", "x: 2", "y: 3", "from 2 to 4", "3/1"]
    heading = page.find_element(By.CSS_SELECTOR, "[data-figure='bars'] h3")
    ActionChains(page, duration=0).move_to_element(heading).perform()
    assert tip(page, "bars") == ""


def test_values_appear_under_the_keys(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    enter_figure(page, "bars")
    assert tip(page, "bars").split("\n") == ["bars", "x: 1", "y: 4"]
    keys(page, Keys.ARROW_RIGHT)
    assert tip(page, "bars").split("\n") == ["bars", "x: 3", "y: −6"]
    keys(page, Keys.ARROW_DOWN)
    assert tip(page, "bars").split("\n") == ["band", "x: 3", "from 2 to 4"]
    keys(page, Keys.HOME)
    assert tip(page, "bars").split("\n")[1] == "x: 1"
    keys(page, Keys.ESCAPE)
    assert tip(page, "bars") == ""
    said = ask(page, "document.activeElement.querySelector('[role=status]').textContent")
    assert said == "band, x: 1, from 0 to 2"


def test_cells_of_a_map_and_steps_of_a_graph_answer(page: Any, content: Content) -> None:
    from selenium.webdriver.common.keys import Keys

    enter_figure(page, "a-map")
    assert "value: 3.5" in tip(page, "a-map")
    keys(page, Keys.ARROW_DOWN)
    assert "value: 1.5" in tip(page, "a-map")
    keys(page, Keys.ARROW_RIGHT, Keys.ARROW_UP)
    assert tip(page, "a-map").split("\n") == ["value: 4.5", "n: 20", "l: 3", "not exact"]
    data = next(f for f in content.figures if f["name"] == "right-plateau")
    steps = marks(page, "right-plateau", 1)
    assert len(steps) == len(data["edges"])
    for e, mark in zip(data["edges"], steps, strict=True):
        assert f"probability {e['probability']}" in mark["lines"]


def test_legend_and_scale_switch(page: Any) -> None:
    def series(k: int) -> str:
        hidden = {m["hidden"] for m in marks(page, "runtime-2-1000", k)}
        assert len(hidden) == 1
        return "none" if hidden.pop() else "shown"

    click = "document.querySelectorAll(\"[data-figure='runtime-2-1000'] .keys button\")[1].click()"
    assert series(1) == "shown"
    page.execute_script(click)
    assert series(1) == "none"
    assert ask(page, "document.activeElement.getAttribute('aria-pressed')") == "false"
    page.execute_script(click)
    assert series(1) == "shown"
    rescale = "document.querySelector(\"[data-figure='runtime-2-1000'] .rescale\")"
    before = page.execute_script(f"return {rescale}.textContent")
    page.execute_script(f"{rescale}.click()")
    assert page.execute_script(f"return {rescale}.textContent") != before
    page.execute_script(f"{rescale}.click()")


def test_the_data_behind_a_figure_unfold(page: Any, content: Content) -> None:
    from selenium.webdriver.common.by import By

    data = next(f for f in content.figures if f["name"] == "objectives")
    fold = page.find_element(By.CSS_SELECTOR, "[data-figure='objectives'] details.data summary")
    fold.click()
    rows = wait(
        page,
        "return document.querySelectorAll("
        "\"[data-figure='objectives'] .data-table tbody tr\").length",
    )
    assert rows == sum(len(s["x"]) for s in data["series"])


def test_a_statement_unfolds_on_click(page: Any) -> None:
    from selenium.webdriver.common.by import By

    statement = page.find_element(By.ID, "s-failing-excursions-no-way-out")
    run = statement.find_element(By.CSS_SELECTOR, ".counterexample table")
    assert not run.is_displayed()
    statement.find_element(By.CSS_SELECTOR, "summary").click()
    assert statement.find_element(By.CSS_SELECTOR, ".claim").is_displayed()
    assert not run.is_displayed()
    statement.find_element(By.CSS_SELECTOR, ".counterexample summary").click()
    assert run.is_displayed()
    steps = run.find_elements(By.CSS_SELECTOR, "tbody tr")
    assert len(steps) == 14
    assert steps[-1].text.split()[-1] == "6"  # n-l-1 at n = 9, l = 2
    statement.find_element(By.CSS_SELECTOR, "summary").click()
    assert not run.is_displayed()


def test_a_statement_unfolds_by_keyboard(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    page.execute_script("document.querySelector('#s-smallest-n summary').focus()")
    keys(page, Keys.ENTER)
    assert ask(page, "document.querySelector('#s-smallest-n').open")
    keys(page, Keys.TAB, Keys.ENTER)
    assert ask(page, "document.querySelector('#s-smallest-n .counterexample').open")
    back_tab(page)
    keys(page, Keys.SPACE)
    assert not ask(page, "document.querySelector('#s-smallest-n').open")


def test_links_open_what_they_lead_to(page: Any) -> None:
    page.execute_script("location.hash = '#s-lemma-12'")
    wait(page, "return document.querySelector('#s-lemma-12').open")
    page.execute_script(
        "document.querySelector('[data-filter=REFUTED]').click();location.hash = '#s-range-of-l'"
    )
    wait(
        page,
        "return document.querySelector('#s-range-of-l').open"
        " && !document.querySelector('#s-range-of-l').hidden",
    )


def test_statements_are_filtered(page: Any, verification: dict[str, Any]) -> None:
    def shown() -> list[str]:
        names: list[str] = page.execute_script(
            "return [...document.querySelectorAll('.statement')].filter(s => !s.hidden)"
            ".map(s => s.dataset.id)"
        )
        return names

    order = ("claim", "reading", "sharper")
    statements = sorted(verification["statements"], key=lambda s: order.index(s["group"]))
    every = [s["id"] for s in statements]
    page.execute_script("document.querySelector('[data-filter=\"\"]').click()")
    assert shown() == every
    page.execute_script("document.querySelector('[data-filter=REFUTED]').click()")
    assert shown() == [s["id"] for s in statements if s["verdict"] == "REFUTED"]
    page.execute_script("document.querySelector('[data-filter=ERRATA]').click()")
    assert shown() == ["Lemma 12"]
    page.execute_script(
        "document.querySelector('[data-filter=\"\"]').click();"
        "const i = document.querySelector('#statement-search'); i.value = 'wald';"
        "i.dispatchEvent(new Event('input'))"
    )
    assert shown() == ["(E), i.i.d. excursions"]
    assert ask(page, "document.querySelector('#statement-count').textContent") == (
        f"1 of {len(every)} shown"
    )
    page.execute_script(
        "const i = document.querySelector('#statement-search'); i.value = '';"
        "i.dispatchEvent(new Event('input'))"
    )
    assert shown() == every


def shown_values(page: Any) -> dict[str, Any]:
    found: dict[str, Any] = page.execute_script("""
        const list = document.querySelector('.quantities');
        return {n: Number(list.dataset.n), l: Number(list.dataset.l),
          fractions: [...list.querySelectorAll('.fraction')].map(f => f.textContent),
          decimals: [...list.querySelectorAll('.decimal')].map(f => f.textContent),
          outputs: [...document.querySelectorAll('.slider output')].map(o => o.textContent)}""")
    return found


def expected_values(n: int, ell: int, method: str) -> tuple[list[str | None], list[str]]:
    r = runtime(Landscape.jump(n, ell), Algorithm.lrsao(Parameters.paper(n)), method=method)
    quantities = [r.total, *r.phases, r.variance, r.coupon_collector]
    decimals = [q.decimal for q in quantities]
    decimals.insert(4, deviation_text(r.variance.value))
    return [q.rational for q in quantities], decimals


def test_numbers_equal_the_engines(page: Any) -> None:
    """Sliders moved with the keyboard; the other method of the engine gives the same fractions."""
    from selenium.webdriver.common.keys import Keys

    page.execute_script(
        "document.querySelector('#modes input[value=grid]').click();"
        "document.querySelector('#n-slider').focus()"
    )
    keys(page, Keys.HOME)
    visited = []
    for steps in (0, 2, 1):  # n = 9, 11, 12
        keys(page, *[Keys.ARROW_RIGHT] * steps)
        found = shown_values(page)
        fractions, decimals = expected_values(found["n"], found["l"], "joint")
        assert found["fractions"] == fractions
        assert found["decimals"][:-1] == decimals
        assert found["outputs"] == [str(found["n"]), str(found["l"])]
        visited.append((found["n"], found["l"]))
    assert [n for n, _ in visited] == [9, 11, 12]
    page.execute_script("document.querySelector('#n-slider').focus()")
    keys(page, Keys.END)
    page.execute_script("document.querySelector('#l-slider').focus()")
    seen = set()
    for key in (Keys.HOME, Keys.ARROW_RIGHT, Keys.END):
        keys(page, key)
        found = shown_values(page)
        assert found["n"] == 12
        assert found["fractions"] == expected_values(12, found["l"], "crossing")[0]
        seen.add(found["l"])
    assert seen == {2, 3}
    said = ask(page, "document.querySelector('#announcer').textContent")
    assert said.startswith("n = 12, l = 3: E[T] = ")
    command = ask(page, "document.querySelector('#results .command code').textContent")
    assert command == "markov-lrsao exact --n 12 --ell 3"


@pytest.mark.parametrize("schedule", ["2", "half"])
def test_schedules_equal_the_engines(page: Any, schedule: str) -> None:
    from selenium.webdriver.common.keys import Keys

    page.execute_script(
        "document.querySelector(`#modes input[value='${arguments[0]}']`).click();"
        "document.querySelector('#n-slider').focus()",
        schedule,
    )
    keys(page, Keys.END, Keys.HOME)
    found = shown_values(page)
    assert (found["n"], found["l"]) == (100, ell_of(schedule, 100))
    fractions, decimals = expected_values(100, found["l"], "crossing")
    assert found["fractions"] == fractions
    assert found["decimals"][:-1] == decimals
    assert ask(page, "document.querySelector('#l-control').hidden")
    rows = ask(page, "document.querySelectorAll('#instance-table tbody tr').length")
    assert rows == 2
    page.execute_script(
        "document.querySelector('#instance-table tbody tr:last-child button').click()"
    )
    assert shown_values(page)["n"] == 1000


def test_long_fractions_say_how_long_they_are(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    page.execute_script(
        "document.querySelector(\"#modes input[value='2']\").click();"
        "document.querySelector('#n-slider').focus()"
    )
    keys(page, Keys.END)
    found = shown_values(page)
    assert found["n"] == 1000
    total = expected_values(1000, 2, "crossing")[0][0]
    assert total is not None
    top, bottom = total.split("/")
    assert found["fractions"][0].endswith(f"({len(top)}/{len(bottom)} digits)")
    assert found["fractions"][0].startswith(top[:10])


def test_dark_and_light(page: Any) -> None:
    def colours() -> list[str]:
        found: list[str] = page.execute_script(
            "const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]"
        )
        return found

    light = colours()
    emulate(page, dark=True)
    dark = colours()
    assert light != dark
    toggle = "document.querySelector('#theme').click()"
    page.execute_script(toggle)  # auto -> light
    assert colours() == light
    emulate(page)
    page.execute_script(toggle)  # light -> dark
    assert colours() == dark
    label = ask(page, "document.querySelector('#theme').getAttribute('aria-label')")
    assert label == "Colour theme: dark"
    page.execute_script(toggle)  # dark -> auto
    assert colours() == light


def test_narrow_screens_do_not_scroll_sideways(page: Any) -> None:
    page.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    for width in (360, 320):
        emulate(page, width=width, height=700)
        wait(
            page,
            "return [...document.querySelectorAll('.canvas')].every(c => "
            "Math.abs(c.dataset.width - c.clientWidth) <= 3)",
        )
        found = ask(page, "[document.documentElement.scrollWidth, innerWidth]")
        assert found[0] <= found[1] == width


def test_wide_formulas_scroll_in_themselves_and_take_the_focus(page: Any, tmp_path: Path) -> None:
    page.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    emulate(page, width=360, height=700)
    wait(page, "return document.querySelectorAll('#main li > math[data-wide]').length > 0")
    widths = "[...document.querySelectorAll('main math')].map(m => [m.scrollWidth > m.clientWidth"
    for scrolls, marked, order in ask(page, widths + " + 1, 'wide' in m.dataset, m.tabIndex])"):
        assert marked or not scrolls
        assert order == (0 if marked else -1)
    assert ask(page, "document.documentElement.scrollWidth") == 360
    assert violations(page, tmp_path, without=["color-contrast"]) == []
    emulate(page, width=2400, height=900)
    # lines of proofs have a longest width there, too; formulas of the findings fit
    wait(page, "return !document.querySelector('main math[display=block][data-wide]')")


def test_the_keyboard_reaches_everything(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    page.execute_script(f"window.wanted = (() => {{ {TABBABLE} }})()")
    wanted = ask(page, "wanted.length")
    assert wanted > 200
    page.execute_script(
        "window.seen = []; document.addEventListener('focusin', e => seen.push(e.target));"
        "document.querySelector('.skip').focus()"
    )
    missed = ["everything"]
    for _ in range(0, 2 * wanted, 100):  # boxes that scroll are stops, too
        keys(page, *[Keys.TAB] * 100)
        missed = page.execute_script(
            "return wanted.filter(e => !seen.includes(e)).map(e => e.outerHTML.slice(0, 120))"
        )
        if not missed:
            break
    assert missed == []
    order = page.execute_script(
        "return [...new Set(seen)].map(e => wanted.indexOf(e)).filter(k => k >= 0)"
    )
    assert order == list(range(wanted))  # the order of the page


def test_focus_is_visible_and_the_skip_link_skips(page: Any, page_file: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    page.get("about:blank")  # or the Tab key would go on where it was
    page.get(page_file.as_uri())
    wait(page, "return document.documentElement.dataset.ready")
    keys(page, Keys.TAB)
    found = page.execute_script(
        "const e = document.activeElement; const s = getComputedStyle(e);"
        "return [e.className, e.getBoundingClientRect().top >= 0, s.outlineStyle, s.outlineWidth]"
    )
    assert found == ["skip", True, "solid", "3px"]
    keys(page, Keys.ENTER)
    assert ask(page, "location.hash") == "#main"
    keys(page, Keys.TAB)
    assert ask(page, "document.activeElement.closest('main') !== null")


def test_commands_are_copied(page: Any) -> None:
    page.execute_script(
        "document.addEventListener('copy', () => {"
        " window.copied = document.activeElement.value; });"
        "Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true});"
        "window.button = document.querySelector('#statements-section button.copy'); button.click()"
    )
    wait(page, "return button.textContent === 'Copied'")
    wait(page, "return document.querySelector('#announcer').textContent === 'Copied'")
    assert ask(page, "copied") == ask(page, "button.dataset.copy") != ""


def test_paper(page: Any) -> None:
    """On paper what is refuted is unfolded, and what only helps on a screen is gone."""
    page.execute_script(
        "window.printed = 0; addEventListener('beforeprint', () => { printed = "
        "document.querySelectorAll('.statement[open]').length; })"
    )
    pdf = page.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})
    assert len(pdf["data"]) > 50_000
    refuted = page.execute_script(
        "return document.querySelectorAll('.statement[data-verdict=REFUTED]').length"
    )
    assert ask(page, "printed") == refuted > 0
    assert ask(page, "document.querySelectorAll('.statement[open]').length") == 0
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert ask(page, "getComputedStyle(document.querySelector('.bar')).display") == "none"
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_accessibility_rules_hold(page: Any, tmp_path: Path) -> None:
    """Contrasts, which take long to measure, as the page opens; all else with everything open."""
    assert violations(page, tmp_path) == []
    page.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert violations(page, tmp_path, without=["color-contrast"]) == []
