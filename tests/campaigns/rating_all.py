"""A rater who works until nothing is left."""

from __future__ import annotations

from django.utils import timezone

from annotations.campaigns.actions.work_queue import Judgement, fill_queue, rate_and_refill
from annotations.campaigns.models import Assignment, Conversation, Participation


def rate_all(rater: Participation, score: int = 3, most: int = 1000) -> list[Assignment]:
    """Work as the rating page does until the desk stays empty; what was rated, in order."""
    rated: list[Assignment] = []
    work_queue = fill_queue(rater)
    while len(rated) < most and (given := work_queue.assignments):
        if given[0].item.chat_system_id:
            Conversation.objects.create(assignment=given[0], finished_at=timezone.now())
        judgement = Judgement(key=f"key {len(rated)}", score=score)
        _, work_queue = rate_and_refill(rater, given[0].item.public_id, judgement)
        rated.append(given[0])
    return rated
