"""What samples say: estimates with confidence bounds, and comparisons with the exact engine."""
