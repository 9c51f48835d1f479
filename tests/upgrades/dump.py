"""Writes what a released version stores: ``python -m tests.upgrades.dump 0.2.0 CHECKOUT PYTHON``.

CHECKOUT is a work tree of that version, PYTHON an interpreter with its requirements in which no
other version of dialeval is installed. The version's own code makes a site (SQLite), migrates it,
and runs ``fill_0_2_0.py`` in it. Then every row is written down, a line of JSON each, with the
values as SQLite holds them: both databases take them back. The schema is not written down. It is
what the version's migrations make, which no later version changes: the SHA-256 of each stands in
the file, and a test compares. 0.1.0 is commit 5cd9d3b (the last one before rating campaigns), 0.2.0
is 31b96b7.

For the next release: write ``fill_0_3_0.py``, run this, and commit both.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

FOLDER = Path(__file__).resolve().parent
MADE_BY_MIGRATE = {"django_content_type", "auth_permission", "auth_group_permissions"}
"""Rows that the site makes anew after each migration, where they are missing."""
AFTERWARDS = """
import hashlib, inspect, json
from django.db import connection
from django.db.migrations.loader import MigrationLoader
loader = MigrationLoader(connection)
own = {}
for (app, name), migration in loader.disk_migrations.items():
    file = inspect.getsourcefile(type(migration))
    if "site-packages" not in file:
        own[f"{app}.{name}"] = hashlib.sha256(open(file, "rb").read()).hexdigest()
json.dump(own, open(HOME + "/migrations.json", "w"))
json.dump(FACTS, open(HOME + "/facts.json", "w"))
"""


def file_of(version: str) -> Path:
    return FOLDER / f"{version}.jsonl"


def main() -> None:
    version, checkout, python = sys.argv[1:]
    with TemporaryDirectory(prefix="dialeval-dump-") as home:
        environment = {**os.environ, "DIALEVAL_HOME": home, "DATABASE_URL": ""}
        environment |= {"DIALEVAL_LOG_LEVEL": "ERROR", "CORPUS": str(FOLDER / "corpus.jsonl")}

        def manage(*arguments: str) -> None:
            subprocess.run(
                [python, "manage.py", *arguments], cwd=checkout, env=environment, check=True
            )

        manage("migrate", "--verbosity", "0")
        fill = FOLDER / f"fill_{version.replace('.', '_')}.py"
        whole = f"HOME = {home!r}\n{fill.read_text()}\n{AFTERWARDS}"
        (Path(home) / "whole.py").write_text(whole)
        manage("shell", "-c", f"exec(open({home + '/whole.py'!r}).read(), globals())")
        write(version, Path(home))


def write(version: str, home: Path) -> None:
    header: dict[str, Any] = {
        "version": version,
        "migrations": json.loads((home / "migrations.json").read_text()),
        "facts": json.loads((home / "facts.json").read_text()),
        "files": {
            str(path.relative_to(home)): path.read_text()
            for path in sorted((home / "files").rglob("*"))
            if path.is_file()
        },
    }
    with (
        closing(sqlite3.connect(home / "dialeval.sqlite3")) as database,
        file_of(version).open("w", encoding="utf-8") as file,
    ):
        applied = database.execute("SELECT app, name FROM django_migrations ORDER BY id")
        header["applied"] = [f"{app}.{name}" for app, name in applied]
        print(json.dumps(header, ensure_ascii=False), file=file)
        names = database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        )
        for (table,) in sorted(names.fetchall()):
            if table in MADE_BY_MIGRATE | {"django_migrations"}:
                continue
            rows = database.execute(f'SELECT * FROM "{table}" ORDER BY 1')
            columns = [column[0] for column in rows.description]
            print(json.dumps({"table": table, "columns": columns}), file=file)
            for row in rows:
                print(json.dumps(row, ensure_ascii=False), file=file)
    print(f"{file_of(version)}: {file_of(version).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
