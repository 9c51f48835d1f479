"""A whole site in one file, and back: the same file for SQLite and PostgreSQL.

``archive`` is the file; ``portable`` says how values are written so that both databases read them;
``making`` writes one, ``restoring`` reads one, and ``loading`` is what differs between the two
databases there; ``apart`` keeps the two from running at the same time.
"""
