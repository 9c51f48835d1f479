"""Forms of published protocols, a YAML file each. Their questions and anchors are our own words;
what is asked, on which scale, is the protocol's, with its citation."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from annotations.questions.reading import read_text
from annotations.questions.schema import Form


@cache
def names() -> tuple[str, ...]:
    """The names of the templates, sorted."""
    found = (file.name for file in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in found if name.endswith(".yaml")))


@cache
def load(name: str) -> Form:
    """The form of a template.

    Args:
        name: one of ``names()``.

    Returns:
        The checked form.

    Raises:
        KeyError: there is no such template.
    """
    if name not in names():
        raise KeyError(name)
    return read_text((files(__name__) / f"{name}.yaml").read_text(encoding="utf-8"))
