"""Rows of responses with their rank: each two that one rater ranked are a preference."""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Literal

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.collected import DATASET, OVERALL, Collection, clean_name
from annotations.formats.importers.column_mapping import NAMES, Use, plain_name
from annotations.formats.importers.crossed import refuse_large
from annotations.formats.importers.data_files import data_size
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import with_prompt
from annotations.formats.importers.table_source import is_missing, number_in, read_rows
from annotations.formats.records import PreferenceRecord

RANKS = frozenset(["rank", "ranking", "humanrank", "rankposition", "rang", "rango", "排名"])
_USES: tuple[Use, ...] = (
    *("conversation", "context", "prompt", "response", "system", "rater", "aspect"),
)
Answer = tuple[str, int]
"""(system, sample)"""


def _columns(keys: Names[str]) -> dict[str, str]:
    """Heading by use, ``rank`` among them; "" for those not there."""
    plain = {plain_name(key): key for key in reversed(list(keys))}
    found = {"rank": next((plain[one] for one in sorted(RANKS) if one in plain), "")}
    for use in _USES:
        found[use] = next((plain[one] for one in NAMES[use] if one in plain), "")
    return found


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read ranked responses.

    Args:
        path: CSV, XLSX, Parquet or JSON rows.
        _part: ignored, the file holds one corpus.
        problems: collects faults.

    Returns:
        Iterator over records. Rows with one id, or without ids one context and prompt, are a
        dialogue; the lowest rank is the best.

    Raises:
        ImportFailed: as in ``read_rows``; where the columns are not there, or the file is larger
            than memory allows.
    """
    refuse_large(data_size(path), problems)
    collection = Collection(problems)
    ids: dict[tuple[str, str], str] = {}
    samples: dict[tuple[str, str, str], int] = {}
    ranked: dict[tuple[str, str, str], list[tuple[float, Answer, Where]]] = {}
    columns: dict[str, str] = {}
    for line, row in read_rows(path, problems):
        columns = columns or _columns(row)
        if not columns["rank"] or not columns["response"]:
            problems.stop(line, "", "has not the columns of a response and of its rank")
        cells = {use: row.get(heading, "").strip() for use, heading in columns.items()}
        key = (cells["context"], cells["prompt"])
        name = clean_name(cells["conversation"]) or ids.setdefault(key, str(len(ids) + 1))
        one = collection.conversation(name, line)
        one.turn(0, line, with_prompt(*key))
        system = clean_name(cells["system"]) or "assistant"
        text = cells["response"]
        known = [at for at, at_system, _ in samples if (at, at_system) == (name, system)]
        sample = samples.setdefault((name, system, text), len(known))
        one.response(0, system, text, line, sample)
        used = {heading for heading in columns.values() if heading}
        rest = {key: text for key, text in row.items() if key not in used and not is_missing(text)}
        one.describe(0, system, rest, sample)
        rank = number_in(cells["rank"])
        if rank is None and not is_missing(cells["rank"]):
            problems.add(line, columns["rank"], f"must be a number, not {cells['rank'][:50]!r}")
        elif rank is not None:
            of = (name, clean_name(cells["rater"]) or DATASET, clean_name(cells["aspect"]))
            ranked.setdefault(of, []).append((rank, (system, sample), line))
    for (name, rater, aspect), answers in ranked.items():
        _add_preferences(collection, name, rater, aspect or OVERALL, answers)
    yield from collection.records()


def _add_preferences(
    collection: Collection,
    name: str,
    rater: str,
    aspect: str,
    answers: list[tuple[float, Answer, Where]],
) -> None:
    met: dict[Answer, Where] = {}
    for _, answer, line in answers:
        if answer in met:
            fault = f"is a second rank for the response ranked at {met[answer]}"
            collection.problems.add(line, "rank", f"{fault}; a column `rater` would say whose")
            return
        met[answer] = line
    for (rank, answer, _), (other_rank, other, line) in combinations(answers, 2):
        preferred: Literal["a", "b", "tie"] = "a" if rank < other_rank else "b"
        preferred = "tie" if rank == other_rank else preferred
        vote = PreferenceRecord(
            *(name, 0, answer[0], other[0], preferred, rater, aspect),
            sample_a=answer[1],
            sample_b=other[1],
        )
        collection.conversations[name].prefer(vote, line)


def _detect(sample: FileSample) -> float:
    if not sample.is_of_rows:
        return 0.0
    columns = _columns(sorted(sample.keys))
    is_about = any(columns[use] for use in ("conversation", "context", "prompt"))
    rank, response = columns["rank"], columns["response"]
    is_flat = all(isinstance(row.get(response), str) for row in sample.rows)
    is_number = all(number_in(str(row.get(rank) or "1")) is not None for row in sample.rows)
    return 0.85 if rank and response and is_about and is_flat and is_number else 0.0


_DESCRIPTION = """\
CSV, XLSX, Parquet, a JSON array or JSON lines: a response a row, with its `rank` (1 is the best),
the `prompt`, `context` or id that it answers, and perhaps `model`, `annotator` and `aspect`. Each
two responses that one rater ranked are a preference, equal ranks a tie. All other columns are
metadata of the response."""
_EXAMPLE = """\
prompt,model,response,rank,annotator
Is the oven hot?,baker,Not yet.,1,ann
Is the oven hot?,cook,Hot!,2,ann
"""

IMPORTER = Importer(
    name="ranked-rows",
    summary="a response a row with its rank (CSV, XLSX, Parquet, JSON)",
    stream=stream,
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
