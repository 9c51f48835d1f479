"""A campaign's ratings, rater by rater in the order of work, some at a time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import QuerySet

from annotations.campaigns.models import Assignment, Campaign, Item, Message, RatingRevision
from annotations.campaigns.queries.ratings import (
    OVERALL,
    aspects_of,
    counted_ratings,
    form_of_campaign,
    given_ratings,
    main_aspect,
    rated_systems,
    scored_aspect,
    systems_of,
)
from annotations.corpora.record_stream import records_of
from annotations.formats.exporters.rating_files import LOW_AXIS, RatedItem, RevisionRecord
from annotations.formats.records import (
    ASSISTANT,
    CorpusRecord,
    DialogueRecord,
    LabelRecord,
    PreferenceRecord,
    RaterRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    SystemRecord,
    TurnRecord,
)
from annotations.formats.records import Message as MessageRecord
from annotations.questions.answers import labels_of, utterance_scores

ROWS_AT_A_TIME = 2000
CHATS_AT_A_TIME = 100


def ratings_to_export(
    campaign: Campaign, everything: bool = False, accounts: bool = False
) -> Iterator[RatedItem]:
    """The ratings that count; with ``everything`` also those of excluded raters, training and
    attention items.

    ``accounts`` gives the raters' user names beside the pseudonyms.
    """
    # Rater by rater: along a unique index, so that no portion costs more than the one before.
    ratings = ratings_that_are_exported(campaign, everything).order_by("position")
    for rater in campaign.participations.order_by("position").values_list("pk", flat=True):
        last = -1
        own = ratings.filter(participation=rater)
        while rated := rated_items(
            campaign, own.filter(position__gt=last)[:ROWS_AT_A_TIME], accounts
        ):
            yield from rated
            last = rated[-1].position


def ratings_that_are_exported(campaign: Campaign, everything: bool) -> QuerySet[Assignment]:
    """Those that ``ratings_to_export`` reads."""
    if not everything:
        return counted_ratings(campaign)
    return Assignment.objects.filter(
        participation__campaign=campaign, state=Assignment.State.DONE, adjudicates=False
    )


def rated_items(
    campaign: Campaign, ratings: QuerySet[Assignment], accounts: bool = False
) -> list[RatedItem]:
    """These ratings of the campaign, in their order, as files have them."""
    label = {
        "campaign": campaign.slug,
        "corpus": campaign.version.corpus.slug,
        "corpus_version": campaign.version.label,
    }
    # Tuples, because rows with all their models would take four times as long.
    rows = list(
        ratings.values_list(
            "pk",
            "position",
            "propensity",
            "system_propensity",
            "participation__position",
            "participation__state",
            f"participation__user__{get_user_model().USERNAME_FIELD}",
            "item__public_id",
            "item__role",
            "item__dialogue__external_id",
            "item__turn__number",
            "item__system__name",
            "item__chat_system__name",
            "slot__pk",
            "item__system_b__name",
            "is_swapped",
            "shown",
        )
    )
    assignments = [row[0] for row in rows]
    revisions = _revisions(assignments)
    talks = _conversations(assignments) if campaign.kind == Campaign.Kind.INTERACTIVE else {}
    names = systems_of(key for row in rows for key in row[-1] or ())
    found = []
    for (
        pk,
        position,
        p,
        system_p,
        place,
        state,
        name,
        item,
        role,
        dialogue,
        turn,
        system,
        chat,
        slot,
        system_b,
        is_swapped,
        shown,
    ) in rows:
        first, second = (system_b, system) if is_swapped else (system, system_b)
        found.append(
            RatedItem(
                **label,
                item=item,
                role=role,
                dialogue=dialogue,
                turn=turn,
                system=chat or first,
                system_b=second,
                rater=f"rater {place + 1}",
                # A deleted account has no name any more
                account=(name or "") if accounts else None,
                rater_state=state,
                counts=role == Item.Role.REGULAR and slot is not None,
                position=position,
                propensity=p,
                system_propensity=system_p,
                revisions=revisions[pk],
                conversation=talks.get(pk),
                systems=tuple(names[key] for key in shown or ()),
            )
        )
    return found


def _revisions(assignments: list[int]) -> dict[int, tuple[RevisionRecord, ...]]:
    rows = (
        RatingRevision.objects.filter(assignment__in=assignments)
        .order_by("assignment_id", "number")
        .values_list(
            "assignment_id",
            "number",
            "score",
            "low_axes",
            "flagged",
            "comment",
            "guidelines__number",
            "first_key_ms",
            "submit_ms",
            "active_ms",
            "shown_at",
            "created_at",
            "form__number",
            "answers",
            "question_ms",
        )
    )
    return {
        assignment: tuple(_revision(row[1:]) for row in group)
        for assignment, group in itertools.groupby(rows, key=lambda row: row[0])
    }


def _revision(row: tuple) -> RevisionRecord:
    number, score, low_axes, *rest, shown_at, created_at, form, answers, question_ms = row
    low = None if low_axes is None else tuple(low_axes)
    return RevisionRecord(
        number,
        score,
        low,
        *rest,
        _iso(shown_at),
        _iso(created_at) or "",
        form,
        answers,
        question_ms,
    )


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="milliseconds")


def _conversations(assignments: list[int]) -> dict[int, tuple[tuple[str, str], ...]]:
    messages = (
        Message.objects.filter(conversation__assignment__in=assignments, state=Message.State.DONE)
        .order_by("conversation__assignment_id", "number")
        .values_list("conversation__assignment_id", "speaker", "text")
    )
    return {
        assignment: tuple((speaker, text) for _, speaker, text in group)
        for assignment, group in itertools.groupby(messages, key=lambda row: row[0])
    }


def campaign_records(campaign: Campaign, everything: bool = False) -> Iterator[Record]:
    """The rated systems, dialogues and responses as a record stream whose ratings are the
    campaign's: what the folder of mt-metrics-eval is made from. Aspects: the overall score, and per
    axis the share of raters who marked it low."""
    by_dialogue = _rating_records(campaign, everything)
    interactive = campaign.kind == Campaign.Kind.INTERACTIVE
    names = rated_systems(campaign)
    dialogue = ""
    for record in records_of(campaign.version, include_withheld=True):
        if isinstance(record, RatingRecord | RaterRecord | LabelRecord | PreferenceRecord):
            continue
        if isinstance(record, SystemRecord | ResponseRecord):
            name = record.name if isinstance(record, SystemRecord) else record.system
            if not interactive and name in names:
                yield record
            continue
        if dialogue:
            yield from by_dialogue.pop(dialogue, ())
        if isinstance(record, CorpusRecord):
            yield record
            yield from (SystemRecord(name) for name in names if interactive)
            continue
        dialogue = record.id
        yield record
    yield from by_dialogue.pop(dialogue, ())


def _rating_records(campaign: Campaign, everything: bool) -> dict[str, list[RatingRecord]]:
    ratings = given_ratings(campaign) if everything else counted_ratings(campaign)
    form, axes = campaign.form is not None, [axis["key"] for axis in campaign.axes]
    of_system = (
        "item__chat_system__name"
        if campaign.kind == Campaign.Kind.INTERACTIVE
        else "item__system__name"
    )
    # (aspect of the record, where the rating has it)
    scored = [
        (key if form or key == OVERALL else f"{LOW_AXIS}{key}", scored_aspect(campaign, key))
        for key in ([one for one, _ in aspects_of(campaign)] if form else [OVERALL, *axes])
    ]
    found: dict[str, list[RatingRecord]] = {}
    rows = ratings.values_list(
        "item__dialogue__external_id",
        "item__turn__number",
        of_system,
        "participation__position",
        *("current__score", "current__low_axes", "current__answers"),
    )
    for dialogue, turn, system, position, *judged in rows.iterator(chunk_size=ROWS_AT_A_TIME):
        given = dict(zip(("score", "low_axes", "answers"), judged, strict=True))
        found.setdefault(dialogue, []).extend(
            RatingRecord(dialogue, turn, system, f"rater {position + 1}", aspect, score)
            for aspect, where in scored
            if (score := where.score(given[where.column])) is not None
        )
    return found


def chat_records(campaign: Campaign, name: str) -> Iterator[Record]:
    """The chats whose ratings count, each as a conversation of its system, with these ratings: what
    a corpus is made from.

    As where ratings are published, axes and comments stay behind, and of a form what scores becomes
    an aspect, all else labels. The ids are the chats' public ones: a later version of the corpus
    has the same.
    """
    form = form_of_campaign(campaign)
    scored = {
        name: scored_aspect(campaign, key)
        for key, name in aspects_of(campaign)
        if form is not None or key == OVERALL
    }
    labelled = [] if form is None else [one for one in form.questions if one.scores_utterances]
    scales = {name: aspect.scale for name, aspect in scored.items()}
    for question in labelled:
        values = [float(option.value or 0) for option in question.options]
        scales[question.name] = (min(values), max(values))
    counted = (
        counted_ratings(campaign)
        .filter(conversation__isnull=False)
        .order_by("participation__position", "position")
    )
    yield CorpusRecord(
        name=name,
        description="Chats of people with systems, each rated by the person who chatted.",
        simulated=campaign.simulated,
        aspects=tuple(scales),
        main_aspect=dict(aspects_of(campaign))[main_aspect(campaign)],
        scales=tuple((name, *scale) for name, scale in scales.items()),
        language=campaign.version.language or "",
    )
    systems = counted.order_by("item__chat_system__name").values_list("item__chat_system__name")
    yield from (SystemRecord(system) for (system,) in systems.distinct())
    people = counted.order_by("participation__position").values_list("participation__position")
    yield from (RaterRecord(f"rater {position + 1}") for (position,) in people.distinct())
    rated = list(counted.values_list("pk", flat=True))
    for start in range(0, len(rated), CHATS_AT_A_TIME):
        keys = rated[start : start + CHATS_AT_A_TIME]
        messages_of: dict[int, list[Message]] = {key: [] for key in keys}
        done = Message.objects.filter(
            conversation__assignment__in=keys, state=Message.State.DONE
        ).order_by("number")
        for message in done.select_related("conversation"):
            messages_of[message.conversation.assignment_id].append(message)
        chats = counted.filter(pk__in=keys).select_related(
            "current", "conversation", "participation", "item__dialogue", "item__chat_system"
        )
        for chat in chats:
            messages = messages_of[chat.pk]
            dialogue, system = f"chat-{chat.conversation.public_id}", chat.item.chat_system.name
            rater = f"rater {chat.participation.position + 1}"
            answers = [place for place, one in enumerate(messages) if one.speaker == "B"]
            yield DialogueRecord(
                id=dialogue,
                persona=tuple(chat.item.dialogue.persona),
                partner_persona=tuple(chat.item.dialogue.partner_persona),
                turns=tuple(TurnRecord(number, after=at) for number, at in enumerate(answers)),
                messages=tuple(
                    MessageRecord(
                        ASSISTANT if one.speaker == "B" else "user",
                        one.text,
                        time=_iso(one.finished_at or one.created_at) or "",
                    )
                    for one in messages
                ),
                interactive=True,
                metadata={"personas of": chat.item.dialogue.external_id},
            )
            for number, at in enumerate(answers):
                written_by = {"signature": messages[at].signature}
                yield ResponseRecord(dialogue, number, system, messages[at].text, 0, (), written_by)
            for name, aspect in scored.items():
                score = aspect.score(getattr(chat.current, aspect.column))
                if score is not None:
                    yield RatingRecord(dialogue, None, system, rater, name, score)
            if form is None:
                continue
            for question in labelled:
                given = utterance_scores(question, chat.current.answers.get(question.key, {}))
                for number, score in given.items():
                    if number <= len(answers):
                        turn = number - 1
                        yield RatingRecord(dialogue, turn, system, rater, question.name, score)
            for name, turn, value in labels_of(form, chat.current.answers):
                if turn is None or turn < len(answers):
                    yield LabelRecord(dialogue, turn, system, rater, name, value)


def campaign_document(campaign: Campaign) -> dict[str, Any]:
    """What its raters were asked, with every version of guidelines and form: what its exported
    ratings are read with (``actions.importing``)."""
    return {
        "campaign": campaign.slug,
        "name": campaign.name,
        "kind": campaign.kind,
        "simulated": campaign.simulated,
        "raters_per_item": campaign.raters_per_item,
        "scale_labels": campaign.scale_labels,
        "axes": campaign.axes,
        "axes_below": campaign.axes_below,
        "allocation": campaign.allocation,
        "target": campaign.target,
        "target_value": campaign.target_value,
        "budget": campaign.budget,
        "guidelines": [
            {"version": one.number, "text": one.text}
            for one in campaign.guidelines.order_by("number")
        ],
        "forms": [
            {"version": one.number, "digest": one.digest, "form": one.schema}
            for one in campaign.form_versions.order_by("number")
        ],
    }


def newest_ratings(campaign: Campaign) -> QuerySet[Assignment]:
    """All rated items of all raters, training and attention items too, but no adjudicated values;
    the one rated (or changed) last comes first."""
    return (
        Assignment.objects.filter(
            participation__campaign=campaign, state=Assignment.State.DONE, adjudicates=False
        )
        .select_related(
            "current__guidelines",
            "participation",
            "slot",
            "item__dialogue",
            "item__turn",
            "item__system",
            "item__system_b",
            "item__chat_system",
        )
        .order_by("-current_id")
    )
