"""What pages share: the library is npm's own, and its licence comes along."""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from markov_lrsao.web import SCRIPTS, STYLES, asset, assets

OWN = [name for name in (*SCRIPTS, *STYLES) if not name.startswith("uPlot")]
VENDORED = {
    "uPlot.min.js": "package/dist/uPlot.iife.min.js",
    "uPlot.min.css": "package/dist/uPlot.min.css",
    "uPlot.LICENSE": "package/LICENSE",
}


def version() -> str:
    found = re.search(r"uPlot \(v([\d.]+)\)", asset("uPlot.min.js"))
    assert found is not None
    return found[1]


def test_all_components_are_there() -> None:
    names = {entry.name for entry in assets().iterdir()}
    assert names == {*SCRIPTS, *STYLES, "uPlot.LICENSE"}


def test_the_licence_names_its_owner() -> None:
    text = asset("uPlot.LICENSE")
    assert "MIT License" in text
    assert "Leon Sorokin" in text


@pytest.mark.slow
def test_the_library_is_as_npm_has_it(tmp_path: Path) -> None:
    """Byte by byte, in the version that the file names."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is missing")
    fetch = [npm, "pack", "--silent", f"uplot@{version()}"]
    subprocess.run(fetch, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    packed = next(iter(tmp_path.glob("uplot-*.tgz")), None)
    if packed is None:
        pytest.skip("npm could not fetch uPlot")
    with tarfile.open(packed) as files:
        for ours, theirs in VENDORED.items():
            member = files.extractfile(theirs)
            assert member is not None
            assert (assets() / ours).read_bytes() == member.read(), ours


@pytest.mark.parametrize("name", OWN)
def test_own_components_load_nothing_and_write_no_markup(name: str) -> None:
    text = asset(name)
    assert not re.search(r"@import|url\((?!#)|https?://(?!www\.w3\.org/2000/svg)", text)
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|eval\(|fetch\(", text)


@pytest.mark.parametrize("name", [n for n in SCRIPTS if n in OWN])
def test_scripts_are_strict_and_define_one_name(name: str) -> None:
    text = asset(name)
    assert '"use strict";' in text
    assert len(re.findall(r"^const (\w+) = \(\(\) => \{$", text, re.MULTILINE)) == 1
    assert text.rstrip().endswith("})();")
