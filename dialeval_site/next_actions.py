"""What a person does next on this site, by what they have begun: the links above the first page's
corpora.

Each link costs a few counts; lists are cut before anything is counted for their members.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotations.campaigns.queries.overview import drafts_and_open_campaigns
from annotations.campaigns.queries.work_queue import waiting_for
from annotations.models import CorpusVersion
from common.roles import is_organiser
from leaderboard.challenges.queries.standing import (
    OwnRound,
    an_open_challenge,
    organisers_challenges,
    own_open_rounds,
)
from workers.runs.queries import failed_by_version

MOST = 3
"""Of one kind: what is more stands on the page that lists it."""


@dataclass(frozen=True, slots=True)
class Next:
    """A link, and what to know before one follows it."""

    words: str
    href: str
    remark: str
    is_trouble: bool = False


def next_actions(user: Any, versions: Sequence[CorpusVersion]) -> list[Next]:
    """Of whoever reads: a visitor looks and tries, a rater rates, a team hands in, an organiser
    sees to what waits. ``versions`` are the corpora that are open to them."""
    now = timezone.now()
    found: list[Next] = []
    if user.is_authenticated:
        found += [*_to_rate(user, now), *_to_submit(user, now)]
    if is_organiser(user):
        found += [*_to_organise(now), *_in_trouble()]
    elif not found:
        found += _to_check(user, versions)
    return sorted(found, key=lambda one: not one.is_trouble)


def _to_check(user: Any, versions: Sequence[CorpusVersion]) -> Iterator[Next]:
    rated = next((one for one in versions if one.counts.ratings), None)
    if rated is not None:
        yield Next(
            _("See which metric correlates best with human ratings"),
            reverse("metric-leaderboard", args=[rated.corpus.slug]),
            _("%(corpus)s: every metric compared with human ratings.")
            % {"corpus": rated.corpus.name},
        )
        yield Next(
            _("See which system people prefer"),
            reverse("system-leaderboard", args=[rated.corpus.slug]),
            _("%(corpus)s: means with intervals, and which are not significantly different.")
            % {"corpus": rated.corpus.name},
        )
    challenge = an_open_challenge()
    if challenge is not None:
        yield Next(
            _("Take part in a challenge"),
            reverse("challenge", args=[challenge.slug]),
            f"{challenge.name}.",
        )
    if not user.is_authenticated:
        yield Next(_("Log in"), reverse("login"), _("To rate, to submit, or to organise."))


# --- raters ---------------------------------------------------------------------------------------


def _to_rate(user: Any, now: datetime) -> Iterator[Next]:
    for one in waiting_for(user, now, MOST):
        campaign = one.campaign
        words = {"campaign": campaign.name}
        if not one.joined and is_organiser(user):
            continue  # organisers may join all, and come to look after them
        if not one.joined:
            yield Next(
                _("Look at “%(campaign)s”") % words,
                reverse("rating-start", args=[campaign.slug]),
                _("You may join it."),
            )
        elif one.progress is None:
            yield Next(
                _("Write for “%(campaign)s”") % words,
                reverse("rating-start", args=[campaign.slug]),
                _("The next dialogue with a partner."),
            )
        else:
            progress = {"done": one.progress.done, "total": one.progress.total}
            yield Next(
                _("Rate “%(campaign)s”") % words,
                reverse("rating-work", args=[campaign.slug]),
                _("%(done)s of %(total)s rated.") % progress,
            )


# --- teams ----------------------------------------------------------------------------------------


def _to_submit(user: Any, now: datetime) -> Iterator[Next]:
    for own in own_open_rounds(user, now, MOST):
        yield Next(
            _("Submit to “%(round)s”")
            % {"round": f"{own.round.challenge.name} · {own.round.name}"},
            reverse("round", args=[own.round.challenge.slug, own.round.slug]),
            " ".join(_of_round(own)),
            is_trouble=own.latest is not None and own.latest.state in ("invalid", "failed"),
        )


def _of_round(own: OwnRound) -> Iterator[str]:
    left = own.attempts
    yield _("%(day)s of %(day_limit)s attempts left today, %(total)s of %(limit)s in all.") % {
        "day": left.day_left,
        "day_limit": left.day_limit,
        "total": left.total_left,
        "limit": left.total_limit,
    }
    if own.round.closes_at is not None:
        yield _("Closes %(date)s UTC.") % {"date": f"{own.round.closes_at:%Y-%m-%d %H:%M}"}
    if own.latest is not None:
        words = {"name": own.latest.name, "state": own.latest.get_state_display()}
        yield _("Latest: %(name)s, %(state)s.") % words


# --- organisers -----------------------------------------------------------------------------------


def _to_organise(now: datetime) -> Iterator[Next]:
    campaigns = drafts_and_open_campaigns(MOST)
    for campaign, done, wanted in campaigns.open:
        share = {"done": f"{done:,}", "wanted": f"{wanted:,}"}
        yield Next(
            _("Follow “%(campaign)s”") % {"campaign": campaign.name},
            reverse("campaign", args=[campaign.slug]),
            _("%(done)s of %(wanted)s dialogues.") % share
            if campaign.kind == "collection"
            else _("%(done)s of %(wanted)s ratings.") % share,
        )
    if campaigns.drafts:
        words = ngettext("Open a campaign", "Open campaigns", campaigns.drafts)
        count = ngettext("%(count)s draft waits.", "%(count)s drafts wait.", campaigns.drafts)
        yield Next(words, reverse("campaigns"), count % {"count": campaigns.drafts})
    challenges = organisers_challenges(now, MOST)
    for draft in challenges.drafts:
        yield Next(
            _("Open “%(challenge)s”") % {"challenge": draft.name},
            reverse("challenge-settings", args=[draft.slug]),
            _("A draft: nobody else sees it."),
        )
    for challenge, count in challenges.in_trouble:
        words = ngettext(
            "%(count)s failed in the last 7 days.", "%(count)s failed in the last 7 days.", count
        )
        yield Next(
            _("See to submissions of “%(challenge)s”") % {"challenge": challenge.name},
            reverse("challenge-submissions", args=[challenge.slug]) + "?state=failed",
            words % {"count": count},
            is_trouble=True,
        )


def _in_trouble() -> Iterator[Next]:
    for version, count in failed_by_version(MOST):
        words = ngettext("%(count)s metric run failed.", "%(count)s metric runs failed.", count)
        yield Next(
            _("See to runs of “%(corpus)s”") % {"corpus": version.corpus.name},
            reverse("corpus-runs", args=[version.corpus.slug]),
            words % {"count": count},
            is_trouble=True,
        )
