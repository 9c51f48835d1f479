"""Mathematics in LaTeX as MathML, which browsers draw without a script. Pure.

Anybody may have written it: what goes into a page is a tree of known elements, or the text as it
was written.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal
from xml.etree import ElementTree

MATHML = "http://www.w3.org/1998/Math/MathML"
_ELEMENTS = frozenset(
    (
        *(
            "math",
            "mrow",
            "mi",
            "mn",
            "mo",
            "ms",
            "mtext",
            "mspace",
            "mfrac",
            "msqrt",
            "mroot",
            "mover",
            "munder",
        ),
        *(
            "munderover",
            "msub",
            "msup",
            "msubsup",
            "mtable",
            "mtr",
            "mtd",
            "mpadded",
            "mphantom",
            "mstyle",
            "menclose",
        ),
    )
)
_ATTRIBUTES = frozenset(
    (
        *(
            "display",
            "displaystyle",
            "scriptlevel",
            "mathvariant",
            "mathsize",
            "stretchy",
            "symmetric",
            "fence",
        ),
        *(
            "separator",
            "form",
            "lspace",
            "rspace",
            "accent",
            "accentunder",
            "largeop",
            "movablelimits",
            "minsize",
        ),
        *(
            "maxsize",
            "linethickness",
            "width",
            "height",
            "depth",
            "voffset",
            "columnalign",
            "rowalign",
        ),
        *("columnspacing", "rowspacing", "columnlines", "rowlines", "notation"),
    )
)
"""No ``style``, which the content security policy refuses, no address and no event."""


def equations_of(written: str) -> list[str]:
    """The equations of a text in LaTeX: blank lines stand between them."""
    return [part.strip() for part in re.split(r"\n\s*\n", written) if part.strip()]


@lru_cache(maxsize=512)
def mathml(latex: str, display: Literal["block", "inline"] = "block") -> str | None:
    """The equation as a ``<math>`` element, on a line of its own or within one; None where it
    cannot be made of this LaTeX."""
    from latex2mathml.converter import convert  # here, because few pages need it

    try:
        # What the converter has just written.
        root = ElementTree.fromstring(convert(latex, display=display))  # noqa: S314
    # The converter raises many kinds for what it cannot read, and IndexError among them
    except Exception:
        return None
    for element in root.iter():
        namespace, _, name = element.tag.rpartition("}")
        if namespace != f"{{{MATHML}" or name not in _ELEMENTS:
            return None
        element.tag = name
        element.attrib = {key: value for key, value in element.attrib.items() if key in _ATTRIBUTES}
    return ElementTree.tostring(root, encoding="unicode")
