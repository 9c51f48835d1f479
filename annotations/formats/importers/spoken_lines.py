"""Conversations in one text whose lines begin with who speaks."""

from __future__ import annotations

from collections.abc import Mapping

from annotations.formats.importers.fields import JsonObject
from annotations.formats.records import Message


def spoken_lines(
    row: JsonObject, key: str, text: str, roles: Mapping[str, str]
) -> tuple[Message, ...] | None:
    """Cut a text into messages.

    Args:
        row: the object that holds it.
        key: name of the field.
        text: lines ``SPEAKER: words``; a line without a speaker goes on with the line before it.
        roles: of the speakers.

    Returns:
        The messages; None, with a problem noted, where the first line names no speaker.
    """
    utterances: list[tuple[str, list[str]]] = []
    for line in text.split("\n"):
        speaker, colon, words = line.partition(":")
        if colon and speaker in roles:
            utterances.append((roles[speaker], [words.removeprefix(" ")]))
        elif utterances:
            utterances[-1][1].append(line)
        else:
            row.complain(key, f"must begin with one of {', '.join(f'{one}:' for one in roles)}")
            return None
    return tuple(Message(role, "\n".join(lines)) for role, lines in utterances)
