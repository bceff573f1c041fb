"""Finite Markov chains: made from sources, solved exactly or in floats, hitting times and
visits.
"""
