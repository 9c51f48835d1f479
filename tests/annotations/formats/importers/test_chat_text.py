"""Chats as plain text."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from annotations.formats.importers.base import survey
from annotations.formats.importers.registry import importers, likely_format
from annotations.formats.records import DialogueRecord, ResponseRecord, SystemRecord
from tests.annotations.formats.importers.helpers import file_of, of_type, read


def chats(path: Path) -> list[list[tuple[str, str, str]]]:
    assert likely_format(path) == ("chat-text", "")
    return [
        [(one.role, one.name, one.text) for one in dialogue.messages]
        for dialogue in of_type(read("chat-text", path), DialogueRecord)
    ]


ONE = [("user", "", "Is it hot?"), ("assistant", "", "Not yet.\nNote: soon.")]
WRITTEN = {
    "plain": "User: Is it hot?\nAssistant: Not yet.\nNote: soon.\n",
    "line ends of Windows and a byte order mark": (
        "\ufeffUser: Is it hot?\r\nAssistant: Not yet.\r\nNote: soon.\r\n"
    ),
    "bold": "**User:** Is it hot?\n**Assistant:** Not yet.\nNote: soon.\n",
    "headings": "### User:\nIs it hot?\n### Assistant:\nNot yet.\nNote: soon.\n",
    "wide colons": "用户：Is it hot?\n助手：Not yet.\nNote: soon.\n",
    "capitals": "USER: Is it hot?\n\nASSISTANT: Not yet.\nNote: soon.\n",
}


@pytest.mark.parametrize("form", WRITTEN)
def test_lines_that_begin_with_who_speaks(tmp_path: Path, form: str) -> None:
    path = file_of(tmp_path, WRITTEN[form], "chat.txt")
    [chat] = chats(path)
    assert [(role, text) for role, _, text in chat] == [(role, text) for role, _, text in ONE]
    assert [one.text for one in of_type(read("chat-text", path), ResponseRecord)] == [
        "Not yet.\nNote: soon."
    ]


@pytest.mark.parametrize("between", ["\n", "---\n", "\n=====\n\n"])
def test_a_file_of_several_conversations(tmp_path: Path, between: str) -> None:
    first, second = "User: Hot?\nBot: No.\n", "User: Cold?\nBot: Yes.\n"
    found = chats(file_of(tmp_path, first + between + second, "chats.txt"))
    assert [[text for _, _, text in chat] for chat in found] == [["Hot?", "No."], ["Cold?", "Yes."]]


def test_blank_lines_between_all_messages_are_one_conversation(tmp_path: Path) -> None:
    found = chats(file_of(tmp_path, "User: Hot?\n\nBot: No.\n\nUser: Now?\n\nBot: Yes.\n", "a.txt"))
    assert [len(chat) for chat in found] == [4]


def test_a_system_beside_an_assistant_is_its_prompt(tmp_path: Path) -> None:
    [chat] = chats(file_of(tmp_path, "System: Be brief.\nUser: Hot?\nAssistant: No.\n", "a.txt"))
    assert [role for role, _, _ in chat] == ["system", "user", "assistant"]


def test_the_only_other_speaker_is_a_system_of_that_name(tmp_path: Path) -> None:
    path = file_of(tmp_path, "User: Hot?\nBaker-1: No.\nUser: Now?\nBaker-1: Yes.\n", "a.txt")
    assert [[role for role, _, _ in chat] for chat in chats(path)] == [
        ["user", "assistant", "user", "assistant"]
    ]
    assert [one.name for one in of_type(read("chat-text", path), SystemRecord)] == ["Baker-1"]


def test_what_chatgpt_said_is_its_own(tmp_path: Path) -> None:
    text = "You said:\nIs it hot?\nChatGPT said:\nNot yet.\nYou said:\nAnd now?\n"
    path = file_of(tmp_path, text, "a.txt")
    [chat] = chats(path)
    assert [(role, said) for role, _, said in chat] == [
        ("user", "Is it hot?"),
        ("assistant", "Not yet."),
        ("user", "And now?"),
    ]
    assert [one.name for one in of_type(read("chat-text", path), SystemRecord)] == ["ChatGPT"]


def test_questions_and_answers(tmp_path: Path) -> None:
    [chat] = chats(file_of(tmp_path, "Q: Is it hot?\nA: Not yet.\n", "a.txt"))
    assert [role for role, _, _ in chat] == ["user", "assistant"]


def test_people_are_no_systems(tmp_path: Path) -> None:
    path = file_of(tmp_path, "Ann: Hi.\nBob: Hi.\nAnn: Bread?\nBob: Yes: rye.\n", "a.txt")
    [chat] = chats(path)
    assert [(name, text) for _, name, text in chat] == [
        ("Ann", "Hi."),
        ("Bob", "Hi."),
        ("Ann", "Bread?"),
        ("Bob", "Yes: rye."),
    ]
    assert of_type(read("chat-text", path), ResponseRecord) == []


WHATSAPP = {
    "Android": (
        "12/01/24, 10:00 - Messages are end-to-end encrypted.\n"
        "12/01/24, 10:00 - Ann Lee: Hi\nthere\n12/01/24, 10:01 - Bob: Yes, 10:02 - maybe\n"
    ),
    "iPhone": (
        "[12.01.24, 10:00:01] Chat: \u200eMessages are encrypted.\n"
        "[12.01.24, 10:00:02] Ann Lee: Hi\nthere\n[12.01.24, 10:01:00] Bob: Yes, 10:02 - maybe\n"
    ),
    "twelve hours": (
        "1/12/24, 10:00\u202fAM - Ann Lee: Hi\nthere\n"
        "1/12/24, 10:01\u202fAM - Bob: Yes, 10:02 - maybe\n"
    ),
}


@pytest.mark.parametrize("phone", WHATSAPP)
def test_exports_of_whatsapp(tmp_path: Path, phone: str) -> None:
    [chat] = chats(file_of(tmp_path, WHATSAPP[phone], "WhatsApp Chat.txt"))
    assert [(name, text) for _, name, text in chat[-2:]] == [
        ("Ann Lee", "Hi\nthere"),
        ("Bob", "Yes, 10:02 - maybe"),
    ]


def test_a_chat_of_whatsapp_comes_with_its_pictures(tmp_path: Path) -> None:
    path = tmp_path / "WhatsApp Chat.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_chat.txt", WHATSAPP["iPhone"])
        archive.writestr("IMG-1.jpg", b"\xff\xd8\xff")
    assert [len(chat) for chat in chats(path)] == [3]


def test_a_note_of_whatsapp_is_reported(tmp_path: Path) -> None:
    path = file_of(tmp_path, WHATSAPP["Android"], "chat.txt")
    [part] = survey(importers()["chat-text"], path)
    assert (part.counts.messages, part.skipped_count) == (2, 1)


def test_a_folder_of_the_ubuntu_corpus(tmp_path: Path) -> None:
    line = "2004-11-23T11:49:00.000Z\tann\t\thot?\n2004-11-23T11:50:00.000Z\tbob\tann\tno: \tcold\n"
    for number in (1, 2):
        folder = tmp_path / "dialogs" / str(number)
        folder.mkdir(parents=True)
        (folder / "1.tsv").write_text(line)
    found = chats(tmp_path)
    assert [[(name, text) for _, name, text in chat] for chat in found] == [
        [("ann", "hot?"), ("bob", "no: \tcold")]
    ] * 2


@pytest.mark.parametrize(
    "text",
    ["name: x\ncolour: red\nsize: 3\n", "Dear all,\nPS: the oven is hot.\n", "# Notes\n* oven\n"],
)
def test_other_text_is_no_chat(tmp_path: Path, text: str) -> None:
    assert likely_format(file_of(tmp_path, text, "notes.txt"))[0] is None
