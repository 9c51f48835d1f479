"""The folder layout of mt-metrics-eval (google-research/mt-metrics-eval, README, "File organization
and naming convention"): a segment is a turn, a document a dialogue, the source the context."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.collected import DATASET, Collection, Conversation, clean_name
from annotations.formats.importers.json_source import decode_line, file_lines
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.table_source import is_missing, number_in
from annotations.formats.records import Message
from common.tables.csv_text import without_guard

MAX_SEGMENTS = 1_000_000


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read a test set.

    Args:
        path: folder with ``sources``, ``system-outputs`` and, where there are, ``documents``,
            ``references``, ``human-scores`` and ``metric-scores`` of one language pair.
        _part: ignored, the folder holds one corpus.
        problems: collects faults.

    Returns:
        Iterator over records. Human scores of segments and documents are those of ``dataset``;
        means over systems are left out, since they are computed. Error spans (``.seg.rating``) and
        metrics' scores are metadata of responses. An output named as a reference is gold.

    Raises:
        ImportFailed: where files of the layout are missing or differ in their number of lines.
    """
    sources = sorted(path.glob("sources/*.txt"))
    if len(sources) != 1:
        problems.stop("", "sources", f"has {len(sources)} language pairs; give a folder with one")
    pair = sources[0].stem
    collection = Collection(problems)
    segments = _segments(path, pair, sources[0], collection, problems)
    names = _names(path)
    references = {
        file.stem.partition(".")[2]: _lines(file, problems)
        for file in sorted(path.glob(f"references/{pair}.*.txt"))
    }
    for lines in references.values():
        for (one, number), text in zip(segments, lines, strict=False):
            if text:
                one.turn(number, one.where, one.turns[number].context, text)
    systems = []
    for file in sorted(path.glob(f"system-outputs/{pair}/*.txt")):
        system = names.get(("system", file.stem), file.stem)
        systems.append(system)
        if file.stem in references:
            collection.system_kinds[system] = "gold"
        lines = _lines(file, problems)
        if len(lines) != len(segments):
            message = f"has {len(lines):,} lines; the sources have {len(segments):,}"
            problems.add(file.name, "", message)
        for line, ((one, number), text) in enumerate(zip(segments, lines, strict=False), 1):
            one.response(number, system, text, f"{file.name}:{line}")
    scores = _Scores(segments, systems, names, problems)
    for file in sorted(path.glob(f"human-scores/{pair}.*")):
        scores.take_human(file, file.name.removeprefix(f"{pair}."))
    for file in sorted(path.glob(f"metric-scores/{pair}/*.seg.score")):
        scores.take_metric(file)
    yield from collection.records()


Segment = tuple[Conversation, int]


def _segments(
    path: Path, pair: str, source: Path, collection: Collection, problems: Problems
) -> list[Segment]:
    texts = _lines(source, problems)
    documents = path / "documents" / f"{pair}.docs"
    of = _lines(documents, problems) if documents.is_file() else [pair] * len(texts)
    if len(of) != len(texts):
        message = f"has {len(of):,} lines; the sources have {len(texts):,}"
        problems.stop(documents.name, "", message)
    names = _names(path)
    found: list[Segment] = []
    for line, (document, text) in enumerate(zip(of, texts, strict=True), 1):
        domain, _, name = document.rpartition(" ")
        name = names.get(("dialogue", name), name)
        where = f"{source.name}:{line}"
        one = collection.conversation(clean_name(name), where)
        if domain:
            one.metadata["domain"] = domain
        number = len(one.turns)
        one.messages = (*one.messages, Message("user", text))
        one.turn(number, where, one.messages)
        found.append((one, number))
    return found


class _Scores:
    def __init__(
        self,
        segments: list[Segment],
        systems: list[str],
        names: dict[tuple[str, str], str],
        problems: Problems,
    ) -> None:
        self.segments = segments
        self.documents = list(dict.fromkeys(one.id for one, _ in segments))
        self.by_id = {one.id: one for one, _ in segments}
        self.systems = set(systems)
        self.names = names
        self.problems = problems

    def take_human(self, file: Path, name: str) -> None:
        if name.endswith(".seg.rating"):
            self._take_spans(file, name.removesuffix(".seg.rating"))
            return
        for level in ("seg", "doc"):
            if name.endswith(f".{level}.score"):
                written = name.removesuffix(f".{level}.score")
                aspect = self.names.get(("aspect", written), written)
                for place, system, text, where in self._blocks(file):
                    self._rate(level, place, system, aspect, text, where)

    def _rate(
        self, level: str, place: int, system: str, aspect: str, text: str, where: Where
    ) -> None:
        if is_missing(text):
            return
        score = number_in(text)
        if score is None:
            self.problems.add(where, "", "is no number")
        elif level == "seg":
            if segment := self._segment(place, where):
                one, number = segment
                one.rate(number, system, DATASET, aspect, score, where)
        elif place < len(self.documents):
            self.by_id[self.documents[place]].rate(None, system, DATASET, aspect, score, where)
        else:
            self.problems.add(where, "", "is one more than there are documents")

    def _segment(self, place: int, where: Where) -> Segment | None:
        if place < len(self.segments):
            return self.segments[place]
        self.problems.add(where, "", "is one more than there are segments")
        return None

    def take_metric(self, file: Path) -> None:
        metric = file.name.removesuffix(".seg.score")
        for place, system, text, where in self._blocks(file):
            score = number_in(text)
            if score is None:
                if not is_missing(text):
                    self.problems.add(where, "", "is no number")
            elif segment := self._segment(place, where):
                one, number = segment
                if (system, number, 0) not in one.responses:
                    continue  # its outputs have too few lines, which is reported
                _where, known = one.responses[system, number, 0]
                scores = {**known.metadata.get("metric_scores", {}), metric: score}
                one.describe(number, system, {"metric_scores": scores})

    def _take_spans(self, file: Path, aspect: str) -> None:
        for place, system, text, where in self._blocks(file):
            written, _, rater = text.partition("\t")
            if is_missing(written):
                self.problems.skip(where, "", f"{rater} has not rated this segment")
                continue
            try:
                value: Any = json.loads(written)
            except (ValueError, RecursionError):
                self.problems.add(where, "", "must be JSON")
                continue
            if segment := self._segment(place, where):
                one, number = segment
                if (system, number, 0) not in one.responses:
                    continue
                known = one.responses[system, number, 0][1].metadata.get(aspect, [])
                spans = [*known, {"rater": rater, "value": value}]
                one.describe(number, system, {aspect: spans})

    def _blocks(self, file: Path) -> Iterator[tuple[int, str, str, Where]]:
        """(place within the system's lines, system, the rest of the line, the line)."""
        counts: dict[str, int] = {}
        for line, text in enumerate(_lines(file, self.problems), 1):
            where = f"{file.name}:{line}"
            written, tab, rest = text.partition("\t")
            system = self.names.get(("system", written), written)
            if not tab or system not in self.systems:
                message = f"names no system with outputs: {written[:50]!r}"
                self.problems.add(where, "", message)
                continue
            place = counts.get(system, 0)
            counts[system] = place + 1
            yield place, system, rest, where


def _lines(file: Path, problems: Problems) -> list[str]:
    """All lines, blank ones too: a line is a segment."""
    if not file.stat().st_size:
        return []
    try:
        data = file.read_bytes()
        if data.count(b"\n") > MAX_SEGMENTS:
            problems.stop(file.name, "", f"has more than {MAX_SEGMENTS:,} lines")
        lines = data.removesuffix(b"\n").split(b"\n")
    except OSError as error:
        problems.stop(file.name, "", f"cannot be read: {error.strerror}")
    found = []
    for number, line in enumerate(lines, 1):
        text, fault = decode_line(line)
        if fault:
            problems.stop(f"{file.name}:{number}", "", fault)
        found.append(text.removesuffix("\r"))
    return found


def _names(path: Path) -> dict[tuple[str, str], str]:
    """What this project's export calls them: (kind, name in the files) to the name."""
    file = path / "names.tsv"
    if not file.is_file():
        return {}
    found = {}
    for _, line in file_lines(file, Problems(file.name)):
        cells = line.decode("utf-8", "replace").rstrip("\r\n").split("\t")
        if len(cells) == 3:
            found[cells[0], cells[2]] = without_guard(cells[1])
    return found


def _detect(sample: FileSample) -> float:
    tops = {name.partition("/")[0] for name in sample.members}
    return 0.95 if {"sources", "system-outputs"} <= tops else 0.0


_DESCRIPTION = """\
A folder (or zip file) with `sources`, `documents`, `references`, `system-outputs`, `human-scores`
and `metric-scores` of one pair: also what this project exports."""

IMPORTER = Importer(
    name="mt-metrics-eval",
    summary="the folder layout of mt-metrics-eval, version 2 (folder or zip)",
    stream=stream,
    detect=_detect,
    description=_DESCRIPTION,
)
