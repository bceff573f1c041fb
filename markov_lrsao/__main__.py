"""`python -m markov_lrsao`."""

from markov_lrsao.cli import entry_point

entry_point()
