"""Published tables of a corpus with ours beside them."""
