"""Uploads as nobody should send them: drawn from a seed, so that a case that fails can be drawn
again."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from leaderboard.challenges.files.scores import COLUMNS_OF_LEVEL, MetricLevel

Way = Literal["page", "api", "scores"]
Places = list[tuple[str, int]]

NASTY = (
    "<script>alert(1)</script>",
    '=HYPERLINK("http://x")',
    "+1+1",
    "@SUM(A1)",
    "\u202egnp.exe",
    "\x1b[2J",
    "../../etc/passwd",
    "..\\..\\x",
    "'; DROP TABLE x; --",
    "{{ 7*7 }}",
    "%s%n",
    "\ufeff",
    "e\u0301" * 50,
    "\U0001f600" * 100,
    "x" * 4_000,
    "x" * 4_001,
    "\0",
    "\ud800",
    "\r\n",
    "null",
    "",
    " ",
)
IDS = ("file-0", "file-1", "file-2", "file-3", "", "file-0 ", "FILE-0", "0", *NASTY)
BEGINNINGS = (
    b"PK\x03\x04",
    b"\x1f\x8b\x08",
    b"%PDF-1.7",
    b"\x7fELF",
    b"MZ\x90\0",
    b"\x89PNG\r\n",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
)


@dataclass(frozen=True, slots=True)
class Case:
    """One request. ``data`` is None where no file is sent."""

    number: int
    way: Way
    data: bytes | None
    file_name: str
    fields: dict[str, str]


def draw(seed: int, number: int, places: Places, systems: tuple[str, ...]) -> Case:
    """The case of this number, whatever was drawn before."""
    chance = random.Random(f"{seed} {number}")
    way: Way = chance.choices(("page", "api", "scores"), (60, 20, 20))[0]
    level = chance.choice(list(COLUMNS_OF_LEVEL))
    rows = _score_rows(chance, places, systems, level) if way == "scores" else _rows(chance, places)
    data: bytes | None = chance.choice(_MAKERS)(chance, rows)
    if chance.random() < 0.02:
        data = None
    return Case(number, way, data, _file_name(chance), _fields(chance, number, way, level))


def _fields(chance: random.Random, number: int, way: Way, level: MetricLevel) -> dict[str, str]:
    fields = {"name": f"case-{number}"}
    if way == "scores":
        fields |= {"level": level, "higher_is_better": "true"}
    else:
        fields["description"] = ""
    if way == "api":
        fields["track"] = chance.choice(("gpu", "gpu", "gpu", "gpu", "", "GPU", "scores"))
    if chance.random() < 0.03:  # misspelt, or another form's: the API takes none
        fields[chance.choice(("higher_is_beter", "desription", "team", "way"))] = "true"
    if chance.random() < 0.1:
        fields[chance.choice(list(fields))] = chance.choice(NASTY).replace("\ud800", "\ufffd")
    return fields


def _file_name(chance: random.Random) -> str:
    usual = ("responses.json", "responses.jsonl", "x.csv")
    odd = [text.replace("\ud800", "").replace("\r\n", "") for text in NASTY]
    return (chance.choice(usual) if chance.random() < 0.8 else chance.choice(odd)) or "x"


# --- what the file says ---------------------------------------------------------------------------


def _rows(chance: random.Random, places: Places) -> list[dict[str, Any]]:
    """Responses to every place, some of them spoilt; with luck none."""
    rows: list[dict[str, Any]] = [
        {"dialog_id": name, "turn": turn, "response": f"answer {chance.random()}"}
        for name, turn in places
    ]
    return _spoilt(chance, rows)


def _score_rows(
    chance: random.Random, places: Places, systems: tuple[str, ...], level: MetricLevel
) -> list[dict[str, Any]]:
    """Scores of every place at this level, or now and then at another one."""
    shown = level if chance.random() < 0.9 else chance.choice(list(COLUMNS_OF_LEVEL))
    columns = COLUMNS_OF_LEVEL[shown][:-1]
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for system in systems:
        for name, turn in places:
            whole = {"dialog_id": name, "turn": turn, "system": system}
            row = {column: whole[column] for column in columns}
            rows[tuple(row.values())] = {**row, "score": chance.uniform(-1, 1)}
    return _spoilt(chance, list(rows.values()))


def _spoilt(chance: random.Random, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for _ in range(chance.choice((0, 0, 1, 1, 2, 5))):
        if not rows:
            break
        place = chance.randrange(len(rows))
        row = rows[place]
        match chance.randrange(7):
            case 0:
                del rows[place]
            case 1:
                rows.insert(chance.randrange(len(rows) + 1), dict(row))
            case 2:
                chance.shuffle(rows)
            case 3:
                row[chance.choice(list(row))] = _odd(chance)
            case 4:
                row.pop(chance.choice(list(row)))
                row["dialogue_id" if chance.random() < 0.5 else "extra"] = "x"
            case 5:
                row["response" if "response" in row else "system"] = chance.choice(NASTY)
            case _:
                row["dialog_id"] = chance.choice(IDS)
        rows = [row for row in rows if row]
    return rows


def _odd(chance: random.Random) -> Any:
    return chance.choice(
        (
            None,
            True,
            -1,
            2**70,
            1e308,
            0.5,
            float("nan"),
            float("inf"),
            [],
            {},
            [[]],
            {"a": 1},
            chance.choice(NASTY),
        )
    )


# --- how it is written ----------------------------------------------------------------------------


def _as_list(chance: random.Random, rows: list[dict[str, Any]]) -> bytes:
    """The list form: turns gathered by dialogue."""
    dialogues: dict[Any, dict[str, Any]] = {}
    for row in rows:
        name = str(row.get("dialog_id"))
        entry = dialogues.setdefault(name, {"dialog_id": row.get("dialog_id")})
        entry[f"turn_{row.get('turn')}"] = row.get("response")
    return json.dumps(list(dialogues.values()), ensure_ascii=chance.random() < 0.5).encode(
        "utf-8", "surrogatepass"
    )


def _as_lines(chance: random.Random, rows: list[dict[str, Any]]) -> bytes:
    end = chance.choice(("\n", "\n", "\r\n", "\n\n", "\r"))
    return (end.join(json.dumps(row) for row in rows) + end).encode()


def _as_csv(chance: random.Random, rows: list[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    columns = list(rows[0]) if rows else ["dialog_id", "turn", "response"]
    writer = csv.writer(
        text, delimiter=chance.choice(",,,,;\t"), lineterminator=chance.choice(("\n", "\r\n"))
    )
    writer.writerow(columns)
    for row in rows:
        writer.writerow([row.get(column) for column in columns])
    return text.getvalue().encode("utf-8", "surrogatepass")


def _damaged(chance: random.Random, rows: list[dict[str, Any]]) -> bytes:
    data = bytearray(chance.choice((_as_list, _as_lines, _as_csv))(chance, rows) or b"x")
    for _ in range(chance.randint(1, 3)):
        place = chance.randrange(len(data) + 1)
        data[place : place + chance.randrange(8)] = chance.randbytes(chance.randrange(5))
    return bytes(data)


def _cut(chance: random.Random, rows: list[dict[str, Any]]) -> bytes:
    data = chance.choice((_as_list, _as_lines, _as_csv))(chance, rows)
    return data[: chance.randrange(len(data) + 1)]


def _binary(chance: random.Random, rows: list[dict[str, Any]]) -> bytes:
    return chance.choice(BEGINNINGS) + (
        chance.randbytes(chance.randrange(100)) or _as_lines(chance, rows)
    )


def _packed(chance: random.Random, rows: list[dict[str, Any]]) -> bytes:
    data = _as_lines(chance, rows)
    if chance.random() < 0.5:
        return gzip.compress(data, mtime=0)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../responses.json", b"[" * chance.randrange(1_000_000))
    return packed.getvalue()


def _deep(chance: random.Random, _rows: list[dict[str, Any]]) -> bytes:
    return chance.choice((b"[", b'{"a":', b'[{"dialog_id":[')) * chance.choice((10, 900, 20_000))


def _endless(chance: random.Random, _rows: list[dict[str, Any]]) -> bytes:
    return chance.choice(
        (b'["', b"1", b'dialog_id,turn,response\n"', b"\n", b" ", b"[1")
    ) + chance.choice((b"a", b"0", b",", b"\n", b" ", b'"')) * chance.choice((1_000, 100_000))


def _recoded(chance: random.Random, rows: list[dict[str, Any]]) -> bytes:
    text = _as_lines(chance, rows).decode()
    return text.encode(chance.choice(("utf-16", "utf-8-sig", "utf-32", "utf-16-le")))


def _noise(chance: random.Random, _rows: list[dict[str, Any]]) -> bytes:
    return chance.randbytes(chance.randrange(300))


_MAKERS: tuple[Callable[[random.Random, list[dict[str, Any]]], bytes], ...] = (
    *(_as_list, _as_lines, _as_csv) * 3,
    *(_damaged, _cut) * 2,
    _binary,
    _packed,
    _deep,
    _endless,
    _recoded,
    _noise,
)
