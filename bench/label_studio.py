"""Label Studio on this machine, as a peer: its server, its project, a rater who asks for a task and
annotates it.

It lives in an environment of its own (``pip install label-studio`` there); only the path of its
interpreter comes here. Its own command serves it with Django's development server on SQLite. Where
gunicorn is in its environment, too, it is also served by that, as this project is: so the ratio is
not one of two web servers. (Its PostgreSQL needs the extension pg_trgm, which the packaged
PostgreSQL of the benches has not.)
"""

from __future__ import annotations

import http.client
import json
import os
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.services import free_port
from tests.site import answers, wait_until

USER, PASSWORD = "bench@example.org", secrets.token_urlsafe(12)
TOKEN = secrets.token_hex(20)
READY_SECONDS, STOP_SECONDS = 240, 20
VIEW = """<View>
  <Text name="history" value="$context"/>
  <Text name="answer" value="$response"/>
  <Rating name="overall" toName="answer" maxRating="5" required="true"/>
</View>"""
CHAT_VIEW = """<View>
  <Paragraphs name="chat" value="$messages" nameKey="role" textKey="content"/>
  <Rating name="overall" toName="chat" maxRating="5" required="true"/>
</View>"""
IMPORT_SECONDS = 1_800
SCORE = [{"from_name": "overall", "to_name": "answer", "type": "rating", "value": {"rating": 4}}]


def has_gunicorn(python: str) -> bool:
    asked = [python, "-c", "import gunicorn"]
    return (
        subprocess.run(asked, capture_output=True, check=False, env=_environment(Path())).returncode
        == 0
    )


def version(python: str) -> str:
    asked = [python, "-c", "import importlib.metadata as m; print(m.version('label-studio'))"]
    return subprocess.run(
        asked, capture_output=True, text=True, check=True, env=_environment(Path())
    ).stdout.strip()


@contextmanager
def label_studio(
    python: str, home: Path, server: str = "own", workers: int = 2, threads: int = 4
) -> Iterator[tuple[str, int]]:
    """Its address and process. ``server``: "own", as its command starts it, which makes the
    database; "gunicorn"."""
    port = free_port()
    folder = Path(python).parent
    if server == "own":
        command = [
            str(folder / "label-studio"),
            "start",
            "--no-browser",
            "--internal-host",
            "127.0.0.1",
        ]
        command += ["--port", str(port)]
    else:
        found = subprocess.run(
            [
                python,
                "-c",
                (
                    "import importlib.util as u; "
                    "print(u.find_spec('label_studio').submodule_search_locations[0])"
                ),
            ],
            capture_output=True,
            text=True,
            check=True,
            env=_environment(home),
        )
        command = [str(folder / "gunicorn"), "core.wsgi", "--chdir", found.stdout.strip()]
        command += [
            "--bind",
            f"127.0.0.1:{port}",
            "--workers",
            str(workers),
            "--threads",
            str(threads),
        ]
    address = f"http://127.0.0.1:{port}"
    with (home / f"label-studio-{server}.log").open("wb") as log:
        process = subprocess.Popen(
            command, env=_environment(home), stdout=log, stderr=subprocess.STDOUT
        )
    try:
        wait_until(lambda: answers(f"{address}/health"), READY_SECONDS, "Label Studio answers")
        yield address, process.pid
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()


def _environment(home: Path) -> dict[str, str]:
    """Nothing of this project's settings reaches it; it calls nobody."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {
        **kept,
        "LABEL_STUDIO_BASE_DATA_DIR": str(home),
        "LABEL_STUDIO_USERNAME": USER,
        "LABEL_STUDIO_PASSWORD": PASSWORD,
        "LABEL_STUDIO_USER_TOKEN": TOKEN,
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "DJANGO_SETTINGS_MODULE": "core.settings.label_studio",
        "COLLECT_ANALYTICS": "false",
        "LATEST_VERSION_CHECK": "false",
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
    }


class Annotator:
    """One client: the next task, then its annotation."""

    def __init__(self, address: str, project: int, timeout: float = 120) -> None:
        self._place = address.removeprefix("http://")
        self._project = project
        self._connection = http.client.HTTPConnection(self._place, timeout=timeout)

    def pair(self) -> None:
        task = self.call("GET", f"/api/projects/{self._project}/next")
        self.call(
            "POST", f"/api/tasks/{task['id']}/annotations/", {"result": SCORE, "lead_time": 2}
        )

    def call(self, method: str, path: str, body: object = None) -> Any:
        headers = {"Authorization": f"Token {TOKEN}", "Content-Type": "application/json"}
        try:
            self._connection.request(
                method, path, None if body is None else json.dumps(body).encode(), headers
            )
            answer = self._connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path.split('?')[0]} answers {answer.status}")
        return json.loads(text or b"{}")


def load_project(address: str, tasks: list[dict[str, Any]], view: str = VIEW) -> int:
    """A new project of these tasks, one annotation each."""
    client = Annotator(address, 0, IMPORT_SECONDS)
    project = client.call(
        "POST",
        "/api/projects/",
        {"title": "dialeval bench", "label_config": view, "maximum_annotations": 1},
    )["id"]
    client.call("POST", f"/api/projects/{project}/import", [{"data": task} for task in tasks])
    return int(project)
