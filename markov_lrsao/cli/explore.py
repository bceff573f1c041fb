"""`markov-lrsao explore`: a page on the loopback address with the engine behind it."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

import typer

from markov_lrsao.cli.options import AlgorithmName

_LANDSCAPES = ("regions:widths=3+3,bridges=shared", "cliff:d=3", "jump-m:m=3", "hurdle:w=3")
_SEARCHES = ("ea", "rls-k:k=optimal", "metropolis:base=n", "mahh:p=1/n", "mmahh:p=1/n,q=1/2")
"""What the page offers beside the families and the algorithms that can be watched."""

__all__ = ["explore"]


def explore(
    port: Annotated[
        int,
        typer.Option("--port", help="Where to listen.", show_default="any", min=0, max=65535),
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in your browser.")
    ] = True,
) -> None:
    """Serve a page on which everything can be tried: settings, E[T], map, law, rows, runs.

    Only this machine can open it, with the address that is printed. Every view shows the command
    that computes the same. Ctrl-C ends it.
    """
    from markov_lrsao.cli import main
    from markov_lrsao.explore import serve

    def announce(url: str) -> None:
        typer.echo(f"the explorer is at {url}\nCtrl-C ends it")
        if browser:
            import webbrowser

            webbrowser.open(url)

    serve(main, _options, model(), port=port, announce=announce)


@cache
def _options(command: str) -> frozenset[str]:
    """Return the long options that a command has."""
    import typer.main

    from markov_lrsao.cli.app import app

    group: Any = typer.main.get_command(app)
    return frozenset(o for parameter in group.commands[command].params for o in parameter.opts)


def model() -> dict[str, Any]:
    """Return what the page offers: landscapes, algorithms, and which have a parameter l."""
    from markov_lrsao.model.landscape import FAMILIES
    from markov_lrsao.release import release

    no_ell = {str(n): [0, 0] for n in range(1, 61)}
    named = {text: {"title": "", "ell": no_ell} for text in _LANDSCAPES}

    return {
        "version": release(),
        "landscapes": {name: _ells(family) for name, family in FAMILIES.items()} | named,
        "algorithms": [*(name.value for name in AlgorithmName), *_SEARCHES],
    }


def _ells(family: Any) -> dict[str, Any]:
    """Return a family's title, and its (smallest, largest) l at every n up to 60."""
    ranges = {n: family.ell_range(n) for n in range(1, 61)}
    return {
        "title": family.name,
        "ell": {str(n): list(found) for n, found in ranges.items() if found is not None},
    }
