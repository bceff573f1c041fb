"""Simulations of LRSAO and its relatives that cross-validate the exact engine."""
