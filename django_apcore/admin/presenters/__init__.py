"""Rows of the database, turned into what a person reads. No queries, no rules, no HTML."""
