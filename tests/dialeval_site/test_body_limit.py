"""What a request may bring: every address by itself, and nothing is read of what nobody may
send."""

from __future__ import annotations

import ast
import gc
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver, resolve
from ninja.params.models import FileModel

from annotations.models import Corpus
from common.file_bodies import admission_of
from common.roles import ORGANISER
from dialeval_site.api.root import operations
from dialeval_site.middleware import body_limit
from leaderboard.challenges import uploads
from leaderboard.challenges.models import Submission
from leaderboard.challenges.upload_handler import ToDisk
from tests.api_client import token_of
from tests.campaigns.sets import made_user
from tests.challenges.sets import open_challenge, open_round, small_version, team_with_member
from tests.site import PROJECT
from tests.stored_uploads import files_below

PACKAGES = ("common", "annotations", "workers", "leaderboard", "dialeval_site")
PAGES = {
    *("corpus-new", "corpus-add", "campaign-checks", "round-submit", "metric-scores"),
    *("prompt-new", "corpus-upload-part"),
}
OPERATIONS = {"submit", "submit_metric_scores"}
OF_A_FORM = 1_000_000


# --- each address ---------------------------------------------------------------------------------


def views() -> dict[str, Callable[..., Any]]:
    """name or route → view, of every address but the API's operations."""
    found: dict[str, Callable[..., Any]] = {}
    waiting: list[tuple[str, Any]] = [("", get_resolver())]
    while waiting:
        prefix, one = waiting.pop()
        route = f"{prefix}{one.pattern}"
        if isinstance(one, URLResolver):
            waiting += [(route, inner) for inner in one.url_patterns]
        elif isinstance(one, URLPattern):
            found[one.name if one.name and ":" not in one.name else route] = one.callback
    return found


def readers_of_files() -> set[str]:
    """Names of functions in the sources that look at a request's files."""
    found = set()
    for package in PACKAGES:
        for path in (PROJECT / package).rglob("*.py"):
            source = path.read_text(encoding="utf-8")
            for node in ast.walk(ast.parse(source)) if "request.FILES" in source else ():
                if isinstance(node, ast.FunctionDef) and any(
                    isinstance(part, ast.Attribute) and ast.unparse(part) == "request.FILES"
                    for part in ast.walk(node)
                ):
                    found.add(f"{path.stem}.{node.name}")
    return found


def test_every_page_that_takes_a_file_says_so() -> None:
    assert readers_of_files() == {
        "import_views.corpus_new",
        "view.add_to_corpus",
        "checks.campaign_checks",
        "rounds.round_submit",
        "scores._hand_in",  # of metric_scores
        "prompts._hand_in",  # of prompt_new
    }
    assert {name for name, view in views().items() if admission_of(view)} == PAGES


def test_every_operation_that_takes_a_file_says_so() -> None:
    taking = {
        operation.operation_id
        for _route, operation in operations()
        if any(model.__base__ is FileModel for model in operation.models)
    }
    assert taking == OPERATIONS
    saying = {one.operation_id for _, one in operations() if admission_of(one.view_func)}
    assert saying == taking | {"add_part"}  # whose body is the part itself


def addresses() -> list[str]:
    """An address of each route, with a word for whatever it names; one of each that Django resolves
    to its own view."""
    found = set()
    waiting: list[tuple[str, Any]] = [("", get_resolver())]
    while waiting:
        prefix, one = waiting.pop()
        route = f"{prefix}{one.pattern}"
        if isinstance(one, URLResolver):
            waiting += [(route, inner) for inner in one.url_patterns]
        else:
            named = re.sub(r"<int:\w+>", "1", route.removeprefix("^/"))
            named = re.sub(r"<uuid:\w+>", "1c7a2b1e-9f04-4b5c-8a50-5f4f0f8d2c11", named)
            named = re.sub(r"<(?:\w+:)?\w+>", "any", named)
            found.add("/" + re.sub(r"[\^$].*", "", named))
    return sorted(found)


class Unread:
    """As the web server hands over a body that it did not take in. Django's pages for 403 and 404
    look for the token of a form all the same, and do without."""

    def read(self, *_: object) -> bytes:
        raise OSError("the body is not read")

    readline = read


def sent(
    client: Client,
    path: str,
    length: int,
    kind: str = "multipart/form-data; boundary=x",
    **more: str,
) -> Any:
    named = {"wsgi.input": Unread(), "CONTENT_LENGTH": str(length), "CONTENT_TYPE": kind}
    return client.generic("POST", path, **named, **more)


@pytest.mark.django_db
def test_no_address_reads_more_than_a_form_of_somebody_without_a_log_in() -> None:
    """Not one byte of it: refused by its length, or because who sends it may not, or there is no
    such address."""
    everywhere = addresses()
    assert len(everywhere) > 200
    for number, path in enumerate(everywhere):
        # The API counts what comes from one address
        client = Client(enforce_csrf_checks=True, REMOTE_ADDR=f"192.0.2.{number % 256}")
        for kind in (
            "multipart/form-data; boundary=x",
            "application/x-www-form-urlencoded",
            "application/json",
        ):
            answer = sent(client, path, OF_A_FORM + 1, kind)
            assert answer.status_code in (301, 302, 401, 403, 404, 413), (
                path,
                kind,
                answer.status_code,
            )


@pytest.mark.django_db
def test_an_address_that_takes_no_file_says_how_much_it_takes() -> None:
    page = sent(Client(), "/accounts/login/", OF_A_FORM + 1)
    assert page.status_code == 413
    assert "larger than 1 MB, the most that this address takes" in page.content.decode()
    assert "Submit plain text" not in page.content.decode()
    problem = sent(Client(), "/api/v1/tokens", OF_A_FORM + 1, "application/json").json()
    assert (problem["status"], problem["code"]) == (413, "too_large")


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/accounts/login/", "/api/v1/tokens"])
def test_a_body_that_says_no_length_is_told_to(path: str) -> None:
    answer = sent(Client(), path, 0, HTTP_TRANSFER_ENCODING="chunked")
    assert answer.status_code == 411
    assert "Content-Length" in answer.content.decode()


# --- files ----------------------------------------------------------------------------------------


@pytest.fixture
def incoming(tmp_path: Path, settings: Any) -> Callable[[], list[Path]]:
    files_below(settings, tmp_path / "files")
    return lambda: list(uploads.incoming_folder().iterdir())


@pytest.fixture
def round_page(incoming: object) -> str:
    round = open_round(small_version(3, 2, ("alpha",)), open_challenge("cup"), slug="one")
    Corpus.objects.update(is_public=True)
    team_with_member(round.challenge, "ada")
    return "/challenges/cup/rounds/one/"


def paths(round_page: str) -> list[str]:
    corpus = Corpus.objects.get().slug
    pages = [
        f"{round_page}submit/",
        f"{round_page}prompt/",
        f"/corpora/{corpus}/metric-scores/",
        "/corpora/new/",
    ]
    api = [f"/api/v1{round_page}submissions", f"/api/v1/corpora/{corpus}/metric-scores"]
    for path in (*pages, *api):
        view = resolve(path)
        of_api = body_limit._admissions_of_api()
        assert admission_of(view.func) or (view.route, "POST") in of_api, path
    return pages + api


@pytest.mark.django_db
@pytest.mark.parametrize("length", [60_000, 40_000_000])
def test_a_file_of_somebody_without_a_log_in_is_refused_before_it_is_read(
    round_page: str,
    length: int,
) -> None:
    for path in paths(round_page):
        answer = sent(Client(enforce_csrf_checks=True), path, length)
        assert answer.status_code in (302, 401), (path, answer.status_code)


@pytest.mark.django_db
def test_a_file_of_somebody_who_may_not_send_it_is_refused_before_it_is_read(
    round_page: str,
) -> None:
    """Logged in, and neither in a team nor an organiser; or with a token that may not hand in, or
    of somebody without a team."""
    stranger = made_user("bo", "participant")
    page = Client(enforce_csrf_checks=True)
    page.force_login(stranger)
    submit, prompt, _scores, corpus, api_submit, api_scores = paths(round_page)
    assert [sent(page, path, 40_000_000).status_code for path in (submit, prompt, corpus)] == [
        403,
        403,
        403,
    ]
    for scopes, path, code in [
        (["read"], api_submit, "scope"),
        (["read"], api_scores, "scope"),
        (["submit"], api_submit, "not_member"),
    ]:
        bearer = f"Bearer {token_of(stranger, *scopes)}"
        answer = sent(Client(), path, 40_000_000, HTTP_AUTHORIZATION=bearer)
        assert (answer.status_code, answer.json()["code"]) == (403, code)


@pytest.mark.django_db
def test_a_file_for_an_address_that_takes_none_is_never_written(
    incoming: Callable[[], list[Path]], monkeypatch
) -> None:
    monkeypatch.setattr(ToDisk, "new_file", lambda *_a, **_n: pytest.fail("a file was begun"))
    form = {"username": "ada", "password": "x", "file": SimpleUploadedFile("a.csv", b"a" * 10_000)}
    assert Client().post("/accounts/login/", form).status_code == 200
    assert Client(enforce_csrf_checks=True).post("/accounts/login/", form).status_code == 403
    assert Client().post("/no/such/address/", form).status_code == 404
    assert incoming() == []


@pytest.mark.django_db
def test_who_may_send_a_file_is_asked_without_its_body(round_page: str) -> None:
    """What the web server asks before it takes in a body that is larger than a form."""
    ada = User.objects.get(username="ada")
    logged_in = Client()
    logged_in.force_login(ada)
    cookie = {"HTTP_COOKIE": f"sessionid={logged_in.cookies['sessionid'].value}"}
    bearer = {"HTTP_AUTHORIZATION": f"Bearer {token_of(ada, 'submit')}"}
    everywhere = submit, prompt, scores, corpus, api_submit, api_scores = paths(round_page)
    nowhere = corpus, api_submit, "/accounts/login/", "/no/such/"

    def asked(path: str, length: int = 40_000_000, **more: str) -> object:
        request = RequestFactory().generic("POST", path, **more)
        return body_limit.file_sender(request.environ, length)

    assert {asked(path, **cookie) for path in (submit, prompt, scores)} == {ada.pk}
    assert {asked(path, **bearer) for path in (api_submit, api_scores)} == {ada.pk}
    assert {asked(path) for path in everywhere} == {None}
    assert {asked(path, **cookie) for path in nowhere} == {None}
    assert {asked(submit, length, **cookie) for length in (-1, 10**12)} == {None}
    ada.groups.add(Group.objects.get(name=ORGANISER))
    assert asked(corpus, **cookie) == ada.pk


@pytest.mark.django_db
def test_a_file_without_the_page_s_token_is_not_taken(
    round_page: str,
    incoming: Callable[[], list[Path]],
) -> None:
    """Of somebody who may send one: a page of another site had the browser send it."""
    member = Client(enforce_csrf_checks=True)
    member.force_login(User.objects.get(username="ada"))
    submit, prompt, scores, *_rest = paths(round_page)
    for path in (submit, prompt, scores):
        file = SimpleUploadedFile("r.jsonl", b'{"dialog_id": "file-0"}')
        assert member.post(path, {"name": "mine", "file": file}).status_code == 403
    assert not Submission.objects.exists()
    gc.collect()
    assert incoming() == []


@pytest.mark.django_db
def test_a_sender_who_may_is_let_through(
    round_page: str,
    incoming: Callable[[], list[Path]],
) -> None:
    member = Client()
    member.force_login(User.objects.get(username="ada"))
    file = SimpleUploadedFile("r.jsonl", b'{"dialog_id": "file-0"}')
    answer: HttpResponse = member.post(f"{round_page}submit/", {"name": "mine", "file": file})
    assert answer.status_code == 302, answer.content
    assert incoming() == []
