"""Headers that Django has no setting for, on every answer: pages, files, errors, assets.

This stands outermost: what another middleware answers by itself (413, 429, an asset) carries them
too.
"""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

UNUSED = (
    "accelerometer", "autoplay", "browsing-topics", "camera", "display-capture", "encrypted-media",
    "fullscreen", "geolocation", "gyroscope", "hid", "identity-credentials-get", "idle-detection",
    "local-fonts", "magnetometer", "microphone", "midi", "payment", "picture-in-picture",
    "publickey-credentials-create", "publickey-credentials-get", "screen-wake-lock", "serial",
    "usb", "xr-spatial-tracking",
)  # fmt: skip
"""What a browser can do and no page here asks of it: a script that got in could not either."""
PERMISSIONS = ", ".join(f"{name}=()" for name in UNUSED)


class SecurityHeaders:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        if "Cache-Control" not in response.headers and _is_for_one_person(request, response):
            response.headers["Cache-Control"] = "private, no-store"
        return response


def _is_for_one_person(request: HttpRequest, response: HttpResponseBase) -> bool:
    """Whether it was made for who is logged in (who sits down at the browser afterwards must not
    find it there by going back), or makes a session. Asked of what the view has looked at anyway:
    no query is made for it."""
    user = getattr(request, "_cached_user", None)
    return bool((user is not None and user.is_authenticated) or response.cookies)
