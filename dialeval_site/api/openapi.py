"""The OpenAPI document: ninja's, with scopes, refusals as problems, and what every answer
carries."""

from __future__ import annotations

import json
from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from common.api.access import SCOPES, Token
from common.api.problems import WORDS, Problem, described_problem

TAGS = {
    "tokens": "Tokens, and who one is.",
    "challenges": "Challenges and teams.",
    "rounds": "What a round asks for, its files, and its leaderboard.",
    "submissions": "Submitting, and following what became of it.",
    "corpora": "Corpora, their dialogues, and how metrics and raters agree.",
    "imports": "Files that come in parts, and their imports as corpora; for organisers.",
    "campaigns": "Rating campaigns: what is asked, how far they are, what was answered.",
    "arenas": "Arenas, where visitors compare two hidden systems, and their leaderboards.",
    "metrics": "Metrics of this site, and scores that were computed elsewhere.",
    "audit": "Who did what to what; for organisers.",
}
HEADERS = {
    "RateLimit-Limit": "Requests that are answered in a minute.",
    "RateLimit-Remaining": "How many of them are left.",
    "RateLimit-Reset": "Seconds until the count resets.",
}


class Document(OpenAPISchema):
    """Written once a process: it does not depend on who asks."""

    def __init__(self, api: NinjaAPI, path_prefix: str) -> None:
        super().__init__(api, path_prefix)
        self["tags"] = [{"name": name, "description": words} for name, words in TAGS.items()]
        self._drop_unused_schemas()

    def _drop_unused_schemas(self) -> None:
        """Parameters stand in their operations one by one; the classes that hold them are nobody's
        business."""
        schemas = self["components"]["schemas"]
        while unused := [
            name for name in schemas if f'"#/components/schemas/{name}"' not in json.dumps(self)
        ]:
            for name in unused:
                del schemas[name]

    def get_components(self) -> dict[str, Any]:
        schema = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        self.schemas.update(schema.pop("$defs", {}))
        self.schemas["Problem"] = schema
        self.securitySchemes["Token"] = Token("read").openapi_security_schema
        components = super().get_components()
        components["headers"] = {
            name: {"description": words, "schema": {"type": "integer"}}
            for name, words in HEADERS.items()
        }
        return components

    def operation_details(self, operation: Operation) -> dict[str, Any]:
        details: dict[str, Any] = super().operation_details(operation)
        responses = {str(status): answer for status, answer in details["responses"].items()}
        for status in _refusals(details, operation):
            responses.setdefault(str(status), described_problem(status))
        for answer in responses.values():
            answer.setdefault(
                "headers", {name: {"$ref": f"#/components/headers/{name}"} for name in HEADERS}
            )
        details["responses"] = dict(sorted(responses.items()))
        guard = _guard(operation)
        if guard is not None:
            words = f"`{guard.scope}`: {SCOPES[guard.scope]}."
            details["x-scope"] = guard.scope
            details["description"] = "\n\n".join(
                part
                for part in (
                    details.get("description", ""),
                    f"Scope {words}"
                    + (" Without a token you see what everybody sees." if guard.anybody else ""),
                )
                if part
            )
        return details

    def operation_parameters(self, operation: Operation) -> list[dict[str, Any]]:
        """A parameter is there or not there: there is no null in an address."""
        found: list[dict[str, Any]] = super().operation_parameters(operation)
        for parameter in found:
            schema = parameter["schema"] = dict(parameter["schema"])
            kinds = [one for one in schema.pop("anyOf", []) if one != {"type": "null"}]
            if kinds:
                schema.update(*kinds)
            if parameter["in"] == "path" and schema.get("type") == "string":
                schema["pattern"] = "^[-a-zA-Z0-9_]+$"
        return found

    def operation_security(self, operation: Operation) -> list[dict[str, Any]] | None:
        guard = _guard(operation)
        if guard is None:
            return []
        return [{"Token": [guard.scope]}] + ([{}] if guard.anybody else [])


def _guard(operation: Operation) -> Token | None:
    return next((one for one in operation.auth_callbacks if isinstance(one, Token)), None)


def _refusals(details: dict[str, Any], operation: Operation) -> list[int]:
    """Those that need no saying: they follow from what the operation takes."""
    found = [429, 500]
    if _guard(operation) is not None:
        found += [401, 403]
    if any(parameter["in"] == "path" for parameter in details["parameters"]):
        found.append(404)
    if details["parameters"] or "requestBody" in details:
        found.append(422)
    if "requestBody" in details:
        found += [400, 413, 415]
    assert set(found) <= set(WORDS)
    return found
