"""Which code realises which statement of the paper.

`implements` only records; the table statement - code is read back with `statements`, and
tests fail when a statement that must be covered has no code.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TypeVar

__all__ = ["implements", "statements"]

F = TypeVar("F", bound=Callable[..., object])
_MODULES = (
    "answers.profile",
    "chains.sources",
    "chains.visits",
    "forms.asymptotics",
    "forms.closed",
    "model.parameters",
    "rows.automata",
)
"""The modules of the engine that use `implements`."""
_REGISTRY: dict[str, list[str]] = {}


def implements(*names: str) -> Callable[[F], F]:
    """Record that the decorated function realises the named statements, e.g. "Lemma 5"."""

    def mark(function: F) -> F:
        for name in names:
            _REGISTRY.setdefault(name, []).append(f"{function.__module__}.{function.__qualname__}")
        return function

    return mark


def statements() -> dict[str, tuple[str, ...]]:
    """Return statement -> names of the functions that realise it.

    All of the engine, whatever has been imported before; of other packages what is imported.
    """
    for module in _MODULES:
        import_module(f"markov_lrsao.{module}")
    return {name: tuple(functions) for name, functions in sorted(_REGISTRY.items())}
