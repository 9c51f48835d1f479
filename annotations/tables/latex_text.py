"""Words as LaTeX reads them."""

from __future__ import annotations

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def one_line(text: str) -> str:
    """Without line breaks and other control characters: a comment or a row of a table ends where its line does."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


def escaped(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in one_line(text))


def comment(text: str) -> str:
    return f"% {one_line(text)}"
