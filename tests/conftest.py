"""Settings that all tests share."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Deterministic by default, so that a red test means a change of the code. Set
# HYPOTHESIS_PROFILE=search to look for new counterexamples at random.
settings.register_profile(
    "default", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow],
    database=None,
)
settings.register_profile("search", deadline=None, max_examples=500, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
