"""What personas are made of, read from JSON files in PeaCoK's shape: head personas with attributes
per aspect.

PeaCoK (Gao et al. 2023) describes a head persona in four aspects, each with or without a
relationship to others; so an attribute stands under one of eight keys. A list of PeaCoK's triples
is read, too, each a list or a text with tabs, and put into sentences. The files beside this module
are our own writing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from annotations.formats.importers.fields import JsonObject, all_or_none
from annotations.formats.importers.json_source import array_elements
from annotations.formats.importers.problems import Problems
from annotations.personas.triples import aspect_of, head_sentence, is_negative, sentence_of
from common.text import text_fault

ASPECTS = tuple(
    f"{aspect}{relation}"
    for aspect in ("characteristic", "routine_or_habit", "goal_or_plan", "experience")
    for relation in ("", "_relationship")
)
YOUNGEST, OLDEST = 15, 99
ADULT = 18
"""The youngest person of a head persona that gives no age."""
GENDERS = ("female", "male")
LONGEST_SENTENCE = 300
LONGEST_WORD = 100
LONGEST_TRIPLE = 200
"""Of a head, relation or tail, which become a sentence."""
MOST_HEADS = 20_000
TOO_MANY_HEADS = f"is one head persona too many; at most {MOST_HEADS:,} are allowed"
FEWEST_HEADS = 4
"""A pair of personas has four heads, all different."""

FOLDER = Path(__file__).parent
OWN_FILE = FOLDER / "knowledge.json"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence in the first person with what it says of its speaker: ages it fits, and facts as
    key and value."""

    text: str
    min_age: int = ADULT
    max_age: int = OLDEST
    tags: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Head:
    """A head persona ("I am a beekeeper.") and its attributes by aspect; an aspect may be
    missing."""

    sentence: Sentence
    attributes: Mapping[str, tuple[Sentence, ...]]

    @property
    def text(self) -> str:
        return self.sentence.text


@dataclass(frozen=True, slots=True)
class Name:
    """A first name common among those born in the ten years from ``decade``."""

    text: str
    gender: str
    decade: int


@dataclass(frozen=True, slots=True)
class Knowledge:
    heads: tuple[Head, ...]
    names: tuple[Name, ...]
    family: tuple[Sentence, ...]


def load_knowledge(path: Path | None = None) -> Knowledge:
    """The project's own knowledge, or with another file of head personas.

    Raises ImportFailed with up to 100 problems, each with file, place and field.
    """
    return Knowledge(
        heads=_heads(path or OWN_FILE),
        names=_names(FOLDER / "names.json"),
        family=_family(FOLDER / "family.json"),
    )


def _heads(path: Path) -> tuple[Head, ...]:
    problems = Problems(path.name)
    elements = array_elements(path, problems)
    first = next(elements, None)
    if first is not None and isinstance(first[1], list | str):
        heads = _heads_of_triples(chain([first], elements), problems)
    else:
        heads = _heads_of_rows(chain([first] if first else [], elements), problems)
    if len(heads) < FEWEST_HEADS and not problems.found:
        problems.add(
            "$", "", f"holds {len(heads)} head personas; a pair needs at least {FEWEST_HEADS}"
        )
    problems.raise_if_any()
    return tuple(heads)


def _heads_of_rows(elements: Iterable[tuple[str, Any]], problems: Problems) -> list[Head]:
    heads: list[Head] = []
    seen: set[str] = set()
    for row in _rows_of(elements, problems):
        head = _head(row)
        if head is None:
            continue
        if head.text in seen:
            row.complain("head", f"{head.text!r} occurs twice")
        seen.add(head.text)
        heads.append(head)
        if len(heads) > MOST_HEADS:
            problems.stop(row.where, "", TOO_MANY_HEADS)
    return heads


def _heads_of_triples(elements: Iterable[tuple[str, Any]], problems: Problems) -> list[Head]:
    """The heads of negative impression are left out."""
    attributes: dict[str, dict[str, list[Sentence]]] = {}
    for where, value in elements:
        triple = _triple(value, where, problems)
        if triple is None or is_negative(triple[0]):
            continue
        head, aspect, tail = triple
        of_head = attributes.setdefault(head_sentence(head), {})
        sentence = Sentence(sentence_of(aspect, tail), YOUNGEST)
        if sentence not in of_head.setdefault(aspect, []):
            of_head[aspect].append(sentence)
        if len(attributes) > MOST_HEADS:
            problems.stop(where, "", TOO_MANY_HEADS)
    return [
        Head(
            Sentence(text),
            {aspect: tuple(of_head[aspect]) for aspect in ASPECTS if aspect in of_head},
        )
        for text, of_head in attributes.items()
    ]


def _triple(value: Any, where: str, problems: Problems) -> tuple[str, str, str] | None:
    """Head, aspect and tail."""
    parts = value.split("\t") if isinstance(value, str) else value
    if not (isinstance(parts, list) and len(parts) == 3 and all(isinstance(p, str) for p in parts)):
        reason = "must be three texts in a list or between tabs: head, relation and tail"
        problems.add(where, "", reason)
        return None
    head, relation, tail = parts
    for place, text in enumerate(parts):
        if fault := text_fault(text, LONGEST_TRIPLE):
            problems.add(where, f"[{place}]", fault)
            return None
    aspect = aspect_of(relation)
    if aspect is None:
        problems.add(where, "[1]", f"{relation!r} is no relation of PeaCoK's")
        return None
    return head, aspect, tail


def _head(row: JsonObject) -> Head | None:
    row.refuse_unknown(("head", "min_age", "max_age", "tags", "attributes"))
    sentence = _sentence(row, "head")
    by_aspect = row.child("attributes")
    if by_aspect is None:
        return None
    by_aspect.refuse_unknown(ASPECTS)
    found = {aspect: _attributes(by_aspect, aspect) for aspect in ASPECTS if by_aspect.has(aspect)}
    attributes = {aspect: sentences for aspect, sentences in found.items() if sentences}
    if sentence is None or any(sentences is None for sentences in found.values()):
        return None
    if not attributes:
        row.complain("attributes", "holds no attribute")
        return None
    return Head(sentence, attributes)


def _attributes(by_aspect: JsonObject, aspect: str) -> tuple[Sentence, ...] | None:
    values = by_aspect.items(aspect)
    if values is None:
        return None
    return all_or_none(
        [
            _attribute(value, by_aspect, f"{by_aspect.field(aspect)}[{place}]")
            for place, value in enumerate(values)
        ]
    )


def _attribute(value: Any, row: JsonObject, path: str) -> Sentence | None:
    """A sentence as it stands, or an object with its ages and tags."""
    if isinstance(value, str):
        if fault := text_fault(value, LONGEST_SENTENCE):
            row.problems.add(row.where, path, fault)
            return None
        return Sentence(value.strip(), YOUNGEST)
    given = JsonObject.of(value, row.where, row.problems, path)
    if given is None:
        return None
    given.refuse_unknown(("text", "min_age", "max_age", "tags"))
    return _sentence(given, "text")


def _family(path: Path) -> tuple[Sentence, ...]:
    """A sentence with ``{n}`` is as many as there are ``numbers`` to fill in."""
    problems = Problems(path.name)
    found: list[Sentence] = []
    for row in _rows(path, problems):
        row.refuse_unknown(("text", "min_age", "max_age", "tags", "numbers"))
        sentence = _sentence(row, "text")
        numbers = row.texts("numbers", LONGEST_WORD) if row.has("numbers") else ("",)
        if sentence is not None:
            found += [
                replace(sentence, text=sentence.text.replace("{n}", number))
                for number in numbers or ()
            ]
    problems.raise_if_any()
    return tuple(found)


def _names(path: Path) -> tuple[Name, ...]:
    problems = Problems(path.name)
    names: list[Name] = []
    for row in _rows(path, problems):
        row.refuse_unknown(("decade", *GENDERS))
        decade = row.parse_integer("decade")
        for gender in GENDERS:
            for text in row.texts(gender, LONGEST_WORD) or ():
                names.append(Name(text, gender, decade or 0))
    problems.raise_if_any()
    return tuple(names)


def _rows(path: Path, problems: Problems) -> Iterator[JsonObject]:
    return _rows_of(array_elements(path, problems), problems)


def _rows_of(elements: Iterable[tuple[str, Any]], problems: Problems) -> Iterator[JsonObject]:
    for where, value in elements:
        row = JsonObject.of(value, where, problems)
        if row is not None:
            yield row


def _sentence(row: JsonObject, key: str) -> Sentence | None:
    before = len(row.problems.found)
    text = row.text(key, LONGEST_SENTENCE)
    youngest = _age(row, "min_age", ADULT if key == "head" else YOUNGEST)
    oldest = _age(row, "max_age", OLDEST)
    tags = _tags(row)
    if youngest > oldest and len(row.problems.found) == before:
        row.complain("max_age", f"{oldest} is below min_age {youngest}")
    if text is None or len(row.problems.found) > before:
        return None
    return Sentence(text.strip(), youngest, oldest, tags)


def _age(row: JsonObject, key: str, default: int) -> int:
    if not row.has(key):
        return default
    age = row.parse_integer(key)
    if age is None:
        return default
    if not YOUNGEST <= age <= OLDEST:
        row.complain(key, f"must be from {YOUNGEST} to {OLDEST}")
    return age


def _tags(row: JsonObject) -> tuple[tuple[str, str], ...]:
    if not row.has("tags"):
        return ()
    given = row.child("tags")
    if given is None:
        return ()
    pairs = [(key, given.text(key, LONGEST_WORD)) for key in sorted(given.value)]
    return tuple((key, value) for key, value in pairs if value is not None)
