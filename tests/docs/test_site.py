"""The site: built strictly and offline, no link leads nowhere, nothing comes from other hosts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import pytest
from browsers import ask, chromium, emulate, keys, violations, wait

import markov_lrsao

ROOT = Path(markov_lrsao.__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference.md"
LOADING = {
    ("script", "src"),
    ("link", "href"),
    ("img", "src"),
    ("iframe", "src"),
    ("source", "src"),
}


def test_the_reference_has_every_public_name_once() -> None:
    named = re.findall(r"^::: markov_lrsao\.(\w+)$", REFERENCE.read_text(encoding="utf-8"), re.M)
    assert sorted(named) == sorted(markov_lrsao.__all__)


def test_every_public_name_has_an_example_that_uses_it() -> None:
    """The block below a name runs with the other blocks of the documents."""
    text = REFERENCE.read_text(encoding="utf-8")
    parts = re.split(r"^::: markov_lrsao\.(\w+)$", text, flags=re.M)[1:]
    earlier = text.partition("::: ")[0]
    for name, below in zip(parts[::2], parts[1::2], strict=True):
        example = re.match(r"\n\n(?:<!-- slow -->\n)?```python\n(.*?)^```$", below, re.M | re.S)
        assert example is not None, name
        earlier += example[1]
        shown = {"Curve": "points", "Profile": "found", "RegimeMap": "grid", "MapPlan": "plan"}
        shown |= {"RuntimeResult": "result", "Quantity": "result", "Distribution": "law"}
        shown |= {"BudgetResult": "budget", "OracleResult": "best", "RestartResult": "again"}
        shown |= {"MarkovChain": "coin", "ReachingResult": "answer", "Search": "search"}
        shown |= {"Samples": "samples", "Summary": "summary", "Verdicts": "verify"}
        shown |= {"LandscapeFamily": "family"}
        assert re.search(rf"\b{shown.get(name, name)}\b", example[1]), name


def test_every_page_is_in_the_navigation() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r": (\w+\.md)$", text, re.M)
    assert sorted(listed) == sorted(p.name for p in (ROOT / "docs").glob("*.md"))


class Page(HTMLParser):
    """What a page names, what it links to, and what a browser would load for it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            if (tag, name) in LOADING:
                self.loaded.append(value)
            elif tag == "a" and name == "href":
                self.links.append(value)


def wrong_links(site: Path) -> list[str]:
    """Return the links and files of a site that lead nowhere, or to other hosts to be loaded."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        if path.name == "404.html":  # its addresses are absolute: it is shown anywhere
            continue
        for target in (*page.links, *page.loaded):
            parts = urlsplit(target)
            where = f"{path.name}: {target}"
            if parts.scheme or parts.netloc:
                if target in page.loaded and parts.scheme != "data":
                    found.append(f"{where} is loaded from elsewhere")
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if file.is_dir():
                file /= "index.html"
            if not file.is_file():
                found.append(f"{where}: no such file")
            elif file in pages and unquote(parts.fragment) not in pages[file].anchors:
                found.append(f"{where}: no such anchor")
    return found


def test_the_search_for_wrong_links_finds_them(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="b.html#there">1</a><a href="b.html#gone">2</a><a href="c.html">3</a>'
        '<script src="https://example.org/x.js"></script><a href="https://example.org">ok</a>'
    )
    (tmp_path / "b.html").write_text('<h1 id="there">b</h1>')
    assert [line.partition(":")[2] for line in wrong_links(tmp_path)] == [
        " b.html#gone: no such anchor",
        " c.html: no such file",
        " https://example.org/x.js is loaded from elsewhere",
    ]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly, where nobody answers from the network."""
    if find_spec("mkdocs") is None or find_spec("mkdocstrings") is None:
        pytest.skip("mkdocs is not installed")
    made = tmp_path_factory.mktemp("site")
    nowhere = "http://127.0.0.1:9"  # whoever asks the network is told off
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "NO_MKDOCS_2_WARNING": "1",
        **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), nowhere),
    }
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(made)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return made


@pytest.mark.slow
def test_the_site_is_built_strictly_and_offline(site: Path) -> None:
    assert wrong_links(site) == []
    reference = Page((site / "reference.html").read_text(encoding="utf-8"))
    assert {f"markov_lrsao.{name}" for name in markov_lrsao.__all__} <= reference.anchors
    commands = (site / "commands.html").read_text(encoding="utf-8")
    assert commands.count("Usage: markov-lrsao") > 15
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(?:https?:)?//", style.read_text(encoding="utf-8")), style


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Where the site is served, as `make docs` proposes."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site)))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.slow
def test_pages_by_keyboard_without_errors_and_accessible(
    address: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """In both colours, wide and narrow; the first key leads past the navigation."""
    from selenium.webdriver.common.keys import Keys

    axe = tmp_path_factory.mktemp("axe")
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        for name in ("index", "tutorial", "mathematics", "findings"):
            for dark, width in ((False, 1280), (True, 360)):
                emulate(browser, dark=dark, width=width)
                browser.get_log("browser")
                browser.get(f"{address}/{name}.html")
                wait(
                    browser,
                    "return document.querySelector('[data-md-component=search]')?.ariaLabel",
                )
                assert ask(browser, "document.documentElement.scrollWidth") <= width
                keys(browser, Keys.TAB)
                assert (
                    ask(browser, "document.activeElement.textContent").strip() == "Skip to content"
                )
                keys(browser, Keys.ENTER)
                wait(browser, "return location.hash.length > 1")
                assert violations(browser, axe) == [], (name, dark)
                logged = browser.get_log("browser")
                assert [e for e in logged if e["level"] in ("SEVERE", "WARNING")] == []
