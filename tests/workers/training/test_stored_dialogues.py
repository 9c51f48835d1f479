"""A corpus that has been stored holds the conversations of its file: training on either is the same
run."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotations.corpora import actions
from annotations.corpora.record_stream import records_of
from annotations.formats.importers.registry import importers
from workers.training.core.conversations import dialogues_of, read_dialogues
from workers.training.core.splits import signature_of

FILES = {
    "dailydialog": "a __eou__ b __eou__ c __eou__\nd __eou__ e __eou__\n",
    "personachat": (
        "1 your persona: i row .\n2 partner's persona: i bake .\n3 a\tb\n4 c\td\n1 "
        "__SILENCE__\te\n2 f\tg\n"
    ),
}


@pytest.mark.django_db
@pytest.mark.parametrize("name", FILES)
def test_the_stored_corpus_has_the_signature_of_its_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / "file.txt"
    path.write_text(FILES[name], encoding="utf-8")
    (outcome,) = actions.import_corpus(importers()[name], path, name)
    stored, read = dialogues_of(records_of(outcome.version)), read_dialogues(path)
    assert len(stored) == 2
    assert [dialogue.personas for dialogue in stored] == [dialogue.personas for dialogue in read]
    assert signature_of(stored) == signature_of(read)
