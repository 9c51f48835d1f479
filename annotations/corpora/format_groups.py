"""Formats as the import form lists them: in groups, each with what it is recognised by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotations.formats.importers.registry import importers

FORMAT_GROUPS = (
    (
        _("Tables (CSV, TSV, XLSX, Parquet)"),
        {
            "table": "columns that name a response, a system, a context, a score or a rater",
            "message-rows": "columns of speaker and text, and mostly of the conversation",
            "numbered-turns": "columns user_1, bot_1, user_2, …, or turn_1, turn_2, …",
            "response-pairs": "columns of two responses, and of their winner or scores",
            "system-columns": "a prompt or context, and two or more columns of responses",
            "ranked-rows": "a response, its rank, and a prompt, context or id",
            "ratings": "a heading of dialogue, turn, system, response and scores",
        },
    ),
    (
        _("Chats and logs of language models"),
        {
            "messages": "messages, or another list of role and content",
            "sharegpt": "conversations, a list of from and value",
            "chatgpt": "mapping and title; conversations.json",
            "openai-batch": "custom_id and body",
            "request-logs": "a request beside its response",
            "chat-text": "lines that begin with a name and a colon, or with a date",
            "slack": "files CHANNEL/2024-01-01.json",
        },
    ),
    (
        _("Traces"),
        {
            "langfuse": "sessionId, input, output, timestamp",
            "openinference": "attributes of openinference or llm.input_messages",
            "otel-genai": "resourceSpans with gen_ai attributes",
        },
    ),
    (
        _("Evaluation harnesses"),
        {
            "lm-eval": "doc_id, doc, resps; samples_*.jsonl",
            "inspect": "the beginning of a log; header.json beside samples",
            "helm": "adapter_spec and request_states; scenario_state.json",
            "promptfoo": "results with gradingResult; a CSV with columns [provider] prompt",
            "deepeval": "testCases, conversationalTestCases or testResults",
            "openai-evals": "a spec with eval_name; events of run_id, sample_id, type, data",
        },
    ),
    (
        _("Preferences and arenas"),
        {
            "preferences": "chosen and rejected, or response_j and response_k, winner and loser, …",
            "openai-preferences": "input, preferred_output, non_preferred_output",
            "unpaired-preferences": "prompt, completion, label",
            "completions": "a list of completions, each with a text, a score or a rank",
            "chatbot-arena": "conversation_a, conversation_b, winner",
            "arena-battles": "model_a, model_b, response_a, winner_model_a",
            "mt-bench": "question.jsonl and model_answer/; question_id, judge, turn",
            "mt-bench-human": "conversation_a, conversation_b, winner, turn",
            "arena-hard": "judge and games; model_judgment/",
            "prism": "conversation_history and conversation_id",
            "oasst": "message_tree_id and prompt; message_id and parent_id",
            "summary-feedback": "info, summaries, worker",
            "pandalm": "input_sequence with two responses, output_sequence",
        },
    ),
    (
        _("Annotation tools and crowdsourcing"),
        {
            "label-studio": "id, data, annotations",
            "argilla": "fields, responses, suggestions; columns *.responses",
            "potato": "instance_id, user_id, labels; annotated_instances.jsonl",
            "doccano": "id, text, label, Comments",
            "prodigy": "text, answer, _task_hash",
            "mturk": "HITId, WorkerId and columns Input.*",
            "prolific": "Submission id, Participant id, Status; a table with PROLIFIC_PID",
            "google-forms": "Timestamp; a table of items beside it",
            "qualtrics": "a heading with ImportId; a table of items beside it",
        },
    ),
    (
        _("Published corpora with human ratings"),
        {
            "usr": "annotators and responses",
            "usr-topical-chat": "annotators, responses and a fact",
            "fed": "context, system, annotations",
            "dstc9": "context, consistent, human (overall)",
            "dstc10": "dialogue_id, model, annotations",
            "dstc11": "columns UID, SID, SEG",
            "conture": "dialog_id, turns, dialog_ratings",
            "grade": "HumanScores",
            "grade-files": "human_ctx.txt in a folder",
            "fbd": "hyps",
            "summeval": "decoded and expert_annotations",
            "unieval": "source, system_output, scores",
            "xdial": "ratings and columns *_ctx, *_res or *_dial",
            "topical-chat": "content, agent, turn_rating",
            "faithdial": "history, knowledge, response, original_response",
            "mt-metrics-eval": "folders sources and system-outputs",
        },
    ),
    (
        _("Published dialogues"),
        {
            "lmsys-chat": "conversation_id, conversation, model",
            "wildchat": "conversation_hash and conversation",
            "dailydialog": "__eou__ in the first line; dialogue, a list of text",
            "dailydialog-hub": "dialog, a list of texts, with act or emotion",
            "personachat": "a first line 1 your persona:",
            "personachat-candidates": "personality and utterances",
            "multiwoz": "a log a dialogue; data.json",
            "soda": "dialogue and speakers",
            "parlai": "lines text: with labels:",
            "parlai-conversations": "dialog, a list of lists of acts",
            "squad": "context, question and answers; qas",
            "cpdc": "turn_0",
        },
    ),
    (
        "dialeval",
        {
            "jsonl": "a first line of type corpus or dialogue",
            "csv": "dialogues.csv, responses.csv, ratings.csv",
            "dataset": "data/corpus.parquet and data/dialogues.parquet",
        },
    ),
)
"""Of each group the formats by name, and by what a file of each is recognised: keys, columns or
file names."""


@dataclass(frozen=True, slots=True)
class ListedFormat:
    name: str
    summary: str
    recognised_by: str


def format_groups() -> Sequence[tuple[Any, list[ListedFormat]]]:
    """Every format once, those of no group last."""
    others = {one.name: one.summary for one in importers().values()}
    groups = [
        (heading, [ListedFormat(name, others.pop(name), by) for name, by in formats.items()])
        for heading, formats in FORMAT_GROUPS
    ]
    rest = [ListedFormat(name, summary, "") for name, summary in others.items()]
    return [*groups, *([(_("Others"), rest)] if rest else [])]
