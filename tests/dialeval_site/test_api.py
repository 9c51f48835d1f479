"""What holds for every address of the API: errors in one form, rates, pages of lists, the
document."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.http import HttpRequest, StreamingHttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse

from annotations import rates
from annotations.models import AuditEntry, CorpusVersion
from dialeval_site.api import root as api_module
from dialeval_site.api.pages import pages_of
from dialeval_site.middleware.api_gate import ApiGate
from dialeval_site.middleware.head_requests import HeadMiddleware
from leaderboard import exports
from leaderboard.results import all_kinds
from tests.api_client import Program, all_items, program_of
from tests.dialeval_site.small_corpora import PRIVATE, PUBLIC, person
from tests.services import free_port

pytestmark = pytest.mark.django_db


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("GET", "/corpora/a%00b", 404),
        ("GET", "/corpora/..%2f..", 404),
        ("GET", "/challenges/no-such", 404),
        ("POST", "/corpora", 405),
        ("PUT", "/me", 405),
        ("GET", "/corpora?limit=0", 422),
        ("GET", "/corpora?limit=1000", 422),
        ("GET", "/corpora?limit=x", 422),
        ("GET", "/corpora?cursor=%00", 422),
        ("GET", "/corpora?cursor=bm90LWpzb24", 422),
        ("GET", "/corpora?cursor=" + "W" * 400, 422),
        ("GET", "/corpora?cursor=" + "W" * 401, 422),
        ("GET", "/me", 401),
        ("POST", "/tokens", 422),
    ],
)
def test_every_refusal_is_a_problem(method: str, path: str, status: int) -> None:
    answer = Client().generic(method, f"/api/v1{path}")
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    problem = answer.json()
    assert set(problem) == {"type", "title", "status", "detail", "code", "errors"}
    assert problem["status"] == status


def test_405_says_what_is_allowed() -> None:
    answer = Client().put("/api/v1/corpora")
    assert answer["Allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    ("body", "media_type", "status"),
    [
        (b"{", "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b"null", "application/json", 422),
        (b"[]", "application/json", 422),
        (b"{}", "text/plain", 415),
        (b"username=ada", "application/x-www-form-urlencoded", 415),
        (b'{"username": "' + b"a" * 3_000_000 + b'"}', "application/json", 413),
    ],
)
def test_a_body_that_cannot_be_taken(body: bytes, media_type: str, status: int) -> None:
    answer = Client().post("/api/v1/tokens", body, content_type=media_type)
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"


def test_a_mistake_of_ours_is_a_problem_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr("workers.runs.api._metric", broken)
    answer = Client(raise_request_exception=False).get("/api/v1/metrics")
    assert answer.status_code == 500
    assert answer["Content-Type"] == "application/problem+json"
    assert b"secret" not in answer.content


def test_an_unknown_host_gets_a_problem() -> None:
    answer = Client(headers={"host": "elsewhere.example"}).get("/api/v1/corpora")
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")


# --- rates ----------------------------------------------------------------------------------------


def test_a_minute_holds_so_many_requests_of_an_address(settings) -> None:
    settings.API_RATE = 3
    answers = [Program().get("/metrics") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert [answer["RateLimit-Remaining"] for answer in answers] == ["2", "1", "0", "0", "0"]
    assert 0 < int(answers[-1]["Retry-After"]) <= 60
    assert Program(client=Client(REMOTE_ADDR="192.0.2.1")).get("/metrics").status_code == 200


def test_a_token_has_a_count_of_its_own(settings) -> None:
    settings.API_RATE = 2
    first, second = (program_of(get_user_model().objects.create_user(name)) for name in "ab")
    assert [first.get("/me").status_code for _ in range(3)] == [200, 200, 429]
    assert second.get("/me").status_code == 200


def test_while_redis_is_away_requests_are_counted_by_each_process(settings) -> None:
    """Of programs that ask in turn none is refused for the others, and none asks without end."""
    settings.API_RATE = 2
    settings.CACHES = {
        "default": {
            "BACKEND": "dialeval_site.config.redis_cache.RedisCache",
            "LOCATION": f"redis://127.0.0.1:{free_port()}/0",
            "OPTIONS": {"socket_connect_timeout": 0.5},
        }
    }
    assert [Program().get("/metrics").status_code for _ in range(3)] == [200, 200, 429]


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, "203.0.113.9", "127.0.0.1"),
        (1, "203.0.113.9", "203.0.113.9"),
        (1, "1.1.1.1, 203.0.113.9", "203.0.113.9"),  # the first was written by the client itself
        (2, "203.0.113.9, 10.0.0.1", "203.0.113.9"),
        (1, "", "127.0.0.1"),
        (1, "2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
    ],
)
def test_whose_address_counts(rf, settings, proxies: int, forwarded: str, address: str) -> None:
    settings.PROXIES = proxies
    assert rates.address_of(rf.get("/", headers={"X-Forwarded-For": forwarded})) == address


# --- lists ----------------------------------------------------------------------------------------


def some_entries(numbers: range) -> None:
    for number in numbers:
        AuditEntry.objects.create(action="test.done", subject=f"number {number}")


@pytest.fixture
def organiser_program():
    from django.contrib.auth.models import Group

    user = get_user_model().objects.create_user("boss")
    user.groups.add(Group.objects.get(name="organiser"))
    return program_of(user, "read", "organise")


def test_pages_of_a_list_have_each_row_once_whatever_comes_meanwhile(
    organiser_program: Program,
) -> None:
    some_entries(range(5))
    first = organiser_program.get("/audit", limit=2, action="test").json()
    assert [entry["subject"] for entry in first["items"]] == ["number 4", "number 3"]
    some_entries(range(5, 8))  # newer rows: they belong before the first page
    rest = all_items(organiser_program, "/audit", limit=2, action="test")
    assert [entry["subject"] for entry in rest] == [f"number {n}" for n in range(7, -1, -1)]
    second = organiser_program.get("/audit", limit=2, action="test", cursor=first["next"]).json()
    assert [entry["subject"] for entry in second["items"]] == ["number 2", "number 1"]


def test_a_cursor_of_another_list_is_refused(organiser_program: Program) -> None:
    some_entries(range(3))
    cursor = organiser_program.get("/audit", limit=1).json()["next"]
    assert organiser_program.get("/corpora", cursor=cursor).status_code == 422


# --- corpora --------------------------------------------------------------------------------------


def plant_a_rater() -> None:
    """The public corpus's second rater has a name that nothing else holds, and said something."""
    rater = CorpusVersion.objects.get(corpus__slug=PUBLIC).raters.get(name="bob")
    rater.ratings.update(comment="as my sister cooks")
    rater.name = "Zoe Quill"
    rater.save()


def exported(role: str, form: str) -> bytes:
    """Names and contents of all files of the archive, one after the other."""
    answer = program_of(person(role), "export").get(f"/corpora/{PUBLIC}/export", format=form)
    archive = zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))
    return b"\n".join(name.encode() + b"\n" + archive.read(name) for name in archive.namelist())


def shown_answer() -> Any:
    """The metric leaderboard's answer, as JSON."""
    page = Client().get(reverse("metric-leaderboard", args=[PUBLIC]))
    return json.loads(all_kinds()["correlations"].to_json(page.context["analysis"].answer))


@pytest.mark.usefixtures("kitchens")
class TestCorpora:
    def test_a_private_corpus_exists_for_organisers_only(self) -> None:
        paths = [f"/corpora/{PRIVATE}"] + [
            f"/corpora/{PRIVATE}/{part}"
            for part in ("systems", "dialogues", "dialogues/0", "correlations", "agreement")
        ]
        reader, organiser = (
            program_of(person("participant"), "read"),
            program_of(person("organiser"), "read"),
        )
        for path in paths:
            assert Program().get(path).status_code == 404, path
            assert reader.get(path).status_code == 404, path
            assert organiser.get(path).status_code == 200, path
        assert [one["slug"] for one in all_items(reader, "/corpora")] == [PUBLIC]
        assert {one["slug"] for one in all_items(organiser, "/corpora", limit=1)} == {
            PUBLIC,
            PRIVATE,
        }

    def test_no_refusal_names_a_private_corpus(self) -> None:
        for path in ("/corpora/unknown", f"/corpora/{PRIVATE}", f"/corpora/{PUBLIC}?version=7"):
            assert PRIVATE.encode() not in Program().get(path).content

    def test_a_corpus_with_its_dialogues(self) -> None:
        corpus = Program().get(f"/corpora/{PUBLIC}").json()
        assert (corpus["dialogues"], corpus["turns"], corpus["systems"], corpus["ratings"]) == (
            2,
            4,
            2,
            16,
        )
        listed = all_items(Program(), f"/corpora/{PUBLIC}/dialogues", limit=1)
        assert [one["id"] for one in listed] == ["soup", "bread"]
        whole = Program().get(f"/corpora/{PUBLIC}/dialogues/0").json()
        assert [turn["number"] for turn in whole["turns"]] == [0, 1]
        assert [one["system"] for one in whole["turns"][0]["responses"]] == ["cook", "parrot"]
        assert Program().get(f"/corpora/{PUBLIC}/dialogues/9").status_code == 404

    @pytest.mark.parametrize("part", ["dialogues", "systems"])
    def test_no_list_begins_in_one_version_and_goes_on_in_another(self, part: str) -> None:
        path = f"/corpora/{PUBLIC}/{part}"
        cursor = Program().get(path, limit=1).json()["next"]
        old = CorpusVersion.objects.get(corpus__slug=PUBLIC)
        CorpusVersion.objects.create(
            corpus=old.corpus, number=2, digest="cd" * 32, format="jsonl", main_aspect="overall",
            aspects=["overall"], scales={"overall": [1, 5]},
        )  # fmt: skip
        assert Program().get(path, cursor=cursor).status_code == 422
        assert len(Program().get(path, cursor=cursor, version=1).json()["items"]) == 1

    @pytest.mark.parametrize(
        ("path", "query"),
        [
            (f"/corpora/{PUBLIC}", "verson=1"),
            (f"/corpora/{PUBLIC}", "version=1&version=2"),
            ("/metrics", "limit=1"),
        ],
    )
    def test_a_wish_that_nobody_hears_is_an_error(self, path: str, query: str) -> None:
        answer = Program().get(f"{path}?{query}")
        assert answer.status_code == 422
        assert [one["field"] for one in answer.json()["errors"]] == [
            f"query.{query.partition('=')[0]}"
        ]

    def test_correlations_are_those_of_the_page(self) -> None:
        document = Program().get(f"/corpora/{PUBLIC}/correlations", level="turn").json()
        (row,) = document["rows"]
        assert (row["metric"], row["level"], row["n"]) == ("word_f1", "turn", 8)
        page = shown_answer()
        assert (
            row["pearson"]["value"]
            == next(r for r in page["rows"] if r["level"] == "turn")["pearson"]["value"]
        )

    def test_a_row_of_correlations_has_all_that_the_page_s_row_has(self) -> None:
        """Its averages within inputs and its accuracies, too."""
        document = Program().get(f"/corpora/{PUBLIC}/correlations").json()
        page = shown_answer()
        shown = {(row["metric"], row["level"]): row for row in page["rows"]}
        assert {(row["metric"], row["level"]) for row in document["rows"]} == set(shown)
        for row in document["rows"]:
            own = shown[row["metric"], row["level"]]
            assert own.keys() <= row.keys()
            for key in own.keys() & {"per_input", "tie_calibrated_accuracy", "pairwise_accuracy"}:
                assert row[key] == own[key]

    def test_agreement_names_no_rater(self) -> None:
        answer = Program().get(f"/corpora/{PUBLIC}/agreement")
        assert answer.json()["raters"] == 2
        assert "rater 1" in answer.content.decode()
        assert not re.search(rb"\b(ann|bob)\b", answer.content)

    def test_an_unknown_aspect_is_named_with_those_that_exist(self) -> None:
        answer = Program().get(f"/corpora/{PUBLIC}/agreement", aspect="charm")
        assert answer.status_code == 422
        assert "overall" in answer.json()["detail"]

    def test_an_export_needs_its_scope_and_is_whole(self) -> None:
        assert Program().get(f"/corpora/{PUBLIC}/export").status_code == 401
        user = person("participant")
        assert program_of(user, "read").get(f"/corpora/{PUBLIC}/export").status_code == 403
        program = program_of(user, "export")
        assert program.get(f"/corpora/{PRIVATE}/export").status_code == 404
        answer = program.get(f"/corpora/{PUBLIC}/export", format="csv")
        archive = zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))
        assert archive.testzip() is None
        assert sorted(archive.namelist()) == [
            f"{PUBLIC}/{name}.csv" for name in ("dialogues", "ratings", "responses", "scores")
        ]
        responses = archive.read(f"{PUBLIC}/responses.csv").decode()
        assert responses.count("\n") == 1 + 8

    @pytest.mark.parametrize(
        "form", ["jsonl", "csv", "mt-metrics-eval", "dpo", "label-studio", "argilla"]
    )
    def test_an_export_tells_a_participant_no_rater_s_name_and_no_comment(self, form: str) -> None:
        plant_a_rater()
        told = exported("participant", form)
        assert (b"Zoe Quill" in told, b"as my sister cooks" in told) == (False, False)

    @pytest.mark.parametrize("form", ["jsonl", "csv", "label-studio", "argilla"])
    def test_an_export_tells_an_organiser_both(self, form: str) -> None:
        """After a participant's: what one gets is not kept for the other. Means (mt-metrics-eval)
        have neither."""
        plant_a_rater()
        exported("participant", form)
        told = exported("organiser", form)
        assert (b"Zoe Quill" in told, b"as my sister cooks" in told) == (True, True)

    @pytest.mark.parametrize("form", ["jsonl", "csv"])
    def test_an_export_has_the_pseudonyms_of_the_pages(self, form: str) -> None:
        plant_a_rater()
        told = exported("participant", form)
        assert (b"rater 1" in told, b"rater 2" in told) == (True, True)

    def test_nothing_is_left_of_an_export(self, settings) -> None:
        program = program_of(person("participant"), "export")
        answer = program.get(f"/corpora/{PUBLIC}/export")
        next(iter(answer.streaming_content))
        answer.close()
        del answer
        import gc

        gc.collect()
        assert list((settings.HOME / "tmp").iterdir()) == []

    def test_a_broken_export_goes_on_where_it_stopped(self) -> None:
        """The archive is made again, and is the same."""
        program = program_of(person("participant"), "export")
        whole = program.get(f"/corpora/{PUBLIC}/export")
        content = b"".join(whole.streaming_content)
        headers = {**program.headers, "Range": "bytes=100-", "If-Range": whole["ETag"]}
        rest = program.client.get(f"/api/v1/corpora/{PUBLIC}/export", headers=headers)
        assert (rest.status_code, rest["Content-Range"]) == (
            206,
            f"bytes 100-{len(content) - 1}/{len(content)}",
        )
        assert b"".join(rest.streaming_content) == content[100:]
        assert whole["Content-Length"] == str(len(content))

    def test_an_export_that_changed_is_sent_whole(self) -> None:
        program = program_of(person("organiser"), "export")
        before = program.get(f"/corpora/{PUBLIC}/export")["ETag"]
        plant_a_rater()
        headers = {**program.headers, "Range": "bytes=100-", "If-Range": before}
        answer = program.client.get(f"/api/v1/corpora/{PUBLIC}/export", headers=headers)
        assert (answer.status_code, answer["ETag"] == before) == (200, False)

    def test_a_range_behind_an_export_s_end_is_a_problem_with_its_length(self) -> None:
        program = program_of(person("participant"), "export")
        headers = {**program.headers, "Range": "bytes=999999999-"}
        answer = program.client.get(f"/api/v1/corpora/{PUBLIC}/export", headers=headers)
        assert (answer.status_code, answer["Content-Type"]) == (416, "application/problem+json")
        assert answer["Content-Range"].startswith("bytes */")

    def test_an_export_s_head_has_its_headers_and_leaves_nothing(self, settings) -> None:
        program = program_of(person("participant"), "export")
        answer = program.client.head(f"/api/v1/corpora/{PUBLIC}/export", headers=program.headers)
        assert (answer.status_code, answer["Content-Type"]) == (200, "application/zip")
        answer.close()
        assert list((settings.HOME / "tmp").glob("*")) == []

    @pytest.mark.parametrize("form", ["jsonl", "csv", "mt-metrics-eval"])
    def test_for_an_export_s_head_nothing_is_written(
        self, form: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        program = program_of(person("participant"), "export")
        read = program.get(f"/corpora/{PUBLIC}/export?format={form}")
        monkeypatch.setattr(exports, "records_of", None)
        asked = program.client.head(
            f"/api/v1/corpora/{PUBLIC}/export?format={form}", headers=program.headers
        )
        assert (asked.status_code, asked["Content-Disposition"]) == (
            200,
            read["Content-Disposition"],
        )


@pytest.mark.parametrize("path", ["/corpora", "/me", "/corpora/no-such", "/openapi.json"])
def test_head_is_answered_as_get_is_without_the_body(path: str) -> None:
    asked, read = Client().head(f"/api/v1{path}"), Client().get(f"/api/v1{path}")
    assert (asked.status_code, asked["Content-Type"]) == (read.status_code, read["Content-Type"])


@pytest.mark.parametrize(
    ("path", "method"), [("/api/v1/corpora/any/export", "GET"), ("/campaigns/any/export", "HEAD")]
)
def test_what_would_be_made_while_it_is_sent_is_not_begun_for_a_head(
    rf: RequestFactory, path: str, method: str
) -> None:
    """Seen in the middleware: Django's client for tests throws away the body of any HEAD."""
    begun: list[bytes] = []

    def archive() -> Iterator[bytes]:
        begun.append(b"a part")
        yield b"a part"

    def view(request: HttpRequest) -> StreamingHttpResponse:
        return StreamingHttpResponse(archive(), headers={"X-Method": request.method or ""})

    answer = HeadMiddleware(ApiGate(view))(rf.head(path))
    assert (answer["X-Method"], list(answer.streaming_content), begun) == (method, [], [])


def test_what_is_read_is_sent_as_it_is_made(rf: RequestFactory) -> None:
    answer = HeadMiddleware(lambda request: StreamingHttpResponse([b"a part"]))(
        rf.get("/campaigns/any/export")
    )
    assert list(answer.streaming_content) == [b"a part"]


def test_what_cannot_be_read_has_no_head() -> None:
    assert Client().head("/api/v1/tokens").status_code == 405


# --- the document ---------------------------------------------------------------------------------


def whole_document() -> dict:
    answer = Client().get("/api/v1/openapi.json")
    assert answer.status_code == 200
    return json.loads(answer.content)


def operations() -> list[tuple[str, str, dict]]:
    paths = whole_document()["paths"]
    return [
        (path, method, one) for path, methods in paths.items() for method, one in methods.items()
    ]


def test_every_address_of_the_api_is_in_the_document() -> None:
    documented = {re.sub(r"{[^}]+}", "*", path) for path, _, _ in operations()}
    served = {
        "/api/v1/" + re.sub(r"<[^>]+>", "*", str(pattern.pattern))
        for pattern in api_module.api.urls[0]
        if pattern.name not in ("openapi-json", "api-root")
    }
    assert documented == served


def test_the_document_says_everything_of_every_operation() -> None:
    seen = set()
    for path, method, one in operations():
        where = f"{method} {path}"
        assert one["operationId"] not in seen, where
        seen.add(one["operationId"])
        assert one["summary"], where
        assert one["tags"], where
        assert all(parameter.get("description") for parameter in one["parameters"]), where
        assert "429" in one["responses"], where
        assert "500" in one["responses"], where
        for status, answer in one["responses"].items():
            assert answer["description"], (where, status)
            if int(status) >= 400:
                assert list(answer["content"]) == ["application/problem+json"], (where, status)
            elif status != "204":
                assert answer["content"], (where, status)
        if path not in ("/api/v1/tokens",):
            assert one["security"], where


def test_every_field_of_every_schema_is_described() -> None:
    for name, schema in whole_document()["components"]["schemas"].items():
        for field, one in schema.get("properties", {}).items():
            assert one.get("description") or "$ref" in str(one), f"{name}.{field}"


def test_the_page_of_the_api_shows_every_operation_without_script() -> None:
    answer = Client().get(reverse("api-docs"))
    text = answer.content.decode()
    assert answer.status_code == 200
    assert "script-src 'self'" in answer["Content-Security-Policy"].split("; ")
    assert "style=" not in text
    for _, _, one in operations():
        assert f'id="{one["operationId"]}"' in text
    assert sum(len(group.operations) for group in pages_of("http://testserver").groups) == len(
        operations()
    )


def test_what_links_of_the_api_s_page_lead_to_is_there_once_and_inside_what_is_folded() -> None:
    """A browser unfolds what holds the target of an address, not the target itself."""
    text = Client().get(reverse("api-docs")).content.decode()
    targets = [name for name in re.findall(r'href="#([^"]+)"', text) if name != "main"]
    assert len(targets) > len(operations())
    for name in targets:
        assert text.count(f'id="{name}"') == 1, name
        assert f'<details id="{name}"' not in text
        before = text[: text.index(f'id="{name}"')]
        assert before.count("<details") > before.count("</details>"), name
