"""The explorer in a real browser: sliders, keys, errors, cancelling, every view and its command."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import ask, emulate, keys, violations, wait
from explorers import LONG, SOON, Server, alive, children, until

from markov_lrsao import Algorithm, Landscape, Parameters, hypothesis_h, runtime
from markov_lrsao.exact.rationals import rational

pytestmark = pytest.mark.slow
TABS = ("walk", "run", "sites", "law", "map")
TOTAL = "document.querySelector('#total-fraction')?.textContent"


@pytest.fixture
def page(browser: Any, server: Server) -> Iterator[Any]:
    """The page, fresh; at the end nothing may stand in the browser's console."""
    emulate(browser)
    browser.get_log("browser")
    browser.get(server.url)
    wait(browser, "return document.documentElement.dataset.ready")
    shows(browser, Landscape.jump(9, 2))
    yield browser
    severe = [e for e in browser.get_log("browser") if e["level"] in ("SEVERE", "WARNING")]
    browser.get("about:blank")
    assert not severe


def shows(page: Any, landscape: Landscape, parameters: Parameters | None = None) -> None:
    """Wait until the page shows E[T] as the engine has it."""
    chosen = parameters or Parameters.paper(landscape.n)
    expected = runtime(landscape, Algorithm.lrsao(chosen), outside_h=True).total.rational
    wait(page, f"return {TOTAL} === arguments[0]", expected)


def click(page: Any, selector: str) -> None:
    page.execute_script("document.querySelector(arguments[0]).click()", selector)


def write(page: Any, name: str, text: str) -> None:
    page.execute_script(
        "const i = document.querySelector(`[name=${arguments[0]}]`); i.value = arguments[1];"
        "i.dispatchEvent(new Event('input', {bubbles: true}))",
        name,
        text,
    )


def command(page: Any, view: str) -> list[str]:
    text = ask(page, f"document.querySelector('#view-{view} > .command code').textContent")
    return shlex.split(text)


def test_sliders_by_keyboard(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    page.execute_script("document.querySelector('#n-slider').focus()")
    keys(page, *[Keys.ARROW_RIGHT] * 11)
    shows(page, Landscape.jump(20, 2))
    page.execute_script("document.querySelector('#ell-slider').focus()")
    keys(page, Keys.ARROW_RIGHT)
    shows(page, Landscape.jump(20, 3))
    assert command(page, "exact")[1:6] == ["exact", "--n", "20", "--ell", "3"]
    page.execute_script("document.querySelector('#r-slider').focus()")
    keys(page, Keys.ARROW_RIGHT)
    found = wait(page, "return document.querySelector('[name=r]').value")
    wait(page, "return document.querySelector('#hypothesis').textContent.includes('holds')")
    paper = Parameters.paper(20)
    assert rational(found, "r") != paper.r
    # E[T] is the same for every r of this regime: the command tells that the new answer is there.
    shown = "document.querySelector('#view-exact > .command code').textContent"
    wait(page, f"return {shown}.includes('--r')")
    assert "--r" in command(page, "exact")
    shows(page, Landscape.jump(20, 3), Parameters(paper.alpha, paper.gamma, found))


def test_an_error_of_the_engine_is_shown_as_such(page: Any) -> None:
    write(page, "alpha", "1.5")
    said = "alpha = 3/2 is out of range: 0 < alpha < 1 is needed"
    wait(
        page,
        "const e = document.querySelector('#view-exact .error');"
        "return !e.hidden && e.textContent.includes(arguments[0])",
        said,
    )
    assert ask(page, "document.querySelector('#view-exact .error').getAttribute('role')") == "alert"
    click(page, "#paper")
    shows(page, Landscape.jump(9, 2))
    assert ask(page, "document.querySelector('#view-exact .error').hidden")


def test_a_long_answer_is_cancelled(page: Any, server: Server) -> None:
    click(page, "#tab-run")  # which computes nothing by itself
    until(lambda: ask(page, "document.querySelector('#view-walk > .working').hidden"))
    before = children(server.process.pid)
    for name in ("alpha", "gamma", "r"):
        write(page, name, LONG[name])
    wait(page, "return !document.querySelector('#view-exact > .working').hidden")
    until(lambda: children(server.process.pid) - before)
    wait(page, "return document.querySelector('#hypothesis').textContent.includes('does not')")
    until(lambda: ask(page, "document.querySelector('#view-regime > .working').hidden"))
    until(lambda: len(children(server.process.pid) - before) == 1)
    working = children(server.process.pid) - before
    click(page, "#view-exact > .working button")
    until(lambda: not any(map(alive, working)), SOON)
    assert ask(page, "document.querySelector('#view-exact .error').textContent") == "Cancelled."
    click(page, "#paper")
    shows(page, Landscape.jump(9, 2))


def test_a_walk_by_its_buttons(page: Any) -> None:
    wait(page, "return document.querySelectorAll('.proposals button').length === 3")
    click(page, ".proposals button")  # L+
    wait(page, "return document.querySelector('#view-walk').textContent.includes('After 1 steps')")
    assert command(page, "walk")[-4:] == ["--choices", "L+", "--steps", "5000"]
    assert "4/5" in ask(page, "document.querySelector('#view-walk table').textContent")
    wait(
        page, "return document.querySelector('#view-row .node.now text')?.textContent === 'L>0=J=R'"
    )
    click(page, "#walk-random")
    wait(page, "return document.querySelector('#view-walk').textContent.includes('After 2 steps')")
    click(page, "#walk-back")
    wait(page, "return document.querySelector('#view-walk').textContent.includes('After 1 steps')")
    click(page, "#walk-again")
    wait(page, "return document.querySelector('#view-walk').textContent.includes('After 0 steps')")


def test_the_chain_is_walked_on_its_graph(page: Any) -> None:
    """By keys: to the arrows, along them, Enter; the probabilities are those of the chain."""
    from selenium.webdriver.common.keys import Keys

    shown = "document.querySelector('#view-walk > .body .canvas')"
    wait(page, f"return {shown}?.field?.marks.length === 4 + 3")
    lines = ask(page, f"{shown}.field.marks.filter(m => m.choose).map(m => m.lines)")
    assert ["probability 1/3" in line for line in lines] == [True] * 3
    page.execute_script(f"{shown}.field.stage.focus()")
    keys(page, Keys.ARROW_DOWN, Keys.HOME, Keys.ARROW_RIGHT, Keys.ENTER)
    wait(page, "return document.querySelector('#view-walk').textContent.includes('After 1 steps')")
    assert command(page, "walk")[-4:] == ["--choices", "J+", "--steps", "5000"]
    words = ask(page, "document.querySelector('#view-walk > .body').textContent")
    assert "position 1, phase 1, row 0=L=R>J" in words
    assert "reward -7/2" in words  # Q-row, choice, reward and update of the step before
    assert "Q[J] becomes -2.80000" in words


def test_the_regime_and_its_borders(page: Any) -> None:
    words = "document.querySelector('#regime-words')?.textContent"
    wait(page, f"return {words}?.startsWith('k = 1: the same for 2.333333333 < r < 12.5')")
    given = "map --n 9 --ell 2 --gamma 1/10 --alpha 4/5 --r 7/2 --borders --outside-h"
    assert command(page, "regime")[1:] == shlex.split(given)
    write(page, "r", "12.6")
    wait(page, f"return {words} === 'Outside (H).'")


def test_a_run_is_played(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    click(page, "#tab-run")
    click(page, "#run-start")
    wait(page, "return document.querySelector('#play')")
    words = "document.querySelector('#run-words').textContent"
    assert ask(page, words).startswith("step 0: at 0 the row is 0=L=J=R")
    click(page, "#one-step")
    assert ask(page, words).startswith("step 1:")
    page.execute_script("document.querySelector('#run-speed').value = 60")
    click(page, "#play")
    wait(page, f"return {words}.includes('the optimum')")
    page.execute_script("document.querySelector('#run-time').focus()")
    keys(page, Keys.HOME, Keys.ARROW_RIGHT)
    assert ask(page, words).startswith("step 1:")


def test_the_map_sets_alpha_and_r(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    write(page, "n", "30")
    write(page, "ell", "5")
    click(page, "#tab-map")
    page.execute_script("document.querySelector('#map-from').value = '0.5'")
    page.execute_script("document.querySelector('#map-size').value = '2x2'")
    click(page, "#map-start")
    shown = "document.querySelector('#view-map .canvas')"
    wait(page, f"return {shown}?.field?.marks.length >= 4 + 3")  # points, and areas with values
    names = ask(page, f"{shown}.field.marks.map(m => m.lines[0])")
    assert {"k = 1", "k = 2", "L always, k = 1"} <= set(names)
    page.execute_script(f"{shown}.field.last = null; {shown}.field.stage.focus()")
    keys(page, Keys.ARROW_DOWN, Keys.HOME, Keys.ARROW_RIGHT, Keys.ENTER)  # from areas to points
    wait(page, "return document.querySelector('[name=alpha]').value === '99/100'")
    found = wait(page, "return document.querySelector('[name=r]').value")
    parameters = Parameters("99/100", "1/31", found)
    held = hypothesis_h(Landscape.jump(30, 5), parameters)
    assert (rational(found) - held.lower) / (held.upper - held.lower) == rational("0.98")
    shows(page, Landscape.jump(30, 5), parameters)


def test_a_click_anywhere_in_the_map_sets_alpha_and_r(page: Any) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By

    click(page, "#tab-map")
    page.execute_script("document.querySelector('#map-from').value = '0.5'")
    page.execute_script("document.querySelector('#map-size').value = '2x2'")
    click(page, "#map-start")
    wait(page, "return document.querySelector('#view-map .canvas')?.field?.marks.length >= 4")
    drawing = page.find_element(By.CSS_SELECTOR, "#view-map .stage > svg")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", drawing)
    size = drawing.size
    away = (round(0.1 * size["width"]), round(-0.2 * size["height"]))
    ActionChains(page, duration=0).move_to_element_with_offset(drawing, *away).click().perform()
    alpha = rational(wait(page, "return document.querySelector('[name=alpha]').value"))
    found = wait(page, "return document.querySelector('[name=r]').value")
    assert rational("0.8") < alpha < rational("0.99")
    held = hypothesis_h(Landscape.jump(9, 2), Parameters(alpha, "1/10", found))
    place = (rational(found) - held.lower) / (held.upper - held.lower)
    assert rational("0.6") < place < rational("0.85")
    shows(page, Landscape.jump(9, 2), Parameters(alpha, "1/10", found))


def test_every_view_is_accessible_and_fits_a_small_screen(page: Any, tmp_path: Path) -> None:
    for tab in TABS:
        click(page, f"#tab-{tab}")
        if tab == "run":
            click(page, "#run-start")
        if tab == "map":
            page.execute_script("document.querySelector('#map-from').value = '0.5'")
            page.execute_script("document.querySelector('#map-size').value = '2x2'")
            click(page, "#map-start")
        wait(page, f"return document.querySelector('#view-{tab} > .working').hidden")
        emulate(page, width=360, height=700)
        wait(page, "return document.documentElement.scrollWidth <= 360")
        emulate(page)
    assert violations(page, tmp_path) == []
    emulate(page, dark=True)
    for tab in TABS:
        click(page, f"#tab-{tab}")
        wait(page, f"return document.querySelector('#view-{tab} > .working').hidden")
        assert violations(page, tmp_path) == []


def test_tabs_follow_the_arrow_keys(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    page.execute_script("document.querySelector('#tab-walk').focus()")
    keys(page, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert ask(page, "document.activeElement.id") == "tab-sites"
    wait(page, "return document.querySelector('#view-sites canvas')")
    keys(page, Keys.HOME)
    assert not ask(page, "document.querySelector('#view-walk').hidden")
