"""What samples say.

`estimates` are means, ERT and quantiles with confidence bounds; `comparisons` are tests of samples
against exact values; `crossval` runs a family of such tests over many experiments.
"""
