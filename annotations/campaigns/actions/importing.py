"""Ratings exported elsewhere, as a closed campaign on a corpus with the same responses."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    AskedCampaign,
    RatingLine,
    RevisionLine,
    read_campaign,
    read_ratings,
)
from annotations.formats.importers.base import ImportFailed
from annotations.formats.importers.problems import Problems
from annotations.models import CorpusVersion, Dialogue, Response, System, Turn
from annotations.questions.answers import AnswerError, Material, check
from annotations.questions.schema import Form, digest, to_data

ROWS_AT_A_TIME = 2_000
ItemKey = tuple[str, int | None, str]
"""Dialogue, turn (None of a whole dialogue), system."""


@dataclass(frozen=True, slots=True)
class ImportedItem:
    """``item`` is not stored yet; ``utterances``: the judged texts by number."""

    item: Item
    utterances: Mapping[int, str]


def import_ratings(
    version: CorpusVersion, folder: Path, slug: str, name: str = "", by: Any = None
) -> tuple[Campaign, int]:
    """A closed campaign of what ``export_ratings --format jsonl`` wrote, and its number of ratings.

    Answers, revisions, times, guidelines, forms and pseudonyms are as they were; raters have no
    account here. Training and attention items are left out. Raises ``ImportFailed`` with every
    fault and its line, and ``SlugTaken``: nothing is stored.
    """
    problems = Problems("campaign.json")
    asked = read_campaign(folder / "campaign.json", problems)
    if asked is None or problems.found:
        raise ImportFailed(problems.found)
    problems = Problems("ratings.jsonl")
    ratings = list(read_ratings(folder / "ratings.jsonl", asked, problems))
    items = _items(version, ratings, problems)
    _check_places(asked, ratings, problems)
    for rating in ratings:
        if (known := items.get(_key(rating))) is not None:
            _check_answers(asked, rating, Material(known.utterances), problems)
    if not ratings and not problems.found:
        problems.add("", "", "holds no rating of a regular item")
    if problems.found:
        raise ImportFailed(problems.found)
    with transaction.atomic():
        if Campaign._base_manager.filter(slug=slug).exists():
            raise SlugTaken
        campaign = _store_campaign(version, asked, slug, name, by)
        _store_ratings(campaign, ratings, {key: one.item for key, one in items.items()})
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
    return rating.dialogue, rating.turn, rating.system


# --- what the corpus must have --------------------------------------------------------------------


def _items(
    version: CorpusVersion, ratings: Sequence[RatingLine], problems: Problems
) -> dict[ItemKey, ImportedItem]:
    dialogues = {one.external_id: one for one in version.dialogues.all()}
    systems = {one.name: one for one in version.systems.all()}
    turns: dict[int, list[Turn]] = defaultdict(list)
    for turn in Turn.objects.filter(dialogue__version=version).only("dialogue_id", "number"):
        turns[turn.dialogue_id].append(turn)
    used = {systems[one.system].pk for one in ratings if one.system in systems}
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
        dialogue, system = dialogues.get(rating.dialogue), systems.get(rating.system)
        if dialogue is None:
            problems.add(rating.line, "dialogue", f"the corpus has no {rating.dialogue[:80]!r}")
        elif system is None:
            problems.add(rating.line, "system", f"the corpus has no {rating.system[:80]!r}")
        else:
            shown = sorted(turns[dialogue.pk], key=lambda one: one.number)
            one = _item(rating, dialogue, system, shown, texts)
            if one is None:
                problems.add(rating.line, "turn", f"{rating.system[:80]!r} has no response there")
            else:
                found[_key(rating)] = one
    return found


def _item(
    rating: RatingLine,
    dialogue: Dialogue,
    system: System,
    turns: Sequence[Turn],
    texts: Mapping[tuple[int, int], tuple[int, str]],
) -> ImportedItem | None:
    if rating.turn is None:
        shown = [texts.get((system.pk, turn.pk)) for turn in turns]
        item = Item(dialogue=dialogue, system=system)
        answers = {number: one[1] if one else "" for number, one in enumerate(shown, start=1)}
        return ImportedItem(item, answers) if any(shown) else None
    turn = next((one for one in turns if one.number == rating.turn), None)
    response = None if turn is None else texts.get((system.pk, turn.pk))
    if response is None:
        return None
    item = Item(dialogue=dialogue, turn=turn, system=system, response_id=response[0])
    return ImportedItem(item, {1: response[1]})


def _check_places(asked: AskedCampaign, ratings: Sequence[RatingLine], problems: Problems) -> None:
    """What the database would refuse."""
    counted: Counter[ItemKey] = Counter()
    judged: dict[tuple[int, ItemKey], int] = {}
    positions: dict[tuple[int, int], int] = {}
    for rating in ratings:
        counted[_key(rating)] += rating.counts
        if counted[_key(rating)] > asked.raters_per_item and rating.counts:
            text = f"is one more than the {asked.raters_per_item} ratings of an item that count"
            problems.add(rating.line, "counts", text)
        first = judged.setdefault((rating.rater, _key(rating)), rating.line)
        if first != rating.line:
            problems.add(rating.line, "rater", f"has judged the item in line {first} already")
        first = positions.setdefault((rating.rater, rating.position), rating.line)
        if first != rating.line:
            problems.add(rating.line, "position", f"is that of line {first}, too")


def _check_answers(
    asked: AskedCampaign, rating: RatingLine, material: Material, problems: Problems
) -> None:
    for number, revision in enumerate(rating.revisions):
        if revision.form is None or revision.answers is None:
            continue
        where = f"revisions[{number}].answers"
        try:
            taken = check(asked.forms[revision.form], revision.answers, material)
        except AnswerError as error:
            for key, text in error.messages.items():
                problems.add(rating.line, f"{where}.{key}".rstrip("."), text)
            continue
        if taken != revision.answers:
            problems.add(rating.line, where, "are not as the form's questions have them")


# --- storing --------------------------------------------------------------------------------------


def _store_campaign(
    version: CorpusVersion, asked: AskedCampaign, slug: str, name: str, by: Any
) -> Campaign:
    now = timezone.now()
    campaign = Campaign.objects.create(
        slug=slug,
        name=name or asked.name,
        kind=asked.kind,
        version=version,
        raters_per_item=asked.raters_per_item,
        scale_labels=list(asked.labels),
        axes=[dict(axis) for axis in asked.axes],
        axes_below=asked.axes_below,
        simulated=asked.simulated,
        state=Campaign.State.CLOSED,
        opened_at=now,
        closed_at=now,
        created_by=by,
    )
    Guidelines.objects.bulk_create(
        Guidelines(campaign=campaign, number=number, text=text)
        for number, text in sorted(asked.guidelines.items())
    )
    versions = FormVersion.objects.bulk_create(
        _form_version(campaign, number, form) for number, form in sorted(asked.forms.items())
    )
    if versions:
        campaign.form = versions[-1]
        campaign.save(update_fields=["form"])
    return campaign


def _form_version(campaign: Campaign, number: int, form: Form) -> FormVersion:
    return FormVersion(campaign=campaign, number=number, schema=to_data(form), digest=digest(form))


def _store_ratings(
    campaign: Campaign, ratings: Sequence[RatingLine], items: Mapping[ItemKey, Item]
) -> None:
    for item in items.values():
        item.campaign = campaign
    Item.objects.bulk_create(items.values(), batch_size=ROWS_AT_A_TIME)
    campaign.systems.set({item.system for item in items.values()})
    people = _store_raters(campaign, ratings)
    assignments = [
        Assignment(
            participation=people[rating.rater],
            item=items[_key(rating)],
            state=Assignment.State.RETURNED,
            position=rating.position,
            propensity=rating.propensity,
            system_propensity=rating.system_propensity,
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
                holder=holder,
            )
        )
    Slot.objects.bulk_create(slots, batch_size=ROWS_AT_A_TIME)
