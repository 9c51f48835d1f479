"""Collected assets: what a sheet imports is written into it; scripts of every page are one."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage

from dialeval_site.config.collected_assets import (
    SCRIPT,
    SCRIPTS,
    CollectedStorage,
    collect_if_changed,
    minified,
)
from dialeval_site.management.commands import run

SHEETS = {
    "first.css": "/* one */\nbody { color: red; }\n",
    "paper.css": "nav { display: none; }\n",
    "site.css": '@import "first.css";\n@import "paper.css" print;\n',
    "page.css": '@import "site.css";\nh1 { margin: 0; }\n',
}


def collected(folder: Path) -> tuple[CollectedStorage, dict[str, str]]:
    """As collectstatic does it: copied, then made ready."""
    source = FileSystemStorage(folder / "source")
    storage = CollectedStorage(location=folder / "static", base_url="/static/")
    paths = {}
    for name, text in SHEETS.items():
        for root in ("source", "static"):
            file = folder / root / "dialeval" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        paths[f"dialeval/{name}"] = (source, f"dialeval/{name}")
    hashed = {name: new for name, new, _ in storage.post_process(paths)}
    return storage, hashed


def test_an_imported_sheet_is_written_out_through_others_and_print_is_a_rule(
    tmp_path: Path,
) -> None:
    storage, hashed = collected(tmp_path)
    with storage.open(hashed["dialeval/page.css"]) as sheet:
        text = sheet.read().decode()
    assert text == "body{color: red}@media print{nav{display: none}}h1{margin: 0}"


def test_minifying_keeps_quoted_text_and_spaces_that_mean_something() -> None:
    sheet = """/* a "quote", ' and ; */
a  :hover > b , i::before { content: "/* ; , */  x";
  width: calc(1px  +  2px); }
"""
    assert minified(sheet) == (
        'a :hover > b,i::before{content: "/* ; , */  x";width: calc(1px + 2px)}'
    )


def test_a_changed_import_is_seen_where_the_folder_was_collected_before(tmp_path: Path) -> None:
    _, before = collected(tmp_path)
    (tmp_path / "source/dialeval/first.css").write_text("body { color: blue; }\n")
    storage = CollectedStorage(location=tmp_path / "static", base_url="/static/")
    source = FileSystemStorage(tmp_path / "source")
    paths = {f"dialeval/{name}": (source, f"dialeval/{name}") for name in SHEETS}
    after = {name: new for name, new, _ in storage.post_process(paths)}
    assert after["dialeval/page.css"] != before["dialeval/page.css"]
    with storage.open(after["dialeval/page.css"]) as sheet:
        assert "blue" in sheet.read().decode()


def test_scripts_of_every_page_are_joined_in_their_order(tmp_path: Path) -> None:
    """Each ends before the next begins, though none ends with a semicolon."""
    source = FileSystemStorage(tmp_path / "source")
    storage = CollectedStorage(location=tmp_path / "static", base_url="/static/")
    for number, name in enumerate(SCRIPTS):
        source.save(name, ContentFile(f"ran({number})".encode()))
        storage.save(name, ContentFile(b"ran()"))
    list(storage.post_process({name: (source, name) for name in SCRIPTS}))
    with storage.open(storage.stored_name(SCRIPT)) as script:
        assert script.read().decode() == ";\n".join(f"ran({n})" for n in range(len(SCRIPTS)))


@pytest.fixture
def sources(tmp_path: Path, settings: Any) -> Iterator[Path]:
    """A site's only folder of assets, with one sheet."""
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "site.css").write_text("body { color: red; }\n")
    settings.STATICFILES_DIRS = [str(folder)]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    finders.get_finder.cache_clear()
    yield folder
    finders.get_finder.cache_clear()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_assets_are_collected_under_hashed_names_alone(tmp_path: Path, sources: Path) -> None:
    (sources / "long.css").write_text("body { color: red; }\n" * 99)
    collect_if_changed(tmp_path / "static")
    found = " ".join(names(tmp_path / "static"))
    hashed = r"[0-9a-f]{12}"
    assert re.fullmatch(
        rf"long\.{hashed}\.css long\.{hashed}\.css\.gz site\.{hashed}\.css "
        r"sources\.sha256 staticfiles\.json",
        found,
    )


def test_unchanged_assets_are_not_collected_again(tmp_path: Path, sources: Path) -> None:
    root = tmp_path / "static"
    collect_if_changed(root)
    before = root.stat().st_ino
    (sources / "site.css").touch()
    collect_if_changed(root)
    assert root.stat().st_ino == before


def test_a_changed_sheet_replaces_the_former_one(tmp_path: Path, sources: Path) -> None:
    root = tmp_path / "static"
    collect_if_changed(root)
    before = names(root)
    (sources / "site.css").write_text("body { color: blue; }\n")
    collect_if_changed(root)
    assert len(names(root)) == len(before)
    assert names(root) != before


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()])
def test_what_ends_early_leaves_the_former_assets_whole(
    tmp_path: Path, sources: Path, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second file of two cannot be written."""
    root = tmp_path / "static"
    collect_if_changed(root)
    before = names(root)
    (sources / "site.css").write_text("body { color: blue; }\n")
    (sources / "other.css").write_text("p { margin: 0; }\n")
    save, saved = CollectedStorage.save, []

    def save_one(storage: CollectedStorage, name: str, content: Any) -> str:
        if saved:
            raise error
        saved.append(name)
        return save(storage, name, content)

    monkeypatch.setattr(CollectedStorage, "save", save_one)
    with pytest.raises(type(error)):
        collect_if_changed(root)
    assert names(root) == before
    assert names(tmp_path) == ["source", "static"]
    monkeypatch.undo()
    collect_if_changed(root)
    assert len(names(root)) == len(before) + 1


@pytest.mark.parametrize(
    ("reload", "error", "assets", "said"),
    [
        (False, None, "collected", ""),
        (False, OSError(errno.ENOSPC, "full"), "source", "assets are served uncompressed"),
        (True, OSError(errno.ENOSPC, "not even tried"), "reload", ""),
    ],
)
def test_a_site_also_starts_where_assets_cannot_be_collected(
    reload: bool,
    error: OSError | None,
    assets: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def collect(_root: Path) -> None:
        if error:
            raise error

    def begin(_name: str, _command: object, _folder: Path, _log: Path, told: dict[str, str]) -> Any:
        return told

    monkeypatch.setattr(run, "collect_if_changed", collect)
    monkeypatch.setattr(run.Child, "start", begin)
    errors = StringIO()
    options = {"host": "127.0.0.1", "port": 8000, "reload": reload}
    variables: Any = run.Command(stderr=errors)._start_web(options, {})
    assert variables == {"DIALEVAL_ASSETS": assets}
    assert errors.getvalue().startswith(said)
    assert bool(said) == bool(errors.getvalue())
