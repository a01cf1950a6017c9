"""The tables of the matrix."""
