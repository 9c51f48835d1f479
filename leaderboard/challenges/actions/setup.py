"""Writing down a challenge: its name, its rules, and its course from draft to closed. Rounds are in
``rounds``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.text import slugify
from django.utils.translation import gettext as _

from annotations import audit
from leaderboard.challenges.actions.refusal import Refused, checked_text
from leaderboard.challenges.models import Challenge, Submission

RESERVED_SLUGS = frozenset({"new"})
"""Addresses below /challenges/ that are not challenges."""
LONGEST_RULES = 50_000
NOTED = ("name", "slug", "summary", "largest_team")


@dataclass(frozen=True, slots=True)
class ChallengeParams:
    """What the form asks. ``slug`` may be empty: it is then made from the name."""

    name: str
    slug: str = ""
    summary: str = ""
    largest_team: int = 10


def create(params: ChallengeParams, by: Any = None, rules: str = "") -> Challenge:
    """A draft, which only organisers see. Raises ``Refused``."""
    with one_address_each(), transaction.atomic():
        challenge = Challenge.objects.create(
            slug=_free_slug(params),
            name=params.name,
            summary=params.summary,
            largest_team=params.largest_team,
            rules=rules,
            created_by=by,
        )
        audit.record(
            by,
            "challenge.created",
            challenge.name,
            challenge=challenge.slug,
            settings=audit.noted(challenge, NOTED),
        )
    return challenge


def edit(challenge: Challenge, params: ChallengeParams, by: Any = None) -> Challenge:
    """The address only while it is a draft: links to an open challenge are in mails and papers.
    Raises ``Refused``."""
    with one_address_each(), transaction.atomic():
        stored = locked(challenge)
        before = audit.noted(stored, NOTED)
        stored.name, stored.summary, stored.largest_team = (
            params.name,
            params.summary,
            params.largest_team,
        )
        if params.slug and params.slug != stored.slug:
            if stored.state != Challenge.State.DRAFT:
                raise Refused(
                    _("The address stays as it is once a challenge was opened: people have links."),
                    "slug",
                )
            stored.slug = _free_slug(params)
        stored.save(update_fields=NOTED)
        if what := audit.changes(before, audit.noted(stored, NOTED)):
            audit.record(by, "challenge.changed", stored.name, challenge=stored.slug, changes=what)
    return stored


def write_rules(challenge: Challenge, text: str, by: Any = None) -> bool:
    """False where the text is what it was. Raises ``Refused``. The audit log keeps both texts."""
    text = checked_text(
        text,
        LONGEST_RULES,
        "text",
        lambda fault: _("The text %(fault)s.") % {"fault": fault},
        may_be_empty=True,
    )
    with transaction.atomic():
        stored = locked(challenge)
        if stored.rules == text:
            return False
        before, stored.rules = stored.rules, text
        stored.save(update_fields=["rules"])
        audit.record(
            by,
            "challenge.rules_changed",
            stored.name,
            challenge=stored.slug,
            before=before,
            after=text,
        )
    return True


def what_is_missing(challenge: Challenge) -> list[str]:
    """What keeps it from being opened, in words; nothing: it can be."""
    missing = []
    if not challenge.rules.strip():
        missing.append(_("There are no rules yet."))
    if not challenge.rounds.exists():
        missing.append(_("There is no round yet."))
    return missing


STEPS = {
    "open": ((Challenge.State.DRAFT, Challenge.State.CLOSED), Challenge.State.OPEN),
    "close": ((Challenge.State.OPEN,), Challenge.State.CLOSED),
    "draft": ((Challenge.State.OPEN, Challenge.State.CLOSED), Challenge.State.DRAFT),
}
"""To each step: the states it begins from, and the one it leads to."""


def step(challenge: Challenge, to: str, by: Any = None) -> Challenge:
    """Open (or open again), close, or, as long as nobody has made a team, back to the draft. Raises
    ``Refused``.

    Of two who press at once one does it and the other is told where the challenge is."""
    before, after = STEPS[to]
    with transaction.atomic():
        stored = locked(challenge)
        if stored.state not in before:
            raise Refused(
                _("The challenge is %(state)s now; nothing was changed.")
                % {"state": stored.get_state_display()}
            )
        if to == "open" and (missing := what_is_missing(stored)):
            raise Refused(" ".join(missing))
        if to == "draft" and stored.teams.exists():
            raise Refused(
                _("Teams have been made; they would lose sight of the challenge. Close it instead.")
            )
        was, stored.state = stored.state, after
        stored.save(update_fields=["state"])
        audit.record(
            by, f"challenge.{to}", stored.name, challenge=stored.slug, before=was, after=after
        )
    return stored


def delete(challenge: Challenge, typed_slug: str = "", by: Any = None) -> None:
    """With its rounds and teams. Not where something was handed in; with teams only where its slug
    was typed. Raises ``Refused``. What the audit log says of it stays."""
    with transaction.atomic():
        stored = Challenge.objects.select_for_update().filter(pk=challenge.pk).first()
        if stored is None:
            return
        # Who is handing in now, under the team's lock, has done so, or finds nothing.
        list(stored.teams.select_for_update().order_by("pk").values_list("pk"))
        handed_in = Submission.objects.filter(round__challenge=stored).count()
        if handed_in:
            raise Refused(
                _(
                    "Teams have submitted %(count)s submissions, which are kept with their "
                    "scores. Close the challenge instead."
                )
                % {"count": handed_in}
            )
        if stored.teams.exists() and typed_slug.strip() != stored.slug:
            raise Refused(
                _("It has teams. Type the challenge's address to delete them, too."), "slug"
            )
        teams = list(stored.teams.values_list("name", flat=True))
        rounds = list(stored.rounds.values_list("slug", flat=True))
        audit.record(
            by, "challenge.deleted", stored.name, challenge=stored.slug, teams=teams, rounds=rounds
        )
        budget = stored.judge_budget
        stored.delete()
        if budget is not None:
            budget.delete()


def locked(challenge: Challenge) -> Challenge:
    """The row as it is now; whoever else changes the challenge waits. Raises ``Refused`` where it
    is gone."""
    stored = Challenge.objects.select_for_update(of=("self",)).filter(pk=challenge.pk).first()
    if stored is None:
        raise Refused(_("The challenge has been deleted meanwhile."))
    return stored


@contextmanager
def one_address_each() -> Iterator[None]:
    """Of two who ask for one address in the same moment, the database refuses the second."""
    try:
        yield
    except IntegrityError as refused:
        if "slug" not in str(refused):
            raise
        raise Refused(_("This address is taken."), "slug") from None


def _free_slug(params: ChallengeParams) -> str:
    if params.slug:
        if params.slug in RESERVED_SLUGS or Challenge.objects.filter(slug=params.slug).exists():
            raise Refused(_("This address is taken."), "slug")
        return params.slug
    return free_slug(
        params.name,
        "challenge",
        set(Challenge.objects.values_list("slug", flat=True)) | RESERVED_SLUGS,
        longest=70,
    )


def free_slug(name: str, otherwise: str, taken: set[str] | frozenset[str], longest: int) -> str:
    """An address made from a name, with a number where others have it."""
    base = slugify(name)[:longest].strip("-") or otherwise
    numbered = (base, *(f"{base}-{number}" for number in range(2, len(taken) + 3)))
    return next(slug for slug in numbered if slug not in taken)
