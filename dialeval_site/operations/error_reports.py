"""Reports of errors to Sentry, or to what speaks as it does, where a DSN is set. Nothing of a
visitor goes with them: no body, no cookie, no header, no address, no variable of the program, and
no secret in what is left."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ImproperlyConfigured

from dialeval_site.config import environment
from dialeval_site.operations import log_context
from dialeval_site.operations.scrubbing import Scrubber

NAME = "DIALEVAL_SENTRY_DSN"
_OF_A_REQUEST = ("url", "method")


def begin(dsn: str, site: str, release: str) -> None:
    """From now on every line of the log from ERROR up, and every exception that nobody caught, is
    sent, once. Raises ``ImproperlyConfigured``, which does not repeat the address: it holds a
    key."""
    import sentry_sdk

    _refuse_what_is_no_address(dsn)
    sentry_sdk.init(
        dsn=dsn,
        environment=site,
        release=f"dialeval@{release}",
        send_default_pii=False,
        max_request_body_size="never",
        include_local_variables=False,
        auto_session_tracking=False,
        max_breadcrumbs=0,  # what was asked of the database before, with its values
        before_send=Scrubbed(environment.secrets()),
        shutdown_timeout=2,
    )


def _refuse_what_is_no_address(dsn: str) -> None:
    from sentry_sdk.utils import Dsn

    try:
        Dsn(dsn)
    except ValueError:
        raise ImproperlyConfigured(
            f"{NAME} must be an address such as https://key@sentry.example.org/1"
        ) from None


class Scrubbed:
    """The last that sees a report before it is sent."""

    def __init__(self, secrets: tuple[str, ...]) -> None:
        self.scrubber = Scrubber(secrets)

    def __call__(self, event: dict[str, Any], _details: dict[str, Any]) -> dict[str, Any]:
        params = event.get("request")
        if params:
            event["request"] = {name: params[name] for name in _OF_A_REQUEST if name in params}
        for with_values in ("user", "extra", "breadcrumbs"):
            event.pop(with_values, None)
        event.setdefault("tags", {}).update(
            {name: str(value) for name, value in log_context.fields().items()}
        )
        return dict(self.scrubber.all_of(event))
