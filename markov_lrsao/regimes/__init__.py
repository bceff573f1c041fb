"""Hyper-parameters as coordinates: maps of regimes, their borders, the limit of small penalties."""
