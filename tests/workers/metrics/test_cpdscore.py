"""The declarations of judges: their options, what they need, why they cannot run."""

from __future__ import annotations

from pathlib import Path

import pytest

from workers.judges.core import prompt_file
from workers.metrics.common.configuration import ConfigurationError, MetricUnavailableError, parse
from workers.metrics.registry import all_metrics

OURS = (
    "simple",
    "simple_ref",
    "detail",
    "detail_ref",
    "simple_original",
    "detail_original",
    "dialogue",
)
OWN = """name: kind
step: turn
labels: Kindness
scale: 1-7

=== user
Is B kind?
{history}
B: {response}
"""


@pytest.mark.parametrize("name", [f"cpdscore_{one}" for one in OURS])
def test_every_judge_can_be_built_with_its_own_prompt(name: str) -> None:
    assert parse(name).scorer() is not None


def test_judges_wait_for_the_workers_of_language_models_and_go_on_where_they_were() -> None:
    judges = [metric for metric in all_metrics().values() if metric.queue == "llm"]
    assert {metric.name for metric in judges} == {f"cpdscore_{one}" for one in OURS} | {"judge"}
    assert all(metric.resumable and metric.systems_at_once > 1 for metric in judges)


def test_the_paper_s_average_of_three_calls_has_one_way_to_be_written() -> None:
    written = parse("cpdscore_detail[samples=3,scoring=answer,model=gpt-4-turbo-2024-04-09]").text
    assert written == "cpdscore_detail[model=gpt-4-turbo-2024-04-09,samples=3,scoring=answer]"


@pytest.mark.parametrize(
    "options",
    [
        "samples=0",
        "samples=21",
        "temperature=-1",
        "temperature=3",
        "scoring=best",
        "injections=",
        "seed=-1",
    ],
)
def test_an_option_outside_its_range_is_refused(options: str) -> None:
    with pytest.raises(ConfigurationError):
        parse(f"cpdscore_detail[{options}]")


def test_a_prompt_file_replaces_the_wording_and_its_scale_counts(tmp_path: Path) -> None:
    file = tmp_path / "kind.txt"
    file.write_text(OWN, encoding="utf-8")
    scorer = parse(f"judge[prompt={file}]").scorer()
    assert (scorer.judge.prompt.scale, scorer.judge.label) == ((1, 7), "Kindness")


@pytest.mark.parametrize("name", ["cpdscore_detail", "judge"])
def test_a_file_that_is_no_prompt_is_refused_without_telling_what_it_holds(
    name: str, tmp_path: Path
) -> None:
    """Anybody who may ask for a metric may write any path there."""
    secret = tmp_path / "passwords"
    secret.write_text("root: s3cret\n", encoding="utf-8")
    configuration = parse(f"{name}[prompt={secret}]")
    assert "check_prompt" in configuration.missing()
    assert "s3cret" not in configuration.missing()
    with pytest.raises(MetricUnavailableError):
        configuration.scorer()


def test_a_file_that_is_not_there_is_named() -> None:
    assert (
        parse("judge[prompt=/nowhere/prompt.txt]").missing()
        == "the prompt /nowhere/prompt.txt: there is no such file"
    )


def test_a_judge_of_ones_own_wants_a_prompt() -> None:
    assert "no prompt is named" in parse("judge").missing()


def test_a_prompt_of_the_site_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt_file, "_registry", {"kind@2": OWN}.get)
    assert parse("judge[prompt=kind@2]").missing() == ""
    assert (
        parse("judge[prompt=kind@3]").missing()
        == "the prompt kind@3: there is no such prompt on this site"
    )


def test_what_a_prompt_shows_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = {"kind@1": OWN, "kind@2": OWN.replace("Is B kind?", "Kinder than: {reference}?")}
    monkeypatch.setattr(prompt_file, "_registry", shelf.get)
    assert parse("judge[prompt=kind@1]").needs == frozenset()
    assert parse("judge[prompt=kind@2]").needs == {"reference"}
    assert parse("cpdscore_detail_ref").needs == {"context", "reference"}
    assert parse("cpdscore_dialogue[turns=detail_ref]").needs == {"context", "reference"}
    assert parse("cpdscore_dialogue").needs == {"context"}


def test_a_prompt_of_responses_is_none_of_dialogues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt_file, "_registry", {"kind@1": OWN}.get)
    assert "wanted is one of whole dialogues" in parse("cpdscore_dialogue[prompt=kind@1]").missing()
    assert parse("cpdscore_dialogue[turn_prompt=kind@1]").missing() == ""


def test_a_scale_of_two_digits_has_no_expected_score(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt_file, "_registry", {"kind@1": OWN.replace("1-7", "1-10")}.get)
    assert "scoring=answer" in parse("judge[prompt=kind@1]").missing()
    assert parse("judge[prompt=kind@1,scoring=answer]").missing() == ""


def test_a_form_without_the_reported_number_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    own = OWN.replace("step: turn", "step: dialogue").replace("{response}", "{responses}")
    monkeypatch.setattr(prompt_file, "_registry", {"kind@1": own}.get)
    assert parse("cpdscore_dialogue[prompt=kind@1]").missing() == ""
    assert (
        "report=interaction"
        in parse("cpdscore_dialogue[prompt=kind@1,report=interaction]").missing()
    )


def test_what_a_small_model_is_worth_stands_with_every_judge() -> None:
    for metric in all_metrics().values():
        if metric.queue == "llm":
            assert "a weak judge" in metric.description.replace("\n", " ")
