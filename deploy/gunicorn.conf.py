"""The web server's own settings: ``gunicorn dialeval_site.wsgi --config deploy/gunicorn.conf.py``.

What differs from machine to machine comes from the environment: WEB_CONCURRENCY (gunicorn's own)
and PORT or GUNICORN_CMD_ARGS (``--bind …``). A socket that systemd hands over
(``systemd/dialeval-web.socket``) comes before these.

New code needs a new start: the main process holds modules of the site, for its log, and hands them
to every process that it makes, after SIGHUP as well.
"""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import sys
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

bind = f"{os.environ.get('WEB_ADDRESS') or '127.0.0.1'}:{os.environ.get('PORT') or 8000}"

# A page is work of the processor: a process for each core and one more. Archives hold a thread for
# seconds: of eight, some are left for pages (docs/scale.md).
workers = int(os.environ.get("WEB_CONCURRENCY") or len(os.sched_getaffinity(0)) + 1)
threads = 8
# gunicorn's "gthread", whose threads no slow client can hold.
worker_class = "dialeval_site.operations.web_worker.Worker"

# Opening a campaign of a million slots is one request of up to a minute.
timeout = 120
# After SIGTERM: requests under way are answered, for so many seconds; uploads take longest.
graceful_timeout = 60
keepalive = 5
# Each process says again and again that it lives, by a file: in memory, since a slow disk would
# look like a death.
# Gunicorn's own advice.
worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108

# Else each thread that makes pages has an arena of its own, and what a large page took stays in it.
# M_ARENA_MAX is -8 in glibc's malloc.h; other C libraries have no such arenas.
if sys.platform == "linux" and "MALLOC_ARENA_MAX" not in os.environ:
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").mallopt(-8, 2)

# No max_requests: processes do not grow (docs/scale.md), and each new one loads the site for
# more than a second.

# No second way in: signals are enough, and two servers of one user would take each other's socket.
control_socket_disable = True

logger_class = "dialeval_site.operations.gunicorn_log.Log"
# the site writes a line for each request itself, with route and user, where
# DIALEVAL_LOG_FORMAT=json
accesslog = None

_folders = ExitStack()


def on_starting(_server: object) -> None:
    """Each process counts requests in a file of its own, and any of them adds them up. A new folder
    for each start, so that counts begin at 0 together."""
    if not os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        from common import temporary
        from dialeval_site.config.environment import home

        # Where the next start finds it, should this process be killed
        temporary.use(home() / "tmp")
        counts = Path(tempfile.gettempdir()) / "dialeval-monitoring"
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(
            _folders.enter_context(temporary.temporary_folder(counts))
        )


def post_worker_init(_worker: object) -> None:
    """A connection is an open file: the usual limit, 1,024, has hardly room for worker_connections.

    A thread that has work of the processor lets others go on every millisecond, not every five: a
    page asks the database some twenty times, and waits so long after each answer while another page
    is being written.

    What was imported stays for good: looking through all of it for garbage stopped every thread for
    0.1 s, whenever a large answer had been read.
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    enough = 8192 if most == resource.RLIM_INFINITY else min(most, 8192)
    resource.setrlimit(resource.RLIMIT_NOFILE, (enough, most))
    sys.setswitchinterval(0.001)
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def child_exit(_server: object, worker: object) -> None:
    from prometheus_client import multiprocess

    multiprocess.mark_process_dead(worker.pid)  # type: ignore[attr-defined]


def on_exit(_server: object) -> None:
    _folders.close()
