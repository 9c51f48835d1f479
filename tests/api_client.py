"""A program that talks to the API through Django's test client, with a token or without."""

from __future__ import annotations

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from dialeval_site.accounts import tokens

ALL_SCOPES = ("read", "submit", "export", "organise")


class Program:
    """Every answer must be JSON or a file, and every refusal a problem."""

    def __init__(self, token: str = "", client: Client | None = None) -> None:
        self.client = client or Client()
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}

    def get(self, path: str, **query: Any) -> Any:
        return self._checked(self.client.get(f"/api/v1{path}", query, headers=self.headers))

    def post(self, path: str, body: Any = None) -> Any:
        if body is None:
            return self._checked(self.client.post(f"/api/v1{path}", headers=self.headers))
        return self._checked(
            self.client.post(
                f"/api/v1{path}", body, content_type="application/json", headers=self.headers
            )
        )

    def upload(
        self, path: str, data: bytes, file_name: str = "responses.jsonl", **fields: str
    ) -> Any:
        form = {**fields, "file": SimpleUploadedFile(file_name, data)}
        return self._checked(self.client.post(f"/api/v1{path}", form, headers=self.headers))

    def patch(self, path: str, data: bytes = b"", **headers: str) -> Any:
        """A part of a file."""
        sent = self.client.patch(
            f"/api/v1{path}",
            data,
            content_type="application/partial-upload",
            headers={**self.headers, **headers},
        )
        return self._checked(sent)

    def delete(self, path: str) -> Any:
        return self._checked(self.client.delete(f"/api/v1{path}", headers=self.headers))

    @staticmethod
    def _checked(answer: Any) -> Any:
        if answer.status_code >= 400:
            assert answer["Content-Type"] == "application/problem+json", (
                answer.status_code,
                answer["Content-Type"],
            )
            problem = answer.json()
            assert problem["status"] == answer.status_code
            assert problem["detail"]
        return answer


def token_of(user: Any, *scopes: str, days: int = 30) -> str:
    return tokens.make(user, "a test", scopes or ("read", "submit"), days)[1]


def program_of(user: Any, *scopes: str) -> Program:
    return Program(token_of(user, *scopes))


def all_items(program: Program, path: str, **query: Any) -> list[dict[str, Any]]:
    """The whole list, page by page."""
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        page = program.get(path, **query, **({"cursor": cursor} if cursor else {})).json()
        found += page["items"]
        cursor = page["next"]
        if cursor is None:
            return found
