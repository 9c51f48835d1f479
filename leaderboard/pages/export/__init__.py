"""A corpus as a download."""
