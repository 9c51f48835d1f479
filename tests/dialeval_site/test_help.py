"""Help on the site: documents as pages, their links, search, and who is led where."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from common.roles import ORGANISER, RATER
from dialeval_site.help import documents
from dialeval_site.help.documents import document, names, slug_of
from dialeval_site.help.places import PLACES
from dialeval_site.help.search import find_sections
from dialeval_site.models import SeenTour
from tests.browser.pages import FRAGMENTS_AND_FILES
from tests.campaigns.sets import made_user
from tests.dialeval_site.addresses import addresses
from tests.reference import addresses as site_addresses
from tests.reference import who_may
from tests.site import PROJECT

LEAD_TO_THE_OVERVIEW = {
    *("help", "help-page", "login", "password-change", "password-reset", "password-reset-link"),
    *("password-reset-sent", "two-factor", "two-factor-log-in"),
    *("openid-first-log-in", "openid-log-in", "openid-return"),
}
"""Pages that no paragraph is about."""


def test_every_document_is_a_page_without_markup_of_its_own(db: None, client: Client) -> None:
    for name in names():
        page = client.get(reverse("help-page", args=[name]))
        assert page.status_code == 200
        assert "<!--" not in document(name).html
        assert not re.search(r"<[^>]* style=", document(name).html)
        assert "<th></th>" not in document(name).html  # a heading that names nothing is none


def test_links_between_documents_lead_to_pages_and_anchors_that_exist() -> None:
    for name in names():
        for href in re.findall(r'<a href="([^"]+)"', document(name).html):
            if href.startswith("http"):
                continue
            path, _, anchor = href.partition("#")
            target = path.removeprefix("/help/").strip("/") or name
            assert target in names(), (name, href)
            assert not anchor or anchor in document(target).anchors, (name, href)


def test_raw_html_scripts_and_foreign_addresses_do_not_pass(
    monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    (tmp_path / "bad.md").write_text(
        "# Bad\n\n<script>alert(1)</script>\n\nA <b onclick=x>b</b> [x](javascript:alert(1)) "
        "[y](../secret.md) ![z](https://example.org/z.png)\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(documents, "FOLDER", tmp_path)
    documents.names.cache_clear()
    try:
        html = document("bad").html
    finally:
        monkeypatch.undo()
        documents.names.cache_clear()
        documents.document.cache_clear()
    assert not re.search(r"<script|onclick|<img|href", html)


def test_a_slug_is_as_on_github() -> None:
    assert slug_of("Krippendorff's alpha, in short") == "krippendorffs-alpha-in-short"


@pytest.mark.parametrize("place", sorted(PLACES.values()))
def test_the_paragraph_of_each_page_exists(place: str) -> None:
    name, _, anchor = place.partition("#")
    assert anchor in document(name).anchors


def test_every_page_leads_to_its_paragraph_or_is_known_to_have_none() -> None:
    allowed = who_may()
    pages = {name for name, _, _ in site_addresses() if "GET" in allowed.get(name, [""])[0]}
    without = (pages & FRAGMENTS_AND_FILES) - set(PLACES)
    assert pages - set(PLACES) == LEAD_TO_THE_OVERVIEW | without
    assert set(PLACES) <= {pattern.name for pattern in addresses()}


def test_every_term_that_a_template_explains_is_in_the_glossary() -> None:
    used = {
        anchor
        for template in (PROJECT / "templates").rglob("*.html")
        for anchor in re.findall(r'{% term "([^"]+)"', template.read_text(encoding="utf-8"))
    }
    assert used
    assert used <= document("glossary").anchors


# --- search ---------------------------------------------------------------------------------------


def test_search_finds_what_has_every_word_and_headings_first() -> None:
    first = find_sections("straight lin")[0]
    assert (first.section.document, first.section.anchor) == ("glossary", "straight-lining")
    for found in find_sections("severity system"):
        section = found.section
        whole = f"{section.title} {section.heading} {section.text}".lower()
        assert "severity" in whole
        assert "system" in whole
    assert "<mark>" in find_sections("kappa quadratic")[0].excerpt


@pytest.mark.parametrize("query", ["", "   ", "…", "no-such-word-xyzzy"])
def test_search_finds_nothing(query: str) -> None:
    assert find_sections(query) == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    "query", ["<script>alert(1)</script>", "nul\0l", "(" * 300, "α", "x" * 5000, "🙂"]
)
def test_whatever_is_searched_the_page_comes(client: Client, query: str) -> None:
    page = client.get(reverse("help"), {"q": query})
    assert page.status_code == 200
    assert "<script>alert(1)" not in page.content.decode()


@pytest.mark.django_db
def test_there_is_no_document_outside_the_folder(client: Client) -> None:
    assert client.get("/help/readme/").status_code == 404


# --- the way there --------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_page_leads_to_its_paragraph(client: Client) -> None:
    text = client.get(reverse("metrics")).content.decode()
    assert f'href="{reverse("help-page", args=["metrics"])}#all-of-them"' in text


# --- the tour -------------------------------------------------------------------------------------


@pytest.fixture
def rater(client: Client, db: None) -> Client:
    client.force_login(made_user("rita", RATER))
    return client


def test_who_logs_in_first_sees_the_first_step(rater: Client) -> None:
    assert "First steps, 1 of 3" in rater.get(reverse("rate")).content.decode()


def test_the_first_step_is_on_no_page_but_where_one_lands(rater: Client) -> None:
    assert "First steps" not in rater.get(reverse("metrics")).content.decode()


def test_steps_go_on_and_the_end_comes_once(rater: Client) -> None:
    answer = rater.post(reverse("tour"), {"step": "3"}, follow=True)
    assert "First steps, 3 of 3" in answer.content.decode()
    rater.post(reverse("tour"))
    assert SeenTour.objects.get().role == RATER
    rater.logout()
    rater.force_login(SeenTour.objects.get().user)
    assert "First steps" not in rater.get(reverse("rate")).content.decode()


def test_a_second_role_has_a_tour_of_its_own(client: Client, db: None) -> None:
    user = made_user("olga", ORGANISER)
    SeenTour.objects.create(user=user, role=RATER)
    client.force_login(user)
    assert "Import dialogues" in client.get(reverse("home")).content.decode()


@pytest.mark.parametrize("step", ["0", "4", "-1", "x", "²", "9" * 30])
def test_a_step_that_is_not_there_changes_nothing(rater: Client, step: str) -> None:
    assert rater.post(reverse("tour"), {"step": step}).status_code == 302
    assert rater.session.get("tour", {"step": 1})["step"] == 1


def test_the_way_back_stays_on_the_site(rater: Client) -> None:
    answer = rater.post(reverse("tour"), {"next": "https://example.org/"})
    assert answer["Location"] == reverse("home")


def test_who_is_logged_out_has_no_tour(client: Client, db: None) -> None:
    assert "First steps" not in client.get(reverse("home")).content.decode()
