"""Which judges that organisers wrote the rounds of challenges ask for: so long these judges
stay."""

from __future__ import annotations

from leaderboard.challenges.models import Round
from workers.judges.prompt_queries import Naming


def rounds_naming(part: str) -> list[Naming]:
    """Each metric of a round whose text holds the ``part``. There are few rounds: all are read."""
    rounds = Round.objects.select_related("challenge").order_by("challenge_id", "position", "pk")
    return [
        Naming(text, f"{one.name}, {one.challenge.name}")
        for one in rounds
        for text in dict.fromkeys([*one.metrics, *one.private_metrics])
        if part in text
    ]
