"""A Hugging Face Hub on loopback, as far as datasets are read from it and pushed to it: the API, the
files, and a network of its own for what is large, to which it redirects."""

from __future__ import annotations

import hashlib
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

SHA = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "hf_test"


@dataclass
class Repository:
    """``files`` by path; those of at least ``large`` bytes are on the other network."""

    files: dict[str, bytes] = field(default_factory=dict)
    private: bool = False
    gated: bool = False
    large: int = 1_000
    parquet: dict[str, Any] | None = None


@dataclass
class Hub:
    repositories: dict[str, Repository] = field(default_factory=dict)
    url: str = ""
    network: str = ""
    breaks_after: int | None = None
    """Bytes of a large file after which its first answer breaks off; every one with ``always``."""
    always: bool = False
    ranges: bool = True
    drip: float = 0.0
    """Seconds between bytes of a large file."""
    got: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    uploaded: dict[str, bytes] = field(default_factory=dict)
    commits: list[list[dict[str, Any]]] = field(default_factory=list)
    created: list[dict[str, Any]] = field(default_factory=list)
    fails_at: str = ""
    """Part of a path that is answered with ``fails_with``."""
    fails_with: int = 500


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except OSError:
            self.close_connection = True  # who asked has hung up

    def _note(self) -> bytes:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.hub.got.append((self.command, self.path, headers))
        return self.rfile.read(int(headers.get("content-length", 0)))

    def _send(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _json(self, value: Any, status: int = 200, **headers: str) -> None:
        self._send(status, json.dumps(value).encode(), Content_Type="application/json", **headers)


class _Site(_Handler):
    def do_GET(self) -> None:
        self._note()
        path = urlsplit(self.path).path
        found = re.fullmatch(
            r"/(api/)?datasets/([^/]+/[^/]+)(?:/(revision|parquet|resolve|tree)(?:/([^/]+))?(?:/(.+))?)?",
            path,
        )
        repository = self.hub.repositories.get(found[2]) if found else None
        knows = self.headers.get("Authorization") == f"Bearer {TOKEN}"
        if self.hub.fails_at and self.hub.fails_at in path:
            self._json({"error": "It failed"}, self.hub.fails_with)
        elif found is None or repository is None or (repository.private and not knows):
            # The Hub does not tell who may not see it whether there is one
            status = 404 if knows else 401
            self._json({"error": "Repository not found"}, status, X_Error_Code="RepoNotFound")
        elif found[1] and found[3] == "parquet":
            listed = repository.parquet
            self._json(listed or {"error": "none"}, 200 if listed is not None else 404)
        elif unquote(found[4] or "main") not in ("main", SHA, "refs/convert/parquet"):
            self._json({"error": "Invalid rev id"}, 404, X_Error_Code="RevisionNotFound")
        elif found[1] and found[3] == "tree":
            self._json(
                [
                    {"type": "file", "path": name, "oid": "0" * 40, "size": len(body)}
                    for name, body in repository.files.items()
                ]
            )
        elif found[1]:
            siblings = [{"rfilename": name} for name in repository.files]
            described = {"id": found[2], "sha": SHA, "siblings": siblings}
            self._json({**described, "private": repository.private, "gated": repository.gated})
        elif repository.gated:
            status = 403 if knows else 401
            self._json({"error": "Access is restricted"}, status, X_Error_Code="GatedRepo")
        else:
            self._file(repository, unquote(found[5] or ""))

    def _file(self, repository: Repository, name: str) -> None:
        body = repository.files.get(name)
        if body is None:
            self._json({"error": "Entry not found"}, 404, X_Error_Code="EntryNotFound")
        elif len(body) >= repository.large:
            digest = hashlib.sha256(body).hexdigest()
            location = f"{self.hub.network}/{digest}?Signature=s"
            linked = {"X_Linked_Etag": f'"{digest}"', "X_Linked_Size": str(len(body))}
            self._send(302, b"Found", Location=location, X_Repo_Commit=SHA, **linked)
        else:
            self._send(200, body, Content_Type="text/plain; charset=utf-8", ETag='"small"')

    def do_POST(self) -> None:
        body = self._note()
        path = urlsplit(self.path).path
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._json({"error": "Invalid username or password."}, 401)
        elif self.hub.fails_at and self.hub.fails_at in path:
            self._json({"error": "It failed"}, self.hub.fails_with)
        elif path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked['organization']}/{asked['name']}"
            if name in self.hub.repositories:
                url = f"{self.hub.url}/datasets/{name}"
                self._json({"error": "You already created this dataset repo", "url": url}, 409)
                return
            self.hub.created.append(asked)
            private = asked.get("private") or asked.get("visibility") == "private"
            self.hub.repositories[name] = Repository(private=bool(private))
            self._json({"url": f"{self.hub.url}/datasets/{name}", "name": name, "id": name})
        elif path == "/api/validate-yaml":
            self._json({"errors": [], "warnings": []})
        elif "/preupload/" in path:
            files = json.loads(body)["files"]
            modes = [
                {
                    "path": one["path"],
                    "uploadMode": "lfs" if one["path"].endswith(".parquet") else "regular",
                    "shouldIgnore": False,
                    "oid": None,
                }
                for one in files
            ]
            self._json({"files": modes})
        elif path.endswith("/info/lfs/objects/batch"):
            objects = json.loads(body)["objects"]
            self._json(
                {
                    "transfer": "basic",
                    "objects": [
                        {
                            **one,
                            "authenticated": True,
                            "actions": {
                                "upload": {"href": f"{self.hub.network}/put/{one['oid']}"},
                                "verify": {
                                    "href": f"{self.hub.url}/verify",
                                    "header": {"Authorization": f"Bearer {TOKEN}"},
                                },
                            },
                        }
                        for one in objects
                    ],
                },
            )
        elif path == "/verify":
            asked = json.loads(body)
            there = self.hub.uploaded.get(asked["oid"])
            is_whole = there is not None and len(there) == asked["size"]
            self._json({}, 200 if is_whole else 404)
        elif "/commit/" in path:
            lines = [json.loads(line) for line in body.splitlines()]
            missing = [
                one["value"]["oid"]
                for one in lines
                if one["key"] == "lfsFile" and one["value"]["oid"] not in self.hub.uploaded
            ]
            if missing:
                self._json({"error": f"LFS pointer to no object: {missing}"}, 400)
                return
            self.hub.commits.append(lines)
            name = "/".join(path.split("/")[3:5])
            url = f"{self.hub.url}/datasets/{name}/commit/{SHA}"
            self._json({"success": True, "commitUrl": url, "commitOid": SHA})
        else:
            self._json({"error": "Not found"}, 404)


class _Network(_Handler):
    def do_GET(self) -> None:
        self._note()
        wanted = urlsplit(self.path).path.strip("/")
        body = next(
            (
                one
                for repository in self.hub.repositories.values()
                for one in repository.files.values()
                if hashlib.sha256(one).hexdigest() == wanted
            ),
            None,
        )
        if body is None:
            self._send(403, b"<Error>AccessDenied</Error>")
            return
        begin = 0
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if asked and self.hub.ranges and self.headers.get("If-Range") == f'"{wanted}"':
            begin = int(asked[1])
        self.send_response(206 if begin else 200)
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(body) - 1}/{len(body)}")
        self.send_header("ETag", f'"{wanted}"')
        self.send_header("Content-Type", "binary/octet-stream")
        self.send_header("Content-Length", str(len(body) - begin))
        self.end_headers()
        stop = self.hub.breaks_after
        if not self.hub.always:
            self.hub.breaks_after = None
        rest = body[begin:] if stop is None else body[begin : begin + stop]
        if self.hub.drip:
            for place in range(len(rest)):
                self.wfile.write(rest[place : place + 1])
                time.sleep(self.hub.drip)
        self.wfile.write(rest)
        if stop is not None:
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True

    def do_PUT(self) -> None:
        body = self._note()
        if self.hub.fails_at and self.hub.fails_at in self.path:
            self._send(500)
            return
        self.hub.uploaded[self.path.rpartition("/")[2]] = body
        self._send(200)


@contextmanager
def hub_double(**repositories: Repository) -> Iterator[Hub]:
    """``cooks=Repository(…)`` is the dataset ``lab/cooks``."""
    hub = Hub({f"lab/{name}": one for name, one in repositories.items()})
    servers = []
    for kind in (_Site, _Network):
        handler = type(kind.__name__, (kind,), {"hub": hub})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        server.block_on_close = False
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        servers.append(server)
    hub.url, hub.network = (f"http://127.0.0.1:{one.server_address[1]}" for one in servers)
    try:
        yield hub
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()
