"""The stored answer of an arena's leaderboard: its votes that count, on the board of
preferences."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import Any

import numpy as np

from annotations.campaigns.models import Arena, Message
from annotations.campaigns.queries.arena import counted_battles, data_version, public_arenas
from annotations.models import CorpusVersion, System
from leaderboard.answers.preferences import PreferenceQuestion, PreferenceStanding
from leaderboard.queries.preference_board import standing_of
from leaderboard.queries.preferences import Votes, styles
from leaderboard.results.kinds import registered
from leaderboard.statistics.preferences.battles import WON, Battles
from leaderboard.statistics.preferences.covariates import Style, style_of


def arena_data_version(_version: CorpusVersion, arena: int) -> str:
    """An arena's votes change while its corpus version does not. Raises ``Arena.DoesNotExist``."""
    return data_version(Arena.objects.get(pk=arena))


def opened_arenas(version: CorpusVersion) -> list[dict[str, Any]]:
    """The leaderboards that visitors find on their own."""
    return [
        {"arena": pk} for pk in public_arenas().filter(version=version).values_list("pk", flat=True)
    ]


@registered(
    "arena",
    version=1,
    stamp=arena_data_version,
    refreshed_for=timedelta(days=1),
    shown_first=opened_arenas,
)
def arena_leaderboard(version: CorpusVersion, arena: int) -> PreferenceStanding:
    """Systems by Bradley–Terry strength of the arena's votes that count. Raises
    ``Arena.DoesNotExist``.

    Votes on stored responses to one dialogue are one cluster; each chat is one of its own.
    """
    found = Arena.objects.get(pk=arena)
    votes, keys = _votes(found)
    question = PreferenceQuestion(aspect=found.name, level=votes.level, votes=len(votes.battles))

    def styles_of_chats(_votes: Votes) -> tuple[list[Style], list[Style]]:
        return _styles_of_chats(keys)

    styles_of: Any = styles_of_chats if found.is_of_chats else styles
    return standing_of(version, votes, question, [question], styles_of)


def _votes(arena: Arena) -> tuple[Votes, list[int]]:
    """And the keys of their battles."""
    if arena.is_of_chats:
        columns = ("chat_system_a", "chat_system_b", "pk")
        systems = [
            System(pk=one.pk, name=one.name, kind=System.Kind.AGENT, position=position)
            for position, one in enumerate(arena.chat_systems.order_by("name"))
        ]
    else:
        columns = ("response_a__system", "response_b__system", "dialogue")
        systems = list(arena.systems.filter(withheld=False).order_by("position"))
    place = {system.pk: number for number, system in enumerate(systems)}
    rows = [
        row
        for row in counted_battles(arena)
        .order_by("number")
        .values_list(*columns, "visitor", "vote", "pk", "response_a", "response_b", "turn")
        if row[0] in place and row[1] in place
    ]
    met = sorted({place[system] for row in rows for system in row[:2]})
    number_of = {old: new for new, old in enumerate(met)}

    def column(index: int) -> Any:
        return np.array([row[index] or 0 for row in rows], dtype=np.int64)

    battles = Battles(
        len(met),
        np.array([number_of[place[row[0]]] for row in rows], dtype=np.int64),
        np.array([number_of[place[row[1]]] for row in rows], dtype=np.int64),
        np.array([WON[row[4]] for row in rows]),
        column(2),
        column(3),
    )
    nothing = np.zeros(len(rows), dtype=np.int64)
    votes = Votes(
        systems=tuple(systems[number] for number in met),
        level="dialogue" if arena.is_of_chats else "turn",
        battles=battles,
        responses=np.column_stack((column(6), column(7))),
        samples=np.column_stack((nothing, nothing)),
        turn=column(8),
        pair=nothing,
        won_first=battles.won,
        both_bad=sum(row[4] == "both_bad" for row in rows),
        same_system=0,
        has_identified_raters=True,
    )
    return votes, [row[5] for row in rows]


def _styles_of_chats(battles: list[int]) -> tuple[list[Style], list[Style]]:
    """Of what each model wrote in a battle."""
    nothing = Style(0, 0, 0)
    written: dict[tuple[int, str], Style] = defaultdict(lambda: nothing)
    answers = Message.objects.filter(
        conversation__battle__in=battles, speaker="B", state=Message.State.DONE
    ).values_list("conversation__battle", "conversation__arm", "text")
    for battle, arm, text in answers.iterator(chunk_size=5_000):
        written[battle, arm] += style_of(text)
    return [written[one, "a"] for one in battles], [written[one, "b"] for one in battles]
