"""Every read of a prompt's run and of the page on which prompts are written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Q, Sum

from annotations.formats.importers.problems import ImportFailed
from annotations.formats.records import letter_of
from annotations.models import Dialogue, Turn
from leaderboard.challenges.models import GeneratedResponse, Round, Submission, Team
from leaderboard.challenges.prompts.budget import Limits
from leaderboard.challenges.prompts.render import EXAMPLE, Place
from leaderboard.challenges.prompts.spec import LARGEST_FILE, Prompt, read_prompt
from leaderboard.challenges.queries.downloads import hides_references
from leaderboard.challenges.uploads import opened
from workers.inference.language_models.usage import Usage

ROWS_A_READ = 2_000


@dataclass(frozen=True, slots=True)
class WaitingTurn:
    pk: int
    number: int
    place: Place


def limits_of(round: Round) -> Limits:
    return Limits(round.input_tokens_per_dialogue, round.output_tokens_per_dialogue)


def dialogues_to_ask(submission: Submission) -> list[int]:
    """Primary keys, in order, of the dialogues that have a turn without an answer."""
    answered = Q(
        turns__pk__in=GeneratedResponse.objects.filter(submission=submission).values("turn")
    )
    dialogues = Dialogue.objects.filter(version=submission.version_id).annotate(
        asked=Count("turns", distinct=True), said=Count("turns", filter=answered, distinct=True)
    )
    rows = dialogues.order_by("position").values_list("pk", "asked", "said")
    return [pk for pk, requested, done in rows if done < requested]


def waiting_turns(submission: Submission, dialogue_pk: int) -> tuple[str, list[WaitingTurn]]:
    """The dialogue's id, and its turns that have no answer yet, in order, each with the gold
    history."""
    dialogue = Dialogue.objects.get(pk=dialogue_pk)
    answered = GeneratedResponse.objects.filter(
        submission=submission, turn__dialogue=dialogue_pk
    ).values("turn")
    turns = dialogue.turns.exclude(pk__in=answered).order_by("number")
    return dialogue.external_id, [
        WaitingTurn(turn.pk, turn.number, _place(dialogue, turn)) for turn in turns
    ]


def used_in(submission: Submission, dialogue_pk: int) -> Usage:
    rows = GeneratedResponse.objects.filter(submission=submission, turn__dialogue=dialogue_pk)
    sums = rows.aggregate(Sum("calls"), Sum("input_tokens"), Sum("output_tokens"))
    return Usage(
        sums["calls__sum"] or 0, sums["input_tokens__sum"] or 0, sums["output_tokens__sum"] or 0
    )


def turns_in(version_id: int) -> int:
    return Turn.objects.filter(dialogue__version=version_id).count()


def turn_texts(submission: Submission) -> int:
    return submission.generated.count()


def reported_models(submission: Submission) -> list[str]:
    named = submission.generated.exclude(reported_model="").order_by("reported_model")
    return list(named.values_list("reported_model", flat=True).distinct()[:3])


def messages_in_order(submission_id: int) -> Iterator[tuple[int, str]]:
    """(primary key of the turn, text) in the corpus's order."""
    rows = GeneratedResponse.objects.filter(submission=submission_id)
    rows = rows.order_by("turn__dialogue__position", "turn__number")
    return rows.values_list("turn", "text").iterator(ROWS_A_READ)


def prompt_of(submission: Submission) -> Prompt | None:
    """The prompt that was handed in; None where the file is none, or is gone."""
    try:
        with opened(submission) as file:
            return read_prompt(file.read(LARGEST_FILE + 1))
    except (ImportFailed, OSError):
        return None


@dataclass(frozen=True, slots=True)
class UsedSoFar:
    """By a team's prompts in a round. ``cost`` is None where the round has no prices."""

    prompts: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost: Decimal | None


def used_so_far(round: Round, team: Team) -> UsedSoFar:
    prompts = Submission.objects.filter(round=round, team=team, kind=Submission.Kind.PROMPT)
    sums = prompts.aggregate(
        Count("pk"),
        Sum("calls", default=0),
        Sum("input_tokens", default=0),
        Sum("output_tokens", default=0),
        Sum("cost"),
    )
    return UsedSoFar(
        sums["pk__count"],
        sums["calls__sum"],
        sums["input_tokens__sum"],
        sums["output_tokens__sum"],
        sums["cost__sum"],
    )


def example_turn(round: Round) -> tuple[Place, bool]:
    """What a preview shows, and whether it is made up: the first turn of the first dialogue, or,
    where the round's references are hidden, nothing of them. Also made up where the round's corpus
    has no turn."""
    if hides_references(round):
        return EXAMPLE, True
    turns = Turn.objects.select_related("dialogue").filter(dialogue__version=round.version_id)
    first = turns.order_by("dialogue__position", "number").first()
    return (EXAMPLE, True) if first is None else (_place(first.dialogue, first), False)


def _place(dialogue: Dialogue, turn: Turn) -> Place:
    return Place(
        persona=tuple(dialogue.persona),
        partner_persona=tuple(dialogue.partner_persona),
        history=tuple((letter_of(speaker), text) for speaker, text in turn.context),
    )
