"""A dialogue with the scores of its responses."""
