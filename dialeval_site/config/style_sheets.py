"""Collected style sheets: one file where the source imports several, without comments and layout,
so that a page's first paint waits for one request that fits the first packets of a connection."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any

from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

IMPORT = re.compile(r'^@import "([\w.-]+\.css)"(?: (print))?;$', re.MULTILINE)
COMMENT_OR_STRING = re.compile(r"""/\*.*?\*/|("[^"\n]*"|'[^'\n]*')""", re.DOTALL)
SPACE = re.compile(r"""("[^"\n]*"|'[^'\n]*')|\s*([{};,])\s*|\s+""")


class StyleSheetStorage(CompressedManifestStaticFilesStorage):
    """Writes each ``@import "other.css";`` of a sheet out, with ``print`` as a media rule, and
    minifies what it wrote."""

    def post_process(
        self, paths: dict[str, Any], dry_run: bool = False, **options: Any
    ) -> Iterator[tuple[str, str, bool]]:
        def written_out(name: str) -> str:
            def imported(match: re.Match[str]) -> str:
                sheet = written_out(posixpath.join(posixpath.dirname(name), match[1]))
                return f"@media {match[2]} {{\n{sheet}}}" if match[2] else sheet

            storage, path = paths[name]
            with storage.open(path) as file:
                return IMPORT.sub(imported, file.read().decode())

        sheets = {
            name: minified(written_out(name))
            for name in paths
            if name.startswith("dialeval/") and name.endswith(".css")
        }
        if not dry_run:
            for name, sheet in sheets.items():
                self.delete(name)
                self.save(name, ContentFile(sheet.encode()))
                paths = {**paths, name: (self, name)}
        yield from super().post_process(paths, dry_run, **options)


def minified(sheet: str) -> str:
    """The same rules without comments and without space that means nothing; what is in quotes
    stays."""
    bare = COMMENT_OR_STRING.sub(lambda match: match[1] or "", sheet)
    return SPACE.sub(lambda match: match[1] or match[2] or " ", bare).replace(";}", "}").strip()
