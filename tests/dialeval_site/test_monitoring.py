"""What Prometheus reads: who may, that each figure is what the database holds, that the document
names all of it."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal

import pytest
import yaml
from django.db import DatabaseError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from annotations.models import Rating, System
from common.jobs.models import kinds_of_jobs
from dialeval_site.operations.monitoring import work
from tests.challenges.sets import open_round, submit, team_with_member
from tests.dialeval_site.documents import code_words, first_table, sections, text_of
from tests.dialeval_site.small_corpora import PUBLIC, store_corpus
from tests.site import PROJECT
from workers.judges.models import Budget
from workers.models import MetricRun
from workers.runs import presence

TOKEN = "quiet-river-quiet-river"
Series = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture
def prometheus(settings) -> Client:
    """Who has the token. The handler is made anew, for the counting begins with the setting."""
    settings.MONITORING_TOKEN = TOKEN
    return Client(headers={"Authorization": f"Bearer {TOKEN}"})


def read(client: Client) -> Series:
    response = client.get("/monitoring/")
    assert response.status_code == 200, response.content
    assert response["Content-Type"].startswith("text/plain; version=")
    families = text_string_to_metric_families(response.content.decode())
    return {
        (one.name, tuple(sorted(one.labels.items()))): one.value
        for family in families
        for one in family.samples
    }


def of(series: Series, name: str, **labels: str) -> float:
    return series[(name, tuple(sorted(labels.items())))]


# --- who may read it ------------------------------------------------------------------------------


def test_without_the_setting_there_is_no_such_address(client: Client, settings) -> None:
    settings.MONITORING_TOKEN = ""
    assert client.get("/monitoring/", headers={"Authorization": "Bearer "}).status_code == 404


@pytest.mark.parametrize(
    "sent", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", TOKEN, "Bearer ÿ"]
)
def test_without_the_token_nothing_is_told(sent: str, client: Client, settings) -> None:
    settings.MONITORING_TOKEN = TOKEN
    response = client.get("/monitoring/", headers={"Authorization": sent} if sent else {})
    assert (response.status_code, response["WWW-Authenticate"]) == (
        401,
        'Bearer realm="monitoring"',
    )
    assert b"dialeval_" not in response.content


# --- figures --------------------------------------------------------------------------------------


@pytest.fixture
def runs(tmp_path) -> list[MetricRun]:
    """Four runs of one system: two wait, one is at work, one failed."""
    store_corpus(tmp_path, PUBLIC, is_public=True)
    MetricRun.objects.all().delete()
    system, now = System.objects.earliest("pk"), timezone.now()
    common = {"system": system, "metric_version": "1"}
    made = [
        MetricRun.objects.create(metric=name, configuration=name, queue=queue, **common)
        for name, queue in (("bleu_1", "cpu"), ("bleu_2", "cpu"), ("pmi", "gpu"), ("bleu_3", "cpu"))
    ]
    waits, _, runs, failed = made
    MetricRun.objects.filter(pk=waits.pk).update(created_at=now - timedelta(seconds=100))
    MetricRun.objects.filter(pk=runs.pk).update(
        state="running", lease_token="t", lease_expires_at=now
    )
    MetricRun.objects.filter(pk=failed.pk).update(state="failed", error="no", finished_at=now)
    return made


@pytest.mark.django_db
def test_work_is_told_by_kind_and_queue(prometheus: Client, runs: list[MetricRun]) -> None:
    """bleu_1 and bleu_2 wait, pmi runs; bleu_1 was asked for 100 s ago."""
    series = read(prometheus)
    assert of(series, "dialeval_work_waiting", kind="run", queue="cpu") == 2
    assert of(series, "dialeval_work_running", kind="run", queue="cpu") == 0
    assert of(series, "dialeval_work_running", kind="run", queue="gpu") == 1
    assert 100 <= of(series, "dialeval_work_oldest_waiting_seconds", kind="run", queue="cpu") < 110
    assert of(series, "dialeval_work_oldest_waiting_seconds", kind="run", queue="gpu") == 0
    assert of(series, "dialeval_work_waiting", kind="notice", queue="cpu") == 0


@pytest.mark.django_db
def test_a_failure_counts_for_a_day(prometheus: Client, runs: list[MetricRun]) -> None:
    assert of(read(prometheus), "dialeval_work_failed_last_day", kind="run") == 1
    MetricRun.objects.filter(state="failed").update(
        finished_at=timezone.now() - timedelta(hours=25)
    )
    assert of(read(prometheus), "dialeval_work_failed_last_day", kind="run") == 0


@pytest.mark.django_db
def test_what_was_done_counts_for_an_hour_with_what_it_took(prometheus: Client, tmp_path) -> None:
    """Two runs, of 30 s and of 12 s, a minute ago; one that ended two hours ago."""
    store_corpus(tmp_path, PUBLIC, is_public=True)
    now = timezone.now()
    first, second = MetricRun.objects.order_by("pk")
    for run, seconds in ((first, 30), (second, 12)):
        ended = now - timedelta(minutes=1)
        changed = {"started_at": ended - timedelta(seconds=seconds), "finished_at": ended}
        MetricRun.objects.filter(pk=run.pk).update(**changed)
    series = read(prometheus)
    assert of(series, "dialeval_work_done_last_hour", kind="run") == 2
    assert of(series, "dialeval_work_seconds_last_hour", kind="run") == 42
    MetricRun.objects.filter(pk=second.pk).update(finished_at=now - timedelta(hours=2))
    series = read(prometheus)
    assert of(series, "dialeval_work_done_last_hour", kind="run") == 1


@pytest.mark.django_db
def test_a_submission_waits_where_it_will_be_worked_on(prometheus: Client) -> None:
    round = open_round()
    team, _ = team_with_member(round.challenge)
    submit(round, team)
    series = read(prometheus)
    assert of(series, "dialeval_work_waiting", kind="submission", queue="cpu") == 1
    assert of(series, "dialeval_work_waiting", kind="submission", queue="llm") == 0


@pytest.mark.django_db
def test_ratings_are_the_highest_key_given(prometheus: Client, tmp_path) -> None:
    store_corpus(tmp_path, PUBLIC, is_public=True)
    newest = Rating.objects.latest("pk").pk
    series = read(prometheus)
    assert of(series, "dialeval_ratings_total", source="corpus") == newest
    assert of(series, "dialeval_ratings_total", source="campaign") == 0


@pytest.mark.django_db
def test_what_judges_spent_is_the_sum_of_their_budgets(prometheus: Client) -> None:
    """3 + 4 calls, 100 + 50 tokens, 0.25 + 0.5 USD"""
    Budget.objects.create(calls=3, tokens_spent=100, cost_spent=Decimal("0.25"))
    Budget.objects.create(calls=4, tokens_spent=50, cost_spent=Decimal("0.5"))
    series = read(prometheus)
    spent = [of(series, f"dialeval_judge_{what}_total") for what in ("calls", "tokens", "cost_usd")]
    assert spent == [7, 150, 0.75]


@pytest.mark.django_db
def test_a_queue_without_a_worker_has_no_moment_at_which_one_was_seen(prometheus: Client) -> None:
    presence.note(["cpu"])
    series = read(prometheus)
    assert of(series, "dialeval_worker_seen_seconds_ago", queue="cpu") < 5
    assert ("dialeval_worker_seen_seconds_ago", (("queue", "gpu"),)) not in series


@pytest.mark.django_db
def test_requests_are_counted_by_the_name_of_their_address(prometheus: Client) -> None:
    """Not by the address: one visitor who tries a thousand would make a thousand series."""
    before = read(prometheus)
    for address in ("/", "/no-such-page/", "/corpora/nobody/", "/corpora/nothing/"):
        prometheus.get(address)
    prometheus.generic("BREW", "/")
    after = read(prometheus)

    def more(view: str, method: str, status: str) -> float:
        key = (
            "dialeval_requests_total",
            tuple(sorted({"view": view, "method": method, "status": status}.items())),
        )
        return after[key] - before.get(key, 0)

    assert more("home", "GET", "2xx") == 1
    assert more("corpus", "GET", "4xx") == 2
    assert more("-", "GET", "4xx") == 1
    assert more("home", "other", "4xx") == 1
    assert of(after, "dialeval_request_seconds_count", view="corpus", method="GET") >= 2


@pytest.mark.django_db
def test_a_database_that_does_not_answer_is_told_beside_what_requests_took(
    prometheus: Client, monkeypatch
) -> None:
    def gone() -> None:
        raise DatabaseError("the server closed the connection")

    monkeypatch.setattr(work, "under_way", gone)
    prometheus.get("/health/")
    series = read(prometheus)
    assert of(series, "dialeval_database_up") == 0
    assert of(series, "dialeval_requests_total", view="health", method="GET", status="2xx") >= 1
    assert not [name for name, _ in series if name.startswith("dialeval_work")]


# --- what reading costs ---------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_reading_is_one_query_a_figure_and_counts_no_table(
    prometheus: Client, runs: list[MetricRun]
) -> None:
    with CaptureQueriesContext(connection) as asked:
        read(prometheus)
    queries = [one["sql"] for one in asked.captured_queries]
    assert len(queries) <= 3 * len(kinds_of_jobs()) + 14
    assert [sql for sql in queries if re.search(r"COUNT\(\*\)", sql) and "WHERE" not in sql] == []
    of_ratings = [sql for sql in queries if "annotations_rating" in sql or "ratingrevision" in sql]
    assert len(of_ratings) == 2
    assert all("MAX(" in sql for sql in of_ratings)


# --- the document, and the alerts -----------------------------------------------------------------


@pytest.mark.django_db
def test_the_document_names_every_series_with_its_labels(prometheus: Client) -> None:
    presence.note(["cpu", "gpu", "llm"])
    prometheus.get("/")
    series = read(prometheus)
    labels: dict[str, set[str]] = {}
    for name, pairs in series:
        plain = re.sub(r"_(bucket|count|sum|created)$", "", name)
        labels.setdefault(plain, set()).update({label for label, _ in pairs} - {"le"})
    labels.pop("dialeval_requests", None)  # the moment at which counting began
    documented = {
        name: set(code_words(of_them))
        for names, of_them in first_table(sections(text_of("operators.md"))["Monitoring"])
        for name in code_words(names)
    }
    assert documented == labels


def test_alerts_name_only_documented_series() -> None:
    rules = yaml.safe_load(
        (PROJECT / "deploy" / "prometheus-rules.yaml").read_text(encoding="utf-8")
    )
    alerts = [rule for group in rules["groups"] for rule in group["rules"]]
    documented = {
        name
        for names, _ in first_table(sections(text_of("operators.md"))["Monitoring"])
        for name in code_words(names)
    }
    named = {name for rule in alerts for name in re.findall(r"\bdialeval_\w+", rule["expr"])}
    assert {re.sub(r"_bucket$", "", name) for name in named} <= documented
    assert all(rule["alert"] and rule["annotations"]["summary"] for rule in alerts)
    assert len(alerts) >= 5
