"""Compiled loops of searches that do not learn; arrays in, arrays out, no validation."""
