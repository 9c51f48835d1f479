"""From a row to its result: what a metric's scores become, and what becomes of a metric that goes
wrong."""

from __future__ import annotations

import pytest
from billiard.exceptions import SoftTimeLimitExceeded

from annotations.corpora.queries import select_systems
from annotations.models import CorpusVersion, Turn
from tests.workers.lengths import metric
from workers.metrics import registry
from workers.metrics.common.configuration import parse
from workers.models import MetricRun
from workers.runs import actions, execution

pytestmark = pytest.mark.django_db


def computed(version: CorpusVersion, name: str, system: str) -> MetricRun:
    """The run of one metric and one system, after it was computed here."""
    systems = select_systems(version, [system])
    actions.request([parse(name)], systems, hint=False)
    run = MetricRun.objects.get(metric=name, system=systems[0])
    execution.compute(run.pk)
    run.refresh_from_db()
    return run


def test_turn_scores_follow_the_turns_and_their_mean_is_the_system_score(
    version: CorpusVersion,
) -> None:
    run = computed(version, "length", "echo")
    # "the answer" 10, "the reply" 9, "an answer" 9
    assert (run.state, run.turn_scores) == ("done", [10.0, 9.0, 9.0])
    assert run.system_score == pytest.approx(28 / 3)
    assert (run.undefined, run.system_reason, run.error) == ({}, "", "")


def test_a_turn_without_a_response_has_no_score_and_says_why(version: CorpusVersion) -> None:
    run = computed(version, "length", "dull")
    # "yes" 3, no response, "no" 2: the mean is over the two that are there
    assert run.turn_scores == [3.0, None, 2.0]
    assert run.undefined == {"1": "the system gave no response at this turn"}
    assert run.system_score == pytest.approx(2.5)


def test_an_undefined_turn_keeps_the_metric_s_reason(version: CorpusVersion) -> None:
    run = computed(version, "short_only", "echo")
    assert (run.state, run.turn_scores, run.system_score) == ("done", [None, None, None], None)
    assert run.undefined["0"] == "longer than 3 characters"
    assert run.system_reason == "no turn has a score: longer than 3 characters"


def test_the_signature_names_metric_version_corpus_and_n(version: CorpusVersion) -> None:
    run = computed(version, "length", "dull")
    assert (
        run.signature == f"metric:length|version:1|corpus:small|corpus_version:{version.label}|n:2"
    )


def test_a_metric_of_whole_systems_has_one_score_against_the_references(
    version: CorpusVersion,
) -> None:
    run = computed(version, "system_length", "echo")
    references = [
        text for turn in Turn.objects.filter(dialogue__version=version) for text in turn.references
    ]
    # "the answer" 10, "the reply" 9, "an answer" 9: mean 28 / 3
    assert run.system_score == pytest.approx(28 / 3 - sum(map(len, references)) / len(references))
    assert (run.state, run.turn_scores, run.undefined) == ("done", [], {})
    assert run.signature.endswith(f"|n:3|n_human:{len(references)}")


def test_a_metric_of_whole_systems_without_a_human_side_says_why(version: CorpusVersion) -> None:
    Turn.objects.update(references=[])
    run = computed(version, "system_length", "echo")
    assert (run.state, run.system_score) == ("done", None)
    assert run.system_reason == "there are no human references to compare with"


def test_scores_may_come_from_a_generator(version: CorpusVersion) -> None:
    assert computed(version, "generator", "echo").turn_scores == [10.0, 9.0, 9.0]


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("raises", "RuntimeError: the model has no opinion"),
        ("too_few", "ValueError: too_few gave 2 scores for 3 responses"),
        ("too_many", "ValueError: too_many gave 4 scores for 3 responses"),
        (
            "not_a_number",
            "ValueError: not_a_number gave nan; a score must be a finite number or undefined",
        ),
        ("infinite", "ValueError: infinite gave inf; a score must be a finite number or undefined"),
        ("nothing", "ValueError: nothing gave None; a score must be a finite number or undefined"),
        ("text", "ValueError: text gave '0.5'; a score must be a finite number or undefined"),
    ],
)
def test_a_metric_that_goes_wrong_fails_its_run_and_says_how(
    version: CorpusVersion, name: str, error: str
) -> None:
    run = computed(version, name, "echo")
    assert (run.state, run.error) == ("failed", error)
    assert (run.turn_scores, run.system_score, run.lease_token) == ([], None, "")


def test_a_run_of_another_metric_version_is_not_computed_with_this_one(
    version: CorpusVersion,
) -> None:
    systems = select_systems(version, ["echo"])
    actions.request([parse("length")], systems, hint=False)
    MetricRun.objects.update(metric_version="0")
    run = MetricRun.objects.get()
    execution.compute(run.pk)
    run.refresh_from_db()
    assert run.state == "failed"
    assert "asks for length version 0; this worker has version 1" in run.error


def test_a_run_that_takes_too_long_says_which_setting_allows_more(
    version: CorpusVersion, monkeypatch, settings
) -> None:
    def endless(examples: object) -> list[float]:
        raise SoftTimeLimitExceeded

    settings.TASK_SECONDS = 2.0
    catalogue = registry.assemble([metric("endless", endless)], [])
    monkeypatch.setattr(registry, "_catalogue", lambda: catalogue)
    run = computed(version, "endless", "echo")
    assert (run.state, run.error) == ("failed", "it took longer than 2 s (DIALEVAL_TASK_SECONDS)")


def test_a_finished_run_is_not_computed_again(version: CorpusVersion) -> None:
    run = computed(version, "length", "echo")
    assert not execution.compute(run.pk)
    assert (run.attempts, MetricRun.objects.get().finished_at) == (1, run.finished_at)


def test_a_run_that_is_gone_is_nothing_to_do(version: CorpusVersion) -> None:
    assert not execution.compute(12345)


def test_a_finished_run_makes_a_new_revision_a_failed_one_does_not(version: CorpusVersion) -> None:
    computed(version, "length", "echo")
    version.refresh_from_db()
    assert version.revision == 1
    computed(version, "raises", "echo")
    version.refresh_from_db()
    assert version.revision == 1


def test_a_worker_that_lost_its_lease_while_it_scored_stores_nothing(
    version: CorpusVersion, monkeypatch
) -> None:
    def robbed(examples: list[object]) -> list[float]:
        MetricRun.objects.update(lease_token="somebody else")
        return [1.0] * len(examples)

    catalogue = registry.assemble([metric("robbed", robbed)], [])
    monkeypatch.setattr(registry, "_catalogue", lambda: catalogue)
    run = computed(version, "robbed", "echo")
    assert (run.state, run.turn_scores, run.lease_token) == ("running", [], "somebody else")


def test_a_run_that_is_interrupted_is_given_back_as_if_it_had_not_been_begun(
    version: CorpusVersion, monkeypatch
) -> None:
    def interrupted(examples: object) -> list[float]:
        raise KeyboardInterrupt

    catalogue = registry.assemble([metric("interrupted", interrupted)], [])
    monkeypatch.setattr(registry, "_catalogue", lambda: catalogue)
    with pytest.raises(KeyboardInterrupt):
        computed(version, "interrupted", "echo")
    run = MetricRun.objects.get()
    assert (run.state, run.attempts, run.lease_token, run.hinted_at) == ("pending", 0, "", None)
