"""The page of a dialogue: the conversation, and at one turn every system's response with its
scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotations.corpora.queries import (
    RatingInput,
    dialogue_at,
    dialogue_ratings_in,
    ratings_of,
    responses_at,
    shown_systems,
)
from annotations.corpora.shortcuts import aspect_or_404, version_or_404
from annotations.formats.records import TARGET_SPEAKER
from annotations.models import CorpusVersion, Dialogue, Response, System, Turn
from common.text import parse_integer
from leaderboard.corpus_context import corpus_context
from leaderboard.pages.judges.items import inspector_links
from workers.runs.queries import TurnScore, dialogue_scores_at, turn_scores_at

SYSTEMS_A_PAGE = 25
"""Each with every metric's score and every rater's: five hundred were a page of a second, fifty of
a tenth."""


@dataclass(frozen=True, slots=True)
class Bubble:
    speaker: str
    text: str
    turn: int | None
    """The turn that this utterance answers, where it is a target speaker's."""
    is_chosen: bool
    is_later: bool
    """Said after the chosen turn: what systems answered there, they answered without knowing it."""
    begins_later: bool


@dataclass(frozen=True, slots=True)
class Card:
    """One system's response with what metrics and people say of it."""

    system: str
    swatch: int
    badges: tuple[str, ...]
    text: str
    scores: list[TurnScore]
    ratings: list[tuple[str, str]]
    rating_words: str

    @property
    def place(self) -> str:
        """For the card's address on the page."""
        return str(self.swatch)


def dialogue_context(
    version: CorpusVersion,
    dialogue: Dialogue,
    turn: str,
    aspect: str,
    page: str = "",
    system: str = "",
) -> dict[str, Any]:
    """``turn`` is the turn asked for. Of many systems one page is shown: the one asked for by its
    number or, where ``system`` (a position) is, the page which holds that system."""
    turns = list(dialogue.turns.order_by("number"))
    chosen = _chosen_turn(turns, turn)
    shown = _page_of_systems(version, page, system)
    systems = [one.pk for one in shown]
    scores = turn_scores_at(version, chosen, systems) if chosen else {}
    responses = list(responses_at(chosen).filter(system__in=systems)) if chosen else []
    ratings = ratings_of(responses, aspect)
    bubbles = _bubbles(turns, chosen)
    of_whole = dialogue_scores_at(version, dialogue, systems)
    judged_turn = {"turn": chosen.number} if chosen else {}
    return {
        "dialogue": dialogue,
        "turns": turns,
        "turn": chosen,
        "bubbles": bubbles,
        "has_gold_answer": any(bubble.is_chosen for bubble in bubbles),
        "cards": [
            _card(
                response, scores.get(response.system_id, []), ratings.get(response.pk, []), aspect
            )
            for response in responses
        ],
        "page_of_systems": shown,
        "judges": inspector_links(
            version, _configurations(scores), aspect, dialogue=dialogue.position, **judged_turn
        ),
        "dialogue_scores": _scores_of_whole(version, of_whole),
        "dialogue_judges": inspector_links(
            version, _configurations(of_whole), aspect, dialogue=dialogue.position
        ),
        "dialogue_ratings": _whole_dialogue(dialogue, aspect, systems),
        "previous": dialogue.position - 1 if dialogue.position else None,
        "next": dialogue.position + 1
        if version.dialogues.filter(position=dialogue.position + 1).exists()
        else None,
        "of": version.dialogues.count(),
    }


def _page_of_systems(version: CorpusVersion, page: str, system: str) -> Page[System]:
    systems = shown_systems(version).order_by("position")
    position = parse_integer(system)
    if not page and position is not None:
        page = str(systems.filter(position__lt=position).count() // SYSTEMS_A_PAGE + 1)
    return Paginator(systems, SYSTEMS_A_PAGE).get_page(page)


def _configurations(scores: Mapping[int, Sequence[TurnScore]]) -> list[str]:
    return [one.configuration for of_system in scores.values() for one in of_system]


def _chosen_turn(turns: list[Turn], requested: str) -> Turn | None:
    """The turn asked for; the last one, which shows the whole conversation, where none or an
    unknown one is."""
    return next(
        (turn for turn in turns if str(turn.number) == requested), turns[-1] if turns else None
    )


def _bubbles(turns: list[Turn], chosen: Turn | None) -> list[Bubble]:
    """The whole gold conversation: the longest context we have and the gold answer to it. Where the
    chosen turn is no part of it (a file may give every turn a context of its own), the chosen
    turn's context and answer."""
    if chosen is None:
        return []
    spoken = _conversation_to(max(turns, key=lambda turn: len(turn.context)))
    if spoken[: len(chosen.context) + 1] != _conversation_to(chosen)[: len(spoken)]:
        spoken = _conversation_to(chosen)
    number_at = {
        len(turn.context): turn.number
        for turn in turns
        if spoken[: len(turn.context)] == list(turn.context)
    }
    chosen_index = len(chosen.context)
    number_at[chosen_index] = chosen.number
    return [
        Bubble(
            speaker=speaker,
            text=text,
            turn=number_at.get(place) if speaker == TARGET_SPEAKER else None,
            is_chosen=place == chosen_index and speaker == TARGET_SPEAKER,
            is_later=place > chosen_index,
            begins_later=place == chosen_index + 1,
        )
        for place, (speaker, text) in enumerate(spoken)
    ]


def _conversation_to(turn: Turn) -> list[list[str]]:
    """A turn's context and, where there is one, the gold answer to it."""
    return [*turn.context, *([[TARGET_SPEAKER, turn.references[0]]] if turn.references else [])]


def _card(
    response: Response, scores: list[TurnScore], ratings: list[RatingInput], aspect: str
) -> Card:
    system = response.system
    return Card(
        system=system.name,
        swatch=system.position,
        badges=(system.kind,) if system.kind != "agent" else (),
        text=response.text,
        scores=scores,
        ratings=[
            (_known_rater(rating), f"{rating.score:g}") for rating in ratings if len(ratings) > 1
        ],
        rating_words=_rating_text(ratings, aspect),
    )


def _rating_text(ratings: list[RatingInput], aspect: str) -> str:
    if not ratings:
        return f"No human rating of {aspect}"
    if ratings[0].rater_kind == "aggregate":
        return f"Human {aspect}, mean in the file: {ratings[0].score:.2f}"
    raters = "1 rater" if len(ratings) == 1 else f"{len(ratings)} raters"
    return f"Human {aspect}: mean {fmean(rating.score for rating in ratings):.2f} from {raters}"


def _known_rater(rating: RatingInput) -> str:
    """An anonymous rater's number is a place in a list, not a person: it is not shown as if it
    named one."""
    return rating.pseudonym if rating.rater_kind == "identified" else ""


def _scores_of_whole(
    version: CorpusVersion, scores: dict[int, list[TurnScore]]
) -> list[tuple[str, int, list[TurnScore]]]:
    """(system, swatch, scores) of what metrics say of each system's whole dialogue."""
    systems = version.systems.filter(pk__in=scores).order_by("position")
    return [(system.name, system.position, scores[system.pk]) for system in systems]


def _whole_dialogue(
    dialogue: Dialogue, aspect: str, systems: Sequence[int]
) -> list[tuple[str, int, float, list[str]]]:
    """(system, swatch, mean, scores) of each system's ratings of the whole dialogue."""
    ratings = dialogue_ratings_in(dialogue).filter(aspect=aspect, system__in=systems)
    by_system: dict[tuple[int, str], list[float]] = {}
    for place, name, score in ratings.values_list("system__position", "system__name", "score"):
        by_system.setdefault((place, name), []).append(score)
    return [
        (name, place, fmean(scores), [f"{score:g}" for score in scores])
        for (place, name), scores in by_system.items()
    ]


@require_safe
def dialogue(request: HttpRequest, slug: str, position: int) -> HttpResponse:
    """One dialogue: personas, conversation, the systems' responses at a ``turn``, 25 systems a
    ``page``; ``system`` is the page that holds the system at this place, from 0."""
    version = version_or_404(request, slug)
    aspect = aspect_or_404(request, version)
    found = dialogue_at(version, position)
    if found is None:
        raise Http404(f"{slug} has no dialogue at place {position}")
    context = {
        **corpus_context(version, "dialogues", aspect),
        **dialogue_context(version, found, aspect=aspect, **_filters_of(request)),
    }
    return render(request, "leaderboard/dialogue.html", context)


def _filters_of(request: HttpRequest) -> dict[str, str]:
    params = request.GET
    return {
        "turn": params.get("turn", ""),
        "page": params.get("page", ""),
        "system": params.get("system", ""),
    }
