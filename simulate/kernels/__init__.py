"""Compiled runs: random streams, Q-entries with error bounds, updates, monitors, the loop
itself.
"""
