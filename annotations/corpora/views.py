"""Pages about corpora as such, and those where organisers add one from a file and say who sees it.
What metrics say of a corpus is shown by the leaderboard."""

from __future__ import annotations
