"""``score``: what it computes, what it leaves out, what it prints."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotations.corpora.queries import counts_of, select_systems
from annotations.models import CorpusVersion
from tests.annotations.stored import dialogue, rated_corpus, stored, two_systems
from workers.metrics.common.configuration import Configuration, parse
from workers.metrics.registry import all_metrics
from workers.models import MetricRun
from workers.runs import actions, execution, queries

pytestmark = pytest.mark.django_db


@pytest.fixture
def score(version: CorpusVersion, capsys):
    """Runs the command as the command line does; returns what it printed and what it said
    beside."""

    def run(*arguments: str, corpus: str = "small") -> tuple[str, str]:
        capsys.readouterr()
        call_command("score", "--corpus", corpus, "--inline", *arguments)
        printed = capsys.readouterr()
        return printed.out, printed.err

    return run


def test_the_document_has_the_shape_of_the_contract(score, version: CorpusVersion) -> None:
    out, _ = score("--metrics", "length", "--format", "json")
    signature = f"metric:length|version:1|corpus:small|corpus_version:{version.label}"
    assert json.loads(out) == {
        "corpus": "small",
        "corpus_version": version.label,
        "runs": [
            {
                "metric": "length",
                "signature": f"{signature}|n:3",
                "system": "echo",
                "state": "done",
                "model": "",
                "device": "",
                "system_score": pytest.approx(28 / 3),  # (10 + 9 + 9) / 3
                "remarks": [],
                "details": {},
                "turn_scores": [
                    {"dialogue": "d0", "turn": 0, "score": 10.0},
                    {"dialogue": "d0", "turn": 1, "score": 9.0},
                    {"dialogue": "d1", "turn": 0, "score": 9.0},
                ],
            },
            {
                "metric": "length",
                "signature": f"{signature}|n:2",
                "system": "dull",
                "state": "done",
                "model": "",
                "device": "",
                "system_score": 2.5,  # (3 + 2) / 2
                "remarks": [],
                "details": {},
                "turn_scores": [
                    {"dialogue": "d0", "turn": 0, "score": 3.0},
                    {
                        "dialogue": "d0",
                        "turn": 1,
                        "score": None,
                        "reason": "the system gave no response at this turn",
                    },
                    {"dialogue": "d1", "turn": 0, "score": 2.0},
                ],
            },
        ],
    }


def test_a_system_without_any_score_says_why(score) -> None:
    out, _ = score("--metrics", "shy", "--systems", "echo", "--format", "json")
    (run,) = json.loads(out)["runs"]
    assert run["system_score"] is None
    assert run["reason"] == "no turn has a score: it would rather not"


def test_the_table_has_a_row_a_run(score) -> None:
    out, err = score("--metrics", "length,constant")
    assert [line.split() for line in out.splitlines()[2:]] == [
        ["constant", "echo", "done", "0.5000", "0"],
        [
            "constant",
            "dull",
            "done",
            "0.5000",
            "0",
        ],  # where it gave no response, no score is missing
        ["length", "echo", "done", "9.3333", "0"],
        ["length", "dull", "done", "2.5000", "0"],
    ]
    assert "4 runs done, 0 failed" in err


def test_what_is_computed_is_not_computed_again(score, monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = score("--metrics", "length", "--format", "json")
    finished = list(MetricRun.objects.order_by("pk").values_list("finished_at", "attempts"))
    monkeypatch.setattr(
        execution, "_compute_together", lambda *arguments: pytest.fail("it was computed again")
    )
    second, _ = score("--metrics", "length", "--format", "json")
    assert second == first
    assert list(MetricRun.objects.order_by("pk").values_list("finished_at", "attempts")) == finished


def test_only_the_chosen_systems_are_scored(score) -> None:
    score("--metrics", "length", "--systems", "dull")
    assert list(MetricRun.objects.values_list("system__name", flat=True)) == ["dull"]


def test_a_failed_metric_ends_with_an_error_that_says_why_and_the_others_are_done(
    score, capsys
) -> None:
    with pytest.raises(CommandError, match="raises: RuntimeError: the model has no opinion"):
        score("--metrics", "raises,length", "--systems", "echo", "--format", "json")
    states: dict[str, Any] = {
        run["metric"]: run for run in json.loads(capsys.readouterr().out)["runs"]
    }
    assert (states["length"]["state"], states["raises"]["state"]) == ("done", "failed")
    assert states["raises"]["error"] == "RuntimeError: the model has no opinion"


def test_a_failed_metric_is_tried_again_when_it_is_asked_for_again(score) -> None:
    for _ in range(2):
        with pytest.raises(CommandError):
            score("--metrics", "raises", "--systems", "echo")
    assert MetricRun.objects.get().attempts == 1  # of the second request


def lost_run(version: CorpusVersion) -> MetricRun:
    """A run whose worker died: its row says running, and its lease is over."""
    systems = select_systems(version, ["echo"])
    actions.request([parse("length")], systems, hint=False)
    run = MetricRun.objects.get()
    MetricRun.objects.claim(run.pk)
    MetricRun.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    return run


def test_a_run_that_a_dead_worker_left_behind_is_taken_over(score, version: CorpusVersion) -> None:
    lost_run(version)
    out, _ = score("--metrics", "length", "--systems", "echo", "--format", "json")
    assert json.loads(out)["runs"][0]["state"] == "done"
    assert MetricRun.objects.get().attempts == 2


def test_a_run_that_killed_every_worker_is_given_up_not_waited_for(
    score, version: CorpusVersion, settings
) -> None:
    settings.MAX_ATTEMPTS = 1
    lost_run(version)
    with pytest.raises(CommandError, match="stopped without a word"):
        score("--metrics", "length", "--systems", "echo")


@pytest.fixture
def without_references(tmp_path: Path, odd_metrics: None) -> CorpusVersion:
    """As GRADE: no gold answers."""
    return stored(
        rated_corpus([dialogue("d0", references=())], {("d0", 0, "echo"): "hi"}), tmp_path, "bare"
    )


def test_a_metric_that_needs_references_is_refused_where_there_are_none(
    score, without_references
) -> None:
    with pytest.raises(
        CommandError, match="bleu_4 cannot be computed on bare: the corpus has no references"
    ):
        score("--metrics", "length,bleu_4", corpus="bare")
    assert not MetricRun.objects.exists()


def test_all_leaves_out_what_cannot_be_computed_and_says_so(
    score, without_references, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workers.metrics import registry

    metrics = {
        name: one
        for name, one in registry.all_metrics().items()
        if name in ("length", "constant", "bleu_4")
    }
    monkeypatch.setattr(registry, "_catalogue", lambda: registry.Catalogue(metrics))
    _, err = score("--metrics", "all", corpus="bare")
    assert "bleu_4 is left out: the corpus has no references" in err
    assert sorted(MetricRun.objects.values_list("metric", flat=True)) == ["constant", "length"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--metrics", "lenght"], 'unknown metric "lenght"; nearest: length'),
        (["--metrics", "rouge_l[stems=true]"], "its options: normalize, tokenize, unicode, stem"),
        (["--metrics", "rouge_l[stem=true"], "has no partner"),
        (["--metrics", " , "], "no metric is named"),
        (["--metrics", "length", "--systems", "loud"], "no system 'loud'. Systems: echo, dull"),
        (["--metrics", "length", "--systems", ","], "names nothing"),
    ],
)
def test_what_is_not_known_is_named_with_what_is(score, arguments: list[str], says: str) -> None:
    with pytest.raises(CommandError) as refusal:
        score(*arguments)
    assert says in str(refusal.value)
    assert not MetricRun.objects.exists()


def test_a_corpus_without_systems_has_nothing_to_score(score, tmp_path: Path) -> None:
    stored(rated_corpus([dialogue("d0")], {}), tmp_path, "prompts")
    with pytest.raises(CommandError, match="prompts has no systems"):
        score("--metrics", "length", corpus="prompts")


def test_a_new_version_is_scored_anew_and_the_old_scores_stay(
    score, version: CorpusVersion, tmp_path: Path
) -> None:
    score("--metrics", "length")
    changed = [one for one in two_systems() if getattr(one, "score", None) != 5]
    second = stored(changed, tmp_path)
    out, _ = score("--metrics", "length", "--format", "json")
    assert json.loads(out)["corpus_version"] == second.label
    assert MetricRun.objects.filter(system__version=version).count() == 2
    assert MetricRun.objects.filter(system__version=second).count() == 2


def test_a_metric_of_whole_systems_has_no_turn_scores(score) -> None:
    out, _ = score("--metrics", "system_length", "--systems", "echo", "--format", "json")
    (run,) = json.loads(out)["runs"]
    assert (run["state"], run["turn_scores"]) == ("done", [])
    assert isinstance(run["system_score"], float)


def test_the_human_side_is_written_with_its_version_so_that_the_next_import_changes_nothing(
    score, version: CorpusVersion, tmp_path: Path
) -> None:
    people = stored(rated_corpus([dialogue("p0", references=("one two",))], {}), tmp_path, "people")
    out, _ = score(
        "--metrics",
        "system_length",
        "--systems",
        "echo",
        "--references",
        "people",
        "--format",
        "json",
    )
    (run,) = json.loads(out)["runs"]
    assert run["metric"] == f"system_length[human=people@{people.label}]"
    # "the answer" 10, "the reply" 9, "an answer" 9: 28 / 3 on average; "one two" has 7 characters
    assert run["system_score"] == pytest.approx(28 / 3 - 7)
    assert run["signature"].endswith("|n:3|n_human:1")
    assert f"human:people@{people.label}" in run["signature"]


def test_the_corpus_itself_as_the_human_side_is_its_references(score) -> None:
    out, _ = score(
        "--metrics", "system_length", "--systems", "echo", "--human", "small", "--format", "json"
    )
    assert json.loads(out)["runs"][0]["metric"] == "system_length"


@pytest.mark.parametrize(
    ("side", "refusal"),
    [
        ("nobody", "there is no corpus nobody"),
        ("small@v7", "there is no corpus small version 7"),
        ("small@v1-000000000000", "version 1 of small here is v1-"),
        ("small@one", 'human references "small@one" are not slug or slug@v1'),
        ("small@v99999999999999999999", "human references small@v99999999999999999999"),
    ],
)
def test_a_human_side_that_is_not_there_is_refused_by_name(score, side: str, refusal: str) -> None:
    with pytest.raises(CommandError, match=refusal):
        score("--metrics", "system_length", "--references", side)
    assert not MetricRun.objects.exists()


def test_a_human_side_for_metrics_that_have_none_is_refused(score) -> None:
    with pytest.raises(CommandError, match="none of the metrics compares with human references"):
        score("--metrics", "length", "--references", "small")


def test_a_corpus_that_is_not_public_is_no_human_side_of_one_that_is(score, tmp_path: Path) -> None:
    """The configuration stands on public pages, and would name it."""
    people = stored(rated_corpus([dialogue("p0", references=("one two",))], {}), tmp_path, "people")
    people.corpus.is_public = False
    people.corpus.save()
    with pytest.raises(
        CommandError, match="is not public, and the pages of small, which is, would name it"
    ):
        score("--metrics", "system_length", "--human", "people")


def test_a_human_side_without_references_is_refused(score, tmp_path: Path) -> None:
    stored(rated_corpus([dialogue("p0", references=())], {("p0", 0, "x"): "y"}), tmp_path, "people")
    with pytest.raises(CommandError, match=r"people v1-.* has no references"):
        score("--metrics", "system_length", "--human", "people")


def test_what_all_metrics_need_is_asked_of_the_corpus_once(
    version: CorpusVersion, django_assert_num_queries
) -> None:
    counts_of(version)  # references, contexts, personas among them
    with django_assert_num_queries(0):
        for metric in all_metrics().values():
            queries.why_not_offered(Configuration.of(metric), version)


def test_the_table_of_metrics_ends_with_those_that_cannot_be_loaded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call_command("metrics")
    shown = capsys.readouterr().out.partition("Not available as released, and why:")[2]
    assert (
        "DynaEval (https://github.com/e0397123/DynaEval): a graph network over the turns"
        in " ".join(shown.split())
    )
    assert max(len(line) for line in shown.splitlines()) <= 100
