"""One batch of runs: from a law and a seed to samples, every open comparison decided exactly."""
