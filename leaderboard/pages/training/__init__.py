"""Pages of training runs."""
