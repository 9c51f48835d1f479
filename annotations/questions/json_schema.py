"""The JSON Schema of forms (draft 2020-12), for editors and other programs.

It says which fields there are and what each may hold. What fields say together (keys of two
questions, conditions, points of a scale) ``reading.form_of`` checks.
"""

from __future__ import annotations

from typing import Any

from annotations.questions import reading
from annotations.questions.schema import COMMON_FIELDS, FIELDS, LEVELS, SCHEMA_VERSION, TYPES


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a form.

    Returns:
        A schema of draft 2020-12. Every form that ``form_of`` takes is valid under it.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Form of questions",
        "description": "What raters are asked about each item of a campaign.",
        "type": "object",
        "required": ["name", "title", "level", "questions"],
        "additionalProperties": False,
        "properties": {
            "schema": {"const": SCHEMA_VERSION, "description": "The version of the format."},
            "name": {"type": "string", "maxLength": 60, "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"},
            "title": _text(reading.LONGEST_LABEL),
            "level": {"enum": list(LEVELS), "description": "What an item is."},
            "compares": {
                "enum": ["response", "conversation"],
                "description": "What stands side by side at the levels pair and systems.",
            },
            "version": {"type": "integer", "minimum": 1, "maximum": reading.LARGEST_VERSION},
            "citation": _text(reading.LONGEST_TEXT, 0),
            "description": _text(reading.LONGEST_TEXT, 0),
            "guidelines": {**_text(reading.LONGEST_GUIDELINES, 0), "description": "Markdown."},
            "questions": {
                "type": "array",
                "minItems": 1,
                "maxItems": reading.MOST_QUESTIONS,
                "items": {"oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in TYPES]},
            },
        },
        "$defs": {
            **{kind: _question(kind) for kind in TYPES},
            "key": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,39}$"},
            "number": {
                "type": "number",
                "minimum": -reading.LARGEST_NUMBER,
                "maximum": reading.LARGEST_NUMBER,
            },
            "option": {
                "type": "object",
                "required": ["key"],
                "additionalProperties": False,
                "properties": {
                    "key": {"$ref": "#/$defs/key"},
                    "label": _text(reading.LONGEST_LABEL),
                    "value": {
                        "anyOf": [{"$ref": "#/$defs/number"}, {"type": "null"}],
                        "description": "What it counts in a score.",
                    },
                },
            },
            "condition": _CONDITION,
        },
    }


def _question(kind: str) -> dict[str, Any]:
    fields = (*COMMON_FIELDS, *FIELDS[kind])  # type: ignore[index]
    required = ["key", "type", "text"]
    if kind in ("choice", "choices", "span", "utterance_labels"):
        required.append("options")
    return {
        "type": "object",
        "required": required,
        "additionalProperties": False,
        "properties": {
            field: {"const": kind} if field == "type" else _PROPERTIES[field] for field in fields
        },
    }


def _text(longest: int, shortest: int = 1) -> dict[str, Any]:
    return {"type": "string", "minLength": shortest, "maxLength": longest}


def _list(items: dict[str, Any], least: int = 0) -> dict[str, Any]:
    return {"type": "array", "minItems": least, "maxItems": reading.MOST_OPTIONS, "items": items}


_VALUE = {"type": ["boolean", "number", "string"]}
_CONDITIONS = {
    "type": "array",
    "minItems": 1,
    "maxItems": reading.MOST_CONDITIONS,
    "items": {"$ref": "#/$defs/condition"},
}
_CONDITION = {
    "oneOf": [
        *(
            {
                "type": "object",
                "required": [name],
                "additionalProperties": False,
                "properties": {name: _CONDITIONS},
            }
            for name in ("all", "any")
        ),
        *(
            {
                "type": "object",
                "required": ["question", name],
                "additionalProperties": False,
                "properties": {"question": {"$ref": "#/$defs/key"}, name: compared},
            }
            for name, compared in (
                ("is", _VALUE),
                ("in", _list(_VALUE, 1)),
                ("below", {"$ref": "#/$defs/number"}),
                ("above", {"$ref": "#/$defs/number"}),
            )
        ),
    ]
}
_BOOLEAN = {"type": "boolean"}
_NUMBER = {"$ref": "#/$defs/number"}
_OPTIONS = _list({"$ref": "#/$defs/option"}, 1)
_PROPERTIES: dict[str, dict[str, Any]] = {
    "key": {"$ref": "#/$defs/key"},
    "text": {**_text(reading.LONGEST_TEXT), "description": "What is asked."},
    "title": {**_text(reading.LONGEST_LABEL, 0), "description": "Its short name in tables."},
    "hint": {**_text(reading.LONGEST_TEXT, 0), "description": "A sentence below the question."},
    "required": {**_BOOLEAN, "default": True},
    "when": {
        "anyOf": [{"$ref": "#/$defs/condition"}, {"type": "null"}],
        "description": "The condition under which it is asked.",
    },
    "if_hidden": {
        "type": ["boolean", "number", "string", "null"],
        "description": "The answer that counts where it is not asked.",
    },
    "minimum": {**_NUMBER, "default": 1},
    "maximum": {**_NUMBER, "default": 5},
    "step": {**_NUMBER, "default": 1},
    "labels": {
        **_list(_text(reading.LONGEST_LABEL)),
        "description": "A text for each answer, in the order of the page.",
    },
    "anchors": {
        **_list(_text(reading.LONGEST_LABEL)),
        "description": "Texts of the lowest and the highest point.",
    },
    "interval": {**_BOOLEAN, "description": "Differences mean the same everywhere."},
    "cannot_judge": {**_BOOLEAN, "description": "“Cannot judge” may be answered."},
    "options": _OPTIONS,
    "severities": _OPTIONS,
    "min_choices": {"type": "integer", "minimum": 0, "maximum": reading.MOST_OPTIONS},
    "max_choices": {"type": ["integer", "null"], "minimum": 1, "maximum": reading.MOST_OPTIONS},
    "ties": {**_BOOLEAN, "description": "Two may have the same rank."},
    "points": {"enum": [2, 3, 5, 7], "description": "A or B; with tie; graded."},
    "both_bad": {**_BOOLEAN, "description": "“Both bad” may be answered."},
    "max_length": {"type": "integer", "minimum": 1, "maximum": reading.LONGEST_ANSWER},
    "keys": {
        **_list(
            {"anyOf": [{"type": "string", "pattern": "^[a-z0-9]$"}, {"enum": list(range(10))}]}
        ),
        "description": "Keys of the keyboard, one for each answer.",
    },
}
