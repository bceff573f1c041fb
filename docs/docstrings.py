"""How the site reads docstrings: ``name : what it is`` describes, the signature has the types."""

from __future__ import annotations

from typing import Any

from griffe import DocstringSectionKind, Extension, Module, Object

DESCRIBED = (DocstringSectionKind.parameters, DocstringSectionKind.attributes)


def described(item: Object) -> None:
    """Move what stands after the colon from the type to the description."""
    if item.docstring is None:
        return
    for section in item.docstring.parsed:
        if section.kind not in DESCRIBED:
            continue
        for entry in section.value:
            if isinstance(entry.annotation, str):
                entry.description = f"{entry.annotation}\n{entry.description}".strip()
                entry.annotation = annotation_of(item, entry.name)


def annotation_of(item: Object, name: str) -> Any:
    """Return the annotation of a parameter or attribute, if the code has one."""
    if item.is_function:
        found = next((p for p in item.parameters if p.name == name), None)  # type: ignore[attr-defined]
        return None if found is None else found.annotation
    member = item.members.get(name)
    return getattr(member, "annotation", None)


class Descriptions(Extension):
    """Applies `described` to the public names and their members."""

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        """Called by griffe when a package has been read."""
        from markov_lrsao import _HOMES

        for name, home in _HOMES.items():
            if home.split(".")[0] != pkg.name:
                continue
            item: Any = pkg[f"{home}.{name}".partition(".")[2]]
            described(item)
            for member in item.members.values():
                if not member.is_alias:
                    described(member)
