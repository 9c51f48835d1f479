"""Base images by digest: a registry of our own speaks the protocol of Docker's."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copy
from typing import Any

import httpx2
import pytest
import yaml

from tests import images, lock

LIST = "application/vnd.oci.image.index.v1+json"


class Registry(BaseHTTPRequestHandler):
    """Wants a token for the repository, and answers with a list of builds that differs by tag."""

    content_type = LIST

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if path == "/token":
            repository = query.partition("repository%3A")[2].partition("%3A")[0].replace("%2F", "/")
            return self._send(200, json.dumps({"token": f"for {repository}"}).encode())
        _, _, rest = path.partition("/v2/")
        repository, _, tag = rest.partition("/manifests/")
        assert LIST in self.headers["Accept"]
        if self.headers.get("Authorization") != f"Bearer for {repository}":
            realm = f"http://127.0.0.1:{self.server.server_port}/token"  # type: ignore[attr-defined]
            scope = f"repository:{repository}:pull"
            challenge = f'Bearer realm="{realm}",service="registry",scope="{scope}"'
            return self._send(401, b"{}", {"WWW-Authenticate": challenge})
        return self._send(404 if tag == "gone" else 200, manifest(repository, tag))

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", self.content_type if status == 200 else "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def manifest(repository: str, tag: str) -> bytes:
    return json.dumps(
        {"schemaVersion": 2, "mediaType": LIST, "manifests": [repository, tag]}
    ).encode()


def digest(repository: str, tag: str) -> str:
    return f"sha256:{hashlib.sha256(manifest(repository, tag)).hexdigest()}"


@pytest.fixture
def registry() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Of deploy/, without their digests."""
    copies = [Path(copy(path, tmp_path)) for path in images.FILES]
    for path in copies:
        path.write_text(re.sub(r"@sha256:[0-9a-f]{64}", "", path.read_text()))
    return copies


def test_every_base_image_of_the_deployment_has_its_digest() -> None:
    assert images.without_digest() == []


def test_a_release_is_refused_while_an_image_has_no_digest(files: list[Path]) -> None:
    missing = images.without_digest(files)
    assert [one.partition(":")[0] for one in missing] == ["Dockerfile"] * 2 + ["compose.yaml"] * 3
    assert all(one.rpartition(": ")[2].partition(":")[0] != "dialeval" for one in missing)


def test_digests_are_written_behind_the_tags_and_nothing_else_changes(
    files: list[Path], registry: str
) -> None:
    before = [path.read_text() for path in files]
    images.write(files, registry)
    assert images.without_digest(files) == []
    services = yaml.safe_load(files[1].read_text())["services"]
    tag = services["postgres"]["image"].partition("@")[0].partition(":")[2]
    assert services["postgres"]["image"] == f"postgres:{tag}@{digest('library/postgres', tag)}"
    assert services["web"]["image"] == "dialeval"
    after = [path.read_text() for path in files]
    assert [re.sub(r"@sha256:[0-9a-f]{64}", "", text) for text in after] == before
    stages = [line.split()[1] for line in after[0].splitlines() if line.startswith("FROM ")]
    assert len(set(stages)) == 1, "both stages are of one image"


def test_a_tag_that_moved_gets_its_new_digest(files: list[Path], registry: str) -> None:
    old = "sha256:" + "0" * 64
    files[1].write_text(files[1].read_text().replace("caddy:2.10", f"caddy:2.10@{old}"))
    images.write(files, registry)
    assert f"caddy:2.10@{digest('library/caddy', '2.10')}" in files[1].read_text()
    assert old not in files[1].read_text()


def test_an_image_that_the_registry_does_not_have_changes_no_file(
    files: list[Path], registry: str
) -> None:
    files[0].write_text(files[0].read_text().replace("python:3.11-slim-bookworm", "python:gone"))
    before = files[0].read_text()
    with pytest.raises(httpx2.HTTPStatusError):
        images.write(files, registry)
    assert files[0].read_text() == before


def test_one_build_alone_is_no_image_for_every_processor(
    registry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        Registry, "content_type", "application/vnd.docker.distribution.manifest.v2+json"
    )
    with pytest.raises(ValueError, match="no list of builds"):
        images.digest_of("postgres", "17", registry)


def test_a_release_asks_for_digests() -> None:
    makefile = (lock.PROJECT / "Makefile").read_text(encoding="utf-8")
    assert (
        "\t$(BIN)/python -m tests.images\n"
        in makefile.partition("\nrelease-check:")[2].partition("\n\n")[0]
    )
