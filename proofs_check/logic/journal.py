"""What a piece of work rests on: the solver queries it put, and other work that it leans on.

While a check runs, a `Journal` is open (`writing`). Every query that is put to z3 is noted in it,
together with the answer and with what cvc5 said. What several statements share (the cases of a
step, an automaton) is derived once, on a `Shelf`; its queries are noted in a journal of its own,
and every journal that is open when somebody asks for it leans on that one. So the closure of a
check's journal has every query behind its verdict, whoever asked first.

Texts of queries are kept only where they are wanted: for certificates, and where the second
solver is asked about all of them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

__all__ = [
    "Journal",
    "Query",
    "Shelf",
    "closure",
    "lean_on",
    "note",
    "note_value",
    "smt_text",
    "texts_wanted",
    "writing",
]

Status = Literal["unsat", "sat", "unknown"]
Second = Literal["agrees", "unknown", "not asked"]


@dataclass(kw_only=True)
class Query:
    """One question to the solvers.

    Attributes
    ----------
    status : z3's answer; "unknown" is evidence of nothing
    text : the declarations and assertions in SMT-LIB; "" where it was not kept
    logic : its logic
    witness : a model in exact rationals, where the answer is "sat" and there is one
    second : what cvc5 said to the same question
    purpose : what it was asked for
    """

    status: Status
    text: str = ""
    logic: str = "QF_NRA"
    witness: Mapping[str, str] = field(default_factory=dict)
    second: Second = "not asked"
    purpose: str = ""

    @property
    def key(self) -> str:
        """The SHA-256 of logic and text."""
        return hashlib.sha256(f"{self.logic}\n{self.text}".encode()).hexdigest()


@dataclass(eq=False)
class Journal:
    """The queries of one piece of work, in order, and the journals it leans on.

    Attributes
    ----------
    texts : whether the texts of queries are kept
    subject : what was derived, if the journal belongs to something on a shelf
    values : (quantity, n, l) -> exact value used as evidence
    """

    name: str
    texts: bool = False
    queries: list[Query] = field(default_factory=list)
    leans_on: list[Journal] = field(default_factory=list)
    subject: Any = None
    values: dict[tuple[str, int, int], Any] = field(default_factory=dict)


_OPEN: ContextVar[Journal | None] = ContextVar("open journal", default=None)


@contextmanager
def writing(journal: Journal) -> Iterator[Journal]:
    """Note what is asked inside in this journal."""
    token = _OPEN.set(journal)
    try:
        yield journal
    finally:
        _OPEN.reset(token)


def texts_wanted() -> bool:
    """Return whether the open journal keeps the texts of queries."""
    journal = _OPEN.get()
    return journal is not None and journal.texts


def note(query: Query) -> None:
    """Note a query in the open journal, if there is one."""
    journal = _OPEN.get()
    if journal is not None:
        journal.queries.append(query)


def note_value(quantity: str, n: int, ell: int, value: Any) -> None:
    """Note that an exact value at an instance is used as evidence."""
    journal = _OPEN.get()
    if journal is not None:
        journal.values[quantity, n, ell] = value


def lean_on(journal: Journal) -> None:
    """Note that the open journal's work uses what another journal tells of."""
    here = _OPEN.get()
    if here is not None and here is not journal and journal not in here.leans_on:
        here.leans_on.append(journal)


def closure(journals: Iterable[Journal]) -> list[Journal]:
    """Return the journals and all that they lean on, each once, those leant on last."""
    found = list(dict.fromkeys(journals))
    for journal in found:
        found.extend(other for other in journal.leans_on if other not in found)
    return found


_Value = TypeVar("_Value")


class Shelf(Generic[_Value]):
    """Things that are derived once per key, each with the journal of its derivation.

    >>> shelf = Shelf("squares")
    >>> with writing(Journal("a check")) as journal:
    ...     shelf.get(3, lambda: 9)
    9
    >>> [other.name for other in journal.leans_on]
    ['squares']
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._kept: dict[Hashable, tuple[_Value, Journal]] = {}

    def get(self, key: Hashable, derive: Callable[[], _Value]) -> _Value:
        """Return what is on the shelf; derive it if it is not, or if texts are wanted anew."""
        known = self._kept.get(key)
        if known is None or (texts_wanted() and not known[1].texts):
            journal = Journal(self.name, texts_wanted())
            with writing(journal):
                journal.subject = derive()
            known = self._kept[key] = (journal.subject, journal)
        lean_on(known[1])
        return known[0]


_LET = re.compile(r"[?$]x[0-9]+")


def smt_text(printed: str) -> str:
    """Return z3's print of a solver as declarations and assertions that are the same every time.

    z3 names shared terms by their place in memory; here they are numbered as they occur.
    """
    numbers: dict[str, str] = {}
    begin = min(at for word in ("(declare-", "(assert") if (at := printed.find(word)) >= 0)
    kept = printed[begin : printed.rindex("(check-sat)")].strip()
    return _LET.sub(lambda m: numbers.setdefault(m[0], f"x!{len(numbers)}"), kept) + "\n"
