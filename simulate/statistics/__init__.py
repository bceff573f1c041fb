"""What samples say: estimates with confidence bounds, and comparisons with the exact engine.

`estimates` are means, ERT and quantiles with confidence bounds; `comparisons` are tests of samples
against exact values; `crossval` runs a family of such tests over many experiments.
"""
