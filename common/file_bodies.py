"""Which views take a file, and from whom. Said at the view; asked by the site before it reads a
byte of a body.

What a view does not say so of takes forms and JSON alone (``dialeval_site.middleware.body_limit``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from django.conf import settings

View = TypeVar("View", bound=Callable[..., Any])
_ADMISSION = "admission_of_files"


@dataclass(frozen=True, slots=True)
class Admission:
    """``refuse``: see ``takes_file``. ``limit``: the setting that says how many bytes at most."""

    refuse: Callable[..., object]
    limit: str

    @property
    def most_bytes(self) -> int:
        return int(getattr(settings, self.limit))


def takes_file(
    refuse: Callable[..., object], limit: str = "MAX_UPLOAD_BYTES"
) -> Callable[[View], View]:
    """Declares that a view takes a file.

    Args:
        refuse: gets the request and what the address names. Where the sender may not send a file
            here, it returns the ``HttpResponse`` that says so, or raises what the view would. It
            reads nothing of the body.
        limit: the setting of its size."""

    def declared(view: View) -> View:
        setattr(view, _ADMISSION, Admission(refuse, limit))
        return view

    return declared


def admission_of(view: Callable[..., Any]) -> Admission | None:
    """None for a view that takes no file."""
    return getattr(view, _ADMISSION, None)
