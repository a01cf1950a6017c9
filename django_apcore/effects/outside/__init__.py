"""What a run would do past the databases: refused before it happens, and named in its record."""
