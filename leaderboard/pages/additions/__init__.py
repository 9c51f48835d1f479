"""Adding a table to a corpus."""
