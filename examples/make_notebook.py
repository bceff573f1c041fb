"""Assemble the numbered scripts into the notebook tour.ipynb, outputs included.

    python examples/make_notebook.py            write tour.ipynb
    python examples/make_notebook.py --check    exit with 1 if tour.ipynb is not up to date

The scripts are the only source. A script's docstring and its `# %%` comments become text, the
lines between them code. Cells run from top to bottom in one namespace, as in Jupyter, and what
they print and draw is stored, so that the notebook can be read where it cannot be run. Pictures are
not compared: their bytes depend on the version of matplotlib.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import sys
from base64 import b64encode
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from markov_lrsao.progress import Progress, no_progress, terminal_progress
from markov_lrsao.storage import write_whole

HERE = Path(__file__).resolve().parent
NOTEBOOK = HERE / "tour.ipynb"
MARK = "# %%"
_INTRODUCTION = """\
# A tour of markov-lrsao

From the first exact runtime to a landscape of your own. Every cell checks what it claims with
`assert`, and most claims can be checked by hand as well. The toolkit itself is all that the tour
needs: `pip install .` in the repository.

The cells are those of the numbered scripts in this folder; `make_notebook.py` puts them together.
Edit the scripts, not the notebook.
"""


def scripts() -> list[Path]:
    """Return the numbered scripts in order."""
    return sorted(path for path in HERE.glob("*.py") if re.match(r"[0-9]{2}_", path.name))


def split(text: str) -> list[tuple[str, str]]:
    r"""Split a script into ("markdown" or "code", source) cells.

    >>> split('"Title."\nx = 1\n# %% Why\n# not?\nx += 1\n')[1:]
    [('code', 'x = 1'), ('markdown', 'Why\nnot?'), ('code', 'x += 1')]
    """
    head = ast.parse(text).body[0]
    title = ast.get_docstring(ast.parse(text))
    if title is None or head.end_lineno is None:
        raise ValueError("a script begins with a docstring")
    cells = [("markdown", title)]
    code: list[str] = []
    lines = text.splitlines()[head.end_lineno :]
    while lines:
        line = lines.pop(0)
        if not line.startswith(MARK):
            code.append(line)
            continue
        cells.append(("code", "\n".join(code).strip("\n")))
        code, words = [], [line.removeprefix(MARK).strip()]
        while lines and lines[0].startswith("# "):
            words.append(lines.pop(0).removeprefix("# "))
        cells.append(("markdown", "\n".join(words)))
    cells.append(("code", "\n".join(code).strip("\n")))
    return [(kind, source) for kind, source in cells if source]


def _title(number: int, text: str) -> str:
    """Make the first line of a docstring a heading."""
    first, _, rest = text.partition("\n")
    return f"## {number}. {first.rstrip('.')}\n{rest}".rstrip("\n")


def run(source: str, name: str, namespace: dict[str, Any]) -> str:
    """Run a cell and return what it prints."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(source, name, "exec"), namespace)
    return printed.getvalue()


def pictures() -> list[str]:
    """Return what cells have drawn since the last call, as PNG in base64, and close it."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return []
    found = []
    for number in pyplot.get_fignums():
        stream = io.BytesIO()
        pyplot.figure(number).savefig(stream, format="png", dpi=80)
        found.append(b64encode(stream.getvalue()).decode("ascii") + "\n")
    pyplot.close("all")
    return found


def _outputs(printed: str, drawn: list[str]) -> list[dict[str, Any]]:
    """Return the outputs of a cell: a stream, and a picture each."""
    text = {"name": "stdout", "output_type": "stream", "text": printed.splitlines(keepends=True)}
    shown = [
        {
            "data": {"image/png": picture, "text/plain": ["<Figure>"]},
            "metadata": {},
            "output_type": "display_data",
        }
        for picture in drawn
    ]
    return [*([text] if printed else []), *shown]


def without_pictures(content: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook whose pictures are only counted, to be compared."""
    copied: dict[str, Any] = json.loads(json.dumps(content))
    for cell in copied["cells"]:
        for output in cell.get("outputs", ()):
            if "data" in output:
                output["data"]["image/png"] = ""
    return copied


def notebook(progress: Progress = no_progress) -> dict[str, Any]:
    """Run all cells and return the notebook as an object of nbformat 4.5."""
    cells = [_cell("introduction", "markdown", _INTRODUCTION.rstrip("\n"))]
    namespace: dict[str, Any] = {"__name__": "__main__"}
    paths = scripts()
    count = 0
    with progress("running the scripts", total=len(paths)) as bar:
        for number, path in enumerate(paths, start=1):
            for k, (kind, source) in enumerate(split(path.read_text(encoding="utf-8"))):
                name = f"{path.stem.replace('_', '-')}-{k}"
                if kind == "markdown":
                    text = _title(number, source) if k == 0 else source
                    cells.append(_cell(name, kind, text))
                    continue
                count += 1
                printed = run(source, f"{path.name}, cell {k}", namespace)
                outputs = _outputs(printed, pictures())
                made = {"execution_count": count, "outputs": outputs}
                cells.append(_cell(name, kind, source) | made)
            bar.advance()
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _cell(name: str, kind: str, source: str) -> dict[str, Any]:
    return {
        "cell_type": kind,
        "id": name,
        "metadata": {},
        "source": source.splitlines(keepends=True),
    }


def as_text(content: dict[str, Any]) -> str:
    """Return the notebook's text, laid out as Jupyter does when it saves."""
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def main() -> int:
    """Write the notebook, or compare."""
    parser = argparse.ArgumentParser(description="Assemble tour.ipynb from the numbered scripts.")
    parser.add_argument("--check", action="store_true", help="compare, do not write")
    check = parser.parse_args().check
    made = notebook(terminal_progress)
    if check:
        kept = json.loads(NOTEBOOK.read_text(encoding="utf-8")) if NOTEBOOK.is_file() else {}
        fresh = bool(kept) and without_pictures(kept) == without_pictures(made)
        print("up to date" if fresh else "out of date: run examples/make_notebook.py")
        return 0 if fresh else 1
    write_whole(NOTEBOOK, as_text(made))
    print(f"written: {NOTEBOOK}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
