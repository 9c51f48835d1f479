"""What evaluation harnesses write: lm-evaluation-harness, Inspect, HELM, promptfoo, OpenAI's evals,
DeepEval."""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from annotations.formats.importers.base import survey
from annotations.formats.importers.registry import importers, likely_format
from annotations.formats.records import (
    DialogueRecord,
    LabelRecord,
    RatingRecord,
    ResponseRecord,
    SystemRecord,
)
from tests.annotations.formats.importers.helpers import file_of, lines_of, of_type, read


def recognised(path: Path) -> list[Any]:
    name, reason = likely_format(path)
    assert name, reason
    return read(name, path)


def scores(records: list[Any]) -> list[tuple[str, int | None, str, str, float]]:
    return [
        (one.dialogue_id, one.turn, one.system, one.aspect, one.score)
        for one in of_type(records, RatingRecord)
    ]


def texts(records: list[Any]) -> list[tuple[str, str, str]]:
    return [(one.dialogue_id, one.system, one.text) for one in of_type(records, ResponseRecord)]


# --- lm-evaluation-harness ------------------------------------------------------------------------


def sample(number: int, answer: str, filter_name: str, score: float) -> dict[str, Any]:
    return {
        "doc_id": number,
        "doc": {"question": f"How many loaves of {number}?", "grade": 3},
        "target": "8",
        "arguments": {"gen_args_0": {"arg_0": f"Q: {number}\nA:", "arg_1": {"until": ["\n"]}}},
        "resps": [[answer]],
        "filtered_resps": [answer],
        "filter": filter_name,
        "metrics": ["exact_match"],
        "doc_hash": "a",
        "exact_match": score,
    }


def test_filters_of_one_answer_are_aspects(tmp_path: Path) -> None:
    path = lines_of(tmp_path, [sample(0, "8", "strict", 0.0), sample(0, "8", "flexible", 1.0)])
    records = recognised(path)
    assert texts(records) == [("0", "assistant", "8")]
    assert scores(records) == [
        ("0", 0, "assistant", "exact_match,strict", 0.0),
        ("0", 0, "assistant", "exact_match,flexible", 1.0),
    ]
    [dialogue] = of_type(records, DialogueRecord)
    assert [one.text for one in dialogue.messages] == ["Q: 0\nA:"]
    assert dialogue.turns[0].references == ("8",)
    assert dialogue.metadata == {"question": "How many loaves of 0?", "grade": 3}


def test_of_a_choice_the_likeliest_continuation_is_the_response(tmp_path: Path) -> None:
    """Log-likelihoods −3, −1 and −2: the second one; the target is the place of the third."""
    path = lines_of(
        tmp_path,
        [
            {
                "doc_id": 4,
                "doc": {},
                "target": "2",
                "arguments": {
                    f"gen_args_{n}": {"arg_0": "Bread is", "arg_1": f" {text}"}
                    for n, text in enumerate(("cold", "hot", "old"))
                },
                "resps": [[["-3.0", "False"]], [["-1.0", "True"]], [["-2.0", "False"]]],
                "filter": "none",
                "metrics": ["acc", "acc_norm"],
                "acc": 0.0,
                "acc_norm": 1,
            }
        ],
    )
    records = recognised(path)
    assert texts(records) == [("4", "assistant", "hot")]
    assert [one.turns[0].references for one in of_type(records, DialogueRecord)] == [("old",)]
    assert [one[3:] for one in scores(records)] == [("acc", 0.0), ("acc_norm", 1.0)]


def test_earlier_versions_have_lists_of_arguments_and_no_filter(tmp_path: Path) -> None:
    row = {"doc_id": 1, "doc": {}, "target": ["a", "b"], "arguments": [["Say", {}]]}
    records = recognised(lines_of(tmp_path, [{**row, "resps": [["a"]], "ok": True, "n": [1]}]))
    assert texts(records) == [("1", "assistant", "a")]
    assert scores(records) == [("1", 0, "assistant", "ok", 1.0)]
    assert [one.turns[0].references for one in of_type(records, DialogueRecord)] == [("a", "b")]


def test_models_of_a_folder_answer_the_same_documents(tmp_path: Path) -> None:
    for model in ("acme__baker", "acme__cook"):
        folder = tmp_path / model
        folder.mkdir()
        for task in ("gsm8k", "arc"):
            name = f"samples_{task}_2025-01-02T03-04-05.678.jsonl"
            (folder / name).write_text(json.dumps(sample(0, model, "none", 1.0)) + "\n")
        results = {"results": {}, "model_name": model.replace("__", "/")}
        (folder / "results_2025-01-02T03-04-05.678.json").write_text(json.dumps(results))
    records = recognised(tmp_path)
    assert [one.id for one in of_type(records, DialogueRecord)] == ["arc/0", "gsm8k/0"]
    assert {one.name for one in of_type(records, SystemRecord)} == {"acme/baker", "acme/cook"}
    assert len(texts(records)) == 4


def test_a_sample_without_words_is_left_out_and_reported(tmp_path: Path) -> None:
    rows = [sample(0, "8", "none", 1.0), {**sample(1, "", "none", 0.0), "resps": [[-12.5]]}]
    [part] = survey(importers()["lm-eval"], lines_of(tmp_path, rows))
    assert (part.counts.responses, part.skipped_count) == (1, 1)


# --- Inspect --------------------------------------------------------------------------------------


def inspected(name: object, answer: str, value: object) -> dict[str, Any]:
    said = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Is it hot?"},
        {
            "role": "assistant",
            "content": [
                {"type": "reasoning", "reasoning": "Hm."},
                {"type": "text", "text": answer},
            ],
            "source": "generate",
        },
    ]
    return {
        "id": name,
        "epoch": 1,
        "input": "Is it hot?",
        "target": "no",
        "messages": said,
        "output": {"model": "baker-1", "choices": []},
        "scores": {"match": {"value": value, "explanation": "As asked."}},
        "metadata": {"topic": "bread"},
        "store": {},
    }


def log(model: str, samples: list[dict[str, Any]]) -> dict[str, Any]:
    head = {"version": 2, "status": "success", "eval": {"task": "baking", "model": model}}
    return {**head, "plan": {}, "samples": samples}


def test_letters_of_inspect_are_numbers(tmp_path: Path) -> None:
    values: list[object] = ["C", "I", "P", "3.5", True, {"tone": 4, "tact": "fair"}]
    path = file_of(
        tmp_path, log("acme/baker", [inspected(n, "no", one) for n, one in enumerate(values)])
    )
    records = recognised(path)
    assert [one[3:] for one in scores(records)] == [
        ("match", 1.0),
        ("match", 0.0),
        ("match", 0.5),
        ("match", 3.5),
        ("match", 1.0),
        ("tone", 4.0),
    ]
    assert [one.value for one in of_type(records, LabelRecord)] == ["fair"]
    assert of_type(records, RatingRecord)[0].comment == "As asked."
    first = of_type(records, DialogueRecord)[0]
    assert [one.role for one in first.messages] == ["system", "user"]
    assert (first.turns[0].references, first.metadata) == (("no",), {"topic": "bread"})
    assert texts(records)[0] == ("0", "acme/baker", "no")


def test_two_logs_of_one_task_are_compared(tmp_path: Path) -> None:
    for model in ("baker", "cook"):
        file_of(tmp_path, log(model, [inspected(1, model, "C")]), f"{model}.json")
    records = recognised(tmp_path)
    assert texts(records) == [("1", "baker", "baker"), ("1", "cook", "cook")]


def test_an_archive_of_inspect(tmp_path: Path) -> None:
    path = tmp_path / "2025-01-01T00-00-00_baking.eval"
    with zipfile.ZipFile(path, "w") as archive:
        header = log("acme/baker", [])
        archive.writestr("_journal/start.json", json.dumps(header))
        archive.writestr("_journal/summaries/1.json", "[]")
        archive.writestr("samples/1_epoch_1.json", json.dumps(inspected(1, "no", "C"), indent=2))
        archive.writestr("summaries.json", "[]")
        archive.writestr("header.json", json.dumps(header))
    assert texts(recognised(path)) == [("1", "acme/baker", "no")]


def test_a_model_that_spoke_twice_is_judged_as_a_whole(tmp_path: Path) -> None:
    call = {"id": "c1", "function": "look", "arguments": {"at": "oven"}, "type": "function"}
    agent = {
        **inspected("a", "", "C"),
        "messages": [
            {"role": "user", "content": "Is it hot?"},
            {"role": "assistant", "content": "I look.", "tool_calls": [call]},
            {"role": "tool", "content": "20 degrees", "tool_call_id": "c1", "function": "look"},
            {"role": "assistant", "content": "No."},
        ],
    }
    records = recognised(file_of(tmp_path, log("baker", [agent])))
    assert scores(records) == [("a", None, "baker", "match", 1.0)]
    [dialogue] = of_type(records, DialogueRecord)
    assert dialogue.interactive
    assert dialogue.messages[1].parts == (
        {"type": "tool_call", "name": "look", "arguments": {"at": "oven"}, "id": "c1"},
    )


def test_a_sample_that_ended_in_an_error_is_left_out(tmp_path: Path) -> None:
    failed = {**inspected(2, "", None), "messages": [], "error": {"message": "timeout"}}
    path = file_of(tmp_path, log("baker", [inspected(1, "no", "C"), failed]))
    [part] = survey(importers()["inspect"], path)
    assert (part.counts.responses, part.skipped_count) == (1, 1)


# --- HELM -----------------------------------------------------------------------------------------


def helm_run(folder: Path, model: str, displayed: bool) -> None:
    folder.mkdir(parents=True)
    right, wrong = [
        {"output": {"text": text}, "tags": tags}
        for text, tags in (("no", ["correct"]), ("yes", []))
    ]
    state = {
        "adapter_spec": {"method": "generation"},
        "request_states": [
            {
                "instance": {
                    "input": {"text": "Is it hot?"},
                    "references": [right, wrong],
                    "split": "test",
                    "id": "id7",
                },
                "train_trial_index": 0,
                "request": {"model": model, "prompt": "Q: Is it hot?\nA:"},
                "result": {"success": True, "completions": [{"text": f" {model}"}]},
            }
        ],
    }
    file_of(folder, json.dumps(state, indent=2), "scenario_state.json")
    of_instance = {"instance_id": "id7", "train_trial_index": 0}
    stats = [
        {"name": {"name": "exact_match", "split": "test"}, "count": 1, "mean": 1.0},
        {"name": {"name": "num_prompt_tokens"}, "count": 1, "mean": 55.0},
    ]
    file_of(folder, [{**of_instance, "stats": stats}], "per_instance_stats.json")
    if displayed:
        shown = [{**of_instance, "predicted_text": "no", "stats": {"quasi_exact_match": 0.5}}]
        file_of(folder, shown, "display_predictions.json")


def test_statistics_of_helm_that_are_no_costs_are_scores(tmp_path: Path) -> None:
    helm_run(tmp_path / "runs" / "v1" / "boolq:model=acme_baker", "acme/baker", displayed=False)
    records = recognised(tmp_path)
    assert scores(records) == [("id7", 0, "acme/baker", "exact_match", 1.0)]
    [dialogue] = of_type(records, DialogueRecord)
    assert [one.text for one in dialogue.messages] == ["Is it hot?"]
    assert dialogue.turns[0].references == ("no",)
    assert of_type(records, ResponseRecord)[0].metadata == {"prompt": "Q: Is it hot?\nA:"}


def test_metrics_that_helm_displays_come_first_and_runs_are_compared(tmp_path: Path) -> None:
    for model in ("baker", "cook"):
        helm_run(tmp_path / f"boolq:model={model}", model, displayed=True)
    records = recognised(tmp_path)
    assert scores(records) == [
        ("boolq/id7", 0, "baker", "quasi_exact_match", 0.5),
        ("boolq/id7", 0, "cook", "quasi_exact_match", 0.5),
    ]


# --- promptfoo ------------------------------------------------------------------------------------


def result(number: int, provider: object, output: object) -> dict[str, Any]:
    return {
        "provider": provider,
        "prompt": {"raw": f"Say {number}", "label": "Say {{n}}"},
        "vars": {"n": number},
        "testIdx": number,
        "response": {"output": output},
        "success": output == "yes",
        "score": 0.5,
        "namedScores": {"tone": 0.25},
        "gradingResult": {"pass": True, "score": 0.5, "reason": "Half."},
        "latencyMs": 12,
    }


def test_versions_of_promptfoo_hold_the_same(tmp_path: Path) -> None:
    rows = [
        result(0, {"id": "openai:a", "label": ""}, "yes"),
        result(0, {"id": "openai:b", "label": "B"}, {"answer": "no"}),
        {**result(1, "openai:a", None), "response": {"error": "timeout"}},
    ]
    newest = {"evalId": "e", "results": {"version": 3, "prompts": [], "results": rows}}
    earlier = {"version": 2, "results": rows, "stats": {}}
    paths = (
        file_of(tmp_path, json.dumps(newest, indent=2), "newest.json"),
        file_of(tmp_path, json.dumps(earlier, indent=2), "earlier.json"),
        lines_of(tmp_path, rows),
    )
    for path in paths:
        records = recognised(path)
        assert texts(records) == [("0", "openai:a", "yes"), ("0", "B", '{"answer": "no"}')]
        assert scores(records)[:3] == [
            ("0", 0, "openai:a", "score", 0.5),
            ("0", 0, "openai:a", "pass", 1.0),
            ("0", 0, "openai:a", "tone", 0.25),
        ]
        [part] = survey(importers()["promptfoo"], path)
        assert part.skipped_count == 1


@pytest.mark.parametrize("newer", [True, False])
def test_a_table_of_promptfoo_has_a_column_a_provider(tmp_path: Path, newer: bool) -> None:
    more = ["Status", "Score", "Named Scores", "Grader Reason", "Comment"] if newer else []
    of_first, of_second = ["", "", "", "", ""], ["", "", "", "", ""]
    cells = ("[PASS] (0.50) yes", "[FAIL] (0.00) no", "[ERROR] timeout")
    if newer:
        cells = ("yes", "no", "timeout")
        of_first = ["PASS", "0.50", '{"tone": 0.25}', "Half.", "so so"]
        of_second = ["FAIL", "0.00", "", "", ""]
    heads = ["n", "[openai:a] Say {{n}}", *more, "[openai:b] Say {{n}}", *more]
    first = ["seven", cells[0], *of_first[: len(more)], cells[1], *of_second[: len(more)]]
    failed = ["ERROR", *of_second[1 : len(more)]] if newer else []
    second = ["eight", cells[2], *failed, cells[2], *failed]
    path = tmp_path / "results.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([heads, first, second])
    records = recognised(path)
    assert texts(records) == [("0", "openai:a", "yes"), ("0", "openai:b", "no")]
    assert ("0", 0, "openai:a", "score", 0.5) in scores(records)
    assert ("0", 0, "openai:b", "pass", 0.0) in scores(records)
    assert (("0", 0, "openai:a", "tone", 0.25) in scores(records)) == newer
    [dialogue] = of_type(records, DialogueRecord)
    assert [one.text for one in dialogue.messages] == ["Say seven"]
    assert dialogue.metadata == {"n": "seven"}
    [part] = survey(importers()["promptfoo"], path)
    assert part.skipped_count == 2


# --- OpenAI's evals -------------------------------------------------------------------------------


def evals(model: str, *events: tuple[str, str, dict[str, Any]]) -> list[dict[str, Any]]:
    spec = {"completion_fns": [model], "eval_name": "ovens.dev", "run_id": "r"}
    return [
        {"spec": spec},
        *(
            {"run_id": "r", "event_id": n, "sample_id": sample, "type": kind, "data": data}
            for n, (sample, kind, data) in enumerate(events)
        ),
        {"final_report": {"accuracy": 1.0}},
    ]


SAMPLED = {"prompt": [{"role": "user", "content": "Hot?"}], "sampled": ["No.", "Not yet."]}


def test_a_log_of_evals_has_an_answer_and_verdicts_a_sample(tmp_path: Path) -> None:
    events = [
        ("s.0", "raw_sample", {"input": "Hot?"}),
        ("s.0", "sampling", SAMPLED),
        ("s.0", "sampling", {"prompt": "Is it right?", "sampled": "Y"}),
        ("s.0", "metrics", {"choice": "Y", "score": 0.5, "prompt": "Is it right?"}),
        ("s.0", "match", {"correct": True, "expected": ["No."], "picked": "No."}),
        ("s.1", "error", {"type": "Timeout", "message": "late"}),
        ("s.1", "match", {"correct": False}),
    ]
    path = lines_of(tmp_path, evals("baker-1", *events))
    records = recognised(path)
    assert texts(records) == [("s.0", "baker-1", "No."), ("s.0", "baker-1", "Not yet.")]
    assert scores(records) == [
        ("s.0", 0, "baker-1", "score", 0.5),
        ("s.0", 0, "baker-1", "correct", 1.0),
    ]
    assert [(one.question, one.value) for one in of_type(records, LabelRecord)] == [("choice", "Y")]
    [dialogue] = of_type(records, DialogueRecord)
    assert (dialogue.turns[0].references, dialogue.metadata) == (("No.",), {"eval": "ovens.dev"})
    [part] = survey(importers()["openai-evals"], path)
    assert part.skipped_count == 3  # the grader's call, the error, the match without an answer


def test_two_logs_of_evals_compare_their_models(tmp_path: Path) -> None:
    for model in ("baker", "cook"):
        lines = evals(model, ("s.0", "sampling", {**SAMPLED, "sampled": model}))
        (tmp_path / f"{model}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    assert texts(recognised(tmp_path)) == [("s.0", "baker", "baker"), ("s.0", "cook", "cook")]


# --- DeepEval -------------------------------------------------------------------------------------


def test_metrics_of_deepeval_are_scores_by_the_model_that_judged(tmp_path: Path) -> None:
    metric = {"name": "Tact", "score": 0.8, "reason": "Kind.", "evaluationModel": "judge-1"}
    run = {
        "testCases": [
            {
                "name": "t",
                "input": "Hot?",
                "actualOutput": "No.",
                "expectedOutput": "Not yet.",
                "context": ["Ovens heat slowly."],
                "metricsData": [metric, {**metric, "score": None}, metric],
            }
        ],
        "conversationalTestCases": [
            {
                "name": "c",
                "turns": [
                    {"role": "user", "content": "Hot?", "order": 0},
                    {"role": "assistant", "content": "No.", "order": 1},
                ],
                "metricsData": [metric],
            }
        ],
        "hyperparameters": {"model": "baker-1"},
    }
    records = recognised(file_of(tmp_path, run))
    assert scores(records) == [
        ("1", 0, "baker-1", "Tact", 0.8),
        ("1", 0, "baker-1", "Tact (2)", 0.8),
        ("2", None, "baker-1", "Tact", 0.8),
    ]
    rating = of_type(records, RatingRecord)[0]
    assert (rating.rater, rating.comment) == ("judge-1", "Kind.")
    single = of_type(records, DialogueRecord)[0]
    assert (single.knowledge, single.turns[0].references) == (
        ("Ovens heat slowly.",),
        ("Not yet.",),
    )


def test_the_context_of_a_test_case_is_no_conversation(tmp_path: Path) -> None:
    row = {"input": "Hot?", "actual_output": "No.", "expected_output": "Not yet."}
    records = recognised(file_of(tmp_path, [{**row, "context": ["Ovens heat slowly."]}]))
    [dialogue] = of_type(records, DialogueRecord)
    assert [one.text for one in dialogue.messages] == ["Hot?"]
    assert dialogue.turns[0].references == ("Not yet.",)
    assert texts(records) == [("1", "assistant", "No.")]
