"""The name under which a rater's browser keeps what waits to be sent, and whose it is.

It outlives the session: a page that stayed open sends what it kept as whoever is logged in by then.
With the name comes whose it is, so that nobody's rating becomes somebody else's."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.crypto import constant_time_compare, salted_hmac

from annotations.campaigns.models import Campaign, Participation


def outbox_name(participation: Participation) -> str:
    """Of this rater in this campaign, and telling neither."""
    return _name(participation.pk)


def _name(key: int) -> str:
    return salted_hmac("dialeval.rating.outbox", str(key)).hexdigest()[:20]


def is_of_somebody_else(
    request: HttpRequest, slug: str, participation: Participation | None
) -> bool:
    """To whoever takes no part, only the name of one who does tells that there is such a
    campaign."""
    given = request.POST.get("outbox", "")
    if not given:
        return False
    if participation is not None:
        return not constant_time_compare(given, outbox_name(participation))
    raters = Participation.objects.filter(campaign__slug=slug, removed_at=None).exclude(
        campaign__state=Campaign.State.DRAFT
    )
    return any(
        constant_time_compare(given, _name(key)) for key in raters.values_list("pk", flat=True)
    )
