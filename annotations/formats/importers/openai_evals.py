"""Logs of OpenAI's evals: what a run sampled from a model, and how each sample was judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import read_messages
from annotations.formats.importers.collected import clean_name
from annotations.formats.importers.crossed import CrossedDialogue, refuse_large
from annotations.formats.importers.data_files import data_size
from annotations.formats.importers.evaluations import (
    Evaluations,
    add_score,
    present,
    text_of,
    texts_of,
)
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import json_rows
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import prompted
from annotations.formats.records import ASSISTANT, Message

_EVENT = ("run_id", "sample_id", "type", "data")
_READ = ("sampling", "match", "metrics")
_REFERENCES = ("expected", "ideal")
_CATEGORY = "choice"
"""The only text among a judge's figures that is no copy of a prompt or an answer."""


@dataclass
class _Run:
    """One log while it is read: a folder has several, one behind the other."""

    system: str = ASSISTANT
    name: str = ""
    samples: dict[str, CrossedDialogue] = field(default_factory=dict)


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    refuse_large(data_size(path), problems)
    evaluations, run = Evaluations(), _Run()
    for where, value in json_rows(path, problems):
        row = JsonObject.of(value, where, problems)
        if row is None or row.has("final_report"):
            continue
        if row.has("spec"):
            run = _begun(row.value["spec"])
        elif row.value.get("type") == "error":
            problems.skip(where, "data", "is an error of the run")
        elif row.value.get("type") in _READ and (event := row.child("data")) is not None:
            _take(row, event, run, evaluations)
    yield from evaluations.records()


def _begun(spec: Any) -> _Run:
    spec = spec if isinstance(spec, dict) else {}
    models = spec.get("completion_fns", spec.get("model_name"))
    first = models[0] if isinstance(models, list) and models else models
    return _Run(
        clean_name(first if isinstance(first, str) else None) or ASSISTANT,
        clean_name(spec.get("eval_name", spec.get("base_eval"))),
    )


def _take(row: JsonObject, event: JsonObject, run: _Run, evaluations: Evaluations) -> None:
    kind, sample = row.value.get("type"), clean_name(row.value.get("sample_id"))
    known = run.samples.get(sample)
    if kind == "sampling" and known is None:
        _sampled(row, event, sample, run, evaluations)
    elif kind == "sampling":
        # A grader's call, mostly, whose verdict is an event of its own
        row.problems.skip(row.where, "data", "is a further call for this sample")
    elif known is None:
        row.problems.skip(row.where, "sample_id", "names a sample without an answer before")
    else:
        for key in _REFERENCES:
            known.add_turn(0, None, texts_of(event.value.get(key)))
        for aspect, value in event.value.items():
            if not isinstance(value, str) or aspect == _CATEGORY:
                add_score(known, run.system, aspect, value, row.where)


def _sampled(
    row: JsonObject, event: JsonObject, sample: str, run: _Run, evaluations: Evaluations
) -> None:
    prompt, sampled = event.value.get("prompt"), event.value.get("sampled")
    messages: tuple[Message, ...] | None
    if isinstance(prompt, list):
        messages = read_messages(event, "prompt")
    else:
        messages = prompted(text_of(prompt)) if prompt else ()
    texts = [text_of(one) for one in (sampled if isinstance(sampled, list) else [sampled])]
    if messages is None:
        return
    if not texts or sampled is None:
        row.problems.skip(row.where, "data.sampled", "is empty: no answer")
        return
    dialogue = evaluations.dialogue(sample, messages, run.system, row.where)
    dialogue.metadata |= present({"eval": run.name})
    for text in texts:
        dialogue.add_response(0, run.system, text, row.where, field="data.sampled")
    run.samples[sample] = dialogue


def _detect(sample: FileSample) -> float:
    spec = sample.record.get("spec")
    is_begun = isinstance(spec, dict) and bool(spec.keys() & {"completion_fns", "eval_name"})
    return 0.9 if is_begun or sample.keys >= set(_EVENT) else 0.0


_DESCRIPTION = """\
The JSON lines that `oaieval` writes, or a folder of them. A sample is a dialogue: the `prompt` of
its first `sampling` is what the model was given, `sampled` its response, several of them samples.
The system is the first of the `completion_fns` of the `spec`. Each number, true or false of a
`match` or of `metrics` is a score of the rater `dataset`, a `choice` a label; `expected` and
`ideal` are references. Further samplings of a sample, such as a grader's, and errors are left out
and reported; other events are not read."""
_EXAMPLE = """\
{"spec": {"completion_fns": ["baker-1"], "eval_name": "ovens.dev.v0", "run_id": "r1"}}
{"run_id": "r1", "event_id": 0, "sample_id": "ovens.dev.0", "type": "sampling", "data": {"prompt": \
[{"role": "user", "content": "Is the oven hot?"}], "sampled": ["Not yet."]}}
{"run_id": "r1", "event_id": 1, "sample_id": "ovens.dev.0", "type": "match", "data": {"correct": \
true, "expected": "Not yet.", "picked": "Not yet."}}
{"final_report": {"accuracy": 1.0}}
"""

IMPORTER = Importer(
    name="openai-evals",
    summary="logs of OpenAI's evals (JSON lines of events)",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
