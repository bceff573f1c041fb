"""Compiled kernels that look for runs."""
