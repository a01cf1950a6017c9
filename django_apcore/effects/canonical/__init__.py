"""Changes in the one form that a digest is made of."""
