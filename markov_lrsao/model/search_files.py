"""Searches from files: actions, and the modes that draw from them, as JSON or TOML.

    name = "one bit, now and then two"      optional; default: the file's name
    [[actions]]
    flips = 1                               or sizes = {1 = "1/2", 3 = "1/2"}, or rate = "1/n"
    accept = "better"                       default not-worse; all, worse, metropolis with a base
    [[actions]]
    rate = "2/n"
    positive = true                         mutations that flip nothing are drawn again
    accept = "metropolis"
    base = 5
    of = "O"                                the objective that decides; default: the target
    [[modes]]                               default: one mode that draws uniformly
    draws = ["1", "0"]                      the probability of every action
    next = ["1 - 1/n", "1/n"]               that of every mode in the next step; default: it stays
    after_success = ["1", "0"]              the same if the target has just grown; default: next
    [[modes]]
    draws = ["0", "1"]
    next = ["1/2", "1/2"]

Runs begin in the first mode. `switch_first = true`: the mode changes before the move. Numbers are
integers or texts with a rational expression in n.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flint import fmpq

from markov_lrsao.errors import ParameterError
from markov_lrsao.inputs import load_table
from markov_lrsao.model.naming import expression
from markov_lrsao.model.search import Acceptance, Action, Mutation, Search, Switch

__all__ = ["SearchFile"]

_KEYS = {"name", "actions", "modes", "switch_first"}
_ACTION = {"flips", "sizes", "rate", "positive", "accept", "base", "of"}
_MODE = {"draws", "next", "after_success"}
_RULES = ("not-worse", "better", "all", "worse", "metropolis")


@dataclass(frozen=True)
class SearchFile:
    """A file that was read; at every n it is a `Search`."""

    path: str
    data: Mapping[str, Any]

    @classmethod
    def read(cls, path: str | Path) -> SearchFile:
        """Read a file and check its form.

        Raises
        ------
        ParameterError
        """
        data = load_table(path, "algorithm")
        found = cls(str(path), data if isinstance(data, dict) else {})
        found._check("the file", data, _KEYS)
        for key, known in (("actions", _ACTION), ("modes", _MODE)):
            items = data.get(key, [])
            if not isinstance(items, list) or (key in data and not items):
                raise found._wrong(f"{key} must be a list of tables")
            for i, item in enumerate(items, start=1):
                found._check(f"{key} {i}", item, known)
        if "actions" not in data:
            raise found._wrong("actions are missing: write e.g. flips = 1 below [[actions]]")
        return found

    def at(self, n: int) -> Search:
        """Return the search on n bits.

        Raises
        ------
        ParameterError
            A probability is none there, or more bits are flipped than there are.
        """
        try:
            return self._at(n).at(n)
        except ParameterError as error:
            text = str(error)
            raise error if text.startswith(self._place) else self._wrong(text) from None

    def _at(self, n: int) -> Search:
        name = str(self.data.get("name", Path(self.path).stem))
        actions = [self._action(item, n) for item in self.data["actions"]]
        switch_first = self._flag(self.data, "switch_first")
        if "modes" not in self.data:
            return Search.mixed(name, actions)
        items = self.data["modes"]
        modes, switches = [], []
        for i, item in enumerate(items):
            same = [fmpq(int(i == g)) for g in range(len(items))]
            usual = self._law(item, "next", len(items), n, same)
            after = self._law(item, "after_success", len(items), n, None)
            if after is not None and switch_first:
                raise self._wrong("after_success needs switch_first = false: the move comes first")
            modes.append(self._law(item, "draws", len(actions), n, None))
            switches.append(Switch(usual if after is None else after, usual))
        if None in modes:
            raise self._wrong("draws is missing: give the probability of every action")
        return Search(
            name=name,
            actions=tuple(actions),
            modes=tuple(modes),
            switches=() if len(items) == 1 else tuple(switches),
            switch_first=switch_first,
        )

    def _action(self, item: Mapping[str, Any], n: int) -> Action:
        builders: dict[str, Callable[[Any], Mutation]] = {
            "flips": lambda k: Mutation.flips(self._count(k, n)),
            "sizes": lambda law: Mutation.distribution(
                [(self._count(k, n), self._number(w, n)) for k, w in self._table(law).items()]
            ),
            "rate": lambda p: Mutation.standard(
                self._number(p, n), positive=self._flag(item, "positive")
            ),
        }
        given = [key for key in builders if key in item]
        if len(given) != 1 or ("positive" in item and given != ["rate"]):
            raise self._wrong("an action has flips, sizes, or a rate (perhaps positive)")
        rule = item.get("accept", "not-worse")
        if rule not in _RULES:
            raise self._wrong(f"accept = {rule!r} is not one of {', '.join(_RULES)}")
        base = self._number(item["base"], n) if "base" in item else None
        mutation = builders[given[0]](item[given[0]])
        return Action(mutation, Acceptance(rule, base, item.get("of")))

    def _law(
        self, item: Mapping[str, Any], key: str, size: int, n: int, default: list[fmpq] | None
    ) -> Any:
        """Return (number, probability) of what a mode draws or becomes; None: it is not said."""
        if key not in item and default is None:
            return None
        found = default
        if key in item:
            if not isinstance(item[key], list):
                raise self._wrong(f"{key} must be a list of {size} probabilities")
            found = [self._number(w, n) for w in item[key]]
        assert found is not None
        if len(found) != size or min(found) < 0 or sum(found, fmpq(0)) != 1:
            raise self._wrong(
                f"{key} = {[str(w) for w in found]} at n = {n} is no distribution over {size}"
            )
        return tuple((i, w) for i, w in enumerate(found) if w)

    def _number(self, value: Any, n: int) -> fmpq:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise self._wrong(f'{value!r} is not exact: write an integer, or a text such as "1/n"')
        return expression(str(value), "a number")(n=n)

    def _count(self, value: Any, n: int) -> int:
        found = self._number(value, n)
        if found.q != 1:
            raise self._wrong(f"{value!r} is not a number of bits at n = {n}")
        return int(found.p)

    def _flag(self, item: Mapping[str, Any], key: str) -> bool:
        found = item.get(key, False)
        if not isinstance(found, bool):
            raise self._wrong(f"{key} must be true or false")
        return found

    def _table(self, value: Any) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self._wrong('sizes must be a table such as {1 = "1/2", 3 = "1/2"}')
        return value

    def _check(self, where: str, item: Any, known: set[str]) -> None:
        if not isinstance(item, dict) or not set(item) <= known:
            names = ", ".join(sorted(known))
            raise self._wrong(f"{where} must be a table; its keys are {names}")

    @property
    def _place(self) -> str:
        return f"algorithm file {self.path}: "

    def _wrong(self, text: str) -> ParameterError:
        return ParameterError(self._place + text)
