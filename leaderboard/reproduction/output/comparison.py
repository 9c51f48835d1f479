"""What stands above a paper's tables: how alike ours are to theirs, and why not more."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap
from typing import Any

WIDTH = 100


def comparison_text(document: Mapping[str, Any]) -> str:
    """Of a table's document, in lines of ``WIDTH`` characters.

    A figure that is compared stands beside at least one computed value; it agrees where one of
    these is the printed one to its digits.
    """
    return "\n".join(wrap(" ".join(comparison_sentences(document)), WIDTH))


def comparison_sentences(document: Mapping[str, Any]) -> list[str]:
    found = document["agreement"]
    if not found["figures"]:
        return [f"None of the {found['printed']:,} printed figures has one of ours beside it."]
    first = (
        f"Of {found['printed']:,} printed figures {found['figures']:,} have ours beside them; "
        f"{found['same']:,} of these agree to the paper's digits."
    )
    if found["same"] == found["figures"] or not document.get("why_not"):
        return [first]
    return [first, f"Why others differ: {document['why_not']}"]
