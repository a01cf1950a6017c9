"""Tests; the folders mirror the source tree, file for file."""
