"""Modules as tools of the Model Context Protocol."""
