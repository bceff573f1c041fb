"""Words beside the verdicts: what each means, what survives a refutation, what can be sharpened."""

from __future__ import annotations

__all__ = ["IN_DETAILS", "MARKS", "MEANING", "SHARPER", "SURVIVES"]

MARKS = {"PROVED": "✓", "VERIFIED": "✓", "SUPPORTED": "≈", "UNKNOWN": "?", "REFUTED": "✗"}
"""Verdicts, best first, and what tells them apart without their colour, too."""
MEANING = {
    "PROVED": "for all parameters of the stated range: by an SMT solver, by computer algebra, or "
    "by counting on automata that a solver derived for all parameters at once",
    "VERIFIED": "exhaustively or exactly on the finite range that the evidence names",
    "SUPPORTED": "no violation in random exact runs, at the error level that the evidence names",
    "UNKNOWN": "undecided, with the reason",
    "REFUTED": "with a counterexample that can be replayed",
}
SHARPER = {
    "Theorem 11": (
        "The constant of the slope can be lowered, and the lower one is the limit.",
        ("automata", "symbolic"),
    ),
    "Lemma 10": (
        "Its bound on visits is attained, but not at the last position of the slope.",
        ("automata", "quantitative"),
    ),
    "Lemma 9": ("The O(1) is an explicit rational function of n and l.", ("symbolic",)),
    "P(E)": ("The event that makes phase 3 slow has a closed form.", ("symbolic", "smt")),
    "Leaving n-l-1": (
        "The chance to enter the right plateau is larger, and the new bound is sharp.",
        ("automata",),
    ),
    "Remark 13": ("L and J leave a plateau position at once.", ("smt",)),
    "Theorem 16": ("The O is a Theta.", ("symbolic", "quantitative")),
    "Uniform over (H)": ("The constants do not depend on the hyper-parameters.", ("quantitative",)),
    "Lemma 17, improved": (
        "The bounds on harmonic numbers can be tightened further.",
        ("symbolic",),
    ),
    "Range of l": ("The range ends a little earlier than the text says.", ("smt",)),
    "Signs decide the slope": ("Signs alone decide what the agent does on the slope.", ("smt",)),
}
"""Statement -> in words, and which kinds of evidence say it; these carry the numbers."""
IN_DETAILS = {"Lemma 17, improved", "Range of l"}
"""Statements whose sharper bounds stand in the details of the evidence."""

SURVIVES = {
    "Lemma 5": "With the hypothesis f(b+1) >= f(b) it holds, and on Jump the bridges satisfy it, "
    "so nothing else breaks.",
    "After Lemma 14, choices": "The other reading (moves inside the plateau) is proved for all of "
    "(H), and with the paper's hyper-parameters both readings hold.",
    "Failing excursions, no way out": "Only a step of the proof is wrong: the bound on failing "
    "excursions that it serves is proved in another way.",
    "Failing excursions, one": "Not a claim of the paper: it shows that the paper's bound of two "
    "is sharp.",
    "(E), i.i.d. excursions": "Wald's step is not allowed, but Lemma 9 holds with an explicit "
    "function.",
    "Smallest n": "Only the stated range of n is off.",
    "Isolated points": "A side remark about a value of l outside the range.",
    "End points": "A slip of one index in the text; the definitions are right.",
    "Plateau sizes": "The left plateau has one position more; the ranges in the same sentence are "
    "right.",
    "After Lemma 14, selected": "Read as moves inside the plateau, 'never used again' is proved "
    "for all of (H).",
    "Improvement": "With Theta in place of Omega the claim holds.",
    "Lemma 3, one position": "Read with every position of the state, the lemma is proved.",
}
"""What is left of a refuted statement, in words."""
