"""The formats that the import form lists."""

from __future__ import annotations

from dataclasses import replace
from html import unescape

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.test import Client

from annotations.corpora import format_groups
from annotations.corpora.forms import CorpusForm
from annotations.formats.importers import jsonl
from annotations.formats.importers.registry import importers
from common.roles import ORGANISER

pytestmark = pytest.mark.django_db


def test_every_format_stands_in_one_group() -> None:
    listed = [one.name for _, formats in format_groups.format_groups() for one in formats]
    assert sorted(listed) == sorted(importers())


def test_a_format_of_no_group_is_listed_last(monkeypatch: pytest.MonkeyPatch) -> None:
    new = replace(jsonl.IMPORTER, name="new", summary="a new one")
    monkeypatch.setattr(format_groups, "importers", lambda: {**importers(), "new": new})
    heading, formats = format_groups.format_groups()[-1]
    assert (str(heading), formats[-1].name) == ("Others", "new")


def test_the_form_says_how_a_format_is_recognised_and_offers_it_by_name() -> None:
    grace = get_user_model().objects.create_user("grace")
    grace.groups.add(Group.objects.get(name=ORGANISER))
    organiser = Client()
    organiser.force_login(grace)
    page = unescape(organiser.get("/corpora/new/").content.decode())
    assert '<option value="mturk">' in page
    assert "Recognised by HITId, WorkerId and columns Input.*." in page


@pytest.mark.parametrize(("written", "fault"), [(" JSONL ", False), ("", False), ("exe", True)])
def test_a_format_is_typed_in_any_case_or_left_to_be_detected(written: str, fault: bool) -> None:
    form = CorpusForm({"format": written})
    assert ("format" in form.errors) == fault
    if fault:
        assert form.errors["format"] == [
            "There is no format exe. Choose one from the list, or leave it empty."
        ]
