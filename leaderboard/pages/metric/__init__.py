"""The page of one metric."""
