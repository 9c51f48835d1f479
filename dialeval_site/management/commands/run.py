from __future__ import annotations

import fcntl
import os
import signal
import socket
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_urlsafe
from types import FrameType
from typing import Any, NoReturn

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.db import connections

from annotations import site_identity
from annotations.console import ConsoleCommand, one_migrates, parse_integer
from dialeval_site.config import environment
from dialeval_site.config.collected_assets import collect_if_changed
from dialeval_site.demo.site import DEMO_ACCOUNTS, load_demo
from dialeval_site.operations.processes import Child
from workers.inference.language_models.server import KEY_VARIABLE as SERVER_KEY_VARIABLE
from workers.inference.language_models.server import (
    PACKAGED_MODEL_NAME,
    LocalServerError,
    packaged_smollm2,
    server_command,
)

READY_SECONDS = 180
"""A machine that does much else takes over a minute to import everything."""


class Command(ConsoleCommand):
    help = (
        "The whole site on this machine: makes or updates the database, loads the demo, starts "
        "workers and the web server, and stops them with Ctrl-C. Starting it twice is harmless: "
        "the second one says where the first is."
    )
    epilog = """
    Prints the address and the demo's log-ins. Metrics with a model, and chats, have a worker of one
    process each. Where DIALEVAL_LLM_URL is not set, the packaged language model is started too, on
    loopback, for chats with systems; without it everything else works, and one line says so.

      manage.py run --port 8080

    Style sheets and scripts are collected and compressed once, into the folder `static` of
    DIALEVAL_HOME; a start with changed ones does it again. Who works on the site sees changes of
    them, of templates and of the code without a new start:

      manage.py run --reload
    """

    reads_database = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--host", default="127.0.0.1", help="where to listen; 127.0.0.1 is this machine only"
        )
        parser.add_argument(
            "--port", type=parse_integer(1, 65535), default=8000, help="where to listen"
        )
        parser.add_argument(
            "--no-demo",
            action="store_true",
            help="do not load the demo corpus and its log-ins, which production never has",
        )
        parser.add_argument(
            "--reload",
            action="store_true",
            help="serve style sheets, scripts and templates as they are on disk now, and start web "
            "processes again when code changes",
        )
        parser.add_argument(
            "--concurrency",
            type=parse_integer(1),
            default=min(2, os.cpu_count() or 1),
            help="processes of the worker that computes metrics without a model",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["host"].strip():
            raise CommandError("--host names nothing")
        if options["reload"] and settings.PRODUCTION:
            raise CommandError("--reload is not for production")
        address = f"http://{_with_port(options['host'], options['port'])}/"
        with _only_one(address) as other:
            if other:
                self.stdout.write(f"dialeval runs already at {other}")
                return
            _refuse_taken_port(options["host"], options["port"])
            self._prepare(with_demo=not options["no_demo"] and not settings.PRODUCTION)
            self._serve(address, options)

    def _prepare(self, with_demo: bool) -> None:
        with one_migrates():
            call_command("migrate", interactive=False, verbosity=0, stdout=self.stderr)
        if refusal := site_identity.why_not_start():
            raise CommandError(refusal)
        if with_demo:
            version = load_demo()
            self.say(f"demo corpus: {version}")
        connections.close_all()

    def _serve(self, address: str, options: dict[str, Any]) -> None:
        # SIGINT, too: a shell starts background jobs deaf to it, and whoever sends it to us means
        # us.
        for stop_requested in (signal.SIGINT, signal.SIGTERM):
            signal.signal(stop_requested, _as_interrupt)
        children: list[Child] = []
        model: Child | None = None
        links = _where_links_lead(address)
        try:
            model, endpoint = self._start_model(besides=options["port"])
            endpoint |= links
            children.append(_start_worker("worker", "cpu", options["concurrency"], endpoint))
            children.append(_start_worker("worker for chats", "llm", 1, endpoint))
            children.append(self._start_web(options, links))
            _wait_until_ready(address, children)
            # The web does not wait for it
            children.append(_start_worker("worker for models", "gpu", 1, links))
            self._greet(address, with_accounts=not options["no_demo"] and not settings.PRODUCTION)
            while True:
                _refuse_ended(children)
                time.sleep(0.5)
        except KeyboardInterrupt:
            self.stdout.write("stopping")
        finally:
            # A second Ctrl-C must not leave a process behind
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            for child in reversed([model, *children] if model else children):
                child.stop()
        self.stdout.write("stopped; nothing is lost, unfinished runs go on at the next start")

    def _start_model(self, besides: int) -> tuple[Child | None, dict[str, str]]:
        """The packaged model, where no endpoint is configured, and what a worker must know to ask
        it.

        It loads while the rest starts. Should it end, only what asks it fails, and says so.
        """
        if settings.LLM_URL:
            return None, {}
        try:
            return _start_packaged_model(besides)
        except LocalServerError as problem:
            self.say(
                f"no language model, so nobody can chat with one: {problem}; or set "
                "DIALEVAL_LLM_URL"
            )
            return None, {}

    def _start_web(self, options: dict[str, Any], links: dict[str, str]) -> Child:
        assets = "reload" if options["reload"] else "collected"
        try:
            if assets == "collected":
                collect_if_changed(settings.STATIC_ROOT)
        except OSError as problem:
            if settings.PRODUCTION:
                raise CommandError(f"assets cannot be collected: {problem}") from None
            self.say(f"assets are served uncompressed, as they cannot be collected: {problem}")
            assets = "source"
        command = [
            sys.executable,
            "-m",
            "gunicorn",
            "dialeval_site.wsgi",
            "--config",
            "deploy/gunicorn.conf.py",
            "--bind",
            _with_port(options["host"], options["port"]),
            "--workers",
            "2",
            "--threads",
            "4",
            *(["--reload"] if options["reload"] else []),
        ]
        log = settings.HOME / "logs" / "web.log"
        variables = {"DIALEVAL_ASSETS": assets, **links}
        return Child.start("web server", command, settings.PROJECT, log, variables)

    def _greet(self, address: str, with_accounts: bool) -> None:
        self.stdout.write(f"dialeval is at {address}")
        if with_accounts:
            self.stdout.write("Log-ins of the demo:")
            for account in DEMO_ACCOUNTS:
                self.stdout.write(f"  {account.role:<12} {account.username:<12} {account.password}")
        self.stdout.write(f"Logs are in {settings.HOME / 'logs'}. Stop with Ctrl-C.")
        self.stdout.flush()


def _with_port(host: str, port: int) -> str:
    """``127.0.0.1:8000``; an IPv6 address stands in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _where_links_lead(address: str) -> dict[str, str]:
    """Invitations and notices hold whole links: where no setting names the site, it is the one that
    we start."""
    return {} if environment.site_is_named() else {"DIALEVAL_SITE_URL": address.rstrip("/")}


@contextmanager
def _only_one(address: str) -> Iterator[str]:
    """Yields "" when we are the only one, else the address of the site that runs already."""
    with (settings.HOME / "run.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            yield lock.read().strip() or "another address"
            return
        os.set_inheritable(lock.fileno(), False)
        lock.truncate(0)
        lock.write(address)
        lock.flush()
        yield ""
        lock.truncate(0)


def _refuse_taken_port(host: str, port: int) -> None:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as problem:
            raise CommandError(
                f"port {port} of {host} cannot be used ({problem.strerror}); choose another with "
                "--port"
            ) from None


def _start_packaged_model(besides: int) -> tuple[Child, dict[str, str]]:
    """The key travels through the environment alone: every user of a machine can read command
    lines."""
    port = _free_port(besides)
    command = server_command(packaged_smollm2(), PACKAGED_MODEL_NAME, port=port)
    key = token_urlsafe(32)
    log = settings.HOME / "logs" / "model.log"
    server = {SERVER_KEY_VARIABLE: key, "OMP_NUM_THREADS": "1"}
    model = Child.start(
        "model server", command, settings.PROJECT, log, server, ends_with_input=True, gives_way=True
    )
    endpoint = {
        "DIALEVAL_LLM_URL": f"http://127.0.0.1:{port}/v1",
        "DIALEVAL_LLM_MODEL": PACKAGED_MODEL_NAME,
        "DIALEVAL_LLM_KEY": key,
    }
    return model, endpoint


def _free_port(besides: int) -> int:
    """Chosen here and not by the server: the worker must know it before the model is loaded."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    return _free_port(besides) if port == besides else port


def _start_worker(name: str, queues: str, concurrency: int, endpoint: dict[str, str]) -> Child:
    """What asks a language model has a worker to itself: a person waits for a chat's answer, and
    must not wait for the metric runs before it. So have metrics with a model: one process holds
    each model, and the others stay quick.

    Judges share the worker for chats, one process, and make way for a rater. A second process would
    have the chat answered at the same time, by the same model on the same core: that takes a small
    machine longer. All workers, and the model with them, give way to whoever opens a page, and
    share alike what is left.
    """
    command = [sys.executable, "-m", "celery", "-A", "dialeval_site", "worker"]
    options = [
        "--queues",
        queues,
        "--concurrency",
        str(concurrency),
        "--loglevel",
        "INFO",
        "--without-mingle",
    ]
    # One thread a process: two threads that spin on one busy core are several times slower than
    # one.
    return Child.start(
        name,
        [*command, *options, "--hostname", f"{name.replace(' ', '-')}@%h"],
        settings.PROJECT,
        settings.HOME / "logs" / f"{name.replace(' ', '-')}.log",
        {"OMP_NUM_THREADS": "1", **endpoint},
        gives_way=True,
    )


def _wait_until_ready(address: str, children: list[Child]) -> None:
    deadline = time.monotonic() + READY_SECONDS
    health = _as_the_proxy_asks(f"{address}health/")
    while time.monotonic() < deadline:
        _refuse_ended(children)
        try:
            with urllib.request.urlopen(health, timeout=2):  # noqa: S310 (our own address)
                return
        except OSError:
            time.sleep(0.1)
    raise CommandError(
        f"the web server did not answer within {READY_SECONDS} s; see its log in "
        f"{settings.HOME / 'logs'}"
    )


def _as_the_proxy_asks(address: str) -> urllib.request.Request:
    """In production the site answers only to its own names, and over HTTPS: ask as the proxy before
    it would."""
    if not settings.PRODUCTION:
        return urllib.request.Request(address)  # noqa: S310
    name = settings.ALLOWED_HOSTS[0].removeprefix(".").replace("*", "localhost")
    headers = {"Host": name, "X-Forwarded-Proto": "https"}
    return urllib.request.Request(address, headers=headers)  # noqa: S310


def _refuse_ended(children: list[Child]) -> None:
    for child in children:
        if child.ended:
            raise CommandError(
                f"the {child.name} ended. The last lines of {child.log}:\n{child.last_utterances()}"
            )


def _as_interrupt(_signum: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
