"""GRADE's evaluation files (Huang et al. 2020, EMNLP): contexts, responses and references, a line
each, and the scores of ``human_judgement.json`` where it lies in the same folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.conversations import alternating
from annotations.formats.importers.crossed import Grouped
from annotations.formats.importers.folders import files_of, problems_of
from annotations.formats.importers.grade import ASPECT, part_named, scores_of
from annotations.formats.importers.heads import position_rater, with_head
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.json_source import decode_line, open_file
from annotations.formats.importers.people import spoken
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import RatingRecord
from common.text import MAX_NAME

CONTEXTS, RESPONSES, REFERENCES = "human_ctx.txt", "human_hyp.txt", "human_ref.txt"
JUDGEMENTS = "human_judgement.json"
MAX_LINES = 1_000_000
Scores = dict[tuple[str, str], list[tuple[float, ...] | None]]
"""Of each row, in the order of the file, by corpus and system."""


@dataclass(frozen=True)
class _Folder:
    """One system's files for one corpus: ``CORPUS/SYSTEM/human_ctx.txt`` and its neighbours."""

    path: Path

    @property
    def corpus(self) -> str:
        return self.path.parent.name

    @property
    def system(self) -> str:
        return self.path.name


def parts_of(path: Path, problems: Problems) -> tuple[str, ...]:
    """Names of the corpora in a folder.

    Args:
        path: folder with ``CORPUS/SYSTEM/human_ctx.txt``, at any depth.
        problems: collects the fault that is raised.

    Returns:
        The names of the corpora's folders, sorted.

    Raises:
        ImportFailed: there is no such file.
    """
    found = sorted({folder.corpus for folder in _folders(path)})
    if not path.is_dir():
        open_file(path, problems).close()
    if not found:
        problems.stop("", "", f"holds no CORPUS/SYSTEM/{CONTEXTS}: give the folder eval_data")
    return tuple(found)


def stream(path: Path, part: str, problems: Problems) -> Iterator[Placed]:
    """Read one corpus of GRADE's evaluation files.

    Args:
        path: folder, as in ``parts_of``.
        part: name of the corpus.
        problems: collects faults.

    Returns:
        Iterator over records. Equal contexts are one dialogue with one turn; a line's reference is
        the turn's.

    Raises:
        ImportFailed: the folder holds no such corpus, or a file cannot be read.
    """
    if part not in (known := parts_of(path, problems)):
        problems.stop("", "", f"holds no corpus {part!r}; it holds {', '.join(known)}")

    def body(path: Path, problems: Problems) -> Iterator[Placed]:
        scores = _scores(path, problems)
        dialogues = Grouped()
        for folder in _folders(path):
            if folder.corpus == part:
                _add(folder, path, scores, dialogues, problems)
        yield from dialogues.records()

    return with_head(body, scales={ASPECT: (1.0, 5.0)}, main_aspect=ASPECT)(path, part, problems)


def _folders(path: Path) -> list[_Folder]:
    if not path.is_dir():
        return []
    return [_Folder(file.parent) for file in files_of(path, CONTEXTS) if file.name == CONTEXTS]


def _add(
    folder: _Folder, root: Path, scores: Scores, dialogues: Grouped, problems: Problems
) -> None:
    files = [folder.path / name for name in (CONTEXTS, RESPONSES, REFERENCES)]
    lines = [list(_lines(root, file, problems)) for file in files]
    names = [problems_of(problems, root, file).file for file in files]
    if len({len(one) for one in lines}) > 1:
        counts = ", ".join(str(len(one)) for one in lines)
        problems.add(
            names[0], "", f"and its neighbours have {counts} lines; they must have as many"
        )
        return
    judged = scores.get((folder.corpus, folder.system), [])
    if judged and len(judged) != len(lines[0]):
        fault = f"has {len(judged)} rows for {len(lines[0])} lines of {names[0]}"
        problems.add(JUDGEMENTS, "", fault)
        return
    for index, (context, response, reference) in enumerate(zip(*lines, strict=True)):
        utterances = alternating([one.strip() for one in context.split("|||")])
        messages = tuple(spoken(one.speaker, one.text) for one in utterances)
        where = f"{names[0]}:{index + 1}"
        dialogue = dialogues.of(context.strip(), folder.system, where, messages)
        known = (reference.strip(),) if reference.strip() else ()
        dialogue.add_turn(0, references=known)
        dialogue.add_response(0, folder.system, response.strip(), f"{names[1]}:{index + 1}")
        for place, score in enumerate((judged[index] if judged else ()) or ()):
            rater = position_rater(place)
            rating = RatingRecord(dialogue.id, 0, folder.system, rater, ASPECT, score)
            dialogue.judgements.append((rating, JUDGEMENTS, f"HumanScores[{place}]"))


def _lines(root: Path, file: Path, problems: Problems) -> Iterator[str]:
    """Every line of a file, the empty ones too: a system may have said nothing."""
    own = problems_of(problems, root, file)
    with open_file(file, own, taken="a text file") as opened:
        for number, line in enumerate(opened, 1):
            if number > MAX_LINES:
                own.stop(number, "", f"more than {MAX_LINES:,} lines")
            text, fault = decode_line(line)
            if fault:
                own.add(number, "", fault)
            yield text.rstrip("\r\n")


def _scores(path: Path, problems: Problems) -> Scores:
    scores: Scores = {}
    for file in files_of(path, JUDGEMENTS)[:1]:
        for _, row in numbered_objects(file, problems_of(problems, path, file)):
            corpus, system = row.text("Dataset", MAX_NAME), row.text("DialogModel", MAX_NAME)
            if corpus is not None and system is not None:
                scores.setdefault((part_named(corpus), system), []).append(scores_of(row))
    return scores


def _detect(sample: FileSample) -> float:
    return 0.95 if any(name.endswith(f"/{CONTEXTS}") for name in sample.members) else 0.0


_DESCRIPTION = """\
A folder with `CORPUS/SYSTEM/human_ctx.txt`, `human_hyp.txt` and `human_ref.txt`: contexts (`|||`
between utterances, the last one is A's), responses and references, a line each. Every corpus is a
part. Equal contexts are one dialogue, numbered from 1. Where the folder holds
`human_judgement.json`, too, its scores are read, in the order of the lines: 1 to 5, by `rater 1`,
`rater 2`, …, who are anonymous."""

IMPORTER = Importer(
    name="grade-files",
    summary="GRADE's evaluation files with references (a folder)",
    stream=stream,
    parts_of=parts_of,
    detect=_detect,
    description=_DESCRIPTION,
)
