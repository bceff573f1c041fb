"""Many experiments of runs: planned from a file, stored, resumed, on threads or a cluster."""
