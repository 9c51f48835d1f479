"""Which people's answers a distribution metric holds a system against: an option that such metrics
share."""

from __future__ import annotations

from workers.metrics.base import Option

REFERENCES = "references"
"""The references of the corpus that the system answers."""

HUMAN = Option(
    "human",
    REFERENCES,
    "the human side: references (of the same corpus), or another corpus's slug, or slug@version",
)
