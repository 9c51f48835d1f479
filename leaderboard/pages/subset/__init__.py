"""Cutting an evaluation set from a corpus."""
