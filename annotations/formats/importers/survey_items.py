"""Which question of a survey is about which response: a table that comes with the answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from annotations.formats.importers.collected import ASSISTANT, Collection, Conversation, clean_name
from annotations.formats.importers.column_mapping import guess_mapping
from annotations.formats.importers.folders import problems_of
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.speakers import conversation
from annotations.formats.importers.table_reader import turn_number
from annotations.formats.importers.table_source import headings, is_missing, open_table

NEEDED = "needs a second table that says which question is about which response: a first column \
with what the questions call it, then dialog_id, turn, system, context, response"
TABLES = (".csv", ".tsv", ".xlsx")
_FILLERS = frozenset(
    [
        *[
            "tick",
            "mark",
            "choose",
            "select",
            "rate",
            "please",
            "all",
            "of",
            "how",
            "good",
            "is",
            "are",
            "was",
            "the",
            "a",
            "an",
            "in",
            "on",
            "to",
            "for",
        ],
        *[
            "would",
            "you",
            "do",
            "your",
            "this",
            "that",
            "each",
            "reply",
            "response",
            "answer",
            "system",
            "bot",
            "which",
            "what",
        ],
    ]
)
_BRACKETS = re.compile(r"\([^)]*\)|\[[^\]]*\]")


@dataclass(frozen=True)
class SurveyItem:
    """A response that questions are about.

    Attributes:
        key: what questions call it.
        turn: number of its turn.
        system: who wrote it.
        of: its conversation.
    """

    key: str
    turn: int
    system: str
    of: Conversation


@dataclass
class SurveyFiles:
    """The two tables of a survey's folder.

    Attributes:
        answers: one row a person.
        items: by key, in the order of the table.
    """

    answers: Path
    items: dict[str, SurveyItem] = field(default_factory=dict)


def survey_files(folder: Path, collection: Collection, problems: Problems) -> SurveyFiles:
    """Find the tables and collect the items.

    Args:
        folder: with the answers and the table of items, both CSV, TSV or XLSX.
        collection: gets the items' conversations and responses.
        problems: collects faults.

    Returns:
        The answers' path and the items.

    Raises:
        ImportFailed: as in ``open_table``, and where one of the two tables is missing.
    """
    tables = [
        one
        for one in (sorted(folder.iterdir()) if folder.is_dir() else ())
        if one.suffix in TABLES and one.is_file()
    ]
    of_items = [one for one in tables if is_items(headings(one))]
    answers = [one for one in tables if one not in of_items]
    if len(of_items) != 1 or len(answers) != 1:
        problems.stop("", "", NEEDED)
    found = SurveyFiles(answers[0])
    file = of_items[0]
    table = open_table(file, problems_of(problems, folder, file))
    mapping = guess_mapping(table.heading, [])
    used = {column.use: name for name, column in reversed(list(mapping.columns.items()))}
    used.pop("metadata", None)
    others = [name for name in table.heading if name not in used.values()]
    key_name = others[0] if others else used.pop("prompt")
    for line, cells in table.rows:
        where = f"{file.name}:{line}"
        row = dict(zip(table.heading, cells, strict=True))
        taken = {use: row[name].strip() for use, name in used.items()}
        key = clean_name(row[key_name])
        written = taken.get("turn", "")
        number = 0 if is_missing(written) else turn_number(written, where, problems)
        if key in found.items:
            problems.add(where, key_name, f"{key!r} occurs twice")
        if key in found.items or number is None:
            continue
        one = collection.conversation(taken.get("conversation") or key, where)
        context = taken.get("context", "") or taken.get("prompt", "")
        system = clean_name(taken.get("system")) or ASSISTANT
        one.turn(number, where, conversation(context) if context else ())
        one.response(number, system, taken["response"], where)
        found.items[key] = SurveyItem(key, number, system, one)
    return found


def is_items(heading: tuple[str, ...] | frozenset[str]) -> bool:
    """Whether a table of this heading names items: a response, a system, and a key of its own."""
    if len(heading) > 12:
        return False
    uses = [column.use for column in guess_mapping(sorted(heading), []).columns.values()]
    has_key = "metadata" in uses or "prompt" in uses
    return {"response", "system"} <= set(uses) and has_key


def item_of(question: str, items: Mapping[str, SurveyItem]) -> SurveyItem | None:
    """The item that a question is about.

    Args:
        question: heading or text, such as "How natural? [Reply A]", "1_Q2" or "… of reply B".
        items: by key.

    Returns:
        The item in brackets, of the loop's number, or the only one that the text mentions; None
        where there is none.
    """
    for key, item in items.items():
        if question.startswith(f"{key}_") or f"[{key}]" in question or question == key:
            return item
    plain = question.casefold()
    mentioned = [
        item
        for key, item in items.items()
        if re.search(rf"(?<!\w){re.escape(key.casefold())}(?!\w)", plain)
    ]
    return mentioned[0] if len(mentioned) == 1 else None


def aspect_of(question: str, item: SurveyItem) -> str:
    """A short name for what a question asks.

    Args:
        question: such as "Overall, how good is reply A? (1 = bad, 5 = good)".
        item: that it mentions.

    Returns:
        The words that say more than the item's name and "how good is", as "overall" or "faults";
        ``overall`` where none do.
    """
    plain = _BRACKETS.sub(" ", question)
    plain = re.sub(re.escape(item.key), " ", plain, flags=re.IGNORECASE)
    words = [word for word in re.findall(r"[^\W_]+", plain) if word.casefold() not in _FILLERS]
    return " ".join(words).lower()[:100] or "overall"
