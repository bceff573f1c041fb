"""Numbers that are exact, and floats that know their error.

`rationals` is the door between text, fractions and floats. `intervals` have open or attained
ends, `balls`, `disks` and `measures` are floats with a bound of their error, `digits` are certain.
`series` are truncated power series over any of them, `matrices` multiplies matrices of series,
`progressions` those that are `functions` of a position, `evaluation` takes them at complex points.
`linear` solves small systems, `graphs` orders large ones, `partitions` finds classes that nothing
tells apart. A `quantity` is what an answer is made of. Nothing here knows a landscape.
"""
