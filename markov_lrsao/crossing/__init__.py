"""Crossing counts: the run cut into sites and blocks, whose generating functions multiply."""
