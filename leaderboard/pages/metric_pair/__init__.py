"""Two metrics compared."""
