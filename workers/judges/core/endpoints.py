"""Where a model answers: at the site's endpoint, or packaged and served on loopback by this
process. Pure.

The packaged model is the default of every judge. Where the site has no endpoint, or one with
another model, it is served by this process's own server, started when it is first asked for, and
ended with the process.
"""

from __future__ import annotations

import atexit
import os
import socket
import threading
from contextlib import ExitStack
from dataclasses import dataclass
from urllib.parse import urlsplit

from workers.inference.language_models.client import Endpoint
from workers.inference.language_models.server import (
    PACKAGED_MODEL_NAME,
    LocalServerError,
    local_server,
    packaged_smollm2,
)
from workers.inference.model_files import PACKAGED_LANGUAGE_MODEL, ModelError, model_files

NO_KEY = "none"
"""What an endpoint that wants no key is sent: the client insists on sending something."""
THIS_MACHINE = ("127.0.0.1", "localhost", "::1")
LOCAL_DEVICE = "loopback, xllamacpp"


@dataclass(frozen=True, slots=True)
class SiteEndpoint:
    """What the settings ``DIALEVAL_LLM_URL``, ``…_MODEL`` and ``…_KEY`` say; all empty where there
    is none."""

    url: str = ""
    model: str = ""
    key: str = ""

    def __repr__(self) -> str:
        return f"SiteEndpoint({self.url!r}, {self.model!r})"


@dataclass(frozen=True, slots=True)
class Found:
    endpoint: Endpoint
    model_label: str
    device_label: str


def endpoint_for(model: str, site: SiteEndpoint) -> Found:
    """Raises ``LocalServerError`` where the packaged model cannot be served, ``LookupError`` where
    nothing answers for the model; the message says what to do."""
    if why := why_missing(model, site):
        raise LookupError(why)
    if is_local(model, site):
        return Found(_local.endpoint(), packaged_label(), LOCAL_DEVICE)
    endpoint = Endpoint(site.url, model, site.key or NO_KEY)
    # Of a server on this machine, which ``manage.py run`` starts; elsewhere the name may stand for
    # other weights.
    is_ours = model == PACKAGED_MODEL_NAME and urlsplit(site.url).hostname in THIS_MACHINE
    return Found(endpoint, packaged_label() if is_ours else model, f"endpoint {host_of(site.url)}")


def is_local(model: str, site: SiteEndpoint) -> bool:
    """Whether this process serves the model itself."""
    return model == PACKAGED_MODEL_NAME and not (site.url and site.model == model)


def why_missing(model: str, site: SiteEndpoint) -> str:
    """Why nothing answers for the model here, or "". Asks no endpoint."""
    if is_local(model, site):
        try:
            packaged_smollm2()
        except LocalServerError as error:
            return str(error)
        return ""
    if not model:
        return "no model is named"
    if not site.url:
        return f"there is no endpoint for the model {model}: set DIALEVAL_LLM_URL for the workers"
    return ""


def packaged_label() -> str:
    """``smollm2-135m-instruct@`` and the first twelve digits of the SHA-256 of its file."""
    try:
        return f"{PACKAGED_MODEL_NAME}@{model_files(PACKAGED_LANGUAGE_MODEL).revision}"
    except ModelError:
        return PACKAGED_MODEL_NAME  # served by somebody else, who has the file


def address_of(url: str) -> str:
    """Host, port and path: what an endpoint's dialect is known by."""
    return f"{host_of(url)}{urlsplit(url).path.rstrip('/')}"


def host_of(url: str) -> str:
    """With its port; without whatever else an address may hold, such as a pass word."""
    parts = urlsplit(url)
    try:
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        port = ""
    return f"{parts.hostname or ''}{port}"


class _LocalServer:
    """One a process. A child that was forked off has none of its parent's: it starts its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._endpoint: Endpoint | None = None
        self._running = ExitStack()
        self._owner = 0

    def endpoint(self) -> Endpoint:
        with self._lock:
            # It broke down: the next may not
            if self._endpoint is not None and not _listens(self._endpoint):
                self._running.close()
                self._endpoint = None
            if self._endpoint is None:
                self._running = ExitStack()
                self._endpoint = self._running.enter_context(local_server())
                self._owner = os.getpid()
                atexit.register(self.stop)
            return self._endpoint

    def stop(self) -> None:
        with self._lock:
            if self._endpoint is not None and self._owner == os.getpid():
                self._running.close()
            self._endpoint = None

    def forget(self) -> None:
        """In a child: the server is its parent's, and the lock may have been held by a thread that
        is not here."""
        self._lock = threading.Lock()
        self._inherited = self._running  # kept as it is: whoever lets go of it stops the server
        self._running = ExitStack()
        self._endpoint = None


def _listens(endpoint: Endpoint) -> bool:
    parts = urlsplit(endpoint.base_url)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=1.0):
            return True
    except OSError:
        return False


_local = _LocalServer()
os.register_at_fork(after_in_child=_local.forget)


def stop_local_server() -> None:
    """Ends this process's own server, if it has one; the next call for the packaged model starts
    another."""
    _local.stop()
