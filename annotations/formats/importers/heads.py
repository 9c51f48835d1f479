"""What a corpus begins with, its systems, raters and aspects, collected by a first reading.

In most foreign formats these names are spread over the whole file. An importer of such a format
only yields dialogues with what belongs to them; ``with_head`` reads the file twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from annotations.formats.importers.base import FileState, Placed, file_state
from annotations.formats.importers.problems import ImportFailed, Problems
from annotations.formats.records import (
    CorpusRecord,
    LabelRecord,
    PreferenceRecord,
    RaterKind,
    RaterRecord,
    RatingRecord,
    ResponseRecord,
    SystemKind,
    SystemRecord,
)

Body = Callable[[Path, Problems], Iterator[Placed]]
"""Reads dialogues, each followed by its responses, ratings, labels and preferences."""
Scale = tuple[float | None, float | None]

DATASET = "dataset"
"""The rater of what the makers of a data set say without telling who judged."""
OVERALL = "overall"
_MAX_NAMES = 200_000
_POSITION = re.compile(r"(rater|expert|turker) [0-9]+")


def position_rater(index: int, of: str = "rater") -> str:
    """Name a rater who is only a place in a list of scores.

    Args:
        index: place in the list, from 0.
        of: the kind of rater, where a file has several lists.

    Returns:
        ``rater 1`` for the first place. Such raters are anonymous: one place in two lists is not
        one person.
    """
    return f"{of} {index + 1}"


def with_head(
    body: Body,
    *,
    scales: Mapping[str, Scale] | None = None,
    main_aspect: str = OVERALL,
    system_kinds: Mapping[str, SystemKind] | None = None,
    rater_kinds: Mapping[str, RaterKind] | None = None,
) -> Callable[[Path, str, Problems], Iterator[Placed]]:
    """Make an importer's stream of a reader that yields dialogues only.

    Args:
        body: the reader; it is called two or three times with the same file.
        scales: lowest and highest score of aspects; those of other aspects are open.
        main_aspect: of the corpus, where it occurs; else the aspect that occurs first is.
        system_kinds: of systems by name; the others are agents.
        rater_kinds: of raters by name. Those that ``position_rater`` names are anonymous,
            ``DATASET`` is an aggregate, the others are identified.

    Returns:
        A stream as ``Importer`` has it: the corpus, its systems and raters in the order of their
        first occurrence, then all that ``body`` yields.
    """
    scales, system_kinds = scales or {}, system_kinds or {}
    rater_kinds = {DATASET: "aggregate", **(rater_kinds or {})}
    names_of_last: dict[tuple[FileState | None, bool], _Names] = {}

    def names_in(path: Path, is_lenient: bool) -> _Names:
        """An import reads a file twice; this is done once, where nobody writes to it meanwhile."""
        state = file_state(path)
        if (state, is_lenient) in names_of_last:
            return names_of_last[state, is_lenient]
        names = _Names()
        try:
            for record, _, _ in body(path, Problems(path.name, is_lenient=is_lenient)):
                names.collect(record)
        except ImportFailed:
            pass  # the second reading meets the same faults, and tells them
        names_of_last.clear()
        if state is not None and file_state(path) == state:
            names_of_last[state, is_lenient] = names
        return names

    def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
        names = names_in(path, problems.is_lenient)
        aspects = tuple(names.aspects) or (OVERALL,)
        yield (
            CorpusRecord(
                aspects=aspects,
                main_aspect=main_aspect if main_aspect in aspects else aspects[0],
                scales=tuple((one, *scales.get(one, (None, None))) for one in names.aspects),
            ),
            "",
            "",
        )
        for system in names.systems:
            yield SystemRecord(system, system_kinds.get(system, "agent")), "", ""
        for rater in names.raters:
            kind = rater_kinds.get(rater)
            by_form: RaterKind = "anonymous" if _POSITION.fullmatch(rater) else "identified"
            yield RaterRecord(rater, kind or by_form), "", ""
        yield from body(path, problems)

    return stream


class _Names:
    """In the order of their first occurrence. One more than a corpus may have is enough: the
    checks refuse it."""

    def __init__(self) -> None:
        self.systems: dict[str, None] = {}
        self.raters: dict[str, None] = {}
        self.aspects: dict[str, None] = {}

    def collect(self, record: object) -> None:
        if isinstance(record, ResponseRecord):
            self._take(self.systems, record.system)
        elif isinstance(record, RatingRecord):
            self._take(self.raters, record.rater)
            self._take(self.aspects, record.aspect)
        elif isinstance(record, LabelRecord | PreferenceRecord):
            self._take(self.raters, record.rater)

    def _take(self, names: dict[str, None], name: str) -> None:
        if len(names) < _MAX_NAMES:
            names.setdefault(name)
