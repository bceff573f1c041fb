"""Parameters that minimise E[T]: found in floats, certified where they were found."""

from markov_lrsao.answers.tuning.results import Bracket, Fit, Range, Tuned, TuneResult
from markov_lrsao.answers.tuning.search import tune

__all__ = ["Bracket", "Fit", "Range", "TuneResult", "Tuned", "tune"]
