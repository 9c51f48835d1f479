"""The page on which organisers add a corpus: what it stores, what it refuses and how it says so;
and who sees one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotations.models import AuditEntry, Corpus, CorpusVersion, Dialogue, Rater, Rating, System
from common.roles import ORGANISER
from leaderboard.challenges.uploads import incoming_folder
from tests.at_once import at_once
from tests.hub_double import SHA, Hub, Repository, hub_double

pytestmark = pytest.mark.django_db

PAGE = "/corpora/new/"


@pytest.fixture
def organiser() -> Iterator[Client]:
    user = get_user_model().objects.create_user("mara")
    user.groups.add(Group.objects.get(name=ORGANISER))
    client = Client(raise_request_exception=False)
    client.force_login(user)
    yield client
    assert list(incoming_folder().iterdir()) == []  # whatever became of the file, it is not kept


def lines(*records: dict[str, Any]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def dialogue(name: str = "soup") -> dict[str, Any]:
    turn = {
        "number": 0,
        "context": [{"speaker": "A", "text": "What is in it?"}],
        "references": ["Leeks."],
    }
    return {
        "type": "dialogue",
        "id": name,
        "persona": ["i cook."],
        "partner_persona": [],
        "turns": [turn],
    }


COOKS = lines({"type": "corpus", "name": "Two cooks"}, dialogue())


def send(
    client: Client, content: bytes = COOKS, file_name: str = "cooks.jsonl", **fields: str
) -> Any:
    file = SimpleUploadedFile(file_name, content)
    asked = {"format": "jsonl", "slug": "", "name": "", "seen_by": "organisers", **fields}
    return client.post(PAGE, {"file": file, **asked})


def said(answer: Any) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())))


# --- what is stored -------------------------------------------------------------------------------


def test_a_file_becomes_a_private_corpus_and_leads_to_its_page(organiser: Client) -> None:
    answer = send(organiser)
    corpus = Corpus.objects.get()
    assert (corpus.slug, corpus.name, corpus.is_public) == ("cooks", "Two cooks", False)
    assert answer["Location"] == "/corpora/cooks/"
    assert "Dialogues: 1, turns: 1, systems: 0" in said(organiser.get("/corpora/cooks/"))


def test_the_address_is_made_from_the_name(organiser: Client) -> None:
    send(organiser, name="Cooks of the North")
    assert Corpus.objects.get().slug == "cooks-of-the-north"


def test_names_in_another_script_leave_the_address_to_the_site(organiser: Client) -> None:
    send(organiser, file_name="研究.jsonl", name="对话研究")
    assert (Corpus.objects.get().slug, Corpus.objects.get().name) == ("corpus", "对话研究")


def test_the_log_says_who_added_it(organiser: Client) -> None:
    send(organiser)
    entry = AuditEntry.objects.get(action="corpus.imported")
    assert (entry.actor, entry.subject, entry.details["format"]) == ("mara", "cooks", "jsonl")


def test_a_corpus_that_is_there_gets_no_version_by_accident(organiser: Client) -> None:
    send(organiser)
    answer = send(organiser, lines({"type": "corpus"}, dialogue("bread")), slug="cooks")
    assert answer.status_code == 422
    assert "cooks is here already" in said(answer)
    assert CorpusVersion.objects.count() == 1


def test_a_new_version_is_asked_for(organiser: Client) -> None:
    send(organiser)
    more = lines({"type": "corpus"}, dialogue("bread"))
    send(organiser, more, slug="cooks", is_new_version="on", seen_by="everybody")
    assert sorted(CorpusVersion.objects.values_list("number", flat=True)) == [1, 2]
    assert not Corpus.objects.get().is_public  # who sees it was said when it came


def test_a_new_version_of_a_mistyped_address_is_refused(organiser: Client) -> None:
    send(organiser)
    answer = send(
        organiser, lines({"type": "corpus"}, dialogue("bread")), slug="cook", is_new_version="on"
    )
    assert answer.status_code == 422
    assert "There is no corpus cook" in said(answer)
    assert CorpusVersion.objects.count() == 1


def test_older_content_again_is_no_way_back_and_says_so(organiser: Client) -> None:
    send(organiser)
    send(organiser, lines({"type": "corpus"}, dialogue("bread")), slug="cooks", is_new_version="on")
    send(organiser)
    newest = CorpusVersion.objects.get(number=2).label
    assert f"the newest version is still {newest}" in said(organiser.get("/corpora/cooks/"))


def test_the_link_on_a_corpus_fills_in_the_form_for_a_version(organiser: Client) -> None:
    send(organiser)
    form = organiser.get(PAGE, {"corpus": "cooks"}).content.decode()
    assert 'value="cooks"' in form
    assert re.search(r'name="is_new_version"[^>]*checked', form)


def test_the_same_file_again_changes_nothing_and_says_so(organiser: Client) -> None:
    send(organiser)
    send(organiser)
    assert CorpusVersion.objects.count() == 1
    assert "nothing is changed" in said(organiser.get("/corpora/cooks/"))


@pytest.mark.django_db(transaction=True)
def test_the_same_file_twice_at_once_is_stored_once(organiser: Client) -> None:
    def once() -> int:
        client = Client(raise_request_exception=False)
        client.force_login(get_user_model().objects.get(username="mara"))
        return int(send(client).status_code)

    assert at_once(once, once) == [302, 302]
    assert (CorpusVersion.objects.count(), Dialogue.objects.count()) == (1, 1)


# --- another format than was said -----------------------------------------------------------------

CPDC = b'[{"dialog_id": "0", "turn_0": {}}]'


def test_who_chose_another_format_is_told_which_one_the_file_looks_like(organiser: Client) -> None:
    answer = send(organiser, CPDC, "talks.json")
    assert answer.status_code == 422
    assert "looks like cpdc , and was read as jsonl" in said(answer)
    assert 'name="format" value="cpdc"' in answer.content.decode()
    assert not Corpus.objects.exists()


def test_what_is_wrong_in_the_format_that_was_said_stands_there_too(organiser: Client) -> None:
    assert "talks.json:1: must be an object" in said(send(organiser, CPDC, "talks.json"))


def test_a_fault_in_the_right_format_speaks_of_no_other(organiser: Client) -> None:
    answer = send(organiser, CPDC, "talks.json", format="cpdc")
    assert answer.status_code == 422
    assert "The file looks like" not in said(answer)
    assert 'name="format" value="cpdc"' in answer.content.decode()


# --- from an address ------------------------------------------------------------------------------


def ask(client: Client, address: str, **fields: str) -> Any:
    return client.post(PAGE, {"address": address, "seen_by": "organisers", **fields})


def token_in(answer: Any) -> str:
    found = re.search(r'name="uploaded" value="([^"]+)"', answer.content.decode())
    return unescape(found[1]) if found else ""


@pytest.fixture
def hub(settings: Any) -> Iterator[Hub]:
    with hub_double(cooks=Repository({"data/cooks.jsonl": COOKS})) as made:
        settings.IMPORT_PRIVATE, settings.HF_ENDPOINT, settings.HF_TOKEN = True, made.url, ""
        yield made


def test_a_dataset_of_the_hub_is_shown_and_then_stored_with_its_commit(
    organiser: Client, hub: Hub
) -> None:
    shown = ask(organiser, "hf://datasets/lab/cooks")
    assert "What becomes of the file" in said(shown)
    assert not Corpus.objects.exists()
    hub.repositories.clear()  # what was shown is stored, not what is there by then
    answer = ask(organiser, "", uploaded=token_in(shown), format="jsonl", slug="cooks")
    assert answer["Location"] == "/corpora/cooks/"
    source = f"hf://datasets/lab/cooks@{SHA}/data/cooks.jsonl"
    assert CorpusVersion.objects.get().source == source
    assert source in said(organiser.get("/corpora/cooks/"))


def test_an_address_that_gives_nothing_is_told_at_its_field(organiser: Client, hub: Hub) -> None:
    answer = ask(organiser, "hf://datasets/lab/none")
    assert answer.status_code == 422
    assert "Nothing was stored: hf://datasets/lab/none is not there" in said(answer)
    assert not Corpus.objects.exists()


def test_an_address_on_a_private_network_is_refused(
    organiser: Client, hub: Hub, settings: Any
) -> None:
    settings.IMPORT_PRIVATE = False
    answer = ask(organiser, hub.url.replace("http://", "https://") + "/x.jsonl")
    assert "it is not on the public internet" in said(answer)
    assert hub.got == []


# --- good records alone ---------------------------------------------------------------------------

HALF_BAD = COOKS + lines(dialogue("bread") | {"turns": []}, dialogue("leek"))


def test_who_sends_bad_records_is_offered_the_good_ones_and_a_list(organiser: Client) -> None:
    answer = send(organiser, HALF_BAD)
    assert answer.status_code == 422
    assert 'name="good_only"' in answer.content.decode()
    assert "Download the bad records (CSV)" in said(answer)
    assert not Corpus.objects.exists()


def test_the_good_records_are_stored_where_that_is_chosen_and_the_page_lists_the_others(
    organiser: Client,
) -> None:
    send(organiser, HALF_BAD, good_only="on")
    assert [one.external_id for one in Dialogue.objects.order_by("position")] == ["soup", "leek"]
    page = organiser.get("/corpora/cooks/")
    assert "What the file held and this version does not" in said(page)
    file = organiser.get("/corpora/cooks/", {"download": "left-out.csv"}).content.decode()
    assert "bread" in file
    assert "is empty" in file


@pytest.mark.parametrize(
    "bad", [b'{"a": "\0"}', b'{"a": "\xff"}', b'{"type": "\\ud800\\u0000"}', b"<b>"]
)
def test_bad_bytes_are_listed_as_text_that_a_database_takes(organiser: Client, bad: bytes) -> None:
    send(organiser, COOKS + bad + b"\n", good_only="on")
    page = organiser.get("/corpora/cooks/")
    assert "What the file held and this version does not" in said(page)
    assert "<b>" not in page.content.decode()


def test_others_do_not_see_what_was_left_out(organiser: Client, client: Client) -> None:
    send(organiser, HALF_BAD, good_only="on", seen_by="everybody")
    assert "bread" not in said(client.get("/corpora/cooks/"))
    assert client.get("/corpora/cooks/", {"download": "left-out.csv"}).status_code == 404


def test_the_bad_records_come_as_csv_and_nothing_is_stored(organiser: Client) -> None:
    token = token_in(send(organiser, HALF_BAD))
    form = {"uploaded": token, "format": "jsonl", "seen_by": "organisers", "left-out": "1"}
    answer = organiser.post(PAGE, form)
    assert answer["Content-Type"].startswith("text/csv")
    assert "bread" in answer.content.decode()
    assert not Corpus.objects.exists()


# --- what is refused ------------------------------------------------------------------------------

WRONG = {
    "an array": (b'[{"turn_0": {}}]', "wrong.jsonl:1"),
    "half a record": (COOKS[:-9], "wrong.jsonl:2"),
    "NUL": (COOKS.replace(b"Leeks", rb"Le\u0000ks"), "NUL character"),
    "a NUL byte": (COOKS.replace(b"Leeks", b"Le\0ks"), "wrong.jsonl:2"),
    "bytes": (bytes(range(256)), "is not UTF-8"),
    "another encoding": (COOKS.replace(b"Leeks", "Läuche".encode("latin-1")), "is not UTF-8"),
    "nothing said": (lines({"type": "corpus"}), "wrong.jsonl"),
    "an unknown field": (lines({"type": "corpus", "nam": "x"}, dialogue()), "nam"),
}


@pytest.mark.parametrize(("content", "told"), WRONG.values(), ids=WRONG)
def test_a_wrong_file_is_told_with_its_place_and_nothing_is_stored(
    organiser: Client, content: bytes, told: str
) -> None:
    answer = send(organiser, content, "wrong.jsonl", name="Kept")
    assert answer.status_code == 422
    assert "Nothing was stored" in said(answer)
    assert told in said(answer)
    assert 'value="Kept"' in answer.content.decode()
    assert not Corpus.objects.exists()


def test_an_empty_file_and_none_are_told_apart(organiser: Client) -> None:
    assert "The file is empty." in said(send(organiser, b""))
    assert "Choose a file." in said(
        organiser.post(PAGE, {"format": "jsonl", "seen_by": "organisers"})
    )


def test_a_page_that_sends_the_file_by_itself_is_told_where_it_is_shown(organiser: Client) -> None:
    file = SimpleUploadedFile("cooks.jsonl", COOKS)
    fields = {"file": file, "name": "Kept", "seen_by": "everybody", "preview": "1"}
    told = organiser.post(PAGE, fields, headers={"Accept": "application/json"})
    assert told.status_code == 201
    page = organiser.get(told.json()["location"])
    assert "Conversations: 1, messages: 0" in said(page)
    assert 'value="Kept"' in page.content.decode()
    assert re.search(r'value="everybody"[^>]*checked', page.content.decode())
    assert not Corpus.objects.exists()


def test_a_page_that_sends_nothing_by_itself_is_told_why(organiser: Client) -> None:
    told = organiser.post(PAGE, {"seen_by": "nobody"}, headers={"Accept": "application/json"})
    assert told.status_code == 422
    assert {"message": "Choose a file."} in told.json()["errors"]


def test_a_link_neither_stores_nor_downloads(organiser: Client) -> None:
    file = SimpleUploadedFile("cooks.jsonl", COOKS)
    told = organiser.post(PAGE, {"file": file}, headers={"Accept": "application/json"})
    link = f"{told.json()['location']}&format=jsonl&seen_by=everybody"
    assert "What becomes of the file" in said(organiser.get(link))
    address = {"uploaded": "", "address": "https://example.org/a.jsonl", "seen_by": "everybody"}
    assert "Choose a file." in said(organiser.get(PAGE, address))
    assert not Corpus.objects.exists()


def test_a_file_above_the_limit_is_refused_with_the_setting(
    organiser: Client, settings: Any
) -> None:
    settings.MAX_CORPUS_UPLOAD_BYTES = len(COOKS) - 1
    answer = send(organiser)
    assert answer.status_code == 422
    assert "the most that this site takes in the browser" in said(answer)
    assert not Corpus.objects.exists()


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "<script>alert(1)</script>.jsonl", "\u202egnp.jsonl", "a" * 300]
)
def test_a_hostile_file_name_does_no_harm(organiser: Client, name: str) -> None:
    answer = send(organiser, b"{", name)
    assert answer.status_code == 422
    assert "<script>alert" not in answer.content.decode()
    send(organiser, COOKS, name, slug="fine")
    assert Corpus.objects.get().slug == "fine"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("slug", "a/b"),
        ("slug", "new"),
        ("slug", "x" * 81),
        ("slug", "\0"),
        ("name", "x" * 201),
        ("name", "a\0b"),
        ("name", "\ud800"),
        ("format", "exe"),
        ("seen_by", "nobody"),
    ],
)
def test_a_wrong_field_stores_nothing(organiser: Client, field: str, value: str) -> None:
    answer = send(
        organiser, **{field: value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")}
    )
    # Half a pair cannot come over HTTP: it arrives as U+FFFD
    expected = 302 if value == "\ud800" else 422
    assert answer.status_code == expected
    assert Corpus.objects.exists() == (expected == 302)


def test_a_form_from_elsewhere_is_refused(organiser: Client) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = organiser.cookies
    assert send(strict).status_code == 403
    assert not Corpus.objects.exists()


# --- who sees it ----------------------------------------------------------------------------------


def test_an_organiser_shows_a_corpus_and_hides_it_again(organiser: Client) -> None:
    send(organiser)
    assert Client().get("/corpora/cooks/").status_code == 404
    organiser.post("/corpora/cooks/seen-by/", {"seen_by": "everybody"})
    assert Client().get("/corpora/cooks/").status_code == 200
    organiser.post("/corpora/cooks/seen-by/", {"seen_by": "organisers"})
    assert Client().get("/corpora/cooks/").status_code == 404
    changes = (
        AuditEntry.objects.filter(action="corpus.changed")
        .order_by("pk")
        .values_list("details", flat=True)
    )
    assert [one["changes"]["is_public"] for one in changes] == [[False, True], [True, False]]


def test_a_choice_that_is_none_changes_nothing(organiser: Client) -> None:
    send(organiser)
    organiser.post("/corpora/cooks/seen-by/", {"seen_by": "cats"})
    assert not Corpus.objects.get().is_public
    assert not AuditEntry.objects.filter(action="corpus.changed").exists()
    assert organiser.post("/corpora/none/seen-by/", {"seen_by": "everybody"}).status_code == 404


# --- empty pages tell the first step --------------------------------------------------------------


def test_an_empty_site_tells_an_organiser_to_add_a_corpus(organiser: Client) -> None:
    assert f'href="{PAGE}"' in organiser.get("/").content.decode()


def test_an_empty_site_tells_a_visitor_to_log_in_and_no_command() -> None:
    page = said(Client().get("/"))
    assert "The organisers have not published a corpus. Log in if you were invited." in page
    assert "manage.py" not in page


# --- tables ---------------------------------------------------------------------------------------


def test_a_table_of_ratings_from_excel_becomes_a_corpus(organiser: Client) -> None:
    sheet = "system;response;rater;score\r\ncook;Leeks.;ann;4,5\r\n;;;\r\n".encode("utf-8-sig")
    assert send(organiser, sheet, "ratings.csv", format="ratings").status_code == 302
    assert Rating.objects.get().score == 4.5


# --- a look before it is stored -------------------------------------------------------------------

SHEET = (
    b"item,bot,reply,quality r1,quality r2\r\n"
    b"1,cook,Leeks.,4,5\r\n1,parrot,Pot?,1,2\r\n2,cook,Bread.,3,3\r\n2,parrot,Oven?,2,1\r\n"
)


def test_a_rater_who_is_a_files_name_is_that_of_the_file_that_was_sent(organiser: Client) -> None:
    """doccano writes a file a member. The site keeps uploads under names of its own."""
    record = {
        "id": 1,
        "text": "user: Is it raining?\nbot: Not yet.",
        "label": ["4"],
        "Comments": [],
    }
    send(organiser, lines(record), "ann.jsonl", format="doccano", slug="rain")
    assert [rater.name for rater in Rater.objects.all()] == ["ann"]


def upload_in(answer: Any) -> str:
    [token] = re.findall(r'name="uploaded" value="([^"]*)"', answer.content.decode())
    return str(token)


def test_a_file_without_a_format_is_shown_and_not_stored(organiser: Client) -> None:
    answer = send(organiser, b"item,reply,quality\n1,Leeks.,4\n", "sheet.csv", format="")
    assert answer.status_code == 200
    assert "Format: table –" in said(answer)
    assert "Conversations: 1, messages: 0, systems: 1, responses: 1" in said(answer)
    assert "Leeks." in said(answer)
    assert not Corpus.objects.exists()


def test_a_file_that_was_shown_is_stored_without_choosing_it_again(organiser: Client) -> None:
    fields = {"format": "table", "seen_by": "organisers", "slug": "", "name": ""}
    sheet = b"item,system,reply,quality r1,quality r2\n1,cook,Leeks.,4,5\n1,parrot,Pot?,1,2\n"
    shown = send(organiser, sheet, "sheet.csv", preview="1", format="")
    assert not Corpus.objects.exists()
    answer = organiser.post(PAGE, {**fields, "uploaded": upload_in(shown)})
    assert answer["Location"] == "/corpora/sheet/"
    assert sorted(Rating.objects.values_list("score", flat=True)) == [1, 2, 4, 5]
    again = organiser.post(PAGE, {**fields, "uploaded": upload_in(shown), "slug": "twice"})
    assert again.status_code == 422  # it is stored, and no longer kept
    assert "The file is no longer here" in said(again)


def test_another_organiser_s_file_is_not_read(organiser: Client) -> None:
    shown = send(organiser, COOKS, format="")
    other = get_user_model().objects.create_user("olga")
    other.groups.add(Group.objects.get(name=ORGANISER))
    stranger = Client()
    stranger.force_login(other)
    answer = stranger.post(
        PAGE, {"uploaded": upload_in(shown), "format": "", "seen_by": "organisers"}
    )
    assert answer.status_code == 422
    assert "The file is no longer here" in said(answer)


def test_a_column_is_what_the_form_says(organiser: Client) -> None:
    shown = send(organiser, SHEET, "sheet.csv", format="table", preview="1")
    columns = ("item", "bot", "reply", "quality r1", "quality r2")
    uses = ("conversation", "system", "response", "score", "score")
    chosen = {f"column-{n}": name for n, name in enumerate(columns)}
    chosen |= {f"use-{n}": use for n, use in enumerate(uses)}
    chosen |= {"aspect-3": "quality", "rater-3": "ann", "aspect-4": "quality", "rater-4": "bob"}
    fields = {"uploaded": upload_in(shown), "format": "table", "seen_by": "organisers", **chosen}
    assert organiser.post(PAGE, fields).status_code == 302
    assert set(System.objects.values_list("name", flat=True)) == {"cook", "parrot"}
    assert set(Rating.objects.values_list("rater__name", "score")) >= {("ann", 4), ("bob", 5)}


def test_a_file_whose_format_nobody_knows_is_asked_about(organiser: Client) -> None:
    answer = send(organiser, b"dear diary\nnothing today\n", "diary.txt", format="")
    assert answer.status_code == 422
    assert "no known format is recognised" in said(answer)


def test_the_columns_of_a_table_that_nobody_knows_are_asked_about(organiser: Client) -> None:
    sheet = b"Keskustelu,Vastaus,Arvio\n1,Purjo.,4\n2,Pata?,1\n"
    answer = send(organiser, sheet, "taulukko.csv", format="")
    assert answer.status_code == 422
    assert "This is a table whose columns are not known by name" in said(answer)
    assert re.search(r'name="format" value="table"', answer.content.decode())
    mapping = {"column-0": "Keskustelu", "use-0": "conversation", "column-1": "Vastaus"}
    mapping |= {"use-1": "response", "column-2": "Arvio", "use-2": "score", "aspect-2": "overall"}
    fields = {"uploaded": upload_in(answer), "format": "table", "seen_by": "organisers", **mapping}
    assert organiser.post(PAGE, fields).status_code == 302
    assert sorted(Rating.objects.values_list("score", flat=True)) == [1, 4]


def test_a_file_of_label_studio_is_recognised(organiser: Client) -> None:
    result = {"type": "rating", "from_name": "quality", "value": {"rating": 4}}
    chat = [{"role": "user", "content": "Rain?"}, {"role": "assistant", "content": "Not yet."}]
    task = {
        "id": 1,
        "data": {"chat": chat, "model": "north"},
        "annotations": [{"id": 7, "completed_by": 3, "result": [result]}],
    }
    answer = send(organiser, json.dumps([task]).encode(), "export.json", format="")
    assert "Format: label-studio" in said(answer)


# --- its settings ---------------------------------------------------------------------------------


def test_an_organiser_renames_and_describes_a_corpus(organiser: Client) -> None:
    send(organiser)
    assert 'value="Two cooks"' in organiser.get("/corpora/cooks/settings/").content.decode()
    fields = {"name": "Three cooks", "description": "# Kitchens\n<script>alert(1)</script>"}
    organiser.post("/corpora/cooks/settings/", fields)
    assert Corpus.objects.get().name == "Three cooks"
    entry = AuditEntry.objects.get(action="corpus.changed")
    assert entry.details["changes"]["name"] == ["Two cooks", "Three cooks"]
    page = organiser.get("/corpora/cooks/").content.decode()
    assert "Kitchens" in page
    assert "<script>alert" not in page


def test_a_corpus_is_deleted_where_its_address_is_typed(organiser: Client) -> None:
    send(organiser)
    organiser.post("/corpora/cooks/delete/", {"slug": "cook"})
    assert Corpus.objects.exists()
    assert organiser.post("/corpora/cooks/delete/", {"slug": "cooks"})["Location"] == "/"
    assert not Corpus.objects.exists()


def test_settings_are_for_organisers(organiser: Client) -> None:
    send(organiser, seen_by="everybody")
    for address in ("/corpora/cooks/settings/", "/corpora/cooks/delete/"):
        answer = Client().post(address, {"name": "x", "slug": "cooks"})
        assert answer.status_code in (302, 403)
    assert Corpus.objects.get().name == "Two cooks"
