"""Computer algebra: polynomials, harmonic numbers, brackets of functions, displayed lines."""
