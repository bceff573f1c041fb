"""Where patterns do not decide: values of entries, followed as far as they matter.

`clusters` are sets of values closed under updates, told apart by `cells`; `invariants` confirms
them from nothing but themselves. `refinement` explores a stretch of positions
with them; what even values leave open becomes a choice. `merging` merges states that behave alike.
`tails` (after the cut) and `whole_run` (everywhere) apply this to runs. `choices` bounds answers
over all choices, `traps` finds runs that never end, `enclosure` refines until an answer is decided
or narrow. `quotient` follows whole tables instead, and leaves nothing open where it is finite.
"""
