"""The OpenAPI document as its page shows it: groups of operations with their fields and an example
call."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotations.campaigns.markdown import to_html
from dialeval_site.api.root import document

METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True, slots=True)
class FieldRow:
    name: str
    where: str
    type: str
    is_required: bool
    description: SafeString


@dataclass(frozen=True, slots=True)
class AnswerRow:
    status: str
    description: SafeString
    media_type: str
    schema: str
    schema_label: str
    is_problem: bool


@dataclass(frozen=True, slots=True)
class OperationPage:
    id: str
    method: str
    path: str
    summary: str
    description: str
    scope: str
    fields: tuple[FieldRow, ...]
    media_type: str
    answers: tuple[AnswerRow, ...]
    example: str


@dataclass(frozen=True, slots=True)
class SchemaPage:
    name: str
    label: str
    description: str
    fields: tuple[FieldRow, ...]
    example: str


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    description: str
    operations: list[OperationPage] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Pages:
    introduction: str
    version: str
    groups: list[Group]
    errors: list[AnswerRow]
    """One for each status: it says the same of every operation."""
    schemas: list[SchemaPage]


@lru_cache(maxsize=8)
def pages_of(address: str) -> Pages:
    """``address`` is the site's own, as the reader's browser knows it: example calls name it."""
    whole: dict[str, Any] = json.loads(json.dumps(document()))
    groups = {
        tag["name"]: Group(tag["name"], tag["description"].rstrip(".")) for tag in whole["tags"]
    }
    for path, methods in whole["paths"].items():
        for method in METHODS:
            if method in methods:
                page = _operation(whole, address, path, method, methods[method])
                groups[methods[method]["tags"][0]].operations.append(page)
    errors = {
        answer.status: answer
        for group in groups.values()
        for operation in group.operations
        for answer in operation.answers
        if answer.is_problem
    }
    schemas = [_schema(whole, name) for name in sorted(whole["components"]["schemas"])]
    return Pages(
        to_html(whole["info"]["description"]),
        whole["info"]["version"],
        list(groups.values()),
        [errors[status] for status in sorted(errors)],
        schemas,
    )


def _operation(
    whole: dict[str, Any], address: str, path: str, method: str, details: dict[str, Any]
) -> OperationPage:
    body = details.get("requestBody", {}).get("content", {})
    media_type = next(iter(body), "")
    schema = _resolved(whole, body[media_type]["schema"]) if media_type else {}
    fields = [
        FieldRow(
            one["name"],
            one["in"],
            _type(one["schema"]),
            one["required"],
            _inline(one.get("description", "")),
        )
        for one in details["parameters"]
    ]
    return OperationPage(
        id=details["operationId"],
        method=method.upper(),
        path=path,
        summary=details["summary"],
        description=to_html(details.get("description", "")),
        scope=details.get("x-scope", ""),
        fields=(
            *fields,
            *_fields(schema, "form" if media_type.startswith("multipart") else "body"),
        ),
        media_type=media_type,
        answers=tuple(_answer(status, one) for status, one in details["responses"].items()),
        example=_curl(address, path, method, details, media_type, schema),
    )


def _answer(status: str, details: dict[str, Any]) -> AnswerRow:
    media_type = ", ".join(details.get("content", {}))
    schema = next(iter(details.get("content", {}).values()), {}).get("schema", {})
    name = _reference(schema)
    words = _inline(details["description"])
    return AnswerRow(status, words, media_type, name, _label(name), "problem+json" in media_type)


def _inline(text: str) -> SafeString:
    """Text whose parts between backticks are code."""
    parts = text.split("`")
    return format_html_join(
        "",
        "{}",
        (
            (format_html("<code>{}</code>", part) if place % 2 else part,)
            for place, part in enumerate(parts)
        ),
    )


def _label(schema: str) -> str:
    """`Page_SubmissionLine_` is what a generic schema's name becomes in the document."""
    return re.sub(r"^Page_(\w+)_$", r"Page of \1", schema)


def _schema(whole: dict[str, Any], name: str) -> SchemaPage:
    schema = whole["components"]["schemas"][name]
    examples = schema.get("examples", [])
    example = json.dumps(examples[0], indent=2, ensure_ascii=False) if examples else ""
    return SchemaPage(
        name,
        _label(name),
        to_html(schema.get("description", "")),
        tuple(_fields(schema, "")),
        example,
    )


def _fields(schema: dict[str, Any], where: str) -> list[FieldRow]:
    required = schema.get("required", [])
    return [
        FieldRow(name, where, _type(one), name in required, _inline(one.get("description", "")))
        for name, one in schema.get("properties", {}).items()
    ]


def _resolved(whole: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    name = _reference(schema)
    return whole["components"]["schemas"][name] if name else schema


def _reference(schema: dict[str, Any]) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _type(schema: dict[str, Any]) -> str:
    """In a few words: `integer, 1 to 200`, `list of text`, `one of public, private`."""
    if name := _reference(schema):
        return name
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    if "const" in schema:
        return str(schema["const"])
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {_type(schema['items'])}" if schema.get("items") else "list"
    if kind == "string":
        return {"date-time": "time", "binary": "file"}.get(
            schema.get("format", ""), "text"
        ) + _length(schema)
    if kind in ("integer", "number"):
        return kind + _range(schema)
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])}"
    return {"boolean": "true or false", "null": "null"}.get(kind, kind)


def _length(schema: dict[str, Any]) -> str:
    return f" of at most {schema['maxLength']} characters" if "maxLength" in schema else ""


def _range(schema: dict[str, Any]) -> str:
    if "minimum" in schema and "maximum" in schema:
        return f", {schema['minimum']} to {schema['maximum']}"
    return f", from {schema['minimum']}" if "minimum" in schema else ""


def _curl(
    address: str,
    path: str,
    method: str,
    details: dict[str, Any],
    media_type: str,
    schema: dict[str, Any],
) -> str:
    for one in details["parameters"]:
        if one["in"] == "path":
            path = path.replace(f"{{{one['name']}}}", EXAMPLES.get(one["name"], one["name"]))
    parts = ["curl"] + ([f"-X {method.upper()}"] if method != "get" and not media_type else [])
    if details.get("security"):
        parts.append('-H "Authorization: Bearer $DIALEVAL_TOKEN"')
    if media_type == "application/json":
        example = schema.get("examples", [{}])[0]
        parts += ["--json " + shlex.quote(json.dumps(example, ensure_ascii=False))]
    elif media_type:
        for name in schema.get("properties", {}):
            if name in schema.get("required", []):
                value = "@responses.json" if name == "file" else EXAMPLES.get(name, name)
                parts.append("-F " + shlex.quote(f"{name}={value}"))
    return " \\\n  ".join([" ".join(parts[:2]), *parts[2:], shlex.quote(address + path)])


EXAMPLES = {
    "slug": "cpd-2026",
    "round": "round-1",
    "id": "b3Xk0q1n5d2f9a7c",
    "position": "0",
    "name": "retrieval 3",
    "level": "turn",
}
