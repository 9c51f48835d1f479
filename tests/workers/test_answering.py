"""From a waiting message to an answer, over real HTTP: what is asked, what is stored, what is told
when it fails."""

from __future__ import annotations

import pytest

from annotations.campaigns.actions import chat
from annotations.campaigns.models import Campaign, ChatSystem, Conversation, Message
from tests.services import free_port
from tests.workers.chats import INSTRUCTIONS, made_chat
from tests.workers.endpoint import StubEndpoint, stub_endpoint
from workers.chats import execution
from workers.inference.language_models.chat_prompt import chat_messages, digest

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_broker(notified: list[int]) -> None:
    """Workers are not told."""


def said_and_answered(conversation: Conversation, text: str = "Hello.", key: str = "k1") -> Message:
    """The row of the answer, after a worker did what it could."""
    answer = chat.say(conversation, text, key).answer
    execution.answer(answer.pk)
    answer.refresh_from_db()
    return answer


def test_the_system_is_told_who_it_is_and_what_was_said_so_far(stub: StubEndpoint) -> None:
    conversation = made_chat(base_url=stub.base_url, temperature=0.25, max_tokens=33)
    said_and_answered(conversation, "Hello.", "k1")
    said_and_answered(conversation, "And you?", "k2")
    asked = stub.asked[-1]
    # B's, of the dialogue
    told = INSTRUCTIONS.replace("{persona}", "I have 2 bicycles. I live by a lake.")
    assert [(one["role"], one["content"]) for one in asked["messages"]] == [
        ("system", told),
        ("user", "Hello."),
        ("assistant", "You said: Hello. That was your message number 1."),
        ("user", "And you?"),
    ]
    assert (asked["model"], asked["temperature"], asked["max_tokens"]) == ("stub-model", 0.25, 33)


def test_the_partner_s_persona_is_not_told_to_the_system(stub: StubEndpoint) -> None:
    conversation = made_chat(base_url=stub.base_url)
    said_and_answered(conversation)
    assert conversation.assignment.item.dialogue.partner_persona == [
        "I have 2 cats.",
        "I work at night.",
    ]
    assert "cats" not in str(stub.asked)


def test_the_answer_names_what_wrote_it(stub: StubEndpoint) -> None:
    conversation = made_chat(base_url=stub.base_url, temperature=0.25, max_tokens=33)
    answer = said_and_answered(conversation)
    assert (answer.state, answer.text) == (
        "done",
        "You said: Hello. That was your message number 1.",
    )
    seed = stub.asked[0]["seed"]
    prompt = chat_messages(
        INSTRUCTIONS, ["I have 2 bicycles.", "I live by a lake."], [("A", "Hello.")]
    )
    assert answer.signature == (
        f"model:stub-model|temperature:0.25|max_tokens:33|seed:{seed}|attempt:1|"
        f"prompt:{digest(prompt)}"
    )


def test_an_answer_that_is_there_is_not_asked_for_again(stub: StubEndpoint) -> None:
    answer = said_and_answered(made_chat(base_url=stub.base_url))
    assert execution.answer(answer.pk) is False
    assert len(stub.asked) == 1


def test_who_says_nothing_is_asked_with_another_seed_and_then_given_up(settings) -> None:
    settings.MAX_ATTEMPTS = 2
    with stub_endpoint(lambda asked: "  \n ") as mute:
        conversation = made_chat(base_url=mute.base_url)
        answer = said_and_answered(conversation)
        assert (answer.state, answer.attempts) == ("pending", 1)
        execution.answer(answer.pk)
    answer.refresh_from_db()
    assert (answer.state, answer.attempts) == ("failed", 2)
    assert "answered without text" in answer.error
    assert len({asked["seed"] for asked in mute.asked}) == 2


def test_the_words_that_the_model_puts_into_the_rater_s_mouth_are_cut() -> None:
    with stub_endpoint(lambda asked: "B: I am well.\nA: Glad to hear.\nB: Yes.") as chatty:
        assert said_and_answered(made_chat(base_url=chatty.base_url)).text == "I am well."


def test_a_hostile_answer_is_stored_as_text_and_what_no_database_takes_is_left_out() -> None:
    with stub_endpoint(lambda asked: "<script>x</script>\0\ud800") as hostile:
        answer = said_and_answered(made_chat(base_url=hostile.base_url))
    assert answer.text == "<script>x</script>\N{REPLACEMENT CHARACTER}"


def test_an_endless_answer_is_cut_to_what_a_message_may_hold() -> None:
    with stub_endpoint(lambda asked: "word " * 5000) as endless:
        answer = said_and_answered(made_chat(base_url=endless.base_url))
    assert answer.text == ("word " * 400).strip()  # 2,000 characters are 400 × "word "


@pytest.mark.parametrize(
    ("status", "words"), [(401, "AuthenticationError"), (404, "NotFoundError")]
)
def test_an_error_of_the_endpoint_fails_the_answer_with_its_words(status: int, words: str) -> None:
    with stub_endpoint(lambda asked: status) as broken:
        answer = said_and_answered(made_chat(base_url=broken.base_url))
    assert answer.state == "failed"
    assert words in answer.error
    assert f"the stub answers {status}" in answer.error


def test_an_error_that_no_database_keeps_is_told_without_it() -> None:
    with stub_endpoint(lambda asked: 400) as broken:
        broken.words = ": half \ud800 a pair, \0 nothing"
        answer = said_and_answered(made_chat(base_url=broken.base_url))
    assert answer.state == "failed"
    assert "400: half ? a pair,  nothing" in answer.error


@pytest.mark.parametrize(
    "body", [b'"log in first"', b"[]", b"null", b'{"choices": [{}]}', b'{"choices": 7}']
)
def test_what_is_no_chat_completion_is_an_answer_without_text(body: bytes) -> None:
    with stub_endpoint(lambda asked: body) as other:
        answer = said_and_answered(made_chat(base_url=other.base_url))
    assert (answer.state, answer.attempts) == ("pending", 1)
    assert "answered without text" in answer.error


def test_an_endpoint_that_is_down_fails_the_answer_and_nothing_else_is_lost() -> None:
    conversation = made_chat(base_url=f"http://127.0.0.1:{free_port()}/v1")
    answer = said_and_answered(conversation)
    assert answer.state == "failed"
    assert "APIConnectionError" in answer.error
    assert conversation.messages.get(number=0).text == "Hello."


# --- addresses and keys ---------------------------------------------------------------------------


def test_what_is_asked_goes_nowhere_that_an_endpoint_sends_it_on_to(stub: StubEndpoint) -> None:
    """Else an endpoint could have a worker ask addresses that only the worker reaches."""
    with stub_endpoint(lambda asked: 307) as elsewhere:
        elsewhere.location = f"{stub.base_url}/chat/completions"
        answer = said_and_answered(made_chat(base_url=elsewhere.base_url))
    assert (answer.state, stub.asked) == ("failed", [])


def test_the_key_comes_from_the_worker_s_environment_under_its_name(
    stub: StubEndpoint, monkeypatch
) -> None:
    monkeypatch.setenv("DIALEVAL_CHAT_KEY_STUB", "open-sesame")
    said_and_answered(made_chat(base_url=stub.base_url, key_variable="DIALEVAL_CHAT_KEY_STUB"))
    assert stub.keys == ["Bearer open-sesame"]


def test_a_key_that_is_not_there_is_named_and_nothing_is_asked(stub: StubEndpoint) -> None:
    answer = said_and_answered(
        made_chat(base_url=stub.base_url, key_variable="DIALEVAL_CHAT_KEY_NONE")
    )
    assert (
        answer.error == "NotReachable: DIALEVAL_CHAT_KEY_NONE is not in this worker's environment"
    )
    assert stub.asked == []


def test_no_other_variable_is_read_as_a_key(monkeypatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "the site's own")
    with pytest.raises(execution.NotReachable):
        execution.endpoint_of(
            ChatSystem(base_url="http://x/v1", model="m", key_variable="SECRET_KEY")
        )


def test_a_system_without_an_address_is_at_the_site_s_endpoint(
    stub: StubEndpoint, settings
) -> None:
    settings.LLM_URL, settings.LLM_MODEL, settings.LLM_KEY = stub.base_url, "site-model", "site-key"
    assert said_and_answered(made_chat()).state == "done"
    assert (stub.asked[0]["model"], stub.keys) == ("site-model", ["Bearer site-key"])


def test_the_site_s_key_goes_to_no_other_endpoint(stub: StubEndpoint, settings) -> None:
    settings.LLM_URL, settings.LLM_MODEL, settings.LLM_KEY = (
        "http://127.0.0.1:1/v1",
        "site-model",
        "site-key",
    )
    said_and_answered(made_chat(base_url=stub.base_url))
    assert stub.keys == ["Bearer none"]


def test_without_any_endpoint_the_answer_fails_and_says_what_to_set(settings) -> None:
    settings.LLM_URL = ""
    answer = said_and_answered(made_chat())
    assert answer.state == "failed"
    assert "set DIALEVAL_LLM_URL" in answer.error


def test_a_trial_goes_the_way_of_raters_messages(stub: StubEndpoint) -> None:
    system = ChatSystem.objects.create(
        name="new", base_url=stub.base_url, model="m", instructions="You: {persona}", max_tokens=9
    )
    answer = chat.begin_trial(system, "Who are you?")
    execution.answer(answer.pk)
    answer.refresh_from_db()
    assert answer.text == "You said: Who are you? That was your message number 1."
    assert "old clocks" in stub.asked[0]["messages"][0]["content"]
    assert not Campaign.objects.exists()
