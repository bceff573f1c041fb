"""Compiled loops of the solvers; arrays in, arrays out, no validation."""
