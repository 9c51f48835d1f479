"""Publishing a campaign of pairs or lists: answers that count become preferences of a corpus
version."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from annotations.campaigns.models import Adjudication, Campaign
from annotations.campaigns.queries.ratings import counted_ratings, form_of_campaign
from annotations.corpora import staging
from annotations.models import CorpusVersion, Preference, Rater, Response
from annotations.questions.answers import preferences_in, preferred

PREFERENCE_COLUMNS = (
    *("rater", "aspect", "preferred", "comment", "metadata"),
    *("response_a", "response_b", "dialogue", "system_a", "system_b"),
)
SHOWN = (
    *("position", "current__answers", "shown", "is_swapped", "item__dialogue"),
    *("item__response", "item__response_b", "item__system", "item__system_b"),
)
ROWS_A_READ = 10_000
KEYS_A_READ = 5_000


def insert_preferences(
    campaign: Campaign,
    copies: CorpusVersion,
    raters: Mapping[int, Rater],
    aspects: Mapping[str, str],
) -> int:
    """Store what was answered to questions as preferences of a staged version; returns how many.

    A is what the rater saw first. A graded answer stands in the metadata, too. Raters who could not
    judge gave no preference. A ranking, or best and worst, is as many preferences as it says
    something about (``answers.preferences_in``), without responses that are no longer there.

    Args:
        copies: the staged version.
        raters: by key of the participation.
        aspects: key of the question → aspect of the preferences.
    """
    rows = _rows(campaign, _answered(campaign, raters), aspects)
    return staging.insert(copies, Preference, PREFERENCE_COLUMNS, rows)


def insert_decided(
    campaign: Campaign, copies: CorpusVersion, who: Rater, aspects: Mapping[str, str]
) -> int:
    """Store adjudicated preferences, whose A is the item's first system, as ``insert_preferences``
    does those of raters.

    Args:
        copies: the staged version.
        who: the adjudicator, as a rater of it.
        aspects: key of the question → aspect of the adjudicated preferences.
    """
    decided = Adjudication.objects.filter(item__campaign=campaign, answers__isnull=False)
    columns = [f"item__{name}" for name in ("response", "response_b", "dialogue")]
    rows = [
        (who.pk, answers, _shown(dialogue, responses, systems), ())
        for answers, dialogue, *responses, one, other in decided.order_by("item").values_list(
            "answers", columns[2], *columns[:2], "item__system", "item__system_b"
        )
        for systems in [[one, other]]
    ]
    return staging.insert(copies, Preference, PREFERENCE_COLUMNS, _rows(campaign, rows, aspects))


Answered = tuple[int, dict[str, Any], tuple[int | None, ...], Sequence[int | None]]
"""Rater, answers, what was compared, as ``PREFERENCE_COLUMNS`` end, and the responses of a list:
None for one that is no longer there."""


def _rows(
    campaign: Campaign, answered: Iterable[Answered], aspects: Mapping[str, str]
) -> Iterator[tuple[object, ...]]:
    form = form_of_campaign(campaign)
    graded = {one.key for one in form.questions if one.points > 3} if form else set()
    for rater, answers, shown, listed in answered:
        for key, name in aspects.items():
            answer = answers.get(key)
            if isinstance(answer, Mapping):
                keys = {
                    str(place): response
                    for place, response in enumerate(listed, start=1)
                    if response is not None
                }
                for one, other, which in preferences_in(answer, list(keys)):
                    yield rater, name, which, "", "{}", keys[one], keys[other], None, None, None
                continue
            if answer is None or (which := preferred(answer)) is None:
                continue
            metadata = {"answer": answer} if key in graded else {}
            yield rater, name, which, "", json.dumps(metadata), *shown


def _shown(
    dialogue: int, responses: Sequence[int | None], systems: Sequence[int | None]
) -> tuple[int | None, ...]:
    whole = (None, None, dialogue, *systems)
    return whole if None in responses else (*responses, None, None, None)


def _answered(campaign: Campaign, raters: Mapping[int, Rater]) -> Iterator[Answered]:
    """Page by page, because rows are written between the reads."""
    for person, rater in raters.items():
        own = counted_ratings(campaign).filter(participation=person).order_by("position")
        last = -1
        while page := list(own.filter(position__gt=last).values_list(*SHOWN)[:ROWS_A_READ]):
            present = _present({key for _, _, listed, *_ in page for key in listed or ()})
            for _position, answers, listed, is_swapped, dialogue, *pair in page:
                responses, systems = pair[:2], pair[2:]
                if is_swapped:
                    responses, systems = responses[::-1], systems[::-1]
                there = [key if key in present else None for key in listed or ()]
                yield rater.pk, answers or {}, _shown(dialogue, responses, systems), there
            last = page[-1][0]


def _present(responses: set[int]) -> set[int]:
    """Those that are still there. Databases take only so many keys at a time."""
    keys = sorted(responses)
    found: set[int] = set()
    for start in range(0, len(keys), KEYS_A_READ):
        some = Response.objects.filter(pk__in=keys[start : start + KEYS_A_READ])
        found.update(some.values_list("pk", flat=True))
    return found
