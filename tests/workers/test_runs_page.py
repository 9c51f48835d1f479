"""The runs page: what failed and why, and the choice among forty metrics."""

from __future__ import annotations

import re

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations.corpora.queries import select_systems
from annotations.models import CorpusVersion
from common.tables import Table
from tests.campaigns.sets import made_user
from workers.metrics.common.configuration import parse
from workers.metrics.registry import all_metrics
from workers.models import MetricRun
from workers.runs import actions, views
from workers.runs.forms import ScoreForm
from workers.runs.language_fit import recommended_metrics
from workers.runs.metric_list import by_kind, kind_of
from workers.runs.tables import failed_table, run_progress

pytestmark = pytest.mark.django_db


def failed(version: CorpusVersion, metric: str, errors: dict[str, str]) -> None:
    actions.request([parse(metric)], select_systems(version, list(errors)), hint=False)
    for system, error in errors.items():
        claimed = MetricRun.objects.claim(
            MetricRun.objects.get(metric=metric, system__name=system).pk
        )
        assert claimed is not None
        MetricRun.objects.owned(claimed).fail(error)


def test_runs_that_failed_alike_are_one_row_with_their_systems(version: CorpusVersion) -> None:
    failed(version, "length", {"echo": "no such model", "dull": "no such model"})
    (row,) = failed_table(version).rows
    assert (row.cells["runs"].value, row.cells["systems"].value) == (2, "echo, dull")


def test_the_progress_part_says_what_waits_and_no_message_does(
    version: CorpusVersion, client: Client
) -> None:
    client.force_login(made_user("lead", "organiser"))
    address = reverse("score", args=[version.corpus.slug])
    page = client.post(address, {"metrics": "length"}, follow=True)
    assert "waiting for a worker" in page.content.decode()
    assert list(page.context["messages"]) == []


def test_recommended_metrics_are_offered_until_they_are_requested(
    version: CorpusVersion, client: Client
) -> None:
    client.force_login(made_user("lead", "organiser"))
    page = reverse("corpus", args=[version.corpus.slug])
    names = recommended_metrics(version)
    assert "Compute recommended metrics" in client.get(page).content.decode()
    actions.request([parse(name) for name in names], list(version.systems.all()), hint=False)
    assert "Compute recommended metrics" not in client.get(page).content.decode()


def test_runs_that_are_done_lead_to_the_leaderboard(version: CorpusVersion, client: Client) -> None:
    client.force_login(made_user("lead", "organiser"))
    actions.request([parse("length")], list(version.systems.all()), hint=False)
    page = reverse("corpus-runs", args=[version.corpus.slug])
    link = f'{reverse("metric-leaderboard", args=[version.corpus.slug])}?version=1">Metric'
    assert link not in client.get(page).content.decode()
    MetricRun.objects.update(
        state="done", signature="s", system_score=0.5, finished_at=timezone.now()
    )
    assert link in client.get(page).content.decode()


def test_another_error_is_another_row(version: CorpusVersion) -> None:
    failed(version, "length", {"echo": "no such model", "dull": "out of memory"})
    assert [row.cells["error"].value for row in failed_table(version).rows] == [
        "no such model",
        "out of memory",
    ]


def test_the_bar_of_a_metric_says_how_many_of_its_runs_failed(version: CorpusVersion) -> None:
    failed(version, "length", {"echo": "no such model", "dull": "no such model"})
    assert [one.remark for one in run_progress(version).configurations] == ["2 failed"]


# --- the page that stands open while runs end -----------------------------------------------------


def progress(client: Client, version: CorpusVersion, seen: str) -> str:
    address = reverse("corpus-runs-progress", args=[version.corpus.slug])
    return client.get(address, headers={"HX-Request": "true", "X-Seen": seen}).content.decode()


def test_a_page_that_stands_open_is_told_of_a_failure_once(
    version: CorpusVersion, client: Client
) -> None:
    actions.request([parse("length")], select_systems(version), hint=False)
    page = client.get(reverse("corpus-runs", args=[version.corpus.slug])).content.decode()
    (seen,) = re.findall(r'"X-Seen": "([^"]*)"', page)
    assert "run-outcomes" not in progress(client, version, seen)
    failed(version, "length", {"echo": "no such model"})
    news = progress(client, version, seen)
    assert '<div id="run-outcomes" hx-swap-oob="true">' in news
    assert "no such model" in news
    (seen,) = re.findall(r'"X-Seen": "([^"]*)"', news)
    assert "run-outcomes" not in progress(client, version, seen)


def test_news_come_arranged_as_the_page_is(version: CorpusVersion, client: Client) -> None:
    """The browser says which page it has, sorted and chosen from."""
    failed(version, "length", {"echo": "no such model"})
    failed(version, "word_f1", {"echo": "no such model"})
    page = f"http://testserver/corpora/{version.corpus.slug}/runs/?failed-sort=-metric"
    address = reverse("corpus-runs-progress", args=[version.corpus.slug])
    news = client.get(
        address, headers={"HX-Request": "true", "HX-Current-URL": page}
    ).content.decode()
    rows = re.findall(r"<tr[^>]*>.*?</tr>", news, re.DOTALL)
    names = [name for row in rows for name in re.findall(r"\b(length|word_f1)\b", row)[:1]]
    assert names == ["word_f1", "length"]


def test_the_last_answer_brings_what_was_computed(version: CorpusVersion, client: Client) -> None:
    actions.request([parse("length")], select_systems(version, ["echo"]), hint=False)
    seen = run_progress(version).mark
    call_command(
        "score",
        "--corpus",
        version.corpus.slug,
        "--systems",
        "echo",
        "--metrics",
        "length",
        "--inline",
    )
    news = progress(client, version, seen)
    assert "hx-trigger" not in news  # nothing is under way: it asks no more
    assert 'id="table-computed-' in news


def test_news_of_a_visitor_have_no_buttons(version: CorpusVersion, client: Client) -> None:
    failed(version, "length", {"echo": "no such model"})
    assert "Retry failed runs" not in progress(client, version, "")
    client.force_login(made_user("lead", "organiser"))
    assert "Retry failed runs" in progress(client, version, "")


def test_a_run_that_fails_while_the_page_is_written_is_news_to_that_page(
    version: CorpusVersion, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    actions.request([parse("length")], select_systems(version), hint=False)

    def and_then_one_fails(of: CorpusVersion) -> Table:
        found = failed_table(of)
        failed(version, "length", {"echo": "no such model"})
        return found

    monkeypatch.setattr(views, "failed_table", and_then_one_fails)
    page = client.get(reverse("corpus-runs", args=[version.corpus.slug])).content.decode()
    monkeypatch.undo()
    assert "no such model" not in page
    (seen,) = re.findall(r'"X-Seen": "([^"]*)"', page)
    assert "no such model" in progress(client, version, seen)


def test_nothing_chosen_is_said_where_one_chooses(version: CorpusVersion) -> None:
    form = ScoreForm(version, {"metrics": [], "more": " , "})
    assert not form.is_valid()
    assert form.errors == {"metrics": ["Choose at least one metric."]}


def test_a_kind_with_a_ticked_metric_says_so(version: CorpusVersion) -> None:
    form = ScoreForm(version, {"metrics": ["length"], "more": ""})
    assert [
        ticked
        for _, boxes, ticked in form.metrics_by_kind
        if "length" in [name for _, name, _ in boxes]
    ] == [True]


def test_every_metric_has_one_kind_and_one_that_was_taken_out_comes_last() -> None:
    kinds = by_kind([*all_metrics(), "taken_out[layer=1]"], lambda name: name)
    assert sorted(name for _, some in kinds for name in some) == sorted(
        [*all_metrics(), "taken_out[layer=1]"]
    )
    assert (kinds[-1][0].key, kinds[-1][1]) == ("gone", ["taken_out[layer=1]"])


# --- judges have a form of their own --------------------------------------------------------------


def test_a_judge_has_no_tick_box_here_and_is_not_said_to_be_missing(version: CorpusVersion) -> None:
    form = ScoreForm(version)
    judges = {metric.name for metric in all_metrics().values() if metric.queue == "llm"}
    assert "cpdscore_detail" in judges
    assert judges.isdisjoint(name for name, _ in form.fields["metrics"].choices)
    assert judges.isdisjoint(form.not_offered)


def test_a_judge_that_is_written_here_is_sent_to_where_its_cost_is_estimated(
    version: CorpusVersion,
) -> None:
    form = ScoreForm(
        version, {"metrics": ["length"], "more": "cpdscore_detail[samples=3,scoring=answer]"}
    )
    assert not form.is_valid()
    assert form.errors == {
        "more": [
            (
                "cpdscore_detail[samples=3,scoring=answer] asks a language model: start it among "
                "the corpus's judges"
            )
        ]
    }


def test_judges_are_a_kind_of_their_own_that_says_what_they_cost() -> None:
    (kind,) = {
        kind_of(name).key: kind_of(name)
        for name in ("cpdscore_simple", "cpdscore_dialogue", "judge")
    }.values()
    assert kind.key == "judges"
    assert "budget" in kind.words
