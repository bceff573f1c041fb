"""Exact numbers: rationals, intervals, series, matrices of series, and floats with error bounds."""
