"""A finished metric run may be the last one that a submission waits for."""
