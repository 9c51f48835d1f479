"""What a campaign would ask: the dialogues drawn, the items they make, and what has to be left
out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from django.db.models import Count

from annotations.campaigns.models import Campaign, ChatSystem, Item
from annotations.campaigns.plan.check_items import Answers
from annotations.campaigns.plan.draw import draw_dialogues
from annotations.campaigns.plan.pairs import count_pairs, draw_pairs
from annotations.models import CorpusVersion, Response, System, Turn

ROWS_A_READ = 10_000


@dataclass(frozen=True, slots=True)
class Question:
    """What decides a campaign's items. Of a form that is not yet stored as well as of a
    campaign."""

    kind: str
    version: CorpusVersion | None
    systems: Sequence[System] = ()
    chat_systems: Sequence[ChatSystem] = ()
    dialogues: int | None = None
    pairs: int | None = None
    raters_per_item: int = 1
    seed: int = 0


@dataclass(frozen=True, slots=True)
class PlannedItems:
    """``left_out`` counts what a system should have answered and did not: turns, or at dialogue
    level dialogues; of pairs, those of which one did not."""

    items: int
    dialogues: int
    dialogues_in_corpus: int
    left_out: int


def question_of(campaign: Campaign) -> Question:
    return Question(
        kind=campaign.kind,
        version=campaign.version,
        systems=list(campaign.systems.order_by("position")),
        chat_systems=list(campaign.chat_systems.order_by("name")),
        dialogues=campaign.dialogues_per_system,
        pairs=campaign.pairs,
        raters_per_item=campaign.raters_per_item,
        seed=campaign.seed,
    )


def planned_items(question: Question) -> PlannedItems:
    """How many items there would be. Of a collection an item is a dialogue, which two people
    write."""
    if question.kind == Campaign.Kind.COLLECTION or question.version is None:
        wanted = question.dialogues or 0
        return PlannedItems(wanted, wanted, 0, 0)
    everything = _dialogues_with_turns(question.version)
    drawn = draw_dialogues(everything, question.dialogues, question.seed)
    if question.kind == Campaign.Kind.INTERACTIVE:
        return PlannedItems(len(drawn) * len(question.chat_systems), len(drawn), len(everything), 0)
    if question.kind == Campaign.Kind.TURN:
        wanted = sum(_turns_of(question.version, drawn).values()) * len(question.systems)
        found = _responses(question, drawn).count()
    elif question.kind == Campaign.Kind.DIALOGUE:
        wanted = len(drawn) * len(question.systems)
        found = len(_complete_pairs(question, drawn))
    elif question.kind == Campaign.Kind.SYSTEMS:
        wanted = sum(_turns_of(question.version, drawn).values())
        found = _complete_turns(question, drawn).count()
    else:
        return _planned_pairs(question, drawn, len(everything))
    return PlannedItems(found, len(drawn), len(everything), wanted - found)


def _planned_pairs(question: Question, drawn: Sequence[int], dialogues: int) -> PlannedItems:
    if question.kind == Campaign.Kind.PAIR:
        points = sum(_turns_of(question.version, drawn).values())  # type: ignore[arg-type]
        by_turn = _responses(question, drawn).order_by().values_list("turn").annotate(Count("pk"))
        answered = [count for _turn, count in by_turn]
    else:
        points = len(drawn)
        answered = list(Counter(one for _, one in _complete_pairs(question, drawn)).values())
    found = sum(map(count_pairs, answered))
    left_out = points * count_pairs(len(question.systems)) - found
    items = found if question.pairs is None else min(found, question.pairs)
    return PlannedItems(items, len(drawn), dialogues, left_out)


def items_to_make(question: Question) -> Iterator[Item]:
    """The items, not stored and without their campaign, in no order that a rater ever sees."""
    if question.version is None:
        return
    drawn = draw_dialogues(
        _dialogues_with_turns(question.version), question.dialogues, question.seed
    )
    if question.kind == Campaign.Kind.INTERACTIVE:
        for chat_system in question.chat_systems:
            for dialogue in drawn:
                yield Item(chat_system=chat_system, dialogue_id=dialogue)
    elif question.kind == Campaign.Kind.TURN:
        columns = ("pk", "turn_id", "turn__dialogue_id", "system_id")
        rows = _responses(question, drawn).order_by("pk").values_list(*columns)
        last = 0
        # Page by page: ``staging.insert`` writes between the reads.
        while page := list(rows.filter(pk__gt=last)[:ROWS_A_READ]):
            for response, turn, dialogue, system in page:
                yield Item(
                    response_id=response,
                    turn_id=turn,
                    dialogue_id=dialogue,
                    system_id=system,
                )
            last = page[-1][0]
    elif question.kind == Campaign.Kind.DIALOGUE:
        for system, dialogue in _complete_pairs(question, drawn):
            yield Item(system_id=system, dialogue_id=dialogue)
    elif question.kind == Campaign.Kind.SYSTEMS:
        for turn, dialogue in list(_complete_turns(question, drawn)):
            yield Item(turn_id=turn, dialogue_id=dialogue)
    else:
        yield from _pairs_to_make(question, drawn)


def _pairs_to_make(question: Question, drawn: Sequence[int]) -> Iterator[Item]:
    """Raises ``NotConnected``, and ``ValueError`` where fewer pairs are wanted than connect the
    systems."""
    # (dialogue, turn, system, response), those of one point together
    if question.kind == Campaign.Kind.PAIR:
        columns = ("turn__dialogue_id", "turn_id", "system_id", "pk")
        answers = list(_responses(question, drawn).order_by(*columns[:3]).values_list(*columns))
    else:
        complete = sorted((one, system) for system, one in _complete_pairs(question, drawn))
        answers = [(dialogue, None, system, None) for dialogue, system in complete]
    points = [
        (dialogue, turn, {system: response for *_, system, response in rows})
        for (dialogue, turn), rows in groupby(answers, key=itemgetter(0, 1))
    ]
    systems = [system.pk for system in question.systems]
    there = [list(responses) for *_, responses in points]
    for point, (first, second) in draw_pairs(there, systems, question.pairs, question.seed):
        dialogue, turn, responses = points[point]
        yield Item(
            dialogue_id=dialogue,
            turn_id=turn,
            system_id=first,
            response_id=responses[first],
            system_b_id=second,
            response_b_id=responses[second],
        )


def first_item(question: Question) -> Item | None:
    """An item as the campaign would make it, for a look at it; None where it would make none."""
    try:
        return next(items_to_make(question), None)
    except ValueError:  # pairs that do not connect the systems
        return None


def _dialogues_with_turns(version: CorpusVersion) -> list[int]:
    with_turns = version.dialogues.filter(turns__isnull=False).distinct()
    return list(with_turns.order_by("position").values_list("pk", flat=True))


def _turns_of(version: CorpusVersion, drawn: Sequence[int]) -> dict[int, int]:
    counts = (
        Turn.objects.filter(dialogue__version=version)
        .values_list("dialogue_id")
        .annotate(count=Count("pk"))
    )
    wanted = set(drawn)
    return {dialogue: count for dialogue, count in counts if dialogue in wanted}


def _responses(question: Question, drawn: Sequence[int]):  # type: ignore[no-untyped-def]
    """Where all dialogues are asked, the database need not be told which: a list of thousands is
    slow, and SQLite takes only so long a one."""
    found = Response.objects.filter(system__in=[system.pk for system in question.systems])
    return found if question.dialogues is None else found.filter(turn__dialogue__in=drawn)


def _complete_turns(question: Question, drawn: Sequence[int]):  # type: ignore[no-untyped-def]
    """(turn, dialogue) where all systems answered; none of fewer than two systems."""
    systems = len(question.systems)
    rows = _responses(question, drawn).order_by("turn").values_list("turn", "turn__dialogue")
    counted = rows.annotate(count=Count("system", distinct=True)).filter(count=max(2, systems))
    return counted.values_list("turn", "turn__dialogue")


def _complete_pairs(question: Question, drawn: Sequence[int]) -> list[tuple[int, int]]:
    """(system, dialogue) where the system answered every turn."""
    turns = _turns_of(question.version, drawn)  # type: ignore[arg-type]
    counted = (
        Response.objects.filter(system__in=[system.pk for system in question.systems])
        .values_list("system_id", "turn__dialogue_id")
        .annotate(count=Count("pk"))
        .order_by("system_id", "turn__dialogue_id")
    )
    return [
        (system, dialogue) for system, dialogue, count in counted if count == turns.get(dialogue)
    ]


def is_of_turns(campaign: Campaign) -> bool:
    """Whether its items are of one turn, not of a whole dialogue."""
    return campaign.kind in (Campaign.Kind.TURN, Campaign.Kind.PAIR, Campaign.Kind.SYSTEMS)


def responses_of_check(campaign: Campaign) -> int:
    """How many responses, or systems' dialogues, an item shows for one judgement."""
    if campaign.kind == Campaign.Kind.SYSTEMS:
        return campaign.systems.count()
    return 2 if campaign.is_of_pairs else 1


def answers_in(version: CorpusVersion) -> Answers:
    """What a file of training and attention items may name."""
    turns: dict[str, list[int]] = defaultdict(list)
    for dialogue, number in Turn.objects.filter(dialogue__version=version).values_list(
        "dialogue__external_id", "number"
    ):
        turns[dialogue].append(number)
    answered: dict[str, set[tuple[str, int]]] = {
        name: set() for name in version.systems.values_list("name", flat=True)
    }
    rows = Response.objects.filter(system__version=version).values_list(
        "system__name", "turn__dialogue__external_id", "turn__number"
    )
    for system, dialogue, number in rows.iterator(chunk_size=10_000):
        answered[system].add((dialogue, number))
    return Answers(
        {dialogue: sorted(numbers) for dialogue, numbers in turns.items()},
        {system: frozenset(places) for system, places in answered.items()},
    )
