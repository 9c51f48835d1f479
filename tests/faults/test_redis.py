"""A Redis that hangs, or holds what a stranger wrote: nobody guesses on, nothing is run."""

from __future__ import annotations

import base64
import json
import pickle
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.conftest import ON_SERVICES
from tests.services import own_redis
from tests.site import Site, wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not ON_SERVICES, reason="without Redis each process has its own cache"),
]

PASSWORD = "quiet river under the old stone bridge"
SET_UP = f"""
import pathlib
from django.contrib.auth.models import Group, User
from annotations.models import Corpus
from tests.dialeval_site.small_corpora import PUBLIC, store_corpus
user = User.objects.create_user("wren", password={PASSWORD!r})
user.groups.add(Group.objects.get(name="organiser"))
store_corpus(pathlib.Path({{folder!r}}), PUBLIC, is_public=True)
print(PUBLIC)
"""
LOG_IN, TOKENS, LIST = "/accounts/login/", "/api/v1/tokens", "/api/v1/corpora"
QUEUES = ("cpu", "gpu", "llm")


@dataclass
class Served:
    """A site with a corpus and a user, whose Redis asks for a password, and its web server."""

    site: Site
    redis_url: str
    redis: subprocess.Popen[bytes]
    address: str
    corpus: str

    def visitor(self) -> httpx2.Client:
        return httpx2.Client(base_url=self.address, timeout=120, trust_env=False)

    def log_in(self, visitor: httpx2.Client, password: str) -> httpx2.Response:
        form = visitor.get(LOG_IN).text
        (token,) = set(re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', form))
        sent = {"username": "wren", "password": password, "csrfmiddlewaretoken": token}
        return visitor.post(LOG_IN, data=sent)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """The kernel goes on taking connections for it, and nothing answers them."""
        self.redis.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.redis.send_signal(signal.SIGCONT)


@pytest.fixture
def served(site: Site, tmp_path: Path) -> Iterator[Served]:
    folder = tmp_path / "redis"
    folder.mkdir()
    with own_redis(folder, "quietriver") as (url, process):
        site.settings["CELERY_BROKER_URL"] = url
        corpus = site.python(SET_UP.format(folder=str(folder)))
        yield Served(site, url, process, site.start_web(), corpus)


def seconds_of(call: Callable[[], Any]) -> float:
    begun = time.monotonic()
    call()
    return time.monotonic() - begun


# --- a Redis that hangs -------------------------------------------------------------------------


def test_a_password_is_guessed_ten_times_while_redis_hangs(served: Served) -> None:
    """By turns at two web servers, which would have a cache each."""
    second = replace(served, address=served.site.start_web())
    with served.visitor() as here, second.visitor() as there, served.frozen():
        statuses = []
        for number in range(10):
            for server, visitor in ((served, here), (second, there)):
                answer = server.log_in(visitor, f"a wrong password {number}")
                statuses.append(answer.status_code)
        assert statuses == [200] * 10 + [429] * 10
        assert served.log_in(here, PASSWORD).status_code == 429


def test_a_token_is_asked_for_with_five_wrong_passwords_while_redis_hangs(served: Served) -> None:
    with served.visitor() as visitor, served.frozen():
        sent = [{"username": "wren", "password": f"a wrong one {number}"} for number in range(8)]
        assert [visitor.post(TOKENS, json=one).status_code for one in sent] == [401] * 5 + [429] * 3


def test_nobody_waits_long_for_a_redis_that_hangs(served: Served) -> None:
    """Of ten requests to the API one waits for the cache; of the pages that ask workers for numbers
    one waits for the broker."""
    names = ("systems", "metrics", "agreement", "metrics/heat-map")
    pages = [f"/corpora/{served.corpus}/{name}/" for name in names]
    with served.visitor() as visitor, served.frozen():
        took = {
            "home": seconds_of(lambda: visitor.get("/")),
            "log-in": seconds_of(lambda: served.log_in(visitor, PASSWORD)),
            "ten requests to the API": seconds_of(lambda: [visitor.get(LIST) for _ in range(10)]),
            "pages": seconds_of(lambda: [visitor.get(path).raise_for_status() for path in pages]),
        }
    print({name: round(seconds, 2) for name, seconds in took.items()})
    assert max(took.values()) < 10, took


# --- a Redis that a stranger writes to ----------------------------------------------------------


class Planted:
    """Whoever unpickles it makes the file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.file,)


def as_message(body: bytes) -> bytes:
    """As Celery would send a task whose arguments are pickled."""
    properties = {
        "body_encoding": "base64", "delivery_mode": 2, "priority": 0, "delivery_tag": "planted",
        "correlation_id": "planted", "reply_to": "planted",
        "delivery_info": {"exchange": "", "routing_key": "cpu"},
    }  # fmt: skip
    message = {
        "body": base64.b64encode(body).decode("ascii"),
        "content-type": "application/x-python-serialize",
        "content-encoding": "binary",
        "headers": {"lang": "py", "task": "workers.tasks.compute", "id": "planted"},
        "properties": properties,
    }
    return json.dumps(message).encode()


def plant(redis: Any, payload: bytes) -> set[str]:
    """The payload in the place of, or beside, whatever is there, and for the next stretches of
    time; as a message to every queue, and to every channel that somebody listens to. Returns the
    patterns of the keys."""
    message = as_message(payload)
    patterns = set()
    for key in list(redis.scan_iter()):
        name, kind = key.decode(), redis.type(key).decode()
        before, _, number = name.rpartition(":")
        is_numbered = number.isdigit()
        names = [f"{before}:{int(number) + n}" for n in range(20)] if is_numbered else [name]
        for one in names:
            if kind == "string":
                redis.set(one, payload)
            elif kind == "list":
                redis.rpush(one, message)
            elif kind == "set":
                redis.sadd(one, payload, message)
            elif kind == "hash":
                redis.hset(one, mapping=dict.fromkeys([*redis.hkeys(one), b"planted"], payload))
            elif kind == "zset":
                redis.zadd(one, {payload: 0, message: 0})
        patterns.add(re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}|\d+$", "…", name))
    for queue in QUEUES:
        redis.rpush(queue, message)
    for channel in redis.pubsub_channels():
        redis.publish(channel, message)
        redis.publish(channel, payload)
    return patterns


def test_a_pickle_in_redis_is_run_by_nobody(served: Served, tmp_path: Path) -> None:
    """Planted wherever web server and worker have written anything, while both are at work."""
    import redis

    made = tmp_path / "made-by-the-pickle"
    payload = pickle.dumps(Planted(made))
    store = redis.Redis.from_url(served.redis_url)
    worker = served.site.start_worker()
    wait_until(lambda: "ready." in served.site.logs(), 120, "the worker is ready")
    patterns = set()
    with served.visitor() as visitor:
        for _ in range(3):
            use(served, visitor)
            patterns |= plant(store, payload)
        use(served, visitor)
    assert any("rate:api" in one for one in patterns), patterns
    assert any("kombu" in one for one in patterns), patterns
    store.rpush("cpu", payload)  # no message at all: Celery's worker ends, and is started again
    worker.wait(120)
    assert not made.exists()
    store.flushdb()
    runs = "from workers.models import MetricRun; runs = MetricRun.objects\n"
    served.site.python(f"{runs}runs.update(state='pending')")
    served.site.start_worker()
    states = f"{runs}print(*set(runs.values_list('state', flat=True)))"
    wait_until(lambda: served.site.python(states) == "done", 120, "the worker goes on")


def test_a_pickle_in_the_cache_is_a_miss_and_is_run_by_nobody(
    served: Served, tmp_path: Path
) -> None:
    """However it is read. Of the site's own pages only few read what they did not count."""
    import redis

    made = tmp_path / "made-by-the-pickle"
    store = redis.Redis.from_url(served.redis_url)
    served.site.python("from django.core.cache import cache; cache.set('seen', 1)")
    (key,) = [key for key in store.scan_iter() if key.endswith(b":seen")]
    store.set(key, pickle.dumps(Planted(made)))
    reads = "cache.get('seen'), cache.get_many(['seen']), cache.get_or_set('seen', 2)"
    printed = served.site.python(f"from django.core.cache import cache; print({reads})")
    assert not made.exists()
    assert printed == "None {} 2"


def use(served: Served, visitor: httpx2.Client) -> None:
    """What reads and writes whatever the site has in Redis."""
    corpus = f"/corpora/{served.corpus}/"
    for path in ("/", LIST, f"{corpus}systems/", f"{corpus}metrics/"):
        assert visitor.get(path).status_code == 200, path
    for password in ("a wrong password", PASSWORD):
        sent = {"username": "wren", "password": password}
        assert visitor.post(TOKENS, json=sent).status_code in (201, 401)
    served.log_in(visitor, "a wrong password")
    with served.visitor() as other:
        assert served.log_in(other, PASSWORD).status_code == 302
