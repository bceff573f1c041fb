"""From a law and a seed to samples.

`encoding` turns the law into arrays, `streams` gives every run its own random numbers. A `game`
plays batches of runs on threads (`stopping` ends them); what a kernel cannot compare, `decide`
settles exactly. `runner` is the front door and returns `samples`. `batches` packs runs for storage,
`ioh` writes them for IOHanalyzer. `rules` are the monitored lemmas, `endless` finds runs that
cannot end, and `reference` plays the paper's algorithm literally, in rationals.
"""
