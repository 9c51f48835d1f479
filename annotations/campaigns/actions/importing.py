"""Ratings exported elsewhere, as a closed campaign on a corpus with the same responses."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotations import audit
from annotations.campaigns.actions.setup import SlugTaken
from annotations.campaigns.models import (
    Assignment,
    Campaign,
    FormVersion,
    Guidelines,
    Item,
    Participation,
    RatingRevision,
    Slot,
)
from annotations.campaigns.plan.draw import interleave
from annotations.campaigns.plan.rating_lines import (
    ExportedCampaign,
    RatingLine,
    RevisionLine,
    read_campaign,
    read_ratings,
)
from annotations.formats.importers.base import ImportFailed
from annotations.formats.importers.problems import Problems
from annotations.models import CorpusVersion, Dialogue, Response, System, Turn
from annotations.questions.answers import AnswerError, Material, check
from annotations.questions.schema import digest, to_data

ROWS_AT_A_TIME = 2_000
ItemKey = tuple[str, int | None, frozenset[str]]
"""Dialogue, turn (None of a whole dialogue), system or, of a pair, both."""


@dataclass(frozen=True, slots=True)
class ImportedItem:
    """``item`` is not stored yet; ``texts``: those that are judged, by system; ``responses``: the
    keys of the first ones."""

    item: Item
    texts: Mapping[str, Sequence[str]]
    responses: Mapping[str, int]

    def material_for(self, rating: RatingLine) -> Material:
        """The texts by their number on the rater's page: of pairs they take turns."""
        columns = [self.texts[name] for name in _systems_of(rating)]
        shown = chain.from_iterable(zip(*columns, strict=True))
        utterances = dict(enumerate(shown, start=1))
        return Material(utterances, tuple(map(str, utterances)) if rating.systems else ())


def import_ratings(
    version: CorpusVersion, folder: Path, slug: str, name: str = "", by: Any = None
) -> tuple[Campaign, int]:
    """A closed campaign of what ``export_ratings --format jsonl`` wrote, and its number of ratings.

    Answers, revisions, times, guidelines, forms and pseudonyms are as they were; raters have no
    account here. Training and attention items are left out. Raises ``ImportFailed`` with every
    fault and its line, and ``SlugTaken``: nothing is stored.
    """
    problems = Problems("campaign.json")
    exported = read_campaign(folder / "campaign.json", problems)
    if exported is None or problems.found:
        raise ImportFailed(problems.found)
    problems = Problems("ratings.jsonl")
    ratings = list(read_ratings(folder / "ratings.jsonl", exported, problems))
    items = _items(version, ratings, problems)
    _check_places(exported, ratings, problems)
    for rating in ratings:
        if (known := items.get(_key(rating))) is not None:
            _check_answers(exported, rating, known.material_for(rating), problems)
    if not ratings and not problems.found:
        problems.add("", "", "holds no rating of a regular item")
    if problems.found:
        raise ImportFailed(problems.found)
    with transaction.atomic():
        if Campaign._base_manager.filter(slug=slug).exists():
            raise SlugTaken
        campaign = _store_campaign(version, exported, slug, name, by)
        _store_ratings(campaign, ratings, items)
        audit.record(
            by,
            "campaign.imported",
            campaign,
            campaign=campaign.slug,
            corpus=str(version),
            ratings=len(ratings),
        )
    return campaign, len(ratings)


def _key(rating: RatingLine) -> ItemKey:
    return rating.dialogue, rating.turn, frozenset(_systems_of(rating))


def _systems_of(rating: RatingLine) -> list[str]:
    """As shown."""
    if rating.systems:
        return list(rating.systems)
    return [rating.system, *([] if rating.system_b is None else [rating.system_b])]


# --- what the corpus must have --------------------------------------------------------------------


def _items(
    version: CorpusVersion, ratings: Sequence[RatingLine], problems: Problems
) -> dict[ItemKey, ImportedItem]:
    dialogues = {one.external_id: one for one in version.dialogues.all()}
    systems = {one.name: one for one in version.systems.all()}
    turns: dict[int, list[Turn]] = defaultdict(list)
    for turn in Turn.objects.filter(dialogue__version=version).only("dialogue_id", "number"):
        turns[turn.dialogue_id].append(turn)
    named = {name for one in ratings for name in _systems_of(one)}
    used = {systems[name].pk for name in named if name in systems}
    texts = {
        (system, turn): (pk, text)
        for pk, system, turn, text in Response.objects.filter(system__in=used).values_list(
            "pk", "system_id", "turn_id", "text"
        )
    }
    found: dict[ItemKey, ImportedItem] = {}
    for rating in ratings:
        if _key(rating) in found:
            continue
        dialogue = dialogues.get(rating.dialogue)
        if dialogue is None:
            problems.add(rating.line, "dialogue", f"the corpus has no {rating.dialogue[:80]!r}")
            continue
        fields = repeat("systems") if rating.systems else ("system", "system_b")
        unknown = [
            (field, name)
            for field, name in zip(fields, _systems_of(rating), strict=False)
            if name not in systems
        ]
        if set(rating.systems) != set(ratings[0].systems):
            problems.add(rating.line, "systems", "must be those of the first line")
            continue
        for field, name in unknown:
            problems.add(rating.line, field, f"the corpus has no {name[:80]!r}")
        if unknown:
            continue
        shown = sorted(turns[dialogue.pk], key=lambda one: one.number)
        # Of a pair, the item's first system has the lower key
        judged = sorted((systems[name] for name in _systems_of(rating)), key=lambda one: one.pk)
        item = _item(rating, dialogue, judged, shown, texts)
        if isinstance(item, ImportedItem):
            found[_key(rating)] = item
        else:
            problems.add(rating.line, "turn", f"{item.name[:80]!r} has no response there")
    return found


def _item(
    rating: RatingLine,
    dialogue: Dialogue,
    judged: Sequence[System],
    turns: Sequence[Turn],
    texts: Mapping[tuple[int, int], tuple[int, str]],
) -> ImportedItem | System:
    """The item; the system, where it has no response."""
    turn = next((one for one in turns if one.number == rating.turn), None)
    places = turns if rating.turn is None else [turn] if turn is not None else []
    responses = [[texts.get((system.pk, place.pk)) for place in places] for system in judged]
    for system, own in zip(judged, responses, strict=True):
        if not any(own):
            return system
    first, *others = judged
    keys = [own[0][0] if turn is not None and own[0] else None for own in responses]
    item = Item(dialogue=dialogue, turn=turn)
    if not rating.systems:
        item.system, item.response_id = first, keys[0]
        item.system_b = others[0] if others else None
        item.response_b_id = keys[1] if others else None
    return ImportedItem(
        item,
        {
            system.name: [one[1] if one else "" for one in own]
            for system, own in zip(judged, responses, strict=True)
        },
        {system.name: own[0][0] for system, own in zip(judged, responses, strict=True) if own[0]},
    )


def _check_places(
    exported: ExportedCampaign, ratings: Sequence[RatingLine], problems: Problems
) -> None:
    """What the database would refuse."""
    counted: Counter[ItemKey] = Counter()
    judged: dict[tuple[int, ItemKey], int] = {}
    positions: dict[tuple[int, int], int] = {}
    for rating in ratings:
        counted[_key(rating)] += rating.counts
        if counted[_key(rating)] > exported.raters_per_item and rating.counts:
            text = f"is one more than the {exported.raters_per_item} ratings of an item that count"
            problems.add(rating.line, "counts", text)
        first = judged.setdefault((rating.rater, _key(rating)), rating.line)
        if first != rating.line:
            problems.add(rating.line, "rater", f"has judged the item in line {first} already")
        first = positions.setdefault((rating.rater, rating.position), rating.line)
        if first != rating.line:
            problems.add(rating.line, "position", f"is that of line {first}, too")


def _check_answers(
    exported: ExportedCampaign, rating: RatingLine, material: Material, problems: Problems
) -> None:
    for number, revision in enumerate(rating.revisions):
        if revision.form is None or revision.answers is None:
            continue
        where = f"revisions[{number}].answers"
        try:
            taken = check(exported.forms[revision.form], revision.answers, material)
        except AnswerError as error:
            for key, text in error.messages.items():
                problems.add(rating.line, f"{where}.{key}".rstrip("."), text)
            continue
        if taken != revision.answers:
            problems.add(rating.line, where, "are not as the form's questions have them")


# --- storing --------------------------------------------------------------------------------------


def _store_campaign(
    version: CorpusVersion, exported: ExportedCampaign, slug: str, name: str, by: Any
) -> Campaign:
    now = timezone.now()
    campaign = Campaign.objects.create(
        slug=slug,
        name=name or exported.name,
        kind=exported.kind,
        version=version,
        raters_per_item=exported.raters_per_item,
        scale_labels=list(exported.labels),
        axes=[dict(axis) for axis in exported.axes],
        axes_below=exported.axes_below,
        simulated=exported.simulated,
        allocation=exported.allocation,
        target=exported.target,
        target_value=exported.target_value,
        budget=exported.budget,
        opened_at=now,
        closed_at=now,
        created_by=by,
    )
    Guidelines.objects.bulk_create(
        Guidelines(campaign=campaign, number=number, text=text)
        for number, text in sorted(exported.guidelines.items())
    )
    versions = FormVersion.objects.bulk_create(
        FormVersion(campaign=campaign, number=number, schema=to_data(form), digest=digest(form))
        for number, form in sorted(exported.forms.items())
    )
    # Closed with its form: pairs are never without one
    campaign.form = versions[-1] if versions else None
    campaign.state = Campaign.State.CLOSED
    campaign.save(update_fields=["form", "state"])
    return campaign


def _store_ratings(
    campaign: Campaign, ratings: Sequence[RatingLine], read: Mapping[ItemKey, ImportedItem]
) -> None:
    items = {key: one.item for key, one in read.items()}
    for item in items.values():
        item.campaign = campaign
    Item.objects.bulk_create(items.values(), batch_size=ROWS_AT_A_TIME)
    names = {name for one in read.values() for name in one.texts}
    campaign.systems.set(campaign.version.systems.filter(name__in=names))
    people = _store_raters(campaign, ratings)
    assignments = [
        Assignment(
            participation=people[rating.rater],
            item=items[_key(rating)],
            state=Assignment.State.RETURNED,
            position=rating.position,
            propensity=rating.propensity,
            system_propensity=rating.system_propensity,
            is_swapped=None
            if rating.system_b is None
            else rating.system_b == items[_key(rating)].system.name,
            shown=[read[_key(rating)].responses[name] for name in rating.systems] or None,
            claimed_at=rating.revisions[0].created_at,
            finished_at=rating.revisions[0].created_at,
        )
        for rating in ratings
    ]
    Assignment.objects.bulk_create(assignments, batch_size=ROWS_AT_A_TIME)
    guidelines = {one.number: one for one in campaign.guidelines.all()}
    forms = {one.number: one for one in campaign.form_versions.all()}
    revisions = [
        _revision(assignment, revision, guidelines, forms)
        for assignment, rating in zip(assignments, ratings, strict=True)
        for revision in rating.revisions
    ]
    RatingRevision.objects.bulk_create(revisions, batch_size=ROWS_AT_A_TIME)
    moments = [revision.created_at for rating in ratings for revision in rating.revisions]
    for row, moment in zip(revisions, moments, strict=True):
        row.created_at = moment  # when a row is made, the field takes the moment of that
        row.assignment.current, row.assignment.state = row, Assignment.State.DONE
    RatingRevision.objects.bulk_update(revisions, ["created_at"], batch_size=ROWS_AT_A_TIME)
    Assignment.objects.bulk_update(assignments, ["current", "state"], batch_size=ROWS_AT_A_TIME)
    holders = defaultdict(list)
    for assignment, rating in zip(assignments, ratings, strict=True):
        if rating.counts:
            holders[assignment.item_id].append(assignment)
    _store_slots(campaign, list(items.values()), holders)


def _store_raters(campaign: Campaign, ratings: Sequence[RatingLine]) -> dict[int, Participation]:
    rated, now = Counter(one.rater for one in ratings), timezone.now()
    excluded = {one.rater for one in ratings if one.is_excluded}
    last = {one.rater: max(one.position, 0) for one in ratings}
    people = {
        number: Participation(
            campaign=campaign,
            position=number - 1,
            rated=count,
            offered=last[number] + 1,
            qualification=Participation.Qualification.PASSED,
            **(
                {
                    "state": Participation.State.EXCLUDED,
                    "exclusion_reason": "excluded before the import",
                    "excluded_at": now,
                }
                if number in excluded
                else {}
            ),
        )
        for number, count in sorted(rated.items())
    }
    Participation.objects.bulk_create(people.values())
    return people


def _revision(
    assignment: Assignment,
    line: RevisionLine,
    guidelines: Mapping[int, Guidelines],
    forms: Mapping[int, FormVersion],
) -> RatingRevision:
    return RatingRevision(
        assignment=assignment,
        number=line.number,
        key=f"imported-{line.number}",
        score=line.score,
        low_axes=None if line.low_axes is None else list(line.low_axes),
        form=None if line.form is None else forms[line.form],
        answers=None if line.answers is None else dict(line.answers),
        question_ms=None if line.question_ms is None else dict(line.question_ms),
        flagged=line.flagged,
        comment=line.comment,
        guidelines=None if line.guidelines is None else guidelines[line.guidelines],
        first_key_ms=line.first_key_ms,
        submit_ms=line.submit_ms,
        active_ms=line.active_ms,
        shown_at=line.shown_at,
    )


def _store_slots(
    campaign: Campaign, items: Sequence[Item], holders: Mapping[int, list[Assignment]]
) -> None:
    order = interleave(
        [item.dialogue_id for item in items], campaign.raters_per_item, campaign.seed
    )
    used: Counter[int] = Counter()
    slots = []
    for ordinal, index in enumerate(order.tolist()):
        item = items[index]
        held = holders.get(item.pk, [])
        holder = held[used[item.pk]] if used[item.pk] < len(held) else None
        used[item.pk] += 1
        slots.append(
            Slot(
                campaign=campaign,
                item=item,
                place=used[item.pk],
                ordinal=ordinal,
                is_swapped=None
                if item.system_b is None
                else holder.is_swapped
                if holder
                else used[item.pk] % 2 == 0,
                holder=holder,
            )
        )
    Slot.objects.bulk_create(slots, batch_size=ROWS_AT_A_TIME)
