"""Runs of HELM (Liang et al. 2023, TMLR): ``scenario_state.json`` with requests and completions,
and the statistics of each instance beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import read_messages
from annotations.formats.importers.collected import clean_name
from annotations.formats.importers.crossed import refuse_large
from annotations.formats.importers.evaluations import (
    Evaluations,
    add_score,
    present,
    text_of,
    texts_of,
)
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.folders import files_of, problems_of
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import json_rows, object_members
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import prompted
from annotations.formats.records import ASSISTANT

_STATE, _PREDICTIONS = "scenario_state.json", "display_predictions.json"
_STATS = "per_instance_stats.json"
_EFFORT = re.compile(
    r"\Anum_|token|runtime|cost|batch_size|finish_reason|logprob|log_prob|perplexity|bits_per|"
    r"training_|inference_|prompt_truncated|max_prob"
)
"""Statistics of what a run cost, which judge no answer."""

Stats = dict[tuple[str, int], dict[str, float]]
"""By instance and trial."""


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    files = files_of(path, _STATE)
    refuse_large(sum(one.stat().st_size for one in files), problems)
    evaluations = Evaluations()
    for file in files:
        own = problems_of(problems, path, file)
        stats = _stats_beside(file, own) if path.is_dir() else {}
        run = file.parent.name.partition(":")[0] if len(files) > 1 else ""
        for where, key, value in object_members(file, own):
            if key == "request_states" and where.endswith("]"):
                row = JsonObject.of(value, where if file == path else f"{own.file}:{where}", own)
                if row is not None:
                    _add(row, run, stats, evaluations)
    yield from evaluations.records()


def _stats_beside(state: Path, problems: Problems) -> Stats:
    """The metrics that HELM displays of each instance; else all of its statistics but costs."""
    shown, stored = state.with_name(_PREDICTIONS), state.with_name(_STATS)
    found: Stats = {}
    for _, value in json_rows(shown, problems) if shown.is_file() else ():
        if isinstance(value, dict) and isinstance(value.get("stats"), dict):
            found.setdefault(_place(value), {}).update(value["stats"])
    if found or not stored.is_file():
        return found
    for _, value in json_rows(stored, problems):
        if isinstance(value, dict):
            of_instance = found.setdefault(_place(value), {})
            stats = value.get("stats")
            for one in stats if isinstance(stats, list) else ():
                named = one.get("name") if isinstance(one, dict) else None
                name = named.get("name") if isinstance(named, dict) else None
                if isinstance(name, str) and not _EFFORT.search(name):
                    of_instance.setdefault(name, one.get("mean"))
    return found


def _place(value: dict[str, Any]) -> tuple[str, int]:
    trial = value.get("train_trial_index")
    return clean_name(value.get("instance_id")), trial if isinstance(trial, int) else 0


def _add(row: JsonObject, run: str, stats: Stats, evaluations: Evaluations) -> None:
    instance, request, result = (row.child(key) for key in ("instance", "request", "result"))
    if instance is None or request is None or result is None:
        return
    completions = result.value.get("completions")
    texts = [
        one["text"]
        for one in (completions if isinstance(completions, list) else ())
        if isinstance(one, dict) and isinstance(one.get("text"), str)
    ]
    if not texts:
        row.problems.skip(row.where, "result", "holds no completion")
        return
    question = instance.value.get("input")
    question = question if isinstance(question, dict) else {"text": question}
    if isinstance(question.get("messages"), list):
        messages = read_messages(JsonObject(question, row.where, "input", row.problems), "messages")
        if messages is None:
            return
    else:
        messages = prompted(text_of(question.get("text")))
    system = clean_name(request.value.get("model")) or ASSISTANT
    number = clean_name(instance.value.get("id"))
    dialogue = evaluations.dialogue(
        f"{run}/{number}" if run else number, messages, system, row.where
    )
    options = instance.value.get("references")
    options = [one for one in options if isinstance(one, dict)] if isinstance(options, list) else []
    tagged = [one for one in options if isinstance(one.get("tags"), list)]
    right = [one.get("output") for one in tagged if "correct" in one["tags"]]
    references = [one.get("text") if isinstance(one, dict) else one for one in right]
    dialogue.add_turn(0, None, texts_of(references))
    rest = {key: instance.value.get(key) for key in ("split", "sub_split", "perturbation")}
    dialogue.metadata |= present(rest)
    prompt = request.value.get("prompt")
    metadata = present({"prompt": prompt, "output_mapping": row.value.get("output_mapping")})
    for text in texts:
        dialogue.add_response(0, system, text, row.where, field="result", metadata=metadata)
    trial = row.value.get("train_trial_index")
    scores = stats.get((number, trial if isinstance(trial, int) else 0), {})
    for name, value in scores.items():
        add_score(dialogue, system, name, value, row.where)


def _detect(sample: FileSample) -> float:
    if sample.kind == "folder":
        is_run = any(one.rpartition("/")[2] == _STATE for one in sample.members)
        return 0.95 if is_run else 0.0
    return 0.95 if sample.keys >= {"adapter_spec", "request_states"} else 0.0


_DESCRIPTION = """\
`scenario_state.json` of HELM, or the folder of a run or of several. An instance is a dialogue with
its input; references with the tag `correct` are references; completions are responses, and further
samples, of the request's model. In a folder the metrics of `display_predictions.json`, else the
statistics of `per_instance_stats.json` that are no costs, are scores of the rater `dataset`. The
prompt as it was sent is metadata of the response; a request without a completion is left out and
reported."""
_EXAMPLE = (
    '{"adapter_spec": {"method": "generation"}, "request_states": [{"instance": {"input": {"text": '
    '"Is the oven hot?"}, "references": [{"output": {"text": "Not yet."}, "tags": ["correct"]}], '
    '"split": "test", "id": "id1"}, "train_trial_index": 0, "request": {"model": "acme/baker-1", '
    '"prompt": "Q: Is the oven hot?\\nA:"}, "result": {"success": true, "completions": [{"text": '
    '"Not yet."}]}}]}\n'
)

IMPORTER = Importer(
    name="helm",
    summary="runs of HELM: scenario_state.json, or folders with statistics",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
