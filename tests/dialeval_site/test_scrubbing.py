"""Secrets are taken out of texts: those that are known by what they are, the others by what they
look like."""

from __future__ import annotations

import pytest

from dialeval_site.config import environment
from dialeval_site.operations.scrubbing import HIDDEN, Scrubber

LOOKS_LIKE_ONE = {
    "a token of the API": ("used dial_4fJk-29_aaQQzz today", "4fJk-29_aaQQzz"),
    "a header": ("Authorization: Bearer abc.def-ghi", "abc.def-ghi"),
    "a header with a name and a password": ("authorization: Basic YW5uOnF1aWV0", "YW5uOnF1aWV0"),
    "a session": ("Cookie: sessionid=kq83hfa; theme=dark", "kq83hfa"),
    "a session of production": ("__Host-sessionid=kq83hfa", "kq83hfa"),
    "a form's token": ("csrfmiddlewaretoken=Zk93hf&name=x", "Zk93hf"),
    "a cookie of forms": ("{'csrftoken': 'Zk93 hf'}", "Zk93 hf"),
    "a password in a form": ("username=ann&password=quiet+river&next=/", "quiet+river"),
    "a second password": ('{"new_password2": "quiet river"}', "quiet river"),
    "a database's address": ("cannot reach postgres://ann:quiet@db/dialeval", "quiet"),
    "a password with an at sign": ("redis://:qui@et@broker:6379/0", "qui@et"),
    "an invitation to rate": ("GET /join/s3cr-et_7/ 200", "s3cr-et_7"),
    "an invitation to a team": (
        "https://site.example/challenges/a/teams/join/s3cr-et_7/?x=1",
        "s3cr-et_7",
    ),
    "a link to a new password": ("GET /accounts/password/new/MQ/cb2k-7f00aa/ 200", "cb2k-7f00aa"),
    "JSON in a text": ('body {\\"api_key\\": \\"abcdef\\"}', "abcdef"),
}


@pytest.mark.parametrize("name", LOOKS_LIKE_ONE)
def test_what_looks_like_a_secret_is_hidden(name: str) -> None:
    text, secret = LOOKS_LIKE_ONE[name]
    assert secret in text
    hidden = Scrubber().text(text)
    assert secret not in hidden
    assert HIDDEN in hidden


@pytest.mark.parametrize(
    "text",
    [
        "12 tokens: 500 of them prompts",
        "max_tokens=400",
        "GET /corpora/usr/metrics/ 200",
        "https://dialeval.example.org/challenges/a/teams/",
        "the bearer of this scope",
        "metric run 17 failed",
    ],
)
def test_other_texts_stay(text: str) -> None:
    assert Scrubber().text(text).replace(f"bearer {HIDDEN}", "bearer of") == text


def test_what_is_known_is_found_wherever_it_stands() -> None:
    scrubber = Scrubber(["sk-live/1234", "dialeval"])
    assert scrubber.text("model said: sk-live/1234 is wrong") == f"model said: {HIDDEN} is wrong"
    assert scrubber.text("?next=sk-live%2F1234") == f"?next={HIDDEN}"
    # A part of a word is another word
    assert scrubber.text("dialeval_site.health") == "dialeval_site.health"


def test_a_short_secret_is_no_reason_to_spoil_every_text() -> None:
    assert Scrubber(["on"]).text("on and on") == "on and on"


def test_documents_are_scrubbed_to_their_leaves_and_by_their_names() -> None:
    found = Scrubber(["sk-live-1234"]).all_of(
        {
            "request": {"headers": {"Cookie": "a=b", "Accept": "x"}},
            "lines": ["sk-live-1234", 3, None],
        }
    )
    assert found == {
        "request": {"headers": {"Cookie": HIDDEN, "Accept": "x"}},
        "lines": [HIDDEN, 3, None],
    }


def test_the_environment_s_secrets_are_known_by_their_names() -> None:
    environ = {
        "SECRET_KEY": "signs-sessions",
        "DIALEVAL_CHAT_KEY_OURS": "chat-key",
        "DIALEVAL_LLM_KEY": "llm-key",
        "DATABASE_URL": "postgres://ann:qui%40et@db/dialeval",
        "DIALEVAL_EMAIL_URL": "smtp://ann:mail-pass@host:587/",
        "AWS_SECRET_ACCESS_KEY": "aws-secret",
        "DIALEVAL_SENTRY_DSN": "https://public@sentry.example/1",
        "DIALEVAL_HOME": "/var/lib/dialeval",
        "DIALEVAL_LLM_URL": "https://api.example/v1",
        "CELERY_BROKER_URL": "",
    }
    assert set(environment.secrets(environ)) == {
        "signs-sessions", "chat-key", "llm-key", "qui%40et", "qui@et", "mail-pass", "aws-secret",
        "https://public@sentry.example/1",
    }  # fmt: skip
