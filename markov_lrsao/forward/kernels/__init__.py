"""Compiled kernels that move clouds of tables."""
