"""What we measure: `python -m benchmarks`."""
