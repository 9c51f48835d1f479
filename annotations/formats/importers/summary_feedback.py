"""OpenAI's feedback on summaries (Stiennon et al. 2020, NeurIPS): comparisons of two summaries of a
post, and scores of single ones by axis."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import USER, rest_of
from annotations.formats.importers.collected import (
    DATASET,
    OVERALL,
    Collection,
    Conversation,
    clean_name,
    score_of,
)
from annotations.formats.importers.crossed import VotesOfOne, refuse_large
from annotations.formats.importers.data_files import data_size
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.json_rows import numbered_objects
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import Message, PreferenceRecord

_TEXTS = ("post", "article")


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read comparisons and scores.

    Args:
        path: JSON lines, an array or Parquet, or a folder of such files.
        _part: ignored, the file holds one corpus.
        problems: collects faults.

    Returns:
        Iterator over records; a post or article is a dialogue.

    Raises:
        ImportFailed: as in ``numbered_objects``, or the file is larger than memory allows.
    """
    refuse_large(data_size(path), problems)
    collection, votes = Collection(problems), VotesOfOne()
    samples: dict[tuple[str, str], dict[str, int]] = {}
    for _, row in numbered_objects(path, problems):
        _add(row, collection, votes, samples)
    yield from collection.records()


def _add(
    row: JsonObject,
    collection: Collection,
    votes: VotesOfOne,
    samples: dict[tuple[str, str], dict[str, int]],
) -> None:
    info = row.child("info")
    summaries = row.children("summaries") if row.has("summaries") else (row.child("summary"),)
    name = info.name("id") if info is not None else None
    if info is None or name is None or summaries is None or None in summaries:
        return
    text = next((info.value[key] for key in _TEXTS if isinstance(info.value.get(key), str)), "")
    one = collection.conversation(name, row.where)
    if not one.turns:
        one.metadata = {
            key: value for key, value in info.value.items() if key not in ("id", *_TEXTS) and value
        }
        one.turn(0, row.where, (Message(USER, text),) if text.strip() else ())
    rater = clean_name(row.value.get("worker")) or DATASET
    placed = [_place(one, summary, rater, samples) for summary in summaries if summary is not None]
    if None in placed or not row.has("summaries"):
        return
    choice = row.value.get("choice")
    if choice not in (0, 1) or len(placed) != 2:
        row.problems.skip(row.where, "choice", "names neither of two summaries: no vote")
        return
    (system_a, sample_a), (system_b, sample_b) = (at for at in placed if at is not None)
    compared = (name, system_a, sample_a, system_b, sample_b, rater)
    metadata = rest_of(row, ("info", "summaries", "choice", "worker"))
    one.prefer(
        PreferenceRecord(
            *(name, 0, system_a, system_b, "ab"[choice], rater),  # type: ignore[arg-type]
            votes.name(OVERALL, compared),
            *(sample_a, sample_b),
            metadata=metadata,
        ),
        row.where,
    )


def _place(
    one: Conversation,
    summary: JsonObject,
    rater: str,
    samples: dict[tuple[str, str], dict[str, int]],
) -> tuple[str, int] | None:
    """The summary's system, and which sample of it the text is."""
    text, system = summary.value.get("text"), summary.name("policy")
    if not isinstance(text, str) or system is None:
        summary.complain("text", "must be a string")
        return None
    known = samples.setdefault((one.id, system), {})
    sample = known.setdefault(text, len(known))
    metadata: dict[str, Any] = rest_of(summary, ("text", "policy", "axes", "note"))
    one.response(0, system, text, summary.where, sample, metadata)
    axes = summary.value.get("axes")
    for aspect, value in axes.items() if isinstance(axes, dict) else ():
        if (score := score_of(value)) is not None:
            first = one.ratings.get((system, 0, rater, aspect))
            if sample:
                one.describe(0, system, {aspect: score}, sample)
            elif first is None:
                one.rate(0, system, rater, aspect, score, summary.where)
            elif first[1].score != score:
                summary.problems.skip(summary.where, aspect, f"{rater} gave another score before")
    note = summary.value.get("note")
    if isinstance(note, str) and note.strip() and isinstance(axes, dict) and not sample:
        one.comment(0, system, rater, note, summary.where)
    elif isinstance(note, str) and note.strip():
        one.describe(0, system, {f"note by {rater}": note}, sample)
    return system, sample


def _detect(sample: FileSample) -> float:
    is_judged = sample.keys & {"summaries", "summary"} and "worker" in sample.keys
    return 0.9 if "info" in sample.keys and is_judged and sample.kind != "table" else 0.0


_DESCRIPTION = """\
JSON lines, an array or Parquet: OpenAI's feedback on summaries. A post or article (`info`) is a
dialogue, each summary a response of its `policy`; a policy's further texts are further samples.
`choice` is a preference by the `worker`; `axes` are the worker's scores by aspect, with the `note`
as a comment. All other fields are metadata."""
_EXAMPLE = (
    '{"info": {"id": "t3_1", "post": "The oven broke, so we ate cold bread.", "title": "Bread"}, '
    '"summaries": [{"text": "Oven broke.", "policy": "sup1"}, {"text": "Bread is cold.", "policy": '
    '"ref"}], "choice": 0, "worker": "w1", "batch": "b1", "split": "train", "extra": {}}\n'
)

IMPORTER = Importer(
    name="summary-feedback",
    summary="OpenAI's summarize-from-feedback: comparisons and axis scores",
    stream=stream,
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
