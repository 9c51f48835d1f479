"""All importers by name. Adding a format is one file and one line here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from annotations.formats.importers import (
    arena_battles,
    arena_hard,
    argilla,
    chat_text,
    chatbot_arena,
    chatgpt,
    completions,
    conture,
    cpdc,
    csv_export,
    daily_dialog_hub,
    dailydialog,
    dataset,
    deepeval,
    doccano,
    dstc9,
    dstc10,
    dstc11,
    faithdial,
    fbd,
    fed,
    google_forms,
    grade,
    grade_files,
    helm,
    inspect_log,
    jsonl,
    label_studio,
    langfuse,
    lm_eval,
    lmsys_chat,
    message_rows,
    messages,
    mt_bench,
    mt_bench_human,
    mt_metrics_eval,
    mturk,
    multiwoz,
    numbered_turns,
    oasst,
    openai_batch,
    openai_evals,
    openai_preferences,
    openinference,
    otel_genai,
    pandalm,
    parlai,
    parlai_conversations,
    personachat,
    personachat_candidates,
    potato,
    preferences,
    prism,
    prodigy,
    prolific,
    promptfoo,
    qualtrics,
    ranked_rows,
    ratings,
    request_logs,
    response_pairs,
    sharegpt,
    slack,
    soda,
    squad,
    summary_feedback,
    summeval,
    system_columns,
    table,
    topical_chat,
    unieval,
    unpaired_preferences,
    usr,
    usr_topical_chat,
    wildchat,
    xdial,
)
from annotations.formats.importers.base import Importer
from annotations.formats.importers.data_files import data_members
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.unrecognised import why_unrecognised


def importers() -> dict[str, Importer]:
    """All importers.

    Returns:
        Importers by format name, in the order in which help texts list them.
    """
    modules = (
        *(
            messages,
            sharegpt,
            message_rows,
            numbered_turns,
            lmsys_chat,
            wildchat,
            openai_batch,
            chatgpt,
        ),
        *(request_logs, chat_text, slack),
        *(preferences, openai_preferences, unpaired_preferences, response_pairs, oasst),
        *(system_columns, ranked_rows),
        *(completions, prism, summary_feedback, pandalm),
        *(chatbot_arena, mt_bench_human, mt_bench, arena_hard),
        *(langfuse, openinference, otel_genai),
        *(lm_eval, inspect_log, helm, promptfoo, deepeval, openai_evals),
        *(fed, dstc9, conture, dstc10, dstc11, summeval, usr_topical_chat, grade_files, unieval),
        *(multiwoz, soda, daily_dialog_hub, parlai, parlai_conversations, personachat_candidates),
        *(topical_chat, faithdial, squad),
        *(arena_battles, xdial, mt_metrics_eval, label_studio, argilla, potato, doccano),
        *(prodigy, mturk, prolific, google_forms, qualtrics),
        *(
            cpdc,
            usr,
            grade,
            fbd,
            dailydialog,
            personachat,
            ratings,
            table,
            csv_export,
            dataset,
            jsonl,
        ),
    )
    return {module.IMPORTER.name: module.IMPORTER for module in modules}


@dataclass(frozen=True, slots=True)
class PossibleFormat:
    """One guess.

    Attributes:
        name: of the importer.
        confidence: above 0, at most 1 (``sample.Detector``).
    """

    name: str
    confidence: float


def possible_formats(path: Path) -> list[PossibleFormat]:
    """Guess the format of a file, folder or archive from its beginning or listing.

    Args:
        path: anything; at most ``sample.BEGINNING`` bytes of a file are read, a pipe is not opened.
            Of a folder that no format describes, the first file of data tells.

    Returns:
        The importers that may read it, the most likely first; those equally likely in the order of
        ``importers``. None for garbage: nothing is raised.
    """
    sample = FileSample.of(path)
    found = [PossibleFormat(one.name, one.detect(sample)) for one in importers().values()]
    if not any(one.confidence for one in found) and (files := data_members(sample.members)):
        first = sample.member(files[0])
        found = [
            PossibleFormat(one.name, one.detect(first))
            for one in importers().values()
            if one.takes_pieces
        ]
    return sorted((one for one in found if one.confidence > 0), key=lambda one: -one.confidence)


def likely_format(path: Path) -> tuple[str | None, str]:
    """The one format that a file, folder or archive most likely has.

    Args:
        path: as in ``possible_formats``.

    Returns:
        (name of the importer, ""), or (None, why none is chosen): no format is recognised, or
        several are equally likely.
    """
    found = possible_formats(path)
    if not found:
        return None, why_unrecognised(path, FileSample.of(path))
    best = [one.name for one in found if one.confidence == found[0].confidence]
    if len(best) > 1:
        return None, f"{' and '.join(best)} are equally likely"
    return best[0], ""
