"""Instances that stay open: what decides them is taken away, as where no quotient is found."""

from __future__ import annotations

import pytest

from markov_lrsao.errors import Refused, StateSpaceTooLargeError

__all__ = ["left_open", "without_quotients"]


def left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let values be followed by clusters only, and by no finer ones once an answer is narrow."""

    def none_found(*_: object, **__: object) -> None:
        raise StateSpaceTooLargeError("no quotient around the cut, in this test")

    monkeypatch.setattr("markov_lrsao.values.enclosure.stable_decomposition", none_found)
    monkeypatch.setattr("markov_lrsao.values.enclosure._PATIENT_TAIL", 0)
    monkeypatch.setattr("markov_lrsao.values.enclosure.focused", lambda _: iter(()))


def without_quotients(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, and no quotient of whole runs either, which laws of small instances look for."""
    left_open(monkeypatch)
    monkeypatch.setattr(
        "markov_lrsao.values.whole_run.stable_quotient",
        lambda *_: Refused(StateSpaceTooLargeError("no quotient of all tables, in this test")),
    )
