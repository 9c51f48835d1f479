"""Rows of work that a worker claims for a while: ``models``, ``leases``, ``notifications``."""
