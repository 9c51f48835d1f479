"""Which views take a file, and from whom. Said at the view; asked by the site before it reads a
byte of a body.

What a view does not say so of takes forms and JSON alone (``dialeval_site.middleware.body_limit``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

View = TypeVar("View", bound=Callable[..., Any])
Admission = Callable[..., object]
_ADMISSION = "admission_of_files"


def takes_file(admission: Admission) -> Callable[[View], View]:
    """Declares that a view takes a file.

    Args: admission: gets the request and what the address names. Where the sender may not send a
    file here, it returns the ``HttpResponse`` that says so, or raises what the view would. It reads
    nothing of the body."""

    def declared(view: View) -> View:
        setattr(view, _ADMISSION, admission)
        return view

    return declared


def admission_of(view: Callable[..., Any]) -> Admission | None:
    """None for a view that takes no file."""
    return getattr(view, _ADMISSION, None)
