"""A real browser for the tests of pages: started, sized, asked, typed into, checked by axe-core."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import pytest


def _missing(what: str) -> NoReturn:
    """Skip, or fail where a browser is promised (continuous integration)."""
    text = (
        f"{what} was not found: install Debian's chromium and chromium-driver (or another "
        f"Chromium with its driver on the PATH) and selenium to open pages in a browser"
    )
    if os.environ.get("MARKOV_LRSAO_REQUIRE_BROWSER"):
        pytest.fail(text)
    pytest.skip(text)


@contextmanager
def chromium(profile: Path) -> Iterator[Any]:
    """Yield a headless Chromium that downloads nothing and calls nobody."""
    driver = shutil.which("chromedriver")
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    binary = next((path for path in map(shutil.which, names) if path), None)
    if find_spec("selenium") is None:
        _missing("selenium")
    if driver is None or binary is None:
        _missing("chromedriver" if driver is None else "chromium")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(binary)
    for flag in (
        "headless",
        "no-sandbox",
        "disable-gpu",
        "disable-quic",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        "disable-dev-shm-usage",
        f"user-data-dir={profile}",
    ):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    session = webdriver.Chrome(options=options, service=Service(driver))
    session.set_page_load_timeout(60)
    try:
        yield session
    finally:
        session.quit()


def emulate(browser: Any, *, width: int = 1200, height: int = 900, dark: bool = False) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {
            "features": [
                {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                {"name": "prefers-reduced-motion", "value": "reduce"},
            ]
        },
    )
    # A window without a screen has no focus of its own.
    browser.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500},
    )


def ask(browser: Any, expression: str, *arguments: Any) -> Any:
    """Return the value of a JavaScript expression."""
    return browser.execute_script(f"return {expression}", *arguments)


def wait(browser: Any, script: str, *arguments: Any) -> Any:
    """Return the script's value as soon as it is true."""
    until = time.monotonic() + 60
    while not (found := browser.execute_script(script, *arguments)):
        assert time.monotonic() < until, f"never became true: {script}"
        time.sleep(0.02)
    return found


def keys(browser: Any, *pressed: str) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    chain = ActionChains(browser, duration=0)
    for key in pressed:
        chain.send_keys(key)
    chain.perform()


def back_tab(browser: Any) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    chain = ActionChains(browser, duration=0)
    chain.key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()


def _axe(folder: Path) -> str:
    """Return axe-core's code."""
    source = os.environ.get("MARKOV_LRSAO_AXE")
    if source is not None:
        return Path(source).read_text(encoding="utf-8")
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is missing: axe-core cannot be fetched")
    if not list(folder.glob("axe-core-*.tgz")):
        fetch = [npm, "pack", "--silent", "axe-core@4"]
        subprocess.run(fetch, cwd=folder, capture_output=True, timeout=120, check=False)
    packed = next(iter(folder.glob("axe-core-*.tgz")), None)
    if packed is None:
        pytest.skip("npm could not fetch axe-core")
    with tarfile.open(packed) as files:
        member = files.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode()


def violations(browser: Any, folder: Path, without: Sequence[str] = ()) -> list[str]:
    """Return which of axe-core's rules the page breaks; skip where axe-core cannot be had.

    It comes from the file that MARKOV_LRSAO_AXE names, or from npm's registry.
    """
    browser.execute_script(_axe(folder))
    browser.set_script_timeout(180)
    found: list[str] = browser.execute_async_script(
        "const done = arguments[1];"
        "const rules = Object.fromEntries(arguments[0].map(name => [name, {enabled: false}]));"
        "axe.run({rules}).then(r => done(r.violations.map("
        "v => `${v.id}: ${v.nodes.length} times, e.g. ${v.nodes[0].html.slice(0, 200)}`)))",
        list(without),
    )
    return found
