"""deploy/Caddyfile and deploy/nginx.conf, read by real proxies before the web server of
deploy/Procfile.

Caddy comes with the requirements of the tests; nginx is tried where the machine has it. Of each
file is changed what a machine without names, certificates and the ports below 1024 needs changed,
and nothing else.
"""

from __future__ import annotations

import datetime
import getpass
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.conftest import made_site
from tests.faults.test_deployment import BIN, Deployed
from tests.services import free_port
from tests.site import PROJECT, wait_until

pytestmark = pytest.mark.slow

NAME = "localhost"
A_START = 240
"""Seconds in which a machine with much else to do has loaded the site."""
ACCOUNT = (
    "from django.contrib.auth.models import User; User.objects.create_user('wren', password='{}')"
)
PASSWORD = "ninety quiet rivers"
HAND_IN = "/api/v1/challenges/any/rounds/any/submissions"


def _zeros(megabytes: int) -> Iterator[bytes]:
    for _ in range(megabytes):
        yield bytes(1_000_000)


@dataclass
class Proxied:
    name: str
    deployed: Deployed
    plain: int
    secure: int

    def visitor(self, **headers: str) -> httpx2.Client:
        """Who came to the name without a port, as to a site that stands where browsers look."""
        address = f"https://127.0.0.1:{self.secure}"
        sent = {"Host": NAME, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return httpx2.Client(
            base_url=address, verify=False, headers=sent, timeout=A_START, trust_env=False
        )

    def answers(self) -> bool:
        try:
            return self.visitor().get("/health/").status_code == 200
        except httpx2.HTTPError:
            return False


def begun_caddy(folder: Path, site: int, plain: int, secure: int) -> list[str]:
    text = (PROJECT / "deploy" / "Caddyfile").read_text(encoding="utf-8")
    text = text.replace("web:8000", f"127.0.0.1:{site}").replace("{$SITE_NAME}", NAME)
    text = text.replace("lb_try_duration 10s", f"lb_try_duration {A_START}s")
    ports = (
        f"{{\n\tadmin off\n\tskip_install_trust\n\tstorage file_system {folder}\n\tlocal_certs\n"
    )
    text = text.replace(
        "{\n", f"{ports}\thttp_port {plain}\n\thttps_port {secure}\n\tdefault_sni {NAME}\n", 1
    )
    (folder / "Caddyfile").write_text(text, encoding="utf-8")
    return [
        str(BIN / "caddy"),
        "run",
        "--config",
        str(folder / "Caddyfile"),
        "--adapter",
        "caddyfile",
    ]


def begun_nginx(folder: Path, site: int, plain: int, secure: int) -> list[str]:
    nginx = shutil.which(
        "nginx", path=f"/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin:{os.environ['PATH']}"
    )
    if nginx is None:
        pytest.skip("nginx is not installed here")
    text = (PROJECT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    text = re.sub(r"^ *listen \[::\].*\n", "", text, flags=re.MULTILINE)
    text = text.replace("listen 80;", f"listen 127.0.0.1:{plain};")
    text = text.replace("listen 443 ssl", f"listen 127.0.0.1:{secure} ssl")
    text = text.replace("127.0.0.1:8000;", f"127.0.0.1:{site};").replace(
        "dialeval.example.org;", f"{NAME};"
    )
    text = re.sub(
        r"ssl_certificate(_key)? \S+;",
        lambda m: f"ssl_certificate{m[1] or ''} {folder / 'both.pem'};",
        text,
    )
    (folder / "both.pem").write_bytes(made_certificate())
    temporary = "".join(
        f"{kind}_temp_path {folder / kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    process = (
        f"user {getpass.getuser()};\ndaemon off;\npid {folder / 'pid'};\nerror_log "
        "stderr;\nevents {}\n"
    )
    around = f"{process}http {{\naccess_log off;\n"
    (folder / "nginx.conf").write_text(f"{around}{temporary}{text}}}\n", encoding="utf-8")
    return [nginx, "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf")]


def made_certificate() -> bytes:
    """Its own issuer, and its key."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    pem = serialization.Encoding.PEM
    return certificate.public_bytes(pem) + key.private_bytes(pem, *form)


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    with made_site(tmp_path_factory.mktemp("behind-proxies")) as site:
        deployed = Deployed(site)
        site.settings["ALLOWED_HOSTS"] = NAME
        deployed.install()
        site.python(ACCOUNT.format(PASSWORD))
        deployed.start_loaded_web()
        wait_until(
            lambda: deployed.ask("/health/", Host=NAME)[0] == 200, A_START, "the web server answers"
        )
        yield deployed


@pytest.fixture(scope="module", params=[begun_caddy, begun_nginx], ids=["Caddy", "nginx"])
def proxied(
    request: pytest.FixtureRequest, deployed: Deployed, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Proxied]:
    begun: Callable[..., list[str]] = request.param
    with behind(begun, deployed, tmp_path_factory.mktemp("proxy")) as proxied:
        yield proxied


@contextmanager
def behind(begun: Callable[..., list[str]], deployed: Deployed, folder: Path) -> Iterator[Proxied]:
    plain, secure = free_port(), free_port()
    command = begun(folder, deployed.port, plain, secure)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    proxied = Proxied(Path(command[0]).name, deployed, plain, secure)
    try:
        wait_until(proxied.answers, A_START, f"{command[0]} answers, see {folder / 'log'}")
        yield proxied
    finally:
        process.terminate()
        process.wait(30)


def test_plain_http_leads_to_https(proxied: Proxied) -> None:
    answer = httpx2.get(
        f"http://127.0.0.1:{proxied.plain}/corpora/", headers={"Host": NAME}, trust_env=False
    )
    assert answer.is_redirect
    assert answer.headers["Location"].startswith(f"https://{NAME}")
    assert answer.headers["Location"].endswith("/corpora/")


def test_somebody_logs_in(proxied: Proxied) -> None:
    """The site believes that they came by HTTPS: it takes the form's origin, and its cookies are
    for HTTPS alone."""
    with proxied.visitor(Origin=f"https://{NAME}") as visitor:
        form = visitor.get("/accounts/login/").text
        (token,) = set(re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', form))
        sent = {"username": "wren", "password": PASSWORD, "csrfmiddlewaretoken": token}
        answer = visitor.post(
            "/accounts/login/", data=sent, headers={"Referer": f"https://{NAME}/accounts/login/"}
        )
        assert answer.status_code == 302
        assert "Secure" in next(
            c for c in answer.headers.get_list("set-cookie") if c.startswith("__Host-session")
        )


def test_figures_and_readiness_are_not_for_those_without(proxied: Proxied) -> None:
    with proxied.visitor() as visitor:
        assert [
            visitor.get(path).status_code for path in ("/monitoring/", "/ready/", "/health/")
        ] == [404, 404, 200]


def test_a_visitor_s_word_for_where_they_come_from_counts_for_nothing(proxied: Proxied) -> None:
    """Each minute's requests are counted by address: who names another one each time has no other
    count."""
    with proxied.visitor(X_Request_ID="mine") as visitor:
        while time.time() % 60 > 50:  # a count begins anew with the minute
            time.sleep(0.5)
        left, numbers = [], []
        for number in range(6):
            answer = visitor.get(
                "/api/v1/corpora", headers={"X-Forwarded-For": f"192.0.2.{number}"}
            )
            left.append(int(answer.headers["RateLimit-Remaining"]))
            numbers.append(answer.headers["X-Request-ID"])
    processes = 2  # each counts for itself where there is no Redis
    assert min(left) <= left[0] - len(left) // processes + 1
    assert "mine" not in numbers
    assert len(set(numbers)) == len(numbers)


def test_a_body_larger_than_any_upload_is_refused(proxied: Proxied) -> None:
    """nginx's megabytes have 1,048,576 bytes."""
    with proxied.visitor(
        Content_Length=str(211_000_000), Content_Type="application/json"
    ) as visitor:
        answer = visitor.post("/api/v1/tokens", content=_zeros(211))
        assert answer.status_code == 413


@pytest.mark.parametrize("megabytes", [1, 3, 6, 60])
def test_a_refusal_is_heard_by_who_still_sends(proxied: Proxied, megabytes: int) -> None:
    """The token is refused before a byte of the file is read."""
    with proxied.visitor(Authorization="Bearer dial_none") as visitor:
        answer = visitor.post(
            HAND_IN, files={"file": ("responses.jsonl", bytes(megabytes * 1_000_000))}
        )
    assert (answer.status_code, answer.headers["Content-Type"]) == (401, "application/problem+json")


@pytest.mark.parametrize(
    "sent", [_zeros(6), bytes(6_000_000)], ids=["in chunks", "with its length"]
)
def test_a_refusal_is_heard_without_a_proxy(deployed: Deployed, sent: Any) -> None:
    said = {"Authorization": "Bearer dial_none", "Host": NAME, "X-Forwarded-Proto": "https"}
    answer = httpx2.post(
        deployed.address + HAND_IN, content=sent, headers=said, trust_env=False, timeout=60
    )
    assert (answer.status_code, answer.headers["Content-Type"]) == (401, "application/problem+json")


def test_a_web_server_that_restarts_is_waited_for(proxied: Proxied) -> None:
    if proxied.name == "nginx":
        pytest.skip("systemd holds the socket behind nginx, and waits: test_deployment.py")
    (web,) = [one for one in proxied.deployed.site.processes if one.poll() is None]
    web.send_signal(signal.SIGTERM)
    web.wait(60)
    asked: list[int] = []
    asking = threading.Thread(
        target=lambda: asked.append(proxied.visitor().get("/health/").status_code)
    )
    asking.start()
    proxied.deployed.start_loaded_web()
    asking.join(A_START)
    assert asked == [200]
