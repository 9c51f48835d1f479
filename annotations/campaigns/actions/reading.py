"""That a rater has read the guidelines."""

from __future__ import annotations

from annotations.campaigns.models import Guidelines, Participation


def accept_guidelines(participation: Participation, number: int | None) -> None:
    """Remember the version that was on the page. An older one never takes the place of a newer
    one."""
    if number is None:
        return
    read = Guidelines.objects.filter(campaign=participation.campaign_id, number=number).first()
    if read is None:
        return
    before = participation.guidelines_read
    if before is None or before.number < read.number:
        Participation.objects.filter(pk=participation.pk).update(guidelines_read=read)
        participation.guidelines_read = read
