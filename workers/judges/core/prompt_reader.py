"""Reads a prompt file: header lines, then sections. Every fault is noted with its line before
anything is refused."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from annotations.formats.importers.problems import ImportFailed, Problems
from common.text import parse_integer
from workers.judges.core.placeholders import (
    OF_DIALOGUES,
    OF_TURNS,
    placeholder_faults,
    placeholders_in,
)
from workers.judges.core.prompt_file import (
    DEFAULT_FORM,
    DEFAULT_MAX_TOKENS,
    KEYS,
    REQUIRED,
    JudgePromptFile,
    Step,
)

LONGEST_TEXT = 40_000
"""Characters of a section."""
LONGEST_NAME = 100
LONGEST_LABEL, MOST_LABELS = 60, 20
MOST_TOKENS = 4_000
HIGHEST = 100
"""Of any scale."""
_SECTION = re.compile(r"===[ \t]*([^=\s]\S*)[ \t]*")
_SCALE = re.compile(r"(\d{1,3})\s*-\s*(\d{1,3})")
_LABEL = re.compile(r"[^\W\d_](?:[\w '’/&+-]*\w)?")
_FORM = re.compile(r"([^\w{}\n]{0,10})\{label\}([ \t]{0,3}[:=–—-][ \t]{0,3})")


@dataclass
class _Section:
    line: int
    """Of its mark; its text begins on the next."""
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Without blanks at line ends, and without blank lines at its ends: nobody sees them."""
        return "\n".join(line.rstrip() for line in self.lines).strip("\n")

    @property
    def first_line(self) -> int:
        """Of the text in the file."""
        blank = next((place for place, line in enumerate(self.lines) if line.strip()), 0)
        return self.line + 1 + blank


class Reader:
    def __init__(self, text: str, problems: Problems) -> None:
        self._problems = problems
        self._header: dict[str, tuple[int, str]] = {}
        self._sections: dict[str, _Section] = {}
        self._split(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))

    def prompt(self) -> JudgePromptFile:
        """Without its digest. Raises ``ImportFailed``."""
        for key in REQUIRED:
            if key not in self._header:
                self._problems.add("", key, f'is missing: write "{key}: …" above the first section')
        name, step, scale = self._name(), self._step(), self._scale()
        labels = self._labels()
        score = self._score(labels)
        begin, separator = self._form()
        max_tokens = self._max_tokens()
        self._check_sections(step)
        self._problems.found.sort(key=lambda one: one.where if isinstance(one.where, int) else 0)
        self._problems.raise_if_any()
        if step is None or scale is None:  # never: their absence is a problem
            raise ImportFailed(self._problems.found)
        system, user = (
            self._sections[part].text if part in self._sections else ""
            for part in ("system", "user")
        )
        return JudgePromptFile(
            name, step, labels, score, scale, separator, begin, max_tokens, system, user, ""
        )

    def _split(self, lines: list[str]) -> None:
        section: _Section | None = None
        for number, line in enumerate(lines, start=1):
            if mark := _SECTION.fullmatch(line):
                section = self._open(mark[1], number)
            elif section is not None:
                section.lines.append(line)
            elif line.strip() and not line.startswith("#"):
                self._read_header(line, number)

    def _open(self, name: str, number: int) -> _Section:
        section = _Section(number)
        if name not in ("system", "user"):
            self._problems.add(
                number, "", f'there is no section "{name[:40]}"; there are system and user'
            )
        elif name in self._sections:
            self._problems.add(number, name, "is there twice")
        else:
            self._sections[name] = section
        return section

    def _read_header(self, line: str, number: int) -> None:
        key, colon, value = line.partition(":")
        key = key.strip()
        if not colon:
            self._problems.add(
                number, "", 'is no header line: write "key: value", then "=== user" and the text'
            )
        elif key not in KEYS:
            self._problems.add(
                number, key[:40], f"is no key of a prompt; there are {', '.join(KEYS)}"
            )
        elif key in self._header:
            self._problems.add(number, key, "is there twice")
        elif not value.strip():
            self._problems.add(number, key, "is empty")
            self._header[key] = (number, "")
        else:
            self._header[key] = (number, value.strip())

    def _value(self, key: str) -> str:
        """ "" where it is not there, which is noted already where it has to be."""
        return self._header.get(key, (0, ""))[1]

    def _complain(self, key: str, message: str) -> None:
        self._problems.add(self._header[key][0] if key in self._header else "", key, message)

    def _name(self) -> str:
        name = self._value("name")
        if len(name) > LONGEST_NAME or not name.isprintable():
            self._complain("name", f"is to be one line of at most {LONGEST_NAME} characters")
        return name

    def _step(self) -> Step | None:
        match self._value("step"):
            case "turn":
                return "turn"
            case "dialogue":
                return "dialogue"
            case "":
                return None
        self._complain("step", f'is "turn" or "dialogue", not "{self._value("step")[:40]}"')
        return None

    def _scale(self) -> tuple[int, int] | None:
        written = self._value("scale")
        if not written:
            return None
        match = _SCALE.fullmatch(written)
        if match is None or not match[0].isascii():
            self._complain(
                "scale", f'is written as lowest-highest, for instance 1-5, not "{written[:40]}"'
            )
            return None
        low, high = int(match[1]), int(match[2])
        if not low < high <= HIGHEST:
            self._complain(
                "scale",
                f"goes from a lower to a higher number, at most {HIGHEST}; {low}-{high} does not",
            )
            return None
        return low, high

    def _labels(self) -> tuple[str, ...]:
        written = self._value("labels")
        labels = tuple(" ".join(label.split()) for label in written.split(",")) if written else ()
        if len(labels) > MOST_LABELS:
            self._complain("labels", f"names {len(labels):,}; at most {MOST_LABELS} are allowed")
            return labels[:MOST_LABELS]
        for place, label in enumerate(labels):
            if len(label) > LONGEST_LABEL or not _LABEL.fullmatch(label):
                self._complain(
                    "labels",
                    f'"{label[:LONGEST_LABEL]}" cannot be a label: it is 1 to {LONGEST_LABEL} '
                    "letters, digits, blanks and hyphens, and begins with a letter",
                )
            elif label.casefold() in {before.casefold() for before in labels[:place]}:
                self._complain("labels", f'names "{label}" twice')
        return labels

    def _score(self, labels: tuple[str, ...]) -> str:
        score = self._value("score")
        if not score:
            if len([label for label in labels if label]) > 1 and "score" not in self._header:
                self._problems.add(
                    "", "score", f"is missing: say which label counts: {', '.join(labels)}"
                )
            return labels[0] if labels else ""
        if labels and score not in labels:
            self._complain(
                "score", f'"{score[:LONGEST_LABEL]}" is none of the labels: {", ".join(labels)}'
            )
        return score

    def _form(self) -> tuple[str, str]:
        """What stands before and after the label in a line of the answer."""
        written = self._value("form") or DEFAULT_FORM
        if written.startswith('"'):
            try:
                written = str(json.loads(written))
            except ValueError:
                self._complain("form", "is not one text in quotation marks")
                return "", ": "
        match = _FORM.fullmatch(written)
        if match is None:
            self._complain(
                "form",
                'is a mark or none, {label}, then a colon, a dash or =, for instance "- {label}: '
                '" in quotes',
            )
            return "", ": "
        return match[1], match[2]

    def _max_tokens(self) -> int:
        written = self._value("max_tokens")
        if not written:
            return DEFAULT_MAX_TOKENS
        number = parse_integer(written) or 0
        if not 1 <= number <= MOST_TOKENS:
            self._complain("max_tokens", f"is a whole number from 1 to {MOST_TOKENS:,}")
        return number

    def _check_sections(self, step: Step | None) -> None:
        if "user" not in self._sections:
            self._problems.add("", "user", 'is missing: write the text below a line "=== user"')
        for name, section in self._sections.items():
            if name == "user" and not section.text.strip():
                self._problems.add(section.line, name, "is empty")
            if len(section.text) > LONGEST_TEXT:
                self._problems.add(
                    section.line,
                    name,
                    f"has {len(section.text):,} characters; at most {LONGEST_TEXT:,} are allowed",
                )
        if step is None:  # then nobody knows which there are
            self._check_placeholders(tuple(dict.fromkeys([*OF_TURNS, *OF_DIALOGUES])), "")
        elif step == "turn":
            self._check_placeholders(OF_TURNS, "response")
        else:
            self._check_placeholders(OF_DIALOGUES, "responses")

    def _check_placeholders(self, known: tuple[str, ...], wanted: str) -> None:
        found = set()
        for name, section in self._sections.items():
            for line, fault in placeholder_faults(section.text, known):
                self._problems.add(section.first_line + line, name, fault)
            found.update(placeholders_in(section.text))
        if (
            wanted
            and wanted not in found
            and "user" in self._sections
            and self._sections["user"].text.strip()
        ):
            self._problems.add(
                "", "user", f"holds no {{{wanted}}}: the judge would not see what it is to judge"
            )
