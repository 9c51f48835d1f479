"""What of a fault goes to the visitor, and what to whoever collects reports. Whether reports
arrive, once, from real processes: ``tests/faults/test_error_reports.py``."""

from __future__ import annotations

import json

import pytest
from django.test import RequestFactory

from dialeval_site.middleware.api_gate import _in_one_form
from dialeval_site.operations import log_context
from dialeval_site.operations.error_pages import server_error
from dialeval_site.operations.error_reports import Scrubbed


def test_a_report_has_the_address_and_the_method_and_nothing_else_of_the_request() -> None:
    event = {
        "request": {
            "url": "https://site.example/join/s3cr-et_7/", "method": "GET",
            "query_string": "next=/", "data": "x=y", "cookies": {"theme": "dark"},
            "headers": {"User-Agent": "quiet visitor"}, "env": {"REMOTE_ADDR": "::1"},
        },
        "user": {"id": "3", "email": "ann@example.org"},
        "extra": {"celery-job": {"args": ["ann@example.org"]}},
        "breadcrumbs": {"values": [{"message": "SELECT 1"}]},
        "exception": {"values": [{"type": "ValueError", "value": "refused quiet-river"}]},
    }  # fmt: skip
    assert Scrubbed(("quiet-river",))(event, {}) == {
        "request": {"url": "https://site.example/join/[hidden]/", "method": "GET"},
        "exception": {"values": [{"type": "ValueError", "value": "refused [hidden]"}]},
        "tags": {},
    }


def test_a_worker_s_report_names_its_row_and_the_request_that_asked() -> None:
    log_context.begin_task(log_context.Task("t-1", "run 17", "asked-by-0001"))
    try:
        tags = Scrubbed(())({"tags": {"runtime": "3.11"}}, {})["tags"]
    finally:
        log_context.end_task()
    assert tags == {
        "runtime": "3.11",
        "request_id": "asked-by-0001",
        "task_id": "t-1",
        "row": "run 17",
    }


def test_the_page_of_a_fault_has_the_request_s_number() -> None:
    request = RequestFactory().get("/")
    before = log_context.begin_request("0af7651916cd43dd", request)
    try:
        page = server_error(request)
    finally:
        log_context.end_request(before)
    assert page.status_code == 500
    assert "tell the organisers this number: <code>0af7651916cd43dd</code>" in page.content.decode()


@pytest.mark.parametrize(
    ("method", "said", "advice"),
    [
        ("GET", "This page could not be loaded (503).", "then load the page again."),
        ("POST", "What you sent may not have been stored (503).", "then send it again."),
    ],
)
def test_the_page_of_a_database_that_is_away_says_what_to_do(
    method: str, said: str, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To who only opened a page it spoke of what had been sent, and led to the home page, which
    cannot be loaded either."""
    monkeypatch.setattr("dialeval_site.operations.error_pages.is_away", lambda _problem: True)
    page = server_error(RequestFactory().generic(method, "/campaigns/new/"))
    text = page.content.decode()
    assert page.status_code == 503
    assert said in text
    assert advice in text
    assert ">Home<" not in text


def test_the_api_s_problem_of_a_fault_has_the_request_s_number() -> None:
    request = RequestFactory().get("/api/v1/corpora")
    before = log_context.begin_request("0af7651916cd43dd", request)
    try:
        problem = _in_one_form(server_error(request))
    finally:
        log_context.end_request(before)
    document = json.loads(problem.content)
    assert (problem.status_code, document["request_id"]) == (500, "0af7651916cd43dd")
    assert "<" not in document["detail"]
