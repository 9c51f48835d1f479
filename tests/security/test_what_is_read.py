"""What the project reads as code or unpacks: nothing that came from somebody else. From the source
itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialeval_site.celery import app
from tests.site import PROJECT

PACKAGES = ("common", "annotations", "workers", "leaderboard", "dialeval_site")
MODULES = [
    path
    for package in PACKAGES
    for path in sorted((PROJECT / package).rglob("*.py"))
    if "migrations" not in path.parts
]
NEVER = {
    "eval", "exec", "compile", "pickle.load", "pickle.loads", "marshal.loads", "shelve.open",
    "joblib.load", "yaml.load", "os.system", "os.popen", "subprocess.getoutput", "torch.load",
    "numpy.load", "np.load",
}  # fmt: skip


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


@pytest.mark.slow
def test_nothing_of_others_is_read_as_code() -> None:
    """``torch.load`` and ``numpy.load`` only where they are kept from unpickling."""
    found = set()
    for path in MODULES:
        for name, call in calls(path):
            if name not in NEVER or keeps_to_data(name, call):
                continue
            found.add((str(path.relative_to(PROJECT)), name))
    assert found == KNOWN


def keeps_to_data(name: str, call: ast.Call) -> bool:
    wanted = {"torch.load": ("weights_only", True), "np.load": ("allow_pickle", False)}
    wanted["numpy.load"] = wanted["np.load"]
    if name not in wanted:
        return False
    word, value = wanted[name]
    return any(
        one.arg == word and getattr(one.value, "value", None) is value for one in call.keywords
    )


KNOWN: set[tuple[str, str]] = set()


@pytest.mark.slow
def test_no_shell_is_started() -> None:
    for path in MODULES:
        for name, call in calls(path):
            words = {one.arg: one.value for one in call.keywords}
            shell = words.get("shell")
            assert shell is None or getattr(shell, "value", True) is False, (path, name)


def test_workers_take_json_and_nothing_else() -> None:
    """A message that is a pickle would be a program."""
    assert app.conf.accept_content == ["json"]
    assert app.conf.task_serializer == "json"
    assert app.conf.result_backend is None


def test_a_pickle_sent_to_a_worker_is_refused() -> None:
    from kombu.exceptions import ContentDisallowed
    from kombu.serialization import dumps, enable_insecure_serializers, loads

    enable_insecure_serializers(["pickle"])
    content_type, encoding, body = dumps({"a": 1}, serializer="pickle")
    with pytest.raises(ContentDisallowed):
        loads(body, content_type, encoding, accept={"application/json"})


def test_sessions_are_json() -> None:
    from django.conf import settings

    assert settings.SESSION_SERIALIZER == "django.contrib.sessions.serializers.JSONSerializer"
