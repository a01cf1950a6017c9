"""The guided demonstration: `python -m project.demo`, which is what `make demo` runs."""
