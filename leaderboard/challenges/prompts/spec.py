"""What a prompt may be: one JSON document, read strictly and written canonically.

    {"system": "…", "user": "…", "second": {"system": "…", "user": "…"},
     "settings": {"temperature": 0.7, "top_p": 1, "max_tokens": 120, "stop": ["\\n"], "seed": 0}}

Only ``user`` is required. The same prompt has the same canonical bytes, however it was written
down.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from typing import Any

from annotations.formats.importers.fields import JsonObject, kind_of
from annotations.formats.importers.problems import ImportFailed, Problems
from common.text import text_fault
from leaderboard.challenges.prompts.document import one_document

LONGEST_TEXT = 20_000
"""Characters of each of the up to four texts."""
LARGEST_FILE = 1_000_000
"""Bytes: four texts of which every character is written as an escape, and room to spare."""
MOST_TOKENS = 4_000
MOST_STOPS, LONGEST_STOP = 4, 100
HIGHEST_SEED = 2**31 - 1
PLACEHOLDERS = ("persona", "partner_persona", "history")
FIRST_ANSWER = "first_answer"
"""Known to the second call only."""
MARKS = re.compile(r"\{\{|\}\}|\{([A-Za-z0-9_]{1,60})\}|[{}]")


@dataclass(frozen=True, slots=True)
class Template:
    """What is sent in one call: a system message (none where it is blank) and a user message."""

    system: str
    user: str


@dataclass(frozen=True, slots=True)
class Settings:
    temperature: float = 0.7
    top_p: float = 1.0
    max_tokens: int = 120
    stop: tuple[str, ...] = ()
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Prompt:
    first: Template
    second: Template | None = None
    settings: Settings = field(default_factory=Settings)

    @property
    def calls(self) -> int:
        return 1 if self.second is None else 2


def read_prompt(data: bytes, most_calls: int = 2, file: str = "prompt.json") -> Prompt:
    """The prompt that ``data`` holds. Raises ImportFailed with everything that is wrong with it, at
    most 100 problems.

    ``most_calls``: how many calls an utterance the round allows, 1 or 2.
    """
    problems = Problems(file)
    if len(data) > LARGEST_FILE:
        problems.stop("", "", f"has {len(data):,} bytes; a prompt has at most {LARGEST_FILE:,}")
    document = JsonObject.of(one_document(data, problems), "$", problems)
    if document is None:
        raise ImportFailed(problems.found)
    document.refuse_unknown(("system", "user", "second", "settings"))
    first = _template(document, PLACEHOLDERS)
    second = _second(document, most_calls)
    settings = _settings(document)
    problems.raise_if_any()
    assert first is not None
    return Prompt(first, second, settings)


def canonical(prompt: Prompt) -> bytes:
    """The one way to write the prompt down: every setting named, keys in order, UTF-8 with a line
    end."""
    document: dict[str, Any] = asdict(prompt.first)
    if prompt.second is not None:
        document["second"] = asdict(prompt.second)
    settings = asdict(prompt.settings)
    document["settings"] = {**settings, "stop": list(prompt.settings.stop)}
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode()


def digest(prompt: Prompt) -> str:
    """The start of the canonical bytes' SHA-256: two prompts with the same digest are the same
    prompt."""
    return hashlib.sha256(canonical(prompt)).hexdigest()[:12]


def template_faults(text: str, known: tuple[str, ...]) -> list[str]:
    """What is wrong with the braces of a text, each with its place."""
    return [
        f"{fault} ({_place(text, mark.start())})"
        for mark in MARKS.finditer(text)
        if (fault := _placeholder_fault(mark, known))
    ]


def _placeholder_fault(mark: re.Match[str], known: tuple[str, ...]) -> str:
    name = mark.group(1)
    if mark.group() in ("{{", "}}") or name in known:
        return ""
    if name == FIRST_ANSWER:
        return "{first_answer} is known to the second call only"
    if name is not None:
        return (
            f"there is no placeholder {{{name}}}; there are "
            f"{', '.join(f'{{{one}}}' for one in known)}"
        )
    return (
        f"a single {mark.group()} opens or closes no placeholder; write {mark.group() * 2} for "
        "the brace itself"
    )


def _place(text: str, position: int) -> str:
    line = text.count("\n", 0, position) + 1
    return f"line {line} of the text, column {position - text.rfind(chr(10), 0, position)}"


def _second(document: JsonObject, most_calls: int) -> Template | None:
    if document.value.get("second") is None:  # null is as good as nothing
        return None
    second = document.child("second")
    if second is None:
        return None
    if most_calls < 2:
        document.complain(
            "second", "this round allows one call an utterance: leave the second call out"
        )
    second.refuse_unknown(("system", "user"))
    return _template(second, (*PLACEHOLDERS, FIRST_ANSWER))


def _template(part: JsonObject, known: tuple[str, ...]) -> Template | None:
    system = _text(part, "system", known) if part.has("system") else ""
    user = _text(part, "user", known)
    return None if system is None or user is None else Template(system, user)


def _text(part: JsonObject, key: str, known: tuple[str, ...]) -> str | None:
    text = part.text(key, LONGEST_TEXT, may_be_empty=key == "system")
    if text is None:
        return None
    text = text.replace("\r\n", "\n")
    for fault in template_faults(text, known):
        part.complain(key, fault)
    return text


def _settings(document: JsonObject) -> Settings:
    if document.value.get("settings") is None:
        return Settings()
    settings = document.child("settings")
    if settings is None:
        return Settings()
    settings.refuse_unknown(("temperature", "top_p", "max_tokens", "stop", "seed"))
    default = Settings()
    return Settings(
        temperature=_number(settings, "temperature", 0, 2, default.temperature),
        top_p=_number(settings, "top_p", 0, 1, default.top_p, above_low=True),
        max_tokens=_whole(settings, "max_tokens", 1, MOST_TOKENS, default.max_tokens),
        stop=_stops(settings),
        seed=_whole(settings, "seed", 0, HIGHEST_SEED, default.seed),
    )


def _number(
    settings: JsonObject, key: str, low: float, high: float, default: float, above_low: bool = False
) -> float:
    number = settings.number(key) if settings.has(key) else default
    if number is None:
        return default
    if above_low and not low < number <= high:
        settings.complain(key, f"must be above {low:g} and at most {high:g}")
    elif not low <= number <= high:
        settings.complain(key, f"must lie between {low:g} and {high:g}")
    return number


def _whole(settings: JsonObject, key: str, low: int, high: int, default: int) -> int:
    if not settings.has(key):
        return default
    value = settings.value[key]
    if isinstance(value, bool) or not isinstance(value, int):
        found = "a fraction" if isinstance(value, float) else kind_of(value)
        settings.complain(key, f"must be a whole number, not {found}")
        return default
    if not low <= value <= high:
        settings.complain(key, f"must lie between {low:,} and {high:,}")
        return default
    return value


def _stops(settings: JsonObject) -> tuple[str, ...]:
    if settings.value.get("stop") is None:
        return ()
    stops = settings.items("stop")
    if stops is None:
        return ()
    if len(stops) > MOST_STOPS:
        settings.complain("stop", f"has {len(stops):,} entries; at most {MOST_STOPS} are allowed")
        return ()
    for place, stop in enumerate(stops):
        if not isinstance(stop, str):
            fault = f"must be a string, not {kind_of(stop)}"
        elif not stop:
            fault = "is empty"
        else:
            # A line end alone is a good place to stop
            fault = text_fault(stop, LONGEST_STOP, may_be_empty=True)
        if fault:
            settings.complain(f"stop[{place}]", fault)
    return tuple(stop for stop in stops if isinstance(stop, str))
