"""Writing down a round. Once something was handed in to it, what those submissions were made for
stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations import audit
from annotations.campaigns.models import ChatSystem
from annotations.corpora.queries import select_systems
from annotations.models import CorpusVersion, System, Turn
from leaderboard.challenges.actions.refusal import Refused
from leaderboard.challenges.actions.setup import free_slug, locked, one_address_each
from leaderboard.challenges.models import Challenge, Round, Team, Track
from leaderboard.challenges.models.challenge import (
    BOARD,
    CALLS_PER_UTTERANCE,
    INPUT_TOKENS_PER_DIALOGUE,
    OUTPUT_TOKENS_PER_DIALOGUE,
    random_seed,
)
from leaderboard.challenges.phase import is_released
from leaderboard.results import drop
from workers.metrics.common.configuration import ConfigurationError, parse
from workers.runs import actions, queries
from workers.runs.queries import why_not_offered

RESERVED_SLUGS = frozenset({"new"})
References = Round.References


@dataclass(frozen=True, slots=True)
class RoundParams:
    """What the form asks, under the names of the row. ``slug`` and ``split_seed`` may be left to
    us."""

    name: str
    version: CorpusVersion
    metrics: Sequence[str]
    ranking_metric: str
    slug: str = ""
    opens_at: datetime | None = None
    closes_at: datetime | None = None
    tracks: Sequence[str] = field(default_factory=lambda: list(Track.values))
    references: str = References.PUBLIC
    daily_limit: int = 5
    total_limit: int = 100
    private_metrics: Sequence[str] = ()
    entry: str = Round.Entry.BEST
    public_share: float = 1.0
    split_seed: int | None = None
    release_at: datetime | None = None
    shows_corpus_baselines: bool = True
    endpoint: ChatSystem | None = None
    calls_per_utterance: int = CALLS_PER_UTTERANCE
    input_tokens_per_dialogue: int = INPUT_TOKENS_PER_DIALOGUE
    output_tokens_per_dialogue: int = OUTPUT_TOKENS_PER_DIALOGUE
    input_price: Decimal | None = None
    output_price: Decimal | None = None


NOTED = tuple(one.name for one in fields(RoundParams))


def create_round(challenge: Challenge, params: RoundParams, by: Any = None) -> Round:
    """After the rounds that are there. Raises ``Refused``."""
    values = _checked(params)
    with one_address_each(), transaction.atomic():
        stored = locked(challenge)
        _hold_corpus(params.version)
        last = stored.rounds.aggregate(last=Max("position"))["last"]
        values["slug"] = _free_slug(stored, params)
        _refuse_early_release(values)
        if values["split_seed"] is None:
            values["split_seed"] = random_seed()
        round = Round.objects.create(
            challenge=stored, position=0 if last is None else last + 1, **values
        )
        audit.record(
            by,
            "round.created",
            round.name,
            challenge=stored.slug,
            round=round.slug,
            settings=audit.noted(round, NOTED),
        )
        _score_corpus_baselines(round)
    return round


def edit_round(round: Round, params: RoundParams, by: Any = None) -> Round:
    """Raises ``Refused`` where it would change what teams have handed in for. A submission that is
    coming in at this moment is there before, or meets the changed round."""
    values = _checked(params, round)
    with one_address_each(), transaction.atomic():
        stored = _held(round)
        _hold_corpus(params.version)
        before = audit.noted(stored, NOTED)
        values["slug"] = _free_slug(stored.challenge, params, stored)
        if values["split_seed"] is None:
            values["split_seed"] = stored.split_seed
        for name, why in locked_fields(stored).items():
            if not _may_become(stored, name, values[name]):
                raise Refused(why, name)
        _refuse_early_release(values, stored)
        _refuse_to_show_what_is_private(stored, values["private_metrics"])
        for name, value in values.items():
            setattr(stored, name, value)
        if what := audit.changes(before, audit.noted(stored, NOTED)):
            stored.revision += 1
            stored.save(update_fields=[*NOTED, "revision"])
            drop([stored.version_id], kind=BOARD)  # what it asks for, shows or hides is another
            audit.record(
                by,
                "round.changed",
                stored.name,
                challenge=stored.challenge.slug,
                round=stored.slug,
                changes=what,
            )
            _score_corpus_baselines(stored)
    return stored


def _hold_corpus(version: CorpusVersion) -> None:
    """Against a deletion that would not see the round. Raises ``Refused``."""
    if not CorpusVersion.objects.select_for_update(no_key=True).filter(pk=version.pk):
        raise Refused(_("The corpus has been deleted meanwhile."), "version")


def _score_corpus_baselines(round: Round) -> None:
    """A baseline of the corpus stands on the board beside what teams hand in, so it needs the same
    scores."""
    if round.shows_corpus_baselines:
        named = [parse(one) for one in [*round.metrics, *round.private_metrics]]
        offered = [one for one in named if not why_not_offered(one, round.version)]
        actions.request(offered, select_systems(round.version, kinds=[System.Kind.BASELINE]))


def delete_round(round: Round, by: Any = None) -> None:
    """Raises ``Refused`` where something was handed in: it is kept with its scores."""
    with transaction.atomic():
        stored = _held(round)
        if count := stored.submissions.count():
            raise Refused(
                _(
                    "Teams have submitted %(count)s submissions to this round, which are kept "
                    "with their scores."
                )
                % {"count": count}
            )
        if stored.challenge.state != Challenge.State.DRAFT and stored.challenge.rounds.count() == 1:
            raise Refused(_("It is the only round of a challenge that is not a draft any more."))
        audit.record(
            by, "round.deleted", stored.name, challenge=stored.challenge.slug, round=stored.slug
        )
        stored.delete()


def locked_fields(round: Round, now: datetime | None = None) -> dict[str, str]:
    """{field: why it can no longer be changed}. The form shows it; ``edit_round`` enforces it."""
    locked: dict[str, str] = {}
    if round.submissions.exists():
        locked["version"] = _("Submissions answer the turns of this corpus version.")
        locked["slug"] = _(
            "Submissions have been received; their teams have links to this address."
        )
        if round.references == References.PUBLIC:
            locked["references"] = _(
                "Teams have seen the references. They cannot be hidden any more."
            )
        board = _(
            "Submissions have been scored with this split. Another one would reveal what the "
            "private part holds."
        )
        locked["public_share"] = locked["split_seed"] = board
        if is_released(round.release_at, now or timezone.now()):
            locked["release_at"] = _(
                "The private leaderboard is released. What was seen cannot be hidden again."
            )
    return locked


def _may_become(round: Round, name: str, value: Any) -> bool:
    if name == "version":
        return value.pk == round.version_id
    if name == "release_at" and value is not None and round.release_at is not None:
        return _is_minute_of(round, name, value)
    return value == getattr(round, name)


def why_not_released(
    releases: datetime | None,
    closes: datetime | None,
    round: Round | None = None,
    now: datetime | None = None,
) -> str:
    """Why this moment cannot be planned, "" where it can; ``round`` as it is stored. What was seen
    is never hidden again, so a slip would be for good. What the round has already may stay:
    ``judging.release`` releases a round that is open, so no constraint of the row can say so. The
    form
    explains it; ``create_round`` and ``edit_round`` enforce it."""
    if releases is None:
        return ""
    stays = _is_minute_of(round, "release_at", releases)
    if is_released(releases, now or timezone.now()):
        return (
            ""
            if stays
            else _("This moment has passed. To release it now, press the button for it.")
        )
    if closes and releases < closes and not (stays and _is_minute_of(round, "closes_at", closes)):
        return _(
            "The round is still open then: teams could tune on the private leaderboard. Release "
            "it when "
            "it closes."
        )
    return ""


def _is_minute_of(round: Round | None, name: str, moment: datetime) -> bool:
    """As the round has it; forms know no seconds."""
    stored = None if round is None else getattr(round, name)
    return stored is not None and stored.replace(second=0, microsecond=0) == moment.replace(
        second=0, microsecond=0
    )


def _refuse_early_release(values: dict[str, Any], round: Round | None = None) -> None:
    if why := why_not_released(values["release_at"], values["closes_at"], round):
        raise Refused(why, "release_at")


def _refuse_to_show_what_is_private(round: Round, private_metrics: Sequence[str]) -> None:
    """A published system's pages show every metric's score at every turn, so a metric that is
    private from now on would be everybody's. Publishing holds the round's row, as ``edit_round``
    does: one of the two is first."""
    if is_released(round.release_at, timezone.now()) or not set(private_metrics) - set(
        round.private_metrics
    ):
        return
    if System.objects.filter(submission__round=round, withheld=False).exists():
        raise Refused(
            _(
                "Systems of this round are published, and the corpus's pages show every score of "
                "theirs. Withhold the systems first."
            ),
            "private_metrics",
        )


def _held(round: Round) -> Round:
    """The row, with nobody handing in: that is done under the team's lock, and teams are made under
    the challenge's."""
    locked(round.challenge)
    list(
        Team.objects.select_for_update()
        .filter(challenge=round.challenge)
        .order_by("pk")
        .values_list("pk")
    )
    return locked_round(round)


def locked_round(round: Round) -> Round:
    """The row as it is now, with its challenge and corpus. Submissions may come in meanwhile: their
    foreign key shares this lock. Raises ``Refused`` where the round is gone."""
    found = Round.objects.select_for_update(of=("self",), no_key=True)
    found = found.select_related("challenge", "version__corpus", "endpoint")
    stored = found.filter(pk=round.pk).first()
    if stored is None:
        raise Refused(_("The round has been deleted meanwhile."))
    return stored


def has_references(version: CorpusVersion) -> bool:
    return Turn.objects.filter(dialogue__version=version).exclude(references=[]).exists()


def _checked(params: RoundParams, round: Round | None = None) -> dict[str, Any]:
    """The row's values, with metrics in their one spelling."""
    values = {one.name: getattr(params, one.name) for one in fields(params)}
    values["tracks"] = [track for track in Track.values if track in params.tracks]
    if not values["tracks"] or set(params.tracks) - set(Track.values):
        raise Refused(_("Choose at least one track."), "tracks")
    if not has_references(params.version):
        raise Refused(
            _("This corpus has no references: there is nothing to score responses against."),
            "version",
        )
    if params.opens_at and params.closes_at and params.closes_at <= params.opens_at:
        raise Refused(_("It must close after it opens."), "closes_at")
    known = (
        set()
        if round is None or round.version_id != params.version.pk
        else {*round.metrics, *round.private_metrics}
    )
    values["metrics"] = _spelled(params.metrics, params.version, "metrics", known)
    values["private_metrics"] = _spelled(
        params.private_metrics, params.version, "private_metrics", known
    )
    (values["ranking_metric"],) = _spelled(
        [params.ranking_metric], params.version, "ranking_metric", known
    )
    if not values["metrics"]:
        raise Refused(_("Choose at least one metric that everybody sees."), "metrics")
    if both := [one for one in values["private_metrics"] if one in values["metrics"]]:
        raise Refused(
            _("%(metric)s is in both lists. Choose one.") % {"metric": both[0]},
            "private_metrics",
        )
    if values["ranking_metric"] not in values["metrics"]:
        raise Refused(
            _("The rank must come from one of the metrics that everybody sees."), "ranking_metric"
        )
    return values


def _spelled(
    written: Sequence[str], version: CorpusVersion, field: str, known: set[str]
) -> list[str]:
    """Each once, in the order given. One that the round asks for already may have become impossible
    here meanwhile."""
    texts: list[str] = []
    for one in written:
        try:
            configuration = parse(one)
        except ConfigurationError as problem:
            raise Refused(str(problem), field) from None
        why = why_not_offered(configuration, version)
        if why and configuration.text not in known:
            raise Refused(f"{configuration.text}: {why}", field)
        text = configuration.text if why else queries.pinned(configuration, version).text
        if text not in texts:
            texts.append(text)
    return texts


def _free_slug(challenge: Challenge, params: RoundParams, round: Round | None = None) -> str:
    others = challenge.rounds.all() if round is None else challenge.rounds.exclude(pk=round.pk)
    taken = set(others.values_list("slug", flat=True)) | RESERVED_SLUGS
    if params.slug:
        if params.slug in taken:
            raise Refused(_("Another round of this challenge has this address."), "slug")
        return params.slug
    if round is not None:
        return round.slug
    return free_slug(params.name, "round", taken, longest=36)
