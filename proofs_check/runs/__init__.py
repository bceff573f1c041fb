"""Exact runs, the monitors that watch them, the search for a run that refutes."""
