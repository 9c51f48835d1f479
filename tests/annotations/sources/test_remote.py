"""Files from addresses and from the Hub: what comes, and what is refused so that nothing is there."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotations.formats.exporters.registry import exporters
from annotations.formats.importers.base import survey
from annotations.formats.importers.registry import importers, likely_format
from annotations.sources.remote import Fetched, HubAddress, NotFetched, fetch, hub_address
from common.download import Downloads
from tests.annotations.formats.exporters.helpers import small_corpus
from tests.challenges.receivers import closed_port
from tests.hub_double import SHA, TOKEN, Hub, Repository, hub_double

LINES = b'{"type": "corpus"}\n' * 100


@pytest.fixture
def hub() -> Iterator[Hub]:
    with hub_double(cooks=Repository({"README.md": b"# Cooks", "data/test.jsonl": LINES})) as made:
        yield made


def get(address: str, folder: Path, hub: Hub, most: int = 10_000_000, **limits: Any) -> Fetched:
    downloads = Downloads(
        *(most, limits.pop("seconds", 20.0)),
        **{"private_allowed": True, "token_for": hub.url, **limits},
    )
    return fetch(address, folder, downloads, hub.url)


def refusal(address: str, folder: Path, hub: Hub, **limits: Any) -> str:
    with pytest.raises(NotFetched) as refused:
        get(address, folder, hub, **limits)
    return str(refused.value)


# --- addresses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "meant"),
    [
        ("hf://datasets/lab/cooks", HubAddress("lab/cooks")),
        ("hf://lab/cooks@v1.0", HubAddress("lab/cooks", "v1.0")),
        ("hf://datasets/lab/cooks@v1/data/a b.csv", HubAddress("lab/cooks", "v1", "data/a b.csv")),
        (
            "hf://datasets/lab/cooks@refs%2Fconvert%2Fparquet/default",
            HubAddress("lab/cooks", "refs/convert/parquet", "default"),
        ),
        ("https://huggingface.co/datasets/lab/cooks", HubAddress("lab/cooks")),
        ("https://huggingface.co/datasets/lab/cooks/viewer/x/train", HubAddress("lab/cooks")),
        (
            "https://huggingface.co/datasets/lab/cooks/blob/main/data/a%20b.csv",
            HubAddress("lab/cooks", "main", "data/a b.csv"),
        ),
        (
            "https://huggingface.co/datasets/lab/cooks/tree/refs%2Fpr%2F7/data",
            HubAddress("lab/cooks", "refs/pr/7", "data"),
        ),
        ("https://hub.example/datasets/lab/cooks/resolve/v2/x.json", HubAddress("lab/cooks", "v2", "x.json")),
        ("https://example.org/datasets/lab/cooks", None),
        ("https://huggingface.co/lab/model", None),
    ],
)  # fmt: skip
def test_an_address_of_the_hub_names_a_dataset(address: str, meant: HubAddress | None) -> None:
    assert hub_address(address, "https://hub.example") == meant


@pytest.mark.parametrize(
    "address", ["hf://", "hf://datasets/lab", "hf://datasets/../etc", "hf://a b/c"]
)
def test_an_address_of_the_hub_that_names_none_is_refused(address: str) -> None:
    with pytest.raises(NotFetched, match="names no dataset"):
        hub_address(address, "https://hub.example")


# --- what comes -----------------------------------------------------------------------------------


def test_the_only_file_of_data_comes_with_its_commit(tmp_path: Path, hub: Hub) -> None:
    found = get("hf://datasets/lab/cooks", tmp_path, hub)
    assert found.path.read_bytes() == LINES
    assert (found.name, found.source) == ("cooks", f"hf://datasets/lab/cooks@{SHA}/data/test.jsonl")


def test_a_page_of_the_hub_is_its_dataset(tmp_path: Path, hub: Hub) -> None:
    found = get(f"{hub.url}/datasets/lab/cooks", tmp_path, hub)
    assert found.path.read_bytes() == LINES


def test_several_files_are_listed_to_choose_from(tmp_path: Path, hub: Hub) -> None:
    hub.repositories["lab/cooks"].files["data/train.jsonl"] = LINES
    told = refusal("hf://datasets/lab/cooks", tmp_path, hub)
    assert "name one as hf://datasets/lab/cooks/FILE: data/test.jsonl, data/train.jsonl" in told


def test_a_folder_comes_whole(tmp_path: Path, hub: Hub) -> None:
    hub.repositories["lab/cooks"].files["data/more/train.jsonl"] = b"{}"
    found = get("hf://datasets/lab/cooks/data", tmp_path, hub)
    assert (found.path / "test.jsonl").read_bytes() == LINES
    assert (found.path / "more/train.jsonl").read_bytes() == b"{}"


def test_our_own_export_comes_from_the_hub_as_the_same_version(tmp_path: Path) -> None:
    exporters()["dataset"].export(small_corpus(), tmp_path / "out")
    files = {
        path.relative_to(tmp_path / "out").as_posix(): path.read_bytes()
        for path in (tmp_path / "out").rglob("*.*")
    }
    (tmp_path / "in").mkdir()
    with hub_double(own=Repository(files)) as hub:
        found = get("hf://datasets/lab/own", tmp_path / "in", hub)
    assert likely_format(found.path) == ("dataset", "")
    exported, fetched = (
        survey(importers()["dataset"], path)[0].digest for path in (tmp_path / "out", found.path)
    )
    assert exported == fetched


def parquet(*texts: str) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"text": list(texts)}), sink)
    return sink.getvalue()


def test_the_hubs_parquet_files_are_one_table(tmp_path: Path) -> None:
    files = {
        "a.jsonl": b"{}",
        "b.jsonl": b"{}",
        "0.parquet": parquet("x"),
        "1.parquet": parquet("y"),
    }
    with hub_double(cooks=Repository(files, large=1)) as hub:
        urls = [f"{hub.url}/datasets/lab/cooks/resolve/main/{n}.parquet" for n in (0, 1)]
        hub.repositories["lab/cooks"].parquet = {"default": {"train": urls}}
        found = get("hf://datasets/lab/cooks", tmp_path, hub)
    assert pq.read_table(found.path).to_pydict() == {"text": ["x", "y"]}


def test_a_body_that_breaks_off_is_taken_up_where_it_did(tmp_path: Path, hub: Hub) -> None:
    hub.breaks_after = 1_000
    assert get("hf://datasets/lab/cooks", tmp_path, hub).path.read_bytes() == LINES
    ranges = [headers.get("range") for _, path, headers in hub.got if "Signature" in path]
    assert ranges == [None, "bytes=1000-"]


def test_a_server_without_ranges_begins_again(tmp_path: Path, hub: Hub) -> None:
    hub.breaks_after, hub.ranges = 1_000, False
    assert get("hf://datasets/lab/cooks", tmp_path, hub).path.read_bytes() == LINES


# --- the token ------------------------------------------------------------------------------------


def test_the_token_goes_to_the_hub_and_not_to_where_it_redirects(tmp_path: Path, hub: Hub) -> None:
    hub.repositories["lab/cooks"].private = True
    get("hf://datasets/lab/cooks", tmp_path, hub, token=TOKEN)
    sent = {"Signature" in path: headers.get("authorization") for _, path, headers in hub.got}
    assert sent == {False: f"Bearer {TOKEN}", True: None}


def test_the_token_goes_to_no_other_address(tmp_path: Path, hub: Hub) -> None:
    address = f"{hub.url}/datasets/lab/cooks/resolve/main/README.md"
    get(address, tmp_path, hub, token=TOKEN, token_for="https://elsewhere.example")
    assert [headers.get("authorization") for *_, headers in hub.got] == [None, None]


# --- what is refused ------------------------------------------------------------------------------


def test_what_the_hub_refuses_is_told_with_what_to_do(tmp_path: Path, hub: Hub) -> None:
    repository = hub.repositories["lab/cooks"]
    assert "private: for a private dataset set HF_TOKEN" in refusal("hf://lab/none", tmp_path, hub)
    assert "HF_TOKEN may not read it" in refusal("hf://lab/none", tmp_path, hub, token=TOKEN)
    assert "has no revision 'v9'" in refusal("hf://lab/cooks@v9", tmp_path, hub)
    assert "has no file x.json" in refusal("hf://lab/cooks/x.json", tmp_path, hub)
    repository.gated = True
    assert "gated" in refusal("hf://lab/cooks", tmp_path, hub)
    assert "set HF_TOKEN" in refusal("hf://lab/cooks", tmp_path, hub)
    assert "set HF_TOKEN" not in refusal("hf://lab/cooks", tmp_path, hub, token=TOKEN)


def test_a_body_that_always_breaks_off_is_refused(tmp_path: Path, hub: Hub) -> None:
    hub.breaks_after, hub.always = 100, True
    told = refusal("hf://lab/cooks", tmp_path, hub)
    assert f"breaks off after 400 of {len(LINES):,} bytes" in told


def test_a_slow_body_is_refused_at_the_time_limit(tmp_path: Path, hub: Hub) -> None:
    hub.drip = 0.05
    begun = time.monotonic()
    assert "0.4 s" in refusal("hf://lab/cooks", tmp_path, hub, seconds=0.4)
    assert time.monotonic() - begun < 20  # whole it takes 95 s


def test_a_file_above_the_limit_is_refused_before_it_comes(tmp_path: Path, hub: Hub) -> None:
    told = refusal("hf://lab/cooks", tmp_path, hub, most=len(LINES) - 1)
    assert "is larger than 0.001" in told
    assert list(tmp_path.iterdir()) == []


def test_the_limit_is_of_all_files_together(tmp_path: Path, hub: Hub) -> None:
    hub.repositories["lab/cooks"].files["data/other.jsonl"] = LINES
    assert "is larger" in refusal("hf://lab/cooks/data", tmp_path, hub, most=len(LINES) + 1)


@pytest.mark.parametrize("page", [b"<!DOCTYPE html><html>", b" <!-- x --><HTML lang=en>"])
def test_a_web_page_in_place_of_data_is_refused(tmp_path: Path, hub: Hub, page: bytes) -> None:
    hub.repositories["lab/cooks"].files["data/test.jsonl"] = page
    assert "is a web page, not a file of data" in refusal("hf://lab/cooks", tmp_path, hub)


def test_an_empty_file_is_refused(tmp_path: Path, hub: Hub) -> None:
    hub.repositories["lab/cooks"].files["data/test.jsonl"] = b""
    assert "is empty" in refusal("hf://lab/cooks", tmp_path, hub)


def with_two_splits(hub: Hub) -> None:
    repository = hub.repositories["lab/cooks"]
    repository.files |= {"x.parquet": parquet("x"), "y.parquet": parquet("y")}
    urls = [f"{hub.url}/datasets/lab/cooks/resolve/main/{n}.parquet" for n in "xy"]
    repository.parquet = {"default": {"train": urls[:1], "test": urls[1:]}}


@pytest.mark.parametrize("table", ["default:test", ":test"])
def test_one_split_of_a_configuration_comes(tmp_path: Path, hub: Hub, table: str) -> None:
    with_two_splits(hub)
    found = get(f"hf://lab/cooks/{table}", tmp_path, hub)
    assert pq.read_table(found.path).to_pylist() == [{"text": "y"}]
    assert found.source == f"hf://datasets/lab/cooks@{SHA}/default:test"


def test_splits_are_listed_to_choose_from(tmp_path: Path, hub: Hub) -> None:
    with_two_splits(hub)
    told = refusal("hf://lab/cooks", tmp_path, hub)
    assert "name one as hf://datasets/lab/cooks/CONFIG:SPLIT: default:train, default:test" in told
    told = refusal("hf://lab/cooks/default:dev", tmp_path, hub)
    assert "has no table default:dev; it has default:train, default:test" in told


def test_a_damaged_parquet_file_is_refused(tmp_path: Path, hub: Hub) -> None:
    repository = hub.repositories["lab/cooks"]
    repository.files |= {"other.jsonl": b"{}", "0.parquet": parquet("x")[:-20]}
    url = f"{hub.url}/datasets/lab/cooks/resolve/main/0.parquet"
    repository.parquet = {"default": {"train": [url]}}
    assert "damaged Parquet" in refusal("hf://lab/cooks", tmp_path, hub)


@pytest.mark.parametrize(
    "name", ["../x.jsonl", "/etc/x.jsonl", "a/../../x.jsonl", "a\0.jsonl", "\ud800.jsonl"]
)
def test_a_name_that_leads_out_of_the_folder_is_not_taken(
    tmp_path: Path, hub: Hub, name: str
) -> None:
    hub.repositories["lab/cooks"].files = {name: LINES, "data/test.jsonl": LINES}
    assert get("hf://lab/cooks", tmp_path / ".", hub).source.endswith("/data/test.jsonl")


@pytest.mark.parametrize("names", [["a", "a/b"], ["x" * 300]])
def test_files_that_cannot_lie_in_one_folder_are_refused(
    tmp_path: Path, hub: Hub, names: list[str]
) -> None:
    hub.repositories["lab/cooks"].files = {f"data/{name}": b"{}" for name in names}
    assert "lab/cooks" in refusal("hf://datasets/lab/cooks/data", tmp_path, hub)


def test_private_networks_are_refused_with_redirects(tmp_path: Path, hub: Hub) -> None:
    told = refusal(f"{hub.url}/x.json", tmp_path, hub, private_allowed=False)
    assert "not https" in told
    address = hub.url.replace("http://", "https://")
    told = refusal(f"{address}/x.json", tmp_path, hub, private_allowed=False)
    assert "not on the public internet" in told
    hub.network = "http://169.254.169.254/latest"
    assert "credentials" in refusal("hf://lab/cooks", tmp_path, hub)


def test_redirects_in_a_circle_end(tmp_path: Path, hub: Hub) -> None:
    hub.network = f"{hub.url}/datasets/lab/cooks/resolve/main/data/test.jsonl?"
    assert "redirected more than 5 times" in refusal("hf://lab/cooks", tmp_path, hub)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("https://ann:secret@example.org/x", "name or password"),
        ("https://example.org/x\ny", "no address has"),
        ("https://[::1", "is no address"),
        ("https://", "not https"),
        ("https://example.org:x/", "no address"),
    ],
)
def test_what_is_no_address_is_refused(tmp_path: Path, hub: Hub, address: str, told: str) -> None:
    assert told in refusal(address, tmp_path, hub)


def test_nobody_at_the_address_is_told(tmp_path: Path, hub: Hub) -> None:
    told = refusal(f"http://127.0.0.1:{closed_port()}/x", tmp_path, hub)
    assert "cannot be downloaded: no connection" in told


def test_another_answer_than_the_hubs_is_refused(tmp_path: Path, hub: Hub) -> None:
    hub.repositories["lab/cooks"].files = {}
    assert "has no file of data" in refusal("hf://lab/cooks", tmp_path, hub)
    hub.fails_at = "revision"
    assert "HTTP status 500" in refusal("hf://lab/cooks", tmp_path, hub)
