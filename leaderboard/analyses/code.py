"""Which code computes answers: what older code made may have another form, and other numbers."""

from __future__ import annotations

import hashlib
from pathlib import Path

_PROJECT = Path(__file__).resolve().parents[2]
_OF_STATISTICS = [
    *sorted((_PROJECT / "leaderboard" / "queries").glob("*.py")),
    *sorted((_PROJECT / "leaderboard" / "statistics").glob("*.py")),
    *sorted((_PROJECT / "leaderboard" / "challenges" / "board").glob("*.py")),
    *sorted((_PROJECT / "leaderboard" / "challenges" / "queries").glob("board*.py")),
    *sorted((_PROJECT / "annotations" / "agreement").glob("*.py")),
    *sorted((_PROJECT / "annotations" / "correlation").glob("*.py")),
    _PROJECT / "annotations" / "campaigns" / "queries" / "ratings.py",
    _PROJECT / "annotations" / "campaigns" / "rater_statistics" / "disagreement.py",
    _PROJECT / "annotations" / "estimates.py",
    _PROJECT / "annotations" / "queries.py",
    _PROJECT / "annotations" / "rating_queries.py",
    _PROJECT / "workers" / "judging" / "model_families.py",
    _PROJECT / "workers" / "judging" / "worth.py",
]
CODE = hashlib.sha256(b"".join(file.read_bytes() for file in _OF_STATISTICS)).hexdigest()[:12]
