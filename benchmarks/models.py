"""Model checkers' benchmark chains of any size, built by Storm.

brp, crowds and nand are the examples inside the stormpy wheel with other constants; leader (Itai
and Rodeh's synchronous election on a ring), herman (Herman's self-stabilising ring) and egl (the
contract signing of Even, Goldreich and Lempel) are written here, since their text depends on the
number of processes, or of secrets.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

__all__ = ["MODELS", "build"]

MODELS: dict[str, tuple[str, str]] = {
    "brp 64,5": ("P", "target"),
    "brp 2048,5": ("P", "target"),
    "crowds 5,8": ("P", "observe0Greater1"),
    "crowds 5,10": ("P", "observe0Greater1"),
    "nand 20,4": ("P", "target"),
    "egl 5,2": ("P", "unfair"),
    "egl 5,8": ("P", "unfair"),
    "leader 4,8": ("T", "elected"),
    "leader 5,4": ("T", "elected"),
    "herman 11": ("T", "stable"),
    "herman 13": ("T", "stable"),
}
"""Model -> what is asked (P probability, T expected time) of which label."""

_EXAMPLES = {
    "brp": ("brp-16-2.pm", ("N", "MAX")),
    "crowds": ("crowds-5-5.pm", ("CrowdSize", "TotalRuns")),
    "nand": ("nand-5-2.pm", ("N", "K")),
}


def _example(family: str, numbers: list[int]) -> str:
    """Return the text of one of the wheel's examples with these constants."""
    import stormpy

    file, names = _EXAMPLES[family]
    folder = Path(stormpy.__file__).parent / "examples" / "files" / "dtmc"
    text = (folder / file).read_text(encoding="utf-8")
    for name, number in zip(names, numbers, strict=True):
        text, changed = re.subn(rf"(const int {name}\s*=\s*)\d+", rf"\g<1>{number}", text)
        if changed != 1:
            raise ValueError(f"{file} has no constant {name}")
    return text


def _leader(processes: int, choices: int) -> str:
    """Return the synchronous election: all pick numbers; a unique one makes a leader."""
    ring = range(1, processes + 1)
    alone = "|".join(f"u{i}" for i in ring)
    lines = [
        "dtmc",
        f"const int N = {processes};",
        f"const int K = {choices};",
        "module counter",
        "  c : [1..N-1];",
        "  [read] c<N-1 -> (c'=c+1);",
        "  [read] c=N-1 -> true;",
        f"  [done] {alone} -> true;",
        f"  [retry] !({alone}) -> (c'=1);",
        "  [loop] s1=3 -> true;",
        "endmodule",
    ]
    picks = " + ".join(
        f"1/K : (s1'=1) & (p1'={k}) & (v1'={k}) & (u1'=true)" for k in range(choices)
    )
    lines += [
        "module process1",
        "  s1 : [0..3]; u1 : bool; v1 : [0..K-1]; p1 : [0..K-1];",
        f"  [pick] s1=0 -> {picks};",
        "  [read] s1=1 & u1 & c<N-1 -> (u1'=(p1!=v2)) & (v1'=v2);",
        "  [read] s1=1 & !u1 & c<N-1 -> (v1'=v2) & (p1'=0);",
        "  [read] s1=1 & u1 & c=N-1 -> (s1'=2) & (u1'=(p1!=v2)) & (v1'=0) & (p1'=0);",
        "  [read] s1=1 & !u1 & c=N-1 -> (s1'=2) & (v1'=0);",
        "  [done] s1=2 -> (s1'=3) & (u1'=false) & (v1'=0) & (p1'=0);",
        "  [retry] s1=2 -> (s1'=0) & (u1'=false) & (v1'=0) & (p1'=0);",
        "  [loop] s1=3 -> true;",
        "endmodule",
    ]
    for i in ring[1:]:
        following = i % processes + 1
        lines.append(
            f"module process{i} = process1 "
            f"[ s1=s{i}, p1=p{i}, v1=v{i}, u1=u{i}, v2=v{following} ] endmodule"
        )
    return "\n".join([*lines, 'label "elected" = s1=3;', ""])


def _herman(processes: int) -> str:
    """Return Herman's ring: a process that equals its neighbour flips a coin, else copies it."""
    ring = range(1, processes + 1)
    lines = [
        "dtmc",
        "module process1",
        "  x1 : [0..1] init 1;",
        f"  [step] x1=x{processes} -> 0.5 : (x1'=0) + 0.5 : (x1'=1);",
        f"  [step] x1!=x{processes} -> (x1'=x{processes});",
        "endmodule",
    ]
    lines += [
        f"module process{i} = process1 [ x1=x{i}, x{processes}=x{i - 1} ] endmodule"
        for i in ring[1:]
    ]
    tokens = " + ".join(f"(x{i}=x{i - 1 or processes}?1:0)" for i in ring)
    return "\n".join([*lines, f'label "stable" = {tokens} = 1;', ""])


def _egl(pairs: int, bits: int) -> str:
    """Return the signing of a contract: who has both halves of a pair of secrets can enforce it.

    First each party gets one half of every pair, it is not known to the other which one. Then bit
    after bit of all halves is sent, all first halves before all second ones, B being served first.
    B can enforce the contract while A cannot with probability 1 - 2^-pairs + 4^-pairs.
    """
    last = pairs - 1
    lines = [
        "dtmc",
        "module counter",
        f"  b : [1..{bits}]; n : [0..{last}]; phase : [1..4]; party : [1..2];",
        "  [toB] phase=1 & party=1 -> (party'=2);",
        f"  [toA] phase=1 & party=2 & n<{last} -> (party'=1) & (n'=n+1);",
        f"  [toA] phase=1 & party=2 & n={last} -> (party'=1) & (phase'=2) & (n'=0);",
        f"  [toB] phase>1 & phase<4 & party=1 & n<{last} -> (n'=n+1);",
        f"  [toB] phase>1 & phase<4 & party=1 & n={last} -> (party'=2) & (n'=0);",
        f"  [toA] phase>1 & phase<4 & party=2 & n<{last} -> (n'=n+1);",
        f"  [toA] phase=2 & party=2 & n={last} -> (phase'=3) & (party'=1) & (n'=0);",
        f"  [toA] phase=3 & party=2 & n={last} & b<{bits}"
        " -> (phase'=2) & (party'=1) & (n'=0) & (b'=b+1);",
        f"  [toA] phase=3 & party=2 & n={last} & b={bits} -> (phase'=4);",
        "  [] phase=4 -> true;",
        "endmodule",
    ]
    for who, known in (("A", "b"), ("B", "a")):
        lines.append(f"module party{who}")
        lines += [f"  {known}{i} : [0..{bits}];" for i in range(2 * pairs)]
        for i in range(pairs):
            one, two = f"{known}{i}", f"{known}{i + pairs}"
            lines += [
                f"  [to{who}] phase=1 & n={i} -> 0.5 : ({one}'={bits}) + 0.5 : ({two}'={bits});",
                f"  [to{who}] phase=2 & n={i} -> ({one}'=min({one}+1,{bits}));",
                f"  [to{who}] phase=3 & n={i} -> ({two}'=min({two}+1,{bits}));",
            ]
        lines.append("endmodule")
    knows = {
        known: "|".join(f"({known}{i}={bits} & {known}{i + pairs}={bits})" for i in range(pairs))
        for known in "ab"
    }
    return "\n".join([*lines, f'label "unfair" = !({knows["b"]}) & ({knows["a"]});', ""])


def build(name: str, folder: Path) -> Path:
    """Write a model as an exact DRN file, e.g. "crowds 5,10"; return the file."""
    import stormpy

    path = folder / f"{name.replace(' ', '-').replace(',', '-')}.drn"
    if path.exists():
        return path
    family, _, given = name.partition(" ")
    numbers = [int(number) for number in given.split(",")]
    written: dict[str, Callable[..., str]] = {"leader": _leader, "herman": _herman, "egl": _egl}
    text = written[family](*numbers) if family in written else _example(family, numbers)
    source = folder / f"{path.stem}.pm"
    source.write_text(text, encoding="utf-8")
    program = stormpy.parse_prism_program(str(source))
    stormpy.io.export_to_drn(stormpy.build_model[stormpy.Rational](program), str(path))
    return path
