"""A form as the text that an organiser edits, and where in it a fault is. Pure: no Django here."""

from __future__ import annotations

import re
from collections.abc import Sequence

import yaml

from annotations.questions.drafts import Draft
from annotations.questions.schema import Form, to_data

_STEP = re.compile(r"([a-z_]+)|\[(\d+)\]")


def as_yaml(form: Form) -> str:
    """The form as YAML, which ``reading.read_text`` reads again.

    Args:
        form: a checked form.

    Returns:
        YAML in the order of the schema's fields. Texts of several lines are blocks.
    """
    return yaml_of(to_data(form))


def yaml_of(draft: Draft) -> str:
    """A draft as YAML, in the order of its fields.

    Args:
        draft: of a form, with faults or without.

    Returns:
        YAML; texts of several lines are blocks.
    """
    return yaml.dump(draft, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


class _Dumper(yaml.SafeDumper):
    pass


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def lines_of(text: str, paths: Sequence[str]) -> list[int | None]:
    """The lines of a form's text that faults' paths lead to.

    Args:
        text: YAML or JSON.
        paths: each as ``questions[2].options[0].key``; of a field that is missing, the line of what
            should have it.

    Returns:
        A line for each path, from 1; None where the text cannot be read, or the path is empty.
    """
    try:
        root = yaml.compose(text, yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        root = None
    return [_line(root, path) if root is not None and path else None for path in paths]


def _line(node: yaml.Node, path: str) -> int:
    line = node.start_mark.line
    for name, number in _STEP.findall(path):
        if isinstance(node, yaml.MappingNode):
            found = [(key, value) for key, value in node.value if key.value == name]
            if not found:
                break
            line, node = found[0][0].start_mark.line, found[0][1]
        elif isinstance(node, yaml.SequenceNode) and number and int(number) < len(node.value):
            node = node.value[int(number)]
            line = node.start_mark.line
        else:
            break
    return line + 1
