"""A judge's answers and its hygiene."""
