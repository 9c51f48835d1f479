"""Which endpoint a model has, and the packaged model's own server: one a process. That server's
real self is tested in ``tests/workers/baselines`` and ``test_local_judge.py``."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from workers.inference.language_models.client import Endpoint
from workers.inference.language_models.server import PACKAGED_MODEL_NAME, LocalServerError
from workers.judges.core import endpoints
from workers.judges.core.endpoints import (
    LOCAL_DEVICE,
    NO_KEY,
    SiteEndpoint,
    endpoint_for,
    host_of,
    is_local,
    why_missing,
)

SITE = SiteEndpoint("https://api.example.org/v1", "gpt-a", "sk-secret")


@dataclass
class Servers:
    """Stand in for the packaged model's: each listens, and knows whether it was stopped."""

    listening: list[socket.socket] = field(default_factory=list)
    stopped: int = 0

    @contextmanager
    def one(self) -> Iterator[Endpoint]:
        listener = socket.create_server(("127.0.0.1", 0))
        self.listening.append(listener)
        try:
            yield Endpoint(
                f"http://127.0.0.1:{listener.getsockname()[1]}/v1",
                PACKAGED_MODEL_NAME,
                f"k{len(self.listening)}",
            )
        finally:
            listener.close()
            self.stopped += 1


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Servers]:
    made = Servers()
    monkeypatch.setattr(endpoints, "local_server", made.one)
    monkeypatch.setattr(endpoints, "_local", endpoints._LocalServer())
    yield made
    endpoints.stop_local_server()


@pytest.mark.parametrize(
    ("model", "site", "local"),
    [
        (PACKAGED_MODEL_NAME, SiteEndpoint(), True),
        (PACKAGED_MODEL_NAME, SITE, True),
        (
            PACKAGED_MODEL_NAME,
            SiteEndpoint("http://127.0.0.1:1/v1", PACKAGED_MODEL_NAME, "k"),
            False,
        ),
        ("gpt-a", SITE, False),
        ("gpt-b", SITE, False),
        ("gpt-a", SiteEndpoint(), False),
    ],
)
def test_the_packaged_model_is_served_here_unless_the_site_has_it(
    model: str, site: SiteEndpoint, local: bool
) -> None:
    assert is_local(model, site) is local


def test_another_model_is_asked_at_the_sites_endpoint_by_its_name() -> None:
    found = endpoint_for("gpt-b", SITE)
    assert found.endpoint == Endpoint("https://api.example.org/v1", "gpt-b", "sk-secret")
    assert (found.model_label, found.device_label) == ("gpt-b", "endpoint api.example.org")


def test_an_endpoint_without_a_key_is_sent_one_that_is_none() -> None:
    assert (
        endpoint_for("gpt-b", SiteEndpoint("http://127.0.0.1:1/v1", "x", "")).endpoint.api_key
        == NO_KEY
    )


@pytest.mark.parametrize(
    ("model", "words"), [("gpt-b", "set DIALEVAL_LLM_URL"), ("", "no model is named")]
)
def test_without_an_endpoint_it_says_what_to_set(model: str, words: str) -> None:
    assert words in why_missing(model, SiteEndpoint())
    with pytest.raises(LookupError, match=words):
        endpoint_for(model, SiteEndpoint())


def test_a_model_that_is_not_installed_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise LocalServerError("the package xllamacpp is not installed: run make setup")

    monkeypatch.setattr(endpoints, "packaged_smollm2", missing)
    assert "make setup" in why_missing(PACKAGED_MODEL_NAME, SiteEndpoint())


def test_the_key_stands_in_no_representation() -> None:
    assert "sk-secret" not in repr(SITE) + repr(endpoint_for("gpt-a", SITE))


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://api.example.org/v1", "api.example.org"),
        ("http://127.0.0.1:4123/v1", "127.0.0.1:4123"),
        ("https://user:secret@api.example.org:8443/v1?key=secret", "api.example.org:8443"),
        ("http://host:port/v1", "host"),
        ("nonsense", ""),
    ],
)
def test_for_people_an_endpoint_is_its_host(url: str, host: str) -> None:
    assert host_of(url) == host


def test_the_packaged_model_is_named_with_the_first_digits_of_its_files_hash(
    servers: Servers,
) -> None:
    found = endpoint_for(PACKAGED_MODEL_NAME, SITE)
    name, _, revision = found.model_label.partition("@")
    assert (name, len(revision), found.device_label) == (PACKAGED_MODEL_NAME, 12, LOCAL_DEVICE)
    assert int(revision, 16)
    assert found.endpoint.api_key == "k1"


def test_all_threads_of_a_process_share_one_server(servers: Servers) -> None:
    found: list[Endpoint] = []
    threads = [
        threading.Thread(
            target=lambda: found.append(endpoint_for(PACKAGED_MODEL_NAME, SITE).endpoint)
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == len(servers.listening) == 1


def test_a_server_that_broke_down_is_started_again(servers: Servers) -> None:
    first = endpoint_for(PACKAGED_MODEL_NAME, SITE).endpoint
    servers.listening[0].close()
    second = endpoint_for(PACKAGED_MODEL_NAME, SITE).endpoint
    assert first != second
    assert servers.stopped == 1


def test_a_stopped_server_is_started_again_when_it_is_asked_for(servers: Servers) -> None:
    endpoint_for(PACKAGED_MODEL_NAME, SITE)
    endpoints.stop_local_server()
    assert servers.stopped == 1
    endpoint_for(PACKAGED_MODEL_NAME, SITE)
    assert len(servers.listening) == 2


def test_a_forked_child_starts_its_own_and_leaves_its_parents_alone(servers: Servers) -> None:
    parents = endpoint_for(PACKAGED_MODEL_NAME, SITE).endpoint
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        endpoints._local.forget()  # what the hook of the fork does for the process's own
        own = endpoint_for(PACKAGED_MODEL_NAME, SITE).endpoint
        endpoints.stop_local_server()
        os.write(writing, own.api_key.encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 10) == b"k2"
    assert endpoint_for(PACKAGED_MODEL_NAME, SITE).endpoint == parents
    assert servers.stopped == 0


@pytest.mark.parametrize(
    ("url", "known"), [("http://127.0.0.1:9/v1", True), ("https://api.example.org/v1", False)]
)
def test_only_of_a_server_on_this_machine_is_the_packaged_file_said_to_have_answered(
    url: str, known: bool
) -> None:
    """Somebody else's model may have the same name and other weights."""
    found = endpoint_for(PACKAGED_MODEL_NAME, SiteEndpoint(url, PACKAGED_MODEL_NAME, "k"))
    assert ("@" in found.model_label) is known
