"""The page of a dialogue: the conversation, and at one turn every system's response with its
scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotations.corpora.queries import (
    LabelInput,
    Labels,
    RatingInput,
    dialogue_at,
    dialogue_ratings_in,
    labels_in,
    preferences_in,
    ratings_of,
    responses_at,
    samples_of,
    shown_systems,
)
from annotations.corpora.shortcuts import aspect_or_404, version_or_404
from annotations.corpora.shown_messages import (
    SHOWN_AT_ONCE,
    ShownText,
    shown_message,
    shown_metadata,
    shown_text,
)
from annotations.formats.records import ASSISTANT, TARGET_SPEAKER
from annotations.models import CorpusVersion, Dialogue, Response, Sample, System, Turn
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
    content: ShownText | None = None
    """Of a conversation of roles: the text with its Markdown and tool calls."""
    is_target: bool = False
    is_folded: bool = False
    labels: tuple[str, ...] = ()

    @property
    def side(self) -> str:
        """At which side of the page it stands."""
        if self.content is None:
            return self.speaker
        return "b" if self.is_target else "a"


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
    content: ShownText | None
    samples: list[ShownText]
    labels: tuple[str, ...]
    metadata: list[tuple[str, str]]

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
    markdown: bool = True,
    all_messages: bool = False,
) -> dict[str, Any]:
    """``turn`` is the turn asked for. Of many systems one page is shown: the one asked for by its
    number or, where ``system`` (a position) is, the page which holds that system. ``markdown`` is
    False to show texts as they are. Of a long conversation ``SHOWN_AT_ONCE`` messages around the
    turn are formatted, unless ``all_messages``."""
    turns = list(dialogue.turns.all())
    chosen = _chosen_turn(turns, turn)
    shown = _page_of_systems(version, page, system)
    systems = [one.pk for one in shown]
    responses = list(responses_at(chosen).filter(system__in=systems)) if chosen else []
    answered = [response.system_id for response in responses]
    scores = turn_scores_at(version, chosen, answered) if chosen else {}
    ratings = ratings_of(responses, aspect)
    labels = labels_in(dialogue, chosen)
    if dialogue.messages and (chosen is None or chosen.after is not None):
        count = len(dialogue.messages)
        middle = count if chosen is None or chosen.after is None else chosen.after + 1
        window = range(count) if all_messages else _window(count, middle)
        bubbles = _message_bubbles(dialogue, turns, chosen, labels, markdown, window)
    else:
        every = _bubbles(turns, chosen)
        count = len(every)
        middle = next((at for at, one in enumerate(every) if one.begins_later), count)
        window = range(count) if all_messages else _window(count, middle)
        bubbles = every[window.start : window.stop]
    samples = samples_of(responses)
    of_whole = dialogue_scores_at(version, dialogue, systems)
    judged_turn = {"turn": chosen.number} if chosen else {}
    return {
        "dialogue": dialogue,
        "turns": turns,
        "turn": chosen,
        "bubbles": bubbles,
        "earlier": window.start,
        "later": count - window.stop,
        "has_roles": bool(dialogue.messages),
        "is_raw": not markdown,
        "metadata": shown_metadata(dialogue.metadata),
        "dialogue_labels": _label_text(labels.get((None, None), [])),
        "preferences": preferences_in(dialogue, chosen),
        "has_gold_answer": any(bubble.is_chosen for bubble in bubbles),
        "cards": [
            _card(
                response,
                scores.get(response.system_id, []),
                ratings.get(response.pk, []),
                aspect,
                samples=[
                    _shown_text(one, bool(dialogue.messages), markdown)
                    for one in samples.get(response.pk, [])
                ],
                labels=_label_text(labels.get((response.pk, None), [])),
                content=_shown_text(response, bool(dialogue.messages), markdown),
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


def _window(count: int, middle: int) -> range:
    """Places of the messages around one."""
    first = max(0, min(middle - SHOWN_AT_ONCE // 2, count - SHOWN_AT_ONCE))
    return range(first, min(count, first + SHOWN_AT_ONCE))


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


def _message_bubbles(
    dialogue: Dialogue,
    turns: list[Turn],
    chosen: Turn | None,
    labels: Labels,
    markdown: bool,
    places: range,
) -> list[Bubble]:
    """The messages at these places. Where the message after the chosen turn's point is not its gold
    answer, the first reference stands there, if the file has one."""
    messages = dialogue.messages
    number_at = {turn.after: turn.number for turn in turns if turn.after is not None}
    after = len(messages) if chosen is None or chosen.after is None else chosen.after
    bubbles = []
    for place in places:
        shown = shown_message(messages[place], markdown=markdown)
        bubbles.append(
            Bubble(
                speaker=shown.speaker,
                text=shown.content.text,
                turn=number_at.get(place) if shown.is_target else None,
                is_chosen=place == after and shown.is_target,
                is_later=place > after or (place == after and not shown.is_target),
                begins_later=False,
                content=shown.content,
                is_target=shown.is_target,
                is_folded=shown.is_folded,
                labels=_label_text(labels.get((None, place), [])),
            )
        )
    if chosen is not None and chosen.references and not any(one.is_chosen for one in bubbles):
        reference = shown_text(chosen.references[0], markdown=markdown)
        bubbles.insert(
            after - places.start,
            Bubble(ASSISTANT, reference.text, chosen.number, True, False, False, reference, True),
        )
    first_later = next((at for at, one in enumerate(bubbles) if one.is_later), None)
    if first_later is not None:
        bubbles[first_later] = replace(bubbles[first_later], begins_later=True)
    return bubbles


def _shown_text(response: Response | Sample, has_roles: bool, markdown: bool) -> ShownText | None:
    """Texts of A and B are shown as they are."""
    if not has_roles and not response.parts and isinstance(response, Response):
        return None
    return shown_text(response.text, response.parts, markdown=markdown and has_roles)


def _label_text(labels: list[LabelInput]) -> tuple[str, ...]:
    """``tone: warm (2 raters)``, one for each question and value, in their order."""
    found: dict[tuple[str, str], int] = {}
    for one in labels:
        values = [one.value] if isinstance(one.value, str) else one.value or ["(none)"]
        for value in values:
            found[one.question, value] = found.get((one.question, value), 0) + 1
    return tuple(
        f"{question}: {value}" + (f" ({count} raters)" if count > 1 else "")
        for (question, value), count in found.items()
    )


def _conversation_to(turn: Turn) -> list[list[str]]:
    """A turn's context and, where there is one, the gold answer to it."""
    return [*turn.context, *([[TARGET_SPEAKER, turn.references[0]]] if turn.references else [])]


def _card(
    response: Response,
    scores: list[TurnScore],
    ratings: list[RatingInput],
    aspect: str,
    **more: Any,
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
        metadata=shown_metadata(response.metadata),
        **more,
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
    ``page``; ``system`` is the page that holds the system at this place, from 0; ``raw`` shows
    Markdown as it was written, ``messages=all`` a long conversation whole."""
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


def _filters_of(request: HttpRequest) -> dict[str, Any]:
    params = request.GET
    return {
        "markdown": "raw" not in params,
        "all_messages": params.get("messages") == "all",
        "turn": params.get("turn", ""),
        "page": params.get("page", ""),
        "system": params.get("system", ""),
    }
