"""Storing a rating: one for one key, however often it is sent, and never more than k for an
item."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import F, OuterRef, Subquery
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations import audit
from annotations.campaigns.actions import leases
from annotations.campaigns.actions.adjudication import adjudicate_by_rating
from annotations.campaigns.actions.qualification import settle_if_all_done
from annotations.campaigns.actions.terms import (
    ItemTaken,
    Judgement,
    NotHanded,
    RatingsClosed,
    Stored,
    WhyEmpty,
)
from annotations.campaigns.models import (
    Assignment,
    Campaign,
    Conflict,
    Conversation,
    Item,
    Participation,
    RatingRevision,
    Slot,
)
from annotations.campaigns.models.assignment import LONGEST_COMMENT
from annotations.campaigns.scale import SCORES
from annotations.models import Response

LONGEST_KEY = RatingRevision._meta.get_field("key").max_length
State = Assignment.State


def rate(participation: Participation, public_id: str, judgement: Judgement) -> Stored:
    """Store a rating, or a revision of one. Idempotent by key. Raises ``NotHanded``, ``ItemTaken``,
    ``RatingsClosed``.

    A first rating counts when the rater still holds the item, or when one of its places is free:
    then it is taken again. Training and attention items have no places. A rated item may be rated
    again until the campaign is closed. While it is paused a rating that was under way is taken as
    if it were open: it must not be lost to a pause. After its end, what is in hand may be rated as
    long as its lease lives. A chat is rated when it is over. Raises ``ValueError`` for what no page
    sends: another score, an unknown axis, no key, answers to another campaign's form.
    """
    with transaction.atomic():
        rater = leases.locked(participation)
        stored = store(rater, public_id, judgement, timezone.now())
        rater.save(update_fields=["rated"])
    leases.tell(participation, rater)
    return stored


def store(
    rater: Participation,
    public_id: str,
    judgement: Judgement,
    now: datetime,
    in_hand: Sequence[Assignment] = (),
) -> Stored:
    """What ``rate`` does, for a rater whose row is locked. The caller saves the rater's count,
    ``rated``.

    ``in_hand``: of ``hand.assigned_and_latest``, where the caller has read it under the same lock.
    """
    _check(judgement, rater.campaign)
    assignment = _leased(in_hand, public_id) or _rated_before(rater, public_id, judgement.key)
    if assignment.known is not None:
        return Stored(
            RatingRevision.objects.select_related("assignment__item").get(pk=assignment.known),
            False,
        )
    _refuse_when_over(rater, assignment, now)
    if (
        assignment.item.chat_system_id is not None
        and not Conversation.objects.filter(
            assignment=assignment, finished_at__isnull=False
        ).exists()
    ):
        raise RatingsClosed(_("The chat is not over yet. End it first, then rate it."))
    first = assignment.state != State.DONE
    is_regular = assignment.item.role == Item.Role.REGULAR
    late = first and is_regular and assignment.slot_held is None and not assignment.adjudicates
    if late:
        _take_a_slot(assignment)
    if first and assignment.adjudicates and assignment.state != State.LEASED:
        _refuse_if_another_adjudicates(assignment)
    revision = _revision(assignment, judgement)
    revision.save(force_insert=True)
    if late or not first:
        _note(rater, assignment, revision, "rating.late" if late else "rating.revised")
    assignment.state, assignment.current, assignment.lease_expires_at = State.DONE, revision, None
    assignment.finished_at = assignment.finished_at or now
    assignment.save(update_fields=["state", "current", "lease_expires_at", "finished_at"])
    if assignment.adjudicates:
        adjudicate_by_rating(rater, assignment, revision)
    rater.rated += first
    if first and assignment.item.role == Item.Role.TRAINING:
        settle_if_all_done(rater)
    return Stored(revision, True)


def _note(
    rater: Participation, assignment: Assignment, revision: RatingRevision, done: str
) -> None:
    """An ordinary rating is a row that stays and says all. What came late, or in the place of
    another, is noted."""
    was = assignment.current
    before = {} if was is None or was.score is None else {"before": was.score}
    score = {} if revision.score is None else {"score": revision.score}
    audit.record(
        rater.user,
        done,
        f"item {assignment.item.public_id}",
        campaign=rater.campaign.slug,
        rater=rater.pseudonym,
        revision=revision.number,
        **score,
        **before,
    )


def _check(judgement: Judgement, campaign: Campaign) -> None:
    if campaign.form_id is not None:
        if judgement.form is None or judgement.form.campaign_id != campaign.pk:
            raise ValueError("the answers are to no version of the campaign's form")
    elif isinstance(judgement.score, bool) or judgement.score not in SCORES:
        raise ValueError(f"a score is one of {SCORES}, not {judgement.score!r}")
    if not 1 <= len(judgement.key) <= LONGEST_KEY or "\x00" in judgement.key:
        raise ValueError(f"a key has 1 to {LONGEST_KEY} characters")
    if len(judgement.comment) > LONGEST_COMMENT or "\x00" in judgement.comment:
        raise ValueError(f"a comment has at most {LONGEST_COMMENT} characters, none of them NUL")
    unknown = set(judgement.low_axes or ()) - {axis["key"] for axis in campaign.axes}
    if unknown:
        raise ValueError(f"the campaign has no axis {', '.join(sorted(unknown))}")


def _leased(in_hand: Sequence[Assignment], public_id: str) -> Assignment | None:
    """An item in hand has no rating yet, so no key of it is known."""
    for assignment in in_hand:
        if assignment.state == State.LEASED and assignment.item.public_id == public_id:
            assignment.known = None
            return assignment
    return None


def _rated_before(rater: Participation, public_id: str, key: str) -> Assignment:
    """With ``known``, the revision that this key made before, if any; read under the rater's
    lock."""
    same_key = RatingRevision.objects.filter(assignment=OuterRef("pk"), key=key).order_by()
    assignment = (
        Assignment.objects.filter(participation=rater, item__public_id=public_id)
        .select_related("item", "current")
        .annotate(known=Subquery(same_key.values("pk")), slot_held=F("slot__pk"))
        .order_by("pk")
        .first()
    )
    if assignment is None:
        raise NotHanded(f"no item {public_id} was given to {rater}")
    assignment.participation = rater
    return assignment


def _refuse_when_over(rater: Participation, assignment: Assignment, now: datetime) -> None:
    if not rater.takes_part:
        raise RatingsClosed(
            _("You no longer take part in this campaign, so the rating was not stored.")
        )
    why = leases.why_nothing_is_handed_out(rater.campaign, now)
    if assignment.state == State.DONE:
        if why == "closed":
            raise RatingsClosed(_reason_text(why))
        return
    lease_lives = assignment.state == State.LEASED and assignment.lease_expires_at > now
    if why and why != "paused" and not lease_lives:
        raise RatingsClosed(_reason_text(why))


def _reason_text(why: WhyEmpty) -> str:
    if why == "not_open":
        return _("The campaign is not open yet, so the rating was not stored.")
    return _("The campaign is closed, so the rating was not stored.")


def _take_a_slot(assignment: Assignment) -> None:
    """For a rating that comes late: another place of the item, if one is free.

    An item of a system in which the rater has a stake, known by now, is as good as taken: saying
    why would tell whose it was.
    """
    systems = [one for one in (assignment.item.system_id, assignment.item.system_b_id) if one]
    if assignment.shown:
        shown = Response.objects.filter(pk__in=assignment.shown)
        systems = list(shown.values_list("system_id", flat=True))
    if Conflict.objects.filter(user=assignment.participation.user_id, system__in=systems).exists():
        raise ItemTaken(f"item {assignment.item.public_id} is for others")
    free = (
        Slot.objects.select_for_update(skip_locked=True)
        .filter(item=assignment.item_id, holder__isnull=True)
        .order_by("place")
        .first()
    )
    if free is None:
        raise ItemTaken(f"all places of item {assignment.item.public_id} are taken")
    if leases.budget_left(assignment.participation.campaign) == 0:
        raise RatingsClosed(
            _("All comparisons of this campaign are made, so the rating was not stored.")
        )
    Slot.objects.filter(pk=free.pk).update(holder=assignment)


def _refuse_if_another_adjudicates(assignment: Assignment) -> None:
    """The lease ran out, and the item went to the next rater."""
    others = Assignment.objects.filter(
        item=assignment.item_id, adjudicates=True, state__in=[State.LEASED, State.DONE]
    )
    if others.exists():
        raise ItemTaken(f"another rater adjudicates item {assignment.item.public_id}")


def _revision(assignment: Assignment, judgement: Judgement) -> RatingRevision:
    return RatingRevision(
        assignment=assignment,
        number=1 if assignment.current is None else assignment.current.number + 1,
        key=judgement.key,
        score=judgement.score,
        low_axes=None if judgement.low_axes is None else list(judgement.low_axes),
        form=judgement.form,
        answers=None if judgement.answers is None else dict(judgement.answers),
        question_ms=None if judgement.question_ms is None else dict(judgement.question_ms),
        flagged=judgement.flagged,
        comment=judgement.comment,
        guidelines_id=judgement.guidelines_id,
        first_key_ms=judgement.first_key_ms,
        submit_ms=judgement.submit_ms,
        active_ms=judgement.active_ms,
        shown_at=judgement.shown_at,
    )
