"""Collected assets: one style sheet where the source imports several, without comments and layout,
so that a page's first paint waits for one request that fits the first packets of a connection; and
one script of those that every page has."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

from common.temporary import put_in_place, temporary_folder

IMPORT = re.compile(r'^@import "([\w.-]+\.css)"(?: (print))?;$', re.MULTILINE)
COMMENT_OR_STRING = re.compile(r"""/\*.*?\*/|("[^"\n]*"|'[^'\n]*')""", re.DOTALL)
SPACE = re.compile(r"""("[^"\n]*"|'[^'\n]*')|\s*([{};,])\s*|\s+""")

SCRIPTS = (
    "dialeval/theme.js",
    "django_htmx/htmx-2.min.js",
    "dialeval/form-token.js",
    "dialeval/logged-out.js",
    "dialeval/tables.js",
    "dialeval/copying.js",
    "dialeval/tips.js",
    "dialeval/menus.js",
    "dialeval/unfolded.js",
    "dialeval/renewing.js",
    "dialeval/charts.js",
)
"""Of every page, in this order."""
SCRIPT = "dialeval/site.js"
"""All of them, where assets are collected."""
UNUSED = ["datasets", "templates", "widgetbundle.js", "ext", "htmax-*", "htmx-4*", "htmx-2.js"]
"""Files of packages that no page asks for, most of the bytes."""
DIGEST = "sources.sha256"
"""A file of the collected folder: what it was collected from."""


def collect_if_changed(root: Path) -> None:
    """Collects every asset into ``root``, unless it was collected from the same sources. The folder
    is replaced as a whole: where this fails or is killed, the former one stays.

    Raises:
        OSError: the folder cannot be written.
    """
    root = root.resolve()
    sources: dict[str, Any] = {}
    for finder in finders.get_finders():
        for path, storage in finder.list(UNUSED):
            sources.setdefault(
                posixpath.join(getattr(storage, "prefix", ""), path), (storage, path)
            )
    digest = _digest(sources)
    if (root / DIGEST).exists() and (root / DIGEST).read_text() == digest:
        return
    with temporary_folder(beside=root) as folder:
        collected = CollectedStorage(location=folder / root.name, base_url=settings.STATIC_URL)
        for name, (storage, path) in sources.items():
            with storage.open(path) as file:
                collected.save(name, file)
        for _, _, processed in collected.post_process(sources):
            if isinstance(processed, Exception):
                raise processed
        (folder / root.name / DIGEST).write_text(digest)
        put_in_place(folder / root.name, root)


def _digest(sources: dict[str, Any]) -> str:
    """Of the names and contents of the files, and of this module, which changes them."""
    files = {name: storage.path(path) for name, (storage, path) in sources.items()}
    found = hashlib.sha256()
    for name, path in sorted({**files, "": __file__}.items()):
        found.update(f"{name}\0".encode() + hashlib.sha256(Path(path).read_bytes()).digest())
    return found.hexdigest()


class CollectedStorage(CompressedManifestStaticFilesStorage):
    """Writes each ``@import "other.css";`` of a sheet out, with ``print`` as a media rule, and
    minifies what it wrote; joins the scripts of every page."""

    def post_process(
        self, paths: dict[str, Any], dry_run: bool = False, **options: Any
    ) -> Iterator[tuple[str, str, bool]]:
        def text(name: str) -> str:
            storage, path = paths[name]
            with storage.open(path) as file:
                return file.read().decode()

        def written_out(name: str) -> str:
            def imported(match: re.Match[str]) -> str:
                sheet = written_out(posixpath.join(posixpath.dirname(name), match[1]))
                return f"@media {match[2]} {{\n{sheet}}}" if match[2] else sheet

            return IMPORT.sub(imported, text(name))

        written = {
            name: minified(written_out(name))
            for name in paths
            if name.startswith("dialeval/") and name.endswith(".css")
        }
        if set(SCRIPTS) <= set(paths):
            written[SCRIPT] = ";\n".join(map(text, SCRIPTS))
        if not dry_run:
            for name, content in written.items():
                self.delete(name)
                self.save(name, ContentFile(content.encode()))
                paths = {**paths, name: (self, name)}
        yield from super().post_process(paths, dry_run, **options)


def minified(sheet: str) -> str:
    """The same rules without comments and without space that means nothing; what is in quotes
    stays."""
    bare = COMMENT_OR_STRING.sub(lambda match: match[1] or "", sheet)
    return SPACE.sub(lambda match: match[1] or match[2] or " ", bare).replace(";}", "}").strip()
