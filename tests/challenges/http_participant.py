"""A participant at a round's page, as the server sees one: a session, a token, a file in a form.
Needs no Django."""

from __future__ import annotations

import http.client
import json
import socket
import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

TIMEOUT_SECONDS = 30


@dataclass(frozen=True)
class Answer:
    status: int
    content: dict[str, Any]

    @property
    def public_id(self) -> str:
        """Of the submission, where there is one."""
        return str(self.content.get("location", "")).strip("/").rpartition("/")[2]


class Lost(Exception):
    """The file was sent, or a part of it; no answer was read."""


class HttpParticipant:
    def __init__(self, address: str, session: str, challenge: str, round: str) -> None:
        place = urlsplit(address)
        self.host, self.port = place.hostname or "127.0.0.1", place.port or 80
        self.page = f"/challenges/{challenge}/rounds/{round}/"
        self._session, self._token = session, "x" * 32

    def submit(
        self, data: bytes, name: str = "system", file_name: str = "responses.jsonl"
    ) -> Answer:
        """Raises ``Lost``."""
        body, content_type = form({"name": name, "description": ""}, file_name, data)
        try:
            connection = http.client.HTTPConnection(self.host, self.port, timeout=TIMEOUT_SECONDS)
            try:
                connection.request(
                    "POST", f"{self.page}submit/", body, self.headers(content_type, len(body))
                )
                answer = connection.getresponse()
                content = answer.read()
            finally:
                connection.close()
        except (OSError, http.client.HTTPException) as problem:
            raise Lost(str(problem)) from problem
        try:
            return Answer(answer.status, json.loads(content))
        except ValueError:
            return Answer(answer.status, {"text": content.decode("utf-8", "replace")[:500]})

    def half_submit(self, data: bytes) -> None:
        """Send half of the file, then go away."""
        body, content_type = form({"name": "half", "description": ""}, "half.jsonl", data)
        head = [f"POST {self.page}submit/ HTTP/1.1", f"Host: {self.host}:{self.port}"]
        head += [
            f"{name}: {value}" for name, value in self.headers(content_type, len(body)).items()
        ]
        with socket.create_connection((self.host, self.port), TIMEOUT_SECONDS) as there:
            there.sendall("\r\n".join([*head, "", ""]).encode() + body[: len(body) // 2])
            with suppress(OSError):
                there.shutdown(socket.SHUT_RDWR)

    def headers(self, content_type: str, length: int) -> dict[str, str]:
        return {
            "Accept": "application/json",
            "Content-Type": content_type,
            "Content-Length": str(length),
            "Cookie": f"sessionid={self._session}; csrftoken={self._token}",
            "X-CSRFToken": self._token,
        }


def form(fields: dict[str, str], file_name: str, data: bytes) -> tuple[bytes, str]:
    boundary = uuid.uuid4().hex
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    parts.append(
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{file_name}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n".encode()
    )
    return b"".join(
        [*parts, data, f"\r\n--{boundary}--\r\n".encode()]
    ), f"multipart/form-data; boundary={boundary}"
