"""A campaign's ratings as human scores of its corpus, and their removal. Until published, no
leaderboard sees them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from unicodedata import normalize

from django.db import connection, transaction
from django.db.models import Max, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations import audit
from annotations.campaigns.actions.preferences import insert_decided, insert_preferences
from annotations.campaigns.models import Adjudication, Campaign
from annotations.campaigns.models.campaign import COMPARED
from annotations.campaigns.queries.ratings import (
    aspects_to_publish,
    counted_ratings,
    form_of_campaign,
    ratings_data_version,
    scored_aspect,
)
from annotations.corpora import staging
from annotations.corpora.actions import data_changed
from annotations.models import CorpusVersion, Label, Preference, Rater, Rating, Response, Turn
from annotations.questions.answers import labels_of, utterance_scores
from annotations.questions.schema import Form
from common.text import text_fault

LONGEST_ASPECT = 100
ADJUDICATED = " (adjudicated)"
"""What the aspects of adjudicated values end with. No rating is among them."""
ADJUDICATOR = "adjudicator"
"""Who gave them, as a rater of the corpus."""


class CannotPublish(Exception):
    """The message says why, in the organiser's language. Nothing was written."""


def publish(campaign: Campaign, aspect: str = "", by: Any = None) -> int:
    """Copy the ratings that count into the corpus version under an aspect; returns how many there
    are.

    Without an aspect it is the one published under before, else ``overall``, or ``overall
    (<slug>)`` where the corpus has human scores of that name. Publishing again replaces. Axes and
    comments are not published. Of a form, each question that scores becomes an aspect, of which
    ``aspect`` names the main one, and the others become labels. Of pairs, each question for a
    preference becomes an aspect of preferences; its other questions are not published. Raises
    ``CannotPublish``.

    The copies belong to raters of a staged version, which nobody sees, until one short transaction
    gives these raters to the corpus version, and takes those of a former publication away.
    """
    with transaction.atomic():
        campaign, version = _locked(campaign)
        _refuse_unless_ready(campaign, version)
        aspect = _aspect_for(campaign, version, " ".join(normalize("NFC", aspect).split()))
        if not campaign.published_aspect:
            _refuse_taken(campaign, version, aspect)
        state = _state_of(campaign)
        names = _aspect_names(campaign, version, aspect)
    copies, former = staging.empty_version(), staging.empty_version()
    try:
        count = _copy(campaign, copies, names)
        with transaction.atomic():
            staging.renew(copies)
            campaign, version = _locked(campaign)
            _refuse_unless_ready(campaign, version)
            if _state_of(campaign) != state:
                raise CannotPublish(_("ratings were added or changed meanwhile; try again"))
            former_aspect = campaign.published_aspect
            was_main = bool(former_aspect) and version.main_aspect == former_aspect
            if campaign.published_aspect:
                _take_out(campaign, version, former)
            for name in names.values():
                _refuse_taken(campaign, version, name)
            undo = _announce(campaign, version, names, was_main)
            undo["counted"] = counted_ratings(campaign).count()
            undo["raters"] = _give_raters(campaign, copies, version)
            undo["changes"] = campaign.changes
            campaign.published_aspect, campaign.published_at = aspect, timezone.now()
            campaign.publication = undo
            campaign.save(update_fields=["published_aspect", "published_at", "publication"])
            data_changed([version.pk])
            audit.record(
                by,
                "campaign.published",
                campaign,
                campaign=campaign.slug,
                corpus=str(version),
                aspect=aspect,
                ratings=count,
            )
    except staging.LeaseLost:
        raise CannotPublish(_("it took too long; try again")) from None
    finally:
        for staged in (copies, former):
            staging.remove(staged)
    return count


def unpublish(campaign: Campaign, by: Any = None) -> int:
    """Take all of it out of the corpus version again, which is then as it was; returns how many
    ratings that were."""
    with transaction.atomic():
        campaign, version = _locked(campaign)
        if not campaign.published_aspect:
            return 0
        former = staging.empty_version()
        aspect, removed = campaign.published_aspect, _take_out(campaign, version, former)
        campaign.published_aspect, campaign.published_at, campaign.publication = "", None, {}
        campaign.save(update_fields=["published_aspect", "published_at", "publication"])
        data_changed([version.pk])
        audit.record(
            by,
            "campaign.unpublished",
            campaign,
            campaign=campaign.slug,
            corpus=str(version),
            aspect=aspect,
            ratings=removed,
        )
    staging.remove(former)
    return removed


def default_aspect(campaign: Campaign) -> str:
    """What ``publish`` would call the ratings now."""
    if campaign.published_aspect:
        return campaign.published_aspect
    found = aspects_to_publish(campaign)
    return _free_name(campaign, campaign.version, found[0][1]) if found else ""


def _free_name(campaign: Campaign, version: CorpusVersion, name: str) -> str:
    if not _is_taken(campaign, version, name):
        return name[:LONGEST_ASPECT]
    return f"{name[: LONGEST_ASPECT - len(campaign.slug) - 3]} ({campaign.slug})"


def _aspect_names(campaign: Campaign, version: CorpusVersion, aspect: str) -> dict[str, str]:
    """Aspect of the campaign → its name in the corpus, that of the main one first."""
    (main, _name), *others = aspects_to_publish(campaign)
    before = campaign.publication.get("names", {})
    names = {main: aspect} | {
        key: before.get(key) or _free_name(campaign, version, name) for key, name in others
    }
    if Adjudication.objects.filter(item__campaign=campaign).exists():
        names |= {
            f"{key}{ADJUDICATED}": f"{name[: LONGEST_ASPECT - len(ADJUDICATED)]}{ADJUDICATED}"
            for key, name in names.items()
        }
    twice = [name for name, times in Counter(names.values()).items() if times > 1]
    if twice:
        raise CannotPublish(
            _("two questions would have the name %(aspect)s; choose another") % {"aspect": twice[0]}
        )
    return names


def _locked(campaign: Campaign) -> tuple[Campaign, CorpusVersion]:
    """The campaign, then the version: whoever else publishes on either waits here."""
    fresh = Campaign.objects.select_for_update(of=("self",)).get(pk=campaign.pk)
    if fresh.version_id is None:
        raise CannotPublish(_("a campaign that collects dialogues has no ratings to publish"))
    return fresh, CorpusVersion.objects.select_for_update(of=("self",)).get(pk=fresh.version_id)


def _refuse_unless_ready(campaign: Campaign, version: CorpusVersion) -> None:
    if campaign.kind == Campaign.Kind.INTERACTIVE:
        raise CannotPublish(
            _("chats are no responses of the corpus; make a corpus of their own from them")
        )
    refuse_unless_final(campaign)
    if campaign.simulated and not version.simulated:
        raise CannotPublish(
            _("programs made these ratings: they may not be mixed with human ratings")
        )


def refuse_unless_final(campaign: Campaign) -> None:
    """Raises ``CannotPublish`` where the ratings still change, or nothing of them has a score."""
    if campaign.state not in (Campaign.State.PAUSED, Campaign.State.CLOSED):
        raise CannotPublish(
            _("pause or close the campaign first, so that what is published no longer changes")
        )
    if not aspects_to_publish(campaign):
        raise CannotPublish(
            _("no question of the form has a preference; export the answers instead")
            if campaign.compares
            else _("no question of the form has a score; export the answers instead")
        )
    if not counted_ratings(campaign).exists():
        raise CannotPublish(_("no rating counts yet"))


def _aspect_for(campaign: Campaign, version: CorpusVersion, requested: str) -> str:
    if not requested:
        campaign.version = version
        return default_aspect(campaign)
    if fault := text_fault(requested, LONGEST_ASPECT):
        raise CannotPublish(_("the aspect's name %(fault)s") % {"fault": fault})
    return requested


def _refuse_taken(campaign: Campaign, version: CorpusVersion, aspect: str) -> None:
    if _is_taken(campaign, version, aspect):
        text = (
            _("the corpus has preferences named %(aspect)s already; choose another name")
            if campaign.compares
            else _("the corpus has human scores named %(aspect)s already; choose another name")
        )
        raise CannotPublish(text % {"aspect": aspect})


def _is_taken(campaign: Campaign, version: CorpusVersion, aspect: str) -> bool:
    """Whether human scores (of pairs, preferences) of that name are there. A name that differs in
    case only would be mistaken for it; a name that the file announces and gives no score for is
    free."""
    if campaign.compares:
        named = Preference.objects.filter(rater__version=version, aspect__iexact=aspect)
        return named.exists()
    identical = [known for known in version.aspects if known.casefold() == aspect.casefold()]
    if [known for known in identical if known != aspect]:
        return True
    return bool(identical) and Rating.objects.filter(rater__version=version, aspect=aspect).exists()


def _announce(
    campaign: Campaign, version: CorpusVersion, names: Mapping[str, str], was_main: bool
) -> dict[str, Any]:
    """Add the aspects to the version; the first is its main one where nobody had rated it, or where
    it replaces the main one. Returns what undoes it. Names of preferences stand with these alone.
    """
    if campaign.compares:
        return {"names": dict(names)}
    aspect = next(iter(names.values()))
    campaigns = version.campaigns.exclude(published_aspect="").exclude(kind__in=COMPARED)
    main = campaigns.filter(published_aspect=version.main_aspect).first()
    undo: dict[str, Any] = {
        "announced": aspect in version.aspects,
        "scale": version.scales.get(aspect),
        # As it was before any campaign was published: that one may be taken out before this one
        "main_aspect": version.main_aspect if main is None else main.publication["main_aspect"],
        "names": dict(names),
        "others": {
            name: {"announced": name in version.aspects, "scale": version.scales.get(name)}
            for name in names.values()
            if name != aspect
        },
    }
    version.aspects = [*dict.fromkeys([*version.aspects, *names.values()])]
    version.scales = {
        **version.scales,
        **{name: _scale(campaign, key) for key, name in names.items()},
    }
    if was_main or not Rating.objects.filter(rater__version=version).exists():
        version.main_aspect = aspect
    version.save(update_fields=["aspects", "scales", "main_aspect"])
    return undo


def _scale(campaign: Campaign, key: str) -> list[float | None]:
    form, key = form_of_campaign(campaign), key.removesuffix(ADJUDICATED)
    if form is not None and form.question(key).scores_utterances:
        values = [float(option.value or 0) for option in form.question(key).options]
        return [min(values), max(values)]
    return list(scored_aspect(campaign, key).scale)


def _state_of(campaign: Campaign) -> tuple[int, int]:
    """Where it is the same, the same ratings count."""
    return campaign.changes, ratings_data_version(campaign)


RATING_COLUMNS = (
    *("rater", "aspect", "response", "system", "dialogue"),
    *("score", "comment", "created_at"),
)
ROWS_A_READ = 10_000


def _copy(campaign: Campaign, copies: CorpusVersion, names: Mapping[str, str]) -> int:
    """Raters, and the ratings of theirs that count, as those of a staged version. Returns how many
    ratings there are of the main aspect."""
    counted = counted_ratings(campaign)
    people = campaign.participations.filter(pk__in=counted.values("participation"))
    raters = {
        person.pk: Rater(
            version=copies,
            position=number,
            name=person.pseudonym,
            user_id=person.user_id,
        )
        for number, person in enumerate(people.order_by("position"))
    }
    Rater.objects.bulk_create(raters.values())
    main = next(iter(names))
    others = {key: name for key, name in names.items() if key != main}
    if campaign.compares:
        count = insert_preferences(campaign, copies, raters, {main: names[main]})
        if others:
            insert_preferences(campaign, copies, raters, others)
        decided = {
            key.removesuffix(ADJUDICATED): name
            for key, name in others.items()
            if key.endswith(ADJUDICATED)
        }
        if decided:
            who = Rater.objects.create(version=copies, position=len(raters), name=ADJUDICATOR)
            insert_decided(campaign, copies, who, decided)
        return count
    now = Rating._meta.get_field("created_at").get_db_prep_save(timezone.now(), connection)

    def rated(column: str) -> Iterator[tuple[Rater, int | None, int | None, int, Any]]:
        """(rater, response, system, dialogue, value of the column); a response or a system."""
        for person, rater in raters.items():
            own = counted_ratings(campaign).filter(participation=person).order_by("position")
            columns = ("item__response", "item__system", "item__dialogue", f"current__{column}")
            chosen = own.values_list("position", *columns)
            last = -1
            while page := list(chosen.filter(position__gt=last)[:ROWS_A_READ]):
                for _position, response, system, dialogue, value in page:
                    yield rater, response, None if response else system, dialogue, value
                last = page[-1][0]

    def scores(aspects: Mapping[str, str]) -> Iterator[tuple[object, ...]]:
        scored = [(name, scored_aspect(campaign, key)) for key, name in aspects.items()]
        for rater, response, system, dialogue, value in rated(scored[0][1].column):
            place = (response, system, None if response else dialogue)
            for name, one in scored:
                if (score := one.score(value)) is not None:
                    yield rater.pk, name, *place, score, "", now

    count = staging.insert(copies, Rating, RATING_COLUMNS, scores({main: names[main]}))
    decided = {key: name for key, name in names.items() if key.endswith(ADJUDICATED)}
    if decided:
        who = Rater.objects.create(version=copies, position=len(raters), name=ADJUDICATOR)
        rows = _decided_scores(campaign, who, decided, now)
        staging.insert(copies, Rating, RATING_COLUMNS, rows)
    if (form := form_of_campaign(campaign)) is None:
        return count
    of_utterances = {one.key: one for one in form.questions if one.scores_utterances}
    others = {key: name for key, name in others.items() if key not in {*of_utterances, *decided}}
    if others:
        staging.insert(copies, Rating, RATING_COLUMNS, scores(others))

    def scores_of_utterances() -> Iterator[tuple[object, ...]]:
        responses = _Responses()
        for rater, *place, answers in rated("answers"):
            for key, question in of_utterances.items():
                scored = utterance_scores(question, (answers or {}).get(key, {}))
                for number, score in scored.items():
                    if (one := responses.at(number - 1, *place)) is not None:
                        yield rater.pk, names[key], one, None, None, score, "", now

    if of_utterances:
        staging.insert(copies, Rating, RATING_COLUMNS, scores_of_utterances())
    staging.insert(copies, Label, LABEL_COLUMNS, _labels(form, rated("answers")))
    return count


def _decided_scores(
    campaign: Campaign, who: Rater, names: Mapping[str, str], now: Any
) -> Iterator[tuple[object, ...]]:
    form, responses = form_of_campaign(campaign), _Responses()
    rows = (
        Adjudication.objects.filter(item__campaign=campaign)
        .order_by("item")
        .values_list("item__response", "item__system", "item__dialogue", "score", "answers")
    )
    for response, system, dialogue, score, answers in rows.iterator():
        place = (response, None if response else system, None if response else dialogue)
        for own, name in names.items():
            key = own.removesuffix(ADJUDICATED)
            if form is not None and (question := form.question(key)).scores_utterances:
                for number, value in utterance_scores(question, answers.get(key, {})).items():
                    if (at := responses.at(number - 1, response, system, dialogue)) is not None:
                        yield who.pk, name, at, None, None, value, "", now
                continue
            scored = scored_aspect(campaign, key)
            value = scored.score(answers if scored.column == "answers" else score)
            if value is not None:
                yield who.pk, name, *place, value, "", now


LABEL_COLUMNS = ("rater", "question", "value", "response", "dialogue", "system")


def _labels(
    form: Form, rated: Iterable[tuple[Rater, int | None, int | None, int, Any]]
) -> Iterator[tuple[object, ...]]:
    """What is no score. Labels of utterances belong to the response of their turn."""
    responses = _Responses()
    for rater, response, system, dialogue, answers in rated:
        for question, place, value in labels_of(form, answers or {}):
            label = json.dumps(value, ensure_ascii=False)
            if place is None:
                of = (response, None, None) if response else (None, dialogue, system)
                yield rater.pk, question, label, *of
            elif (one := responses.at(place, response, system, dialogue)) is not None:
                yield rater.pk, question, label, one, None, None


class _Responses:
    """Keys of the responses that an item shows, which answers name by their place."""

    def __init__(self) -> None:
        self._of_dialogues: dict[tuple[int, int], list[int | None]] = {}

    def at(self, place: int, response: int | None, system: int | None, dialogue: int) -> int | None:
        """The one at a place from 0, in the order of the turns; None where there is none."""
        shown: list[int | None] = [response]
        if response is None:
            key = (system or 0, dialogue)
            if key not in self._of_dialogues:
                found = Response.objects.filter(system=system, turn__dialogue=dialogue)
                answers = dict(found.values_list("turn", "pk"))
                turns = Turn.objects.filter(dialogue=dialogue).order_by("number")
                self._of_dialogues[key] = [
                    answers.get(one) for one in turns.values_list("pk", flat=True)
                ]
            shown = self._of_dialogues[key]
        return shown[place] if place < len(shown) else None


def _give_raters(campaign: Campaign, copies: CorpusVersion, version: CorpusVersion) -> str:
    """The staged raters, with all that they rated, become the version's. Returns what their names
    begin with."""
    # A file with a former publication of another campaign of that name may have taken the slug
    prefix, number = campaign.slug, 1
    while version.raters.filter(name__startswith=f"{prefix}/rater ").exists():
        number += 1
        prefix = f"{campaign.slug}-{number}"
    last = version.raters.aggregate(last=Max("position"))["last"]
    raters = list(copies.raters.order_by("position"))
    for number, rater in enumerate(raters, 0 if last is None else last + 1):
        rater.version, rater.position, rater.name = version, number, f"{prefix}/{rater.name}"
    Rater.objects.bulk_update(raters, ["version", "position", "name"])
    return prefix


def _take_out(campaign: Campaign, version: CorpusVersion, former: CorpusVersion) -> int:
    """The raters of the publication belong to the staged version ``former`` from now on. Returns
    how many ratings they gave."""
    aspect, undo = campaign.published_aspect, campaign.publication
    raters = version.raters.filter(
        Q(name__startswith=f"{undo['raters']}/rater ") | Q(name=f"{undo['raters']}/{ADJUDICATOR}")
    )
    if campaign.compares:
        count = Preference.objects.filter(rater__in=raters, aspect=aspect).count()
        raters.update(version=former)
        return count
    removed = Rating.objects.filter(rater__in=raters, aspect=aspect).count()
    raters.update(version=former)
    for one, before in {aspect: undo, **undo.get("others", {})}.items():
        version.scales = {name: scale for name, scale in version.scales.items() if name != one}
        if before["announced"]:
            version.scales |= {one: before["scale"]} if before["scale"] is not None else {}
        else:
            version.aspects = [name for name in version.aspects if name != one]
    if version.main_aspect == aspect:
        former = undo["main_aspect"]
        version.main_aspect = (
            former if former in version.aspects or not version.aspects else version.aspects[0]
        )
    version.save(update_fields=["aspects", "scales", "main_aspect"])
    return removed
