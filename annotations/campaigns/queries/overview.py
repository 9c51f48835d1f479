"""How far campaigns are, when they end, what they cost, and what an organiser does next."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import Group
from django.core.cache import cache
from django.db.models import (
    Case,
    Count,
    F,
    IntegerField,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    When,
)
from django.db.models.functions import Coalesce, Greatest, Least
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotations.accounts import may_act
from annotations.campaigns.models import (
    Assignment,
    Campaign,
    ChatSystem,
    FormVersion,
    Guidelines,
    Invitation,
    Item,
    Participation,
    RatingRevision,
    Room,
    Slot,
)
from annotations.campaigns.plan.cost import (
    Cost,
    Pace,
    assumed_response_time,
    expected_end,
    measured_response_time,
)
from annotations.campaigns.queries.planning import (
    PlannedItems,
    Question,
    planned_items,
    question_of,
)
from annotations.campaigns.queries.power import PlannedPower, planned_power
from annotations.campaigns.queries.ratings import form_of_campaign
from annotations.campaigns.queries.work_queue import current_guidelines
from annotations.models import CorpusVersion
from annotations.questions.schema import Form
from common.database import CompiledQuery
from common.text import text_fault
from common.web import Step, with_the_next

RATE_WINDOW_DAYS = 7
RATE_WINDOW_RATINGS = 1000
ACTIVE_WITHIN = timedelta(minutes=5)
LARGE = 50_000
COMPLETE_CACHE_SECONDS = 60


# --- how far --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Progress:
    """Ratings that count, of those wanted. Of a collection: finished dialogues, and no items."""

    done: int
    wanted: int
    items_complete: int | None
    items: int
    expected_end: datetime | None
    basis: str
    """What ``expected_end`` rests on, or why there is none."""
    as_of: datetime

    @property
    def share(self) -> float | None:
        return self.done / self.wanted if self.wanted else None

    @property
    def left(self) -> int:
        return max(self.wanted - self.done, 0)


def progress_of(campaign: Campaign) -> Progress:
    now = timezone.now()
    if campaign.kind == Campaign.Kind.COLLECTION:
        return _collection_progress(campaign, now)
    done, slots, free = slot_counts(campaign)
    items = slots // campaign.raters_per_item
    wanted = campaign.wanted_of(slots)
    end, basis = _end(campaign, done, max(wanted - done, 0), now)
    if slots <= LARGE:
        complete = _count_complete_items(campaign, slots, free)
    else:  # many places on either side
        complete = cache.get_or_set(
            f"complete-items-{campaign.pk}",
            lambda: _count_complete_items(campaign, slots, free),
            COMPLETE_CACHE_SECONDS,
        )
    return Progress(done, wanted, complete, items, end, basis, now)


def with_progress(campaigns: QuerySet[Campaign]) -> QuerySet[Campaign]:
    """Each with ``done`` and ``wanted``: ratings that count, of those wanted; of a collection,
    finished dialogues. One query for all, which counts on the indexes of ``slot_counts``."""
    slots = Slot.objects.filter(campaign=OuterRef("pk")).order_by()
    leased = Assignment.objects.filter(
        participation__campaign=OuterRef("pk"),
        state=Assignment.State.LEASED,
        slot__isnull=False,
    )
    chats = Room.objects.filter(campaign=OuterRef("pk"), state=Room.State.FINISHED, left_out=False)
    last = Subquery(slots.order_by("-ordinal").values("ordinal")[:1])
    all_slots = Coalesce(last + 1, 0)
    is_collection = Q(kind=Campaign.Kind.COLLECTION)
    return campaigns.annotate(
        wanted=Case(
            When(is_collection, then=Coalesce("dialogues_per_system", 0)),
            When(
                budget__isnull=False,
                then=Least(all_slots, F("budget"), output_field=IntegerField()),
            ),
            default=all_slots,
        ),
        done=Case(
            When(is_collection, then=_count(chats, "campaign")),
            default=Greatest(
                all_slots
                - _count(slots.filter(holder__isnull=True), "campaign")
                - _count(leased, "participation__campaign"),
                0,
            ),
        ),
    )


def _count(rows: QuerySet[Any], group: str) -> Coalesce:
    """How many ``rows`` there are of one outer row, which ``group`` leads to."""
    counts = rows.order_by().values(group).annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counts), 0)


def slot_counts(campaign: Campaign) -> tuple[int, int, int]:
    """(done, all, free). Counts on partial indexes instead of one over all slots: what is held and
    not in hand is done."""
    slots = Slot.objects.filter(campaign=campaign)
    last = slots.aggregate(last=Max("ordinal"))["last"]
    wanted = 0 if last is None else last + 1
    free = slots.filter(holder__isnull=True).count()
    in_hand = Assignment.objects.filter(
        state=Assignment.State.LEASED, slot__isnull=False, participation__campaign=campaign
    ).count()
    return max(wanted - free - in_hand, 0), wanted, free


def _count_complete_items(campaign: Campaign, slots: int, free: int) -> int:
    """Items whose k places are all taken by ratings, counted from whichever side is smaller: the
    open places or the taken ones."""
    mine = Slot.objects.filter(campaign=campaign)
    if free > slots // 2:
        taken = (
            mine.filter(holder__state=Assignment.State.DONE)
            .values("item")
            .annotate(count=Count("pk"))
        )
        return taken.filter(count=campaign.raters_per_item).count()
    waiting = mine.filter(Q(holder__isnull=True) | Q(holder__state=Assignment.State.LEASED))
    return slots // campaign.raters_per_item - waiting.values("item").distinct().count()


def _end(campaign: Campaign, done: int, left: int, now: datetime) -> tuple[datetime | None, str]:
    if not left and done:
        if campaign.budget is not None:
            return None, _("the budget is used")
        return None, _("all ratings are in")
    if campaign.has_enough:
        return None, _("the target is met")
    if campaign.state != Campaign.State.OPEN:
        return None, _("the campaign is not open")
    week_ago = now - timedelta(days=RATE_WINDOW_DAYS)
    lately = RatingRevision.objects.filter(
        number=1,
        created_at__gte=week_ago,
        assignment__participation__campaign=campaign,
        assignment__slot__isnull=False,
    ).aggregate(count=Count("pk"), first=Min("created_at"))
    end, basis = _from_rate(left, lately["count"], lately["first"], now)
    return end, basis or _("no rating in the last %(days)s days to estimate it from") % {
        "days": RATE_WINDOW_DAYS
    }


def _from_rate(
    left: int, lately: int, first: datetime | None, now: datetime
) -> tuple[datetime | None, str]:
    """(end, what it rests on). The second is "" where nothing came lately: what did not come, the
    caller knows."""
    if not lately or first is None:
        return None, ""
    # A first quarter of an hour says nothing of nights
    since = min(first, now - timedelta(hours=1))
    end = expected_end(left, lately, since, now)
    if end is None:
        return None, _("at the present rate it would take more than ten years")
    hours = (now - since).total_seconds() / 3600
    words = ngettext("one in the last %(hours)s h", "%(count)s in the last %(hours)s h", lately)
    return end, words % {"count": f"{lately:,}", "hours": f"{hours:,.0f}"}


def _collection_progress(campaign: Campaign, now: datetime) -> Progress:
    chats = Room.objects.filter(campaign=campaign, state=Room.State.FINISHED, left_out=False)
    wanted = campaign.dialogues_per_system or 0
    done = chats.count()
    if campaign.state != Campaign.State.OPEN or done >= wanted:
        basis = (
            _("all dialogues are there")
            if wanted and done >= wanted
            else _("the campaign is not open")
        )
        return Progress(done, wanted, None, 0, None, basis, now)
    lately = chats.filter(finished_at__gte=now - timedelta(days=RATE_WINDOW_DAYS)).aggregate(
        count=Count("pk"), first=Min("finished_at")
    )
    end, basis = _from_rate(wanted - done, lately["count"], lately["first"], now)
    basis = basis or _("no dialogue finished in the last %(days)s days to estimate it from") % {
        "days": RATE_WINDOW_DAYS
    }
    return Progress(done, wanted, None, 0, end, basis, now)


@dataclass(frozen=True, slots=True)
class People:
    joined: int
    active_today: int
    active_now: int
    excluded: int


def people_of(campaign: Campaign) -> People:
    now = timezone.now()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return People(
        **campaign.participations.aggregate(
            joined=Count("pk"),
            active_today=Count("pk", filter=Q(seen_at__gte=midnight)),
            active_now=Count("pk", filter=Q(seen_at__gte=now - ACTIVE_WITHIN)),
            excluded=Count("pk", filter=Q(state=Participation.State.EXCLUDED)),
        )
    )


# --- what it costs --------------------------------------------------------------------------------


def response_time_of(kind: str, campaign: Campaign | None = None) -> Pace:
    """Of this campaign where it has enough ratings, else of the site's campaigns of that kind, else
    an assumption."""
    revisions = RatingRevision.objects.filter(number=1, active_ms__gt=0)
    if campaign is not None and campaign.pk and campaign.state != Campaign.State.DRAFT:
        own = measured_response_time(
            _seconds(revisions.filter(assignment__participation__campaign=campaign)), "campaign"
        )
        if own is not None:
            return own
    people = revisions.filter(assignment__participation__campaign__simulated=False)
    same = measured_response_time(
        _seconds(people.filter(assignment__participation__campaign__kind=kind)), "kind"
    )
    return same or assumed_response_time(kind)


def _seconds(revisions: QuerySet[RatingRevision]) -> list[float]:
    """Of the newest ones: people become quicker, and a thousand are enough for a median."""
    newest = revisions.order_by("-pk").values_list("active_ms", flat=True)[:RATE_WINDOW_RATINGS]
    return [milliseconds / 1000 for milliseconds in newest]


@dataclass(frozen=True, slots=True)
class Plan:
    """A dry run. ``power``: None where nothing is rated, or not yet known what."""

    question: Question
    planned: PlannedItems
    cost: Cost
    power: PlannedPower | None


def plan_of(question: Question, form: Form | None, campaign: Campaign | None = None) -> Plan:
    """``form``: what is asked; None for the scale from 1 to 5."""
    planned = planned_items(question)
    people = 2 if question.kind == Campaign.Kind.COLLECTION else question.raters_per_item
    return Plan(
        question,
        planned,
        Cost(planned.items, people, response_time_of(question.kind, campaign)),
        planned_power(question, form, planned),
    )


def plan_of_campaign(campaign: Campaign) -> Plan:
    return plan_of(question_of(campaign), form_of_campaign(campaign), campaign)


# --- what is there --------------------------------------------------------------------------------


def campaigns_with_counts() -> QuerySet[Campaign]:
    """Each with ``rater_count``, ``done`` and ``wanted``."""
    return with_progress(
        Campaign.objects.select_related("version__corpus").annotate(
            rater_count=_count(Participation.objects.filter(campaign=OuterRef("pk")), "campaign")
        )
    )


def versions_to_choose() -> list[CorpusVersion]:
    """All versions of all corpora, the newest of each corpus first."""
    return list(
        CorpusVersion.objects.select_related("corpus").order_by(
            "corpus__name", "corpus__slug", "-number"
        )
    )


def chat_systems() -> list[ChatSystem]:
    return list(ChatSystem.objects.order_by("name"))


def groups() -> list[Group]:
    return list(Group.objects.order_by("name"))


def forms_with_counts(campaign: Campaign) -> list[FormVersion]:
    """Newest first, each with ``rating_count``: how many ratings that count now answer it."""
    return list(
        campaign.form_versions.order_by("-number").annotate(
            rating_count=Count(
                "ratingrevision",
                filter=Q(ratingrevision__assignment__current=F("ratingrevision__pk")),
            )
        )
    )


def guidelines_with_counts(campaign: Campaign) -> list[Guidelines]:
    """Newest first, each with ``rating_count``: how many ratings that count now were made under
    it."""
    return list(
        campaign.guidelines.order_by("-number").annotate(
            rating_count=Count(
                "ratingrevision",
                filter=Q(ratingrevision__assignment__current=F("ratingrevision__pk")),
            )
        )
    )


def invitations_of(campaign: Campaign) -> list[Invitation]:
    return list(campaign.invitations.select_related("created_by").order_by("-pk"))


def invitation_with_token(token: str) -> Invitation | None:
    if text_fault(token, 40):  # PostgreSQL cannot even look for a NUL character
        return None
    return Invitation.objects.select_related("campaign", "created_by").filter(token=token).first()


def why_unusable(invitation: Invitation) -> str:
    """ "" | "revoked" | "disabled" (who made it may not act) | "expired" | "used_up" | "draft" |
    "closed"."""
    now = timezone.now()
    campaign = invitation.campaign
    if invitation.revoked_at is not None:
        return "revoked"
    if invitation.created_by is not None and not may_act(invitation.created_by):
        return "disabled"
    if invitation.expires_at is not None and invitation.expires_at <= now:
        return "expired"
    if invitation.most_uses is not None and invitation.uses >= invitation.most_uses:
        return "used_up"
    if campaign.state == Campaign.State.CLOSED or (
        campaign.closes_at is not None and campaign.closes_at <= now
    ):
        return "closed"
    return "draft" if campaign.state == Campaign.State.DRAFT else ""


def takes_part(user: Any, campaign: Campaign) -> bool:
    return (
        user.is_authenticated
        and campaign.participations.filter(user=user, removed_at=None).exists()
    )


def checks_of(campaign: Campaign) -> list[Item]:
    """Training items in their order, then attention items, each with ``given_to``: how many raters
    had it."""
    return list(
        campaign.items.exclude(role=Item.Role.REGULAR)
        .select_related("dialogue", "turn", "system", "response")
        .annotate(given_to=Count("assignments"))
        .order_by("-role", "position", "pk")
    )


def check_with_id(campaign: Campaign, public_id: str) -> Item | None:
    if text_fault(public_id, 24):
        return None
    return campaign.items.exclude(role=Item.Role.REGULAR).filter(public_id=public_id).first()


def has_answers(campaign: Campaign) -> bool:
    return (
        campaign.rooms.exists()
        or RatingRevision.objects.filter(assignment__participation__campaign=campaign).exists()
    )


# --- what comes next ------------------------------------------------------------------------------


def steps_of(campaign: Campaign, progress: Progress) -> list[Step]:
    """The way from a draft to published ratings, with the next step marked."""
    is_draft = campaign.state == Campaign.State.DRAFT
    is_closed = campaign.state == Campaign.State.CLOSED
    collects = campaign.kind == Campaign.Kind.COLLECTION
    guidelines = current_guidelines(campaign)
    people = (
        campaign.participations.exists()
        or campaign.groups.exists()
        or campaign.invitations.exists()
    )
    steps = [
        Step("settings", _("Settings"), _("What is asked, of which systems, how often."), True),
        Step(
            "guidelines",
            _("Guidelines"),
            _("Version %(number)s.") % {"number": guidelines.number}
            if guidelines
            else _("Raters read them before they begin. A text to start from is there."),
            guidelines is not None,
        ),
    ]
    if campaign.takes_checks:
        checks = campaign.items.exclude(role=Item.Role.REGULAR).count()
        steps.append(
            Step(
                "checks",
                _("Training and attention items"),
                ngettext("%(count)s item.", "%(count)s items.", checks) % {"count": checks}
                if checks
                else _(
                    "A pass mark is set, and there is no training item to pass: everybody goes on."
                )
                if campaign.pass_mark is not None
                else _("They show which raters understood the task and read the items."),
                checks > 0,
                is_optional=True,
            )
        )
    steps += [
        Step(
            "invite",
            _("Invite raters"),
            _("A link to send, or a group whose members may rate."),
            people or is_closed,
        ),
        Step(
            "open",
            _("Open"),
            _("Raters can meet. The task can no longer be changed.")
            if collects
            else _("The items are made. The questions can no longer be changed."),
            not is_draft,
        ),
        Step(
            "rate",
            _("Raters work"),
            _("Progress is on this page, dialogues on their own.")
            if collects
            else _("Progress is on this page, agreement on its own."),
            is_closed
            or campaign.has_enough
            or (bool(progress.wanted) and progress.done >= progress.wanted),
        ),
        Step(
            "close",
            _("Close"),
            _("Raters write no more dialogues; those written can become a corpus.")
            if collects
            else _("Raters get no more items; the ratings can be published."),
            is_closed,
        ),
    ]
    return with_the_next(steps)


@dataclass(frozen=True, slots=True)
class CampaignsNow:
    """Lists hold at most as many as were asked for, newest first, each campaign with ``done`` and
    ``wanted``."""

    counts: dict[str, int]
    """By state; a state without campaigns is not named."""
    drafts: list[Campaign]
    under_way: list[Campaign]
    """Open or paused."""
    to_publish: list[Campaign]
    """With all ratings that are wanted, or with enough, and not published."""
    active_raters: int
    """People who were seen in a campaign within the last week, also in one closed since."""


def campaigns_now(most: int) -> CampaignsNow:
    """What an organiser's desk says of campaigns, in five queries at most."""
    state = Campaign.State
    drafts, under_way, to_publish = _listed_now(most)
    lately = timezone.now() - timedelta(days=RATE_WINDOW_DAYS)
    raters = Participation.objects.filter(
        campaign__simulated=False,
        state=Participation.State.ACTIVE,
        removed_at=None,
        seen_at__gte=lately,
    )
    counts = dict(Campaign.objects.order_by().values_list("state").annotate(Count("pk")))
    return CampaignsNow(
        counts=counts,
        drafts=drafts.rows() if counts.get(state.DRAFT) else [],
        under_way=under_way.rows(),
        to_publish=to_publish.rows(),
        active_raters=raters.values("user").distinct().count(),
    )


@functools.cache
def _listed_now(
    most: int,
) -> tuple[CompiledQuery[Campaign], CompiledQuery[Campaign], CompiledQuery[Campaign]]:
    """The lists of ``CampaignsNow``. Their SQL takes far longer to write than to answer."""
    state = Campaign.State
    newest = with_progress(Campaign.objects.order_by("-created_at", "-pk"))
    has_enough = Q(target_met_at__isnull=False, past_target=False)
    complete = newest.filter(Q(wanted__gt=0, done__gte=F("wanted")) | has_enough)
    publishable = complete.filter(published_at=None, simulated=False, collected=None).exclude(
        kind=Campaign.Kind.COLLECTION
    )
    return (
        CompiledQuery(lambda: newest.filter(state=state.DRAFT)[:most]),
        CompiledQuery(lambda: newest.filter(state__in=[state.OPEN, state.PAUSED])[:most]),
        CompiledQuery(lambda: publishable.exclude(state=state.DRAFT)[:most]),
    )
