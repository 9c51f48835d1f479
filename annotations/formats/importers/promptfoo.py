"""Results of promptfoo: a prompt, what each provider answered, and how it was graded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import parsed_json, rest_of
from annotations.formats.importers.collected import clean_name
from annotations.formats.importers.crossed import refuse_large
from annotations.formats.importers.data_files import data_size
from annotations.formats.importers.evaluations import Evaluations, add_score, present, text_of
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.json_rows import json_rows
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import prompted
from annotations.formats.importers.table_source import holds_json, number_in, read_rows
from annotations.formats.records import ASSISTANT

_KNOWN = (
    *("provider", "prompt", "response", "success", "score", "namedScores", "gradingResult"),
    *("vars", "testCase", "promptId", "id", "error", "testIdx", "promptIdx"),
)


_OUTPUT = re.compile(r"\[(?P<provider>[^\]\n]{1,200})\] (?P<prompt>.*)", re.DOTALL)
_WITH_STATUS = re.compile(r"\[(?P<status>PASS|FAIL|ERROR)\](?: \((?P<score>\d{1,3}\.\d\d)\))? ?")
"""What earlier versions write before an output."""
_REPEATED = re.compile(r" \(\d{1,4}\)\Z")
"""Behind a heading that is there again, for the next output."""
_PASSED = {"PASS": True, "FAIL": False}
_METRIC = "Metric: "
_PLACE = re.compile(r"\{\{([^{}\n]{1,100})\}\}")


def _results(value: Any) -> list[Any] | None:
    """The list of results of a file: at its top, or within ``results`` as since version 3."""
    if not isinstance(value, dict):
        return None
    inner = value.get("results")
    if isinstance(inner, dict):
        inner = inner.get("results", inner.get("outputs"))
    return inner if isinstance(inner, list) else None


def _is_result(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() >= {"provider", "prompt", "vars"}
        and bool(value.keys() & {"response", "success", "gradingResult"})
    )


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    refuse_large(data_size(path), problems)
    evaluations = Evaluations()
    if not holds_json(path):
        for number, (line, cells) in enumerate(read_rows(path, problems)):
            for heading, result in _results_of_row(cells, number):
                _add(JsonObject(result, line, heading, problems), evaluations)
        yield from evaluations.records()
        return
    for where, value in json_rows(path, problems):
        results = _results(value)
        if results is None:
            # Beside a list of results stand statistics and what was asked for
            is_other = isinstance(value, dict) and not value.keys() & {"prompt", "provider"}
            rows = [] if is_other else [JsonObject.of(value, where, problems)]
        else:
            rows = [
                JsonObject.of(one, where, problems, f"results[{place}]")
                for place, one in enumerate(results)
            ]
        for row in rows:
            if row is not None:
                _add(row, evaluations)
    yield from evaluations.records()


def _results_of_row(cells: Mapping[str, str], number: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """What a row of CSV says in the words of JSON, a result for each column of outputs, behind
    which what was said of it stands."""
    variables: dict[str, str] = {}
    results: dict[str, dict[str, Any]] = {}
    result: dict[str, Any] = {}
    for heading, cell in cells.items():
        about = _REPEATED.sub("", heading)
        if found := _OUTPUT.match(heading):
            written = _WITH_STATUS.match(cell)
            text = cell[written.end() :] if written else cell
            result = results[heading] = {
                "provider": found["provider"],
                "prompt": {"raw": found["prompt"], "label": found["prompt"]},
                "vars": variables,
                "testIdx": number,
                "response": {"output": text} if text.strip() else None,
            }
            if written:
                result |= {"success": _PASSED.get(written["status"])}
                result |= {"score": number_in(written["score"] or "")}
        elif not result:
            variables[heading] = cell
        elif about == "Status":
            result["success"] = _PASSED.get(cell)
        elif about == "Score":
            result["score"] = number_in(cell)
        elif about == "Named Scores":
            result["namedScores"] = parsed_json(cell)
        elif about == "Grader Reason":
            result["gradingResult"] = {"reason": cell}
        elif not about.startswith(_METRIC):  # stands among the named scores, too
            result[about] = cell
    for heading, result in results.items():
        result["prompt"]["raw"] = _filled(result["prompt"]["label"], variables)
        if result.get("success") is None:  # ERROR: the cell says what went wrong
            result["response"] = None
        yield heading, result


def _filled(template: str, variables: Mapping[str, str]) -> str:
    """A prompt with its variables; of one that has no place for them, these."""
    filled = _PLACE.sub(lambda place: variables.get(place[1].strip(), place[0]), template)
    if filled != template or not variables:
        return filled
    if len(variables) == 1:
        return next(iter(variables.values()))
    return "\n".join(f"{name}: {value}" for name, value in variables.items() if value.strip())


def _add(row: JsonObject, evaluations: Evaluations) -> None:
    prompt, response = row.value.get("prompt"), row.value.get("response")
    written = prompt.get("raw") if isinstance(prompt, dict) else prompt
    output = response.get("output") if isinstance(response, dict) else response
    if output is None:
        row.problems.skip(row.where, row.field("response"), "holds no output")
        return
    if not isinstance(written, str):
        row.complain("prompt", "is missing")
        return
    provider = row.value.get("provider")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    system = clean_name(provider) or ASSISTANT
    number = clean_name(row.value.get("testIdx"))
    dialogue = evaluations.dialogue(number, prompted(written), system, row.where)
    variables = row.value.get("vars")
    dialogue.metadata |= present(variables if isinstance(variables, dict) else {})
    metadata = present(rest_of(row, _KNOWN))
    if isinstance(prompt, dict) and prompt.get("label") not in (None, "", written):
        metadata["prompt label"] = prompt["label"]
    dialogue.add_response(
        0, system, text_of(output), row.where, field=row.field("response"), metadata=metadata
    )
    grading = row.value.get("gradingResult")
    grading = grading if isinstance(grading, dict) else {}
    scores = {"score": row.value.get("score"), "pass": row.value.get("success")}
    more = row.value.get("namedScores") or grading.get("namedScores")
    for aspect, value in {**scores, **(more if isinstance(more, dict) else {})}.items():
        reason = grading.get("reason") if aspect == "score" else None
        add_score(dialogue, system, aspect, value, row.where, comment=reason)


def _detect(sample: FileSample) -> float:
    if sample.kind == "table":
        is_judged = "Status" in sample.keys or any(
            _WITH_STATUS.match(cell) for row in sample.cells[1:] for cell in row
        )
        return 0.9 if is_judged and any(map(_OUTPUT.match, sample.keys)) else 0.0
    first = sample.record
    results = _results(first)
    if _is_result(first) or (results and _is_result(results[0])):
        return 0.9
    # The beginning of a long file that is one object
    is_cut = sample.kind == "json object" and not sample.records and "results" in sample.keys
    return 0.8 if is_cut and '"gradingResult"' in sample.text else 0.0


_DESCRIPTION = """\
JSON as `promptfoo eval --output results.json` writes it (version 2 or 3), its JSON lines or CSV. A
prompt with its variables is a dialogue, each provider's output a response of the system that its
`label`, else its `id`, names. `score`, `success` (as `pass`, 1 or 0) and `namedScores` are scores
of the rater `dataset`, with the grader's reason as the comment. Variables are metadata of the
dialogue, costs and times of the response; in CSV they fill in the prompt. A result without an
output is left out and reported."""
_EXAMPLE = (
    '{"results": {"version": 3, "results": [{"provider": {"id": "openai:baker-1"}, "prompt": '
    '{"raw": "Is the oven hot?", "label": "plain"}, "vars": {"place": "oven"}, "response": '
    '{"output": "Not yet."}, "success": true, "score": 1, "namedScores": {"brief": 0.5}, '
    '"gradingResult": {"pass": true, "score": 1, "reason": "It is cold."}}]}}\n'
)

IMPORTER = Importer(
    name="promptfoo",
    summary="results of promptfoo (JSON, JSON lines or CSV)",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
