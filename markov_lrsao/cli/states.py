"""`markov-lrsao states`: a part's labelled transition matrix."""

from __future__ import annotations

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
