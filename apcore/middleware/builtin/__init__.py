"""Middlewares that come with the core (§11.4)."""
