"""Many experiments: planned, played, stored, resumed.

A `plan` is a list of experiments; `sweep` plays what is missing of it, in batches, on threads or on
a `cluster`; `store` keeps the results in a file that survives interruptions.
"""
