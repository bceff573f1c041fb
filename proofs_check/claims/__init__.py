"""What is claimed and what an answer is: expressions, settings, verdicts, counterexamples."""
