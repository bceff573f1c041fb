"""Compiled runs: arrays in, arrays out, no validation.

`philox` draws random numbers, `entries` holds Q-entries with error bounds, `updates` applies the
update rule, `monitors` watches, `stop` listens for an interrupt, and `play` is the loop itself.
"""
