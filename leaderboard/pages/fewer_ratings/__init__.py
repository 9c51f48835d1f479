"""Fewer ratings for the same certainty."""
