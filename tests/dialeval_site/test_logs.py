"""What a line of the log says beside its message, for people and for programs."""

from __future__ import annotations

import json
import logging
import re
from inspect import signature
from typing import Any

import pytest
from celery import current_app
from django.test import Client, RequestFactory
from django.urls import reverse

from common.jobs.models import kinds_of_jobs
from dialeval_site.config import task_context
from dialeval_site.middleware.request_ids import HEADER, AccessLog, RequestIds
from dialeval_site.operations import log_context
from dialeval_site.operations.logs import Json, Line, NoSweeps, configuration
from dialeval_site.operations.maintenance import FREQUENT_TASKS, HOURLY_TASK
from tests.dialeval_site.documents import sections, text_of


def record(message: str, *arguments: object, **more: object) -> logging.LogRecord:
    line = logging.LogRecord(
        "workers.runs.execution", logging.WARNING, "execution.py", 1, message, arguments, None
    )
    line.__dict__.update(more)
    return line


@pytest.fixture
def a_task():
    log_context.begin_task(log_context.Task("t-1", "run 17", "asked-by-0001"))
    yield
    log_context.end_task()


def test_a_line_for_people_ends_with_what_it_belongs_to(a_task: None) -> None:
    line = Line().format(record("metric run %s failed", 17))
    assert re.fullmatch(
        r"[\d-]{10} [\d:,]{12} WARNING workers\.runs\.execution metric run 17 failed "
        r"\[request_id=asked-by-0001 task_id=t-1 row=run 17\]",
        line,
    )


def test_a_line_that_belongs_to_nothing_says_nothing_of_it() -> None:
    assert Line().format(record("ready")).endswith("WARNING workers.runs.execution ready")


def test_a_line_for_programs_is_one_document(a_task: None) -> None:
    found = json.loads(Json().format(record("two\nlines", route="corpus", bytes=None)))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", found.pop("time"))
    assert found == {
        "level": "WARNING", "logger": "workers.runs.execution", "message": "two\nlines",
        "route": "corpus", "bytes": None, "request_id": "asked-by-0001", "task_id": "t-1",
        "row": "run 17",
    }  # fmt: skip


def test_a_task_s_line_has_its_seconds_and_not_its_arguments() -> None:
    """As Celery writes it at the end of a task; an argument may be an address of e-mail."""
    data = {"name": "x", "args": "('ann@example.org',)", "runtime": 0.10527, "return_value": "None"}
    said = Json().format(record("Task x succeeded", data=data))
    assert json.loads(said)["seconds"] == 0.105
    assert "ann@example.org" not in said


SWEEP = {"name": "workers.tasks.sweep", "id": "s-1"}
RUN = {"name": "workers.tasks.run", "id": "t-1"}


@pytest.mark.parametrize(
    ("logger", "level", "arguments", "is_said"),
    [
        ("celery.app.trace", logging.INFO, (SWEEP,), False),
        ("celery.worker.strategy", logging.INFO, (SWEEP,), False),
        (
            "celery.worker.request",
            logging.INFO,
            ("workers.tasks.sweep", "s-1"),
            False,
        ),  # one that came too late
        ("celery.app.trace", logging.ERROR, (SWEEP,), True),
        ("celery.app.trace", logging.INFO, (RUN,), True),
        ("celery.worker.request", logging.INFO, ("workers.tasks.run", "t-1"), True),
        ("celery.apps.worker", logging.INFO, (), True),
        (
            "workers.runs.actions",
            logging.INFO,
            ("workers.tasks.sweep",),
            True,
        ),  # what a sweep itself has to say
    ],
)
def test_a_sweep_that_went_well_is_not_said(
    logger: str, level: int, arguments: tuple[Any, ...], is_said: bool
) -> None:
    line = logging.LogRecord(logger, level, "x.py", 1, "a task", arguments, None)
    assert NoSweeps().filter(line) is is_said


def test_every_sweep_is_one_that_the_log_leaves_out() -> None:
    for name in (*FREQUENT_TASKS, HOURLY_TASK):
        line = logging.LogRecord(
            "celery.app.trace", logging.INFO, "x.py", 1, "a task", ({"name": name},), None
        )
        assert not NoSweeps().filter(line), name


@pytest.mark.parametrize(("level", "filters"), [("INFO", ["no_sweeps"]), ("DEBUG", [])])
def test_debugging_hears_of_every_sweep(level: str, filters: list[str]) -> None:
    assert configuration("json", level)["handlers"]["stderr"]["filters"] == filters


def test_a_secret_in_an_exception_s_text_is_hidden_in_both_forms(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DIALEVAL_LLM_KEY", "sk-quiet-river")
    try:
        raise ValueError("the endpoint refused sk-quiet-river")
    except ValueError as problem:
        line = record("failed", exc_info=(ValueError, problem, problem.__traceback__))
    for form in (Line, Json):
        line.exc_text = None
        said = form().format(line)
        assert "the endpoint refused [hidden]" in said
        assert "sk-quiet-river" not in said


# --- requests -------------------------------------------------------------------------------------


def answered(settings: Any, proxies: int, given: str) -> str:
    settings.PROXIES = proxies
    seen: list[str] = []

    def view(request):
        from django.http import HttpResponse

        seen.append(log_context.request_id())
        return HttpResponse()

    headers = {HEADER: given} if given else {}
    response = RequestIds(view)(RequestFactory().get("/", headers=headers))
    assert [response[HEADER]] == seen
    assert log_context.request_id() == ""  # it ends with its request
    return seen[0]


def test_a_proxy_s_id_is_taken_over(settings) -> None:
    assert (
        answered(settings, 1, "0af7651916cd43dd8448eb211c80319c")
        == "0af7651916cd43dd8448eb211c80319c"
    )


def test_a_visitor_s_id_is_not_believed(settings) -> None:
    assert re.fullmatch(r"[0-9a-f]{16}", answered(settings, 0, "0af7651916cd43dd8448eb211c80319c"))


@pytest.mark.parametrize(
    "given", ["", "short", "x" * 65, "a b c d e f", 'abcdefgh"}', "abcdefgh\x00"]
)
def test_an_id_that_is_none_is_made_anew(settings, given: str) -> None:
    assert re.fullmatch(r"[0-9a-f]{16}", answered(settings, 1, given))


def test_two_requests_have_two_ids(settings) -> None:
    assert answered(settings, 0, "") != answered(settings, 0, "")


@pytest.mark.django_db
def test_a_request_s_line_names_route_user_and_what_it_took(
    settings, caplog, django_user_model
) -> None:
    settings.LOG_FORMAT = "json"
    ann = django_user_model.objects.create_user("ann", password="a quiet river")
    client = Client()
    client.force_login(ann)
    client.handler.load_middleware()
    formatter, lines = Json(), []
    handler = logging.Handler()
    handler.emit = lambda line: lines.append(json.loads(formatter.format(line)))  # type: ignore[method-assign]
    access = logging.getLogger("dialeval.access")
    access.addHandler(handler)
    try:
        response = client.get(reverse("home"))
    finally:
        access.removeHandler(handler)
    (line,) = lines
    assert (line["method"], line["route"], line["path"], line["status"]) == (
        "GET",
        "home",
        "/",
        200,
    )
    assert line["bytes"] == len(response.content)
    assert line["ms"] > 0
    assert line["user_id"] == ann.pk
    assert line["request_id"] == response[HEADER]


def test_people_get_no_line_for_each_request(settings) -> None:
    from django.core.exceptions import MiddlewareNotUsed

    settings.LOG_FORMAT = "line"
    with pytest.raises(MiddlewareNotUsed):
        AccessLog(lambda request: None)  # type: ignore[arg-type, return-value]


# --- workers --------------------------------------------------------------------------------------


def test_every_task_with_a_row_has_a_word_for_it() -> None:
    current_app.loader.import_default_modules()
    own = {name: task for name, task in current_app.tasks.items() if not name.startswith("celery.")}
    with_rows = {
        name
        for name, task in own.items()
        if any(one.endswith("_id") for one in signature(task.run).parameters)
    }
    assert with_rows == {kind.TASK for kind in kinds_of_jobs()}
    assert task_context.row_of("workers.tasks.compute", [17]) == "run 17"
    assert task_context.row_of("workers.tasks.sweep", []) == "workers.tasks.sweep"


def test_the_hint_carries_the_request_s_id_and_no_other(a_task: None) -> None:
    headers: dict[str, Any] = {}
    task_context._notify_requester(headers=headers)
    assert headers == {log_context.REQUEST_HEADER: "asked-by-0001"}
    log_context.end_task()
    assert task_context._notify_requester(headers={}) is None


# --- the page that tells of it --------------------------------------------------------------------


def test_the_document_names_every_field() -> None:
    chapter = sections(text_of("operators.md"))["Logs"]
    for name in (
        "time",
        "level",
        "logger",
        "message",
        "exception",
        "request_id",
        "user_id",
        "task_id",
        "row",
        "seconds",
    ):
        assert f"`{name}`" in chapter, name
    for name in ("method", "route", "path", "status", "ms", "bytes"):
        assert f"`{name}`" in chapter, name
