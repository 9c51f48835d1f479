"""Samples that the lm-evaluation-harness logs (``--log_samples``): a task's document, what the
model answered, and its metrics."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import rest_of
from annotations.formats.importers.collected import clean_name, score_of
from annotations.formats.importers.crossed import CrossedDialogue, refuse_large
from annotations.formats.importers.evaluations import Evaluations, add_score, present, texts_of
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.folders import files_of, problems_of
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import json_rows
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import prompted
from annotations.formats.importers.table_source import number_in
from annotations.formats.records import ASSISTANT

_SAMPLES = re.compile(r"samples_(.+?)(?:_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl\Z")
_KNOWN = (
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash", "task", "task_name"),
)
_MAX_RESULTS = 32 * 1024**2
"""Bytes of a file of results that is opened for the model's name."""


def _arguments(value: Any) -> list[list[Any]]:
    """What the model was called with, a request a list: ``{"gen_args_0": {"arg_0": …}}``, or lists
    of lists in earlier versions."""
    requests = list(value.values()) if isinstance(value, dict) else value
    if not isinstance(requests, list):
        return []
    return [
        list(one.values()) if isinstance(one, dict) else one
        for one in requests
        if isinstance(one, dict | list)
    ]


def _log_likelihood(response: Any) -> float | None:
    """The first number of ``[log-likelihood, is greedy]``, which newer versions write as texts."""
    first = response[0] if isinstance(response, list) and response else None
    if isinstance(first, list):
        return _log_likelihood(first)
    number = number_in(first) if isinstance(first, str) else first
    return score_of(number)


def _answers(row: JsonObject, requests: list[list[Any]]) -> list[str]:
    """What was generated; of a choice between continuations the likeliest one."""
    responses = row.value.get("resps")
    responses = responses if isinstance(responses, list) else []
    if len(requests) > 1 and len(requests) == len(responses):
        scored = [
            (likelihood, request[1])
            for response, request in zip(responses, requests, strict=True)
            if (likelihood := _log_likelihood(response)) is not None
            and len(request) > 1
            and isinstance(request[1], str)
        ]
        if len(scored) == len(requests):
            return [max(scored, key=lambda one: one[0])[1].strip()]
    first = responses[0] if responses else None
    texts = first if isinstance(first, list) else responses
    return [one for one in texts if isinstance(one, str)]


def _references(row: JsonObject, requests: list[list[Any]]) -> tuple[str, ...]:
    target = row.value.get("target")
    is_choice = len(requests) > 1 and all(len(one) > 1 for one in requests)
    place = str(target)
    if is_choice and place.isdecimal() and len(place) < 6 and int(place) < len(requests):
        return texts_of(str(requests[int(place)][1]).strip())
    return texts_of(target)


def _model_of(file: Path, folder: Path) -> str:
    """From the results beside the samples, else the folder that the harness names by the model."""
    if file == folder:
        return ASSISTANT
    for one in sorted(file.parent.glob("results*.json")):
        try:
            if one.stat().st_size <= _MAX_RESULTS:
                found = json.loads(one.read_text("utf-8"))
                if isinstance(found, dict) and isinstance(found.get("model_name"), str):
                    return clean_name(found["model_name"]) or ASSISTANT
        except (OSError, ValueError, RecursionError):
            continue
    return ASSISTANT if file.parent == folder else file.parent.name


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    files = files_of(path, ".jsonl")
    if path.is_dir():
        files = [one for one in files if _SAMPLES.search(one.name)]
    refuse_large(sum(one.stat().st_size for one in files), problems)
    evaluations = Evaluations()
    tasks = {_task(file) for file in files}
    for file in files:
        own = problems_of(problems, path, file)
        known: dict[Any, CrossedDialogue] = {}
        prefix = f"{_task(file)}/" if len(tasks) > 1 else ""
        system = _model_of(file, path)
        for where, value in json_rows(file, own):
            place = where if file == path else f"{own.file}:{where}"
            row = JsonObject.of(value, place, problems)
            if row is not None:
                _add(row, prefix, system, known, evaluations)
    yield from evaluations.records()


def _task(file: Path) -> str:
    found = _SAMPLES.search(file.name)
    return found[1] if found else file.stem


def _add(
    row: JsonObject,
    prefix: str,
    system: str,
    known: dict[Any, CrossedDialogue],
    evaluations: Evaluations,
) -> None:
    number = row.name("doc_id")
    if number is None:
        return
    requests = _arguments(row.value.get("arguments"))
    answers = _answers(row, requests)
    if not answers:
        row.problems.skip(row.where, "resps", "holds no text, and no choice between several")
        return
    written = next((one[0] for one in requests if one and isinstance(one[0], str)), "")
    messages = prompted(written) if written.strip() else ()
    filtered_by = row.value.get("filter")
    dialogue = known.get((number, *answers))
    if dialogue is None:
        dialogue = evaluations.dialogue(f"{prefix}{number}", messages, system, row.where)
        dialogue.add_turn(0, None, _references(row, requests))
        document = row.value.get("doc")
        if isinstance(document, dict) and not dialogue.metadata:
            dialogue.metadata |= present(document)
        for text in answers:
            dialogue.add_response(0, system, text, row.where, field="resps")
        known[(number, *answers)] = dialogue
    names = row.value.get("metrics")
    rest = rest_of(row, _KNOWN)
    for name in map(str, names) if isinstance(names, list) else rest:
        if not isinstance(rest.get(name), str):
            aspect = name if filtered_by in (None, "none") else f"{name},{filtered_by}"
            add_score(dialogue, system, aspect, rest.get(name), row.where)


def _detect(sample: FileSample) -> float:
    if sample.kind == "folder":
        return 0.9 if any(_SAMPLES.search(one) for one in sample.members) else 0.0
    return 0.9 if sample.keys >= {"doc_id", "doc", "resps"} else 0.0


_DESCRIPTION = """\
The JSON lines that the lm-evaluation-harness writes with `--log_samples`, or the folder of a run
or of several models. A document is a dialogue: the prompt is what the user says, `target` the
reference, `doc` its metadata. What was generated (`resps`) is the model's response; of a choice
between continuations it is the likeliest one. The model is the `model_name` of the results beside
the samples, else the folder's name, else `assistant`. Each metric of the document is a score of
the rater `dataset`; with several filters the aspect is `METRIC,FILTER`. Lists are no scores; a
document without an answer in words is left out and reported."""
_EXAMPLE = (
    '{"doc_id": 0, "doc": {"question": "Is the oven hot?"}, "target": "Not yet.", "arguments": '
    '{"gen_args_0": {"arg_0": "Is the oven hot?", "arg_1": {}}}, "resps": [["Not yet."]], '
    '"filtered_resps": ["Not yet."], "filter": "none", "metrics": ["exact_match"], "exact_match": '
    "1.0}\n"
)

IMPORTER = Importer(
    name="lm-eval",
    summary="samples of the lm-evaluation-harness (--log_samples), a file or a folder",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
