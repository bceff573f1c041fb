"""Checks of the statements of the LRSAO paper."""
