"""The joint chain of (position, patterns of all rows), enumerated, and its plateaus."""
