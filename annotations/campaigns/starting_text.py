"""Guidelines to start from, one for each kind of campaign. Our own words; an organiser changes them
freely."""

from __future__ import annotations

from django.utils.translation import gettext as _

from annotations.campaigns.models import Campaign
from annotations.campaigns.queries.ratings import form_of_campaign


def guidelines_to_start_from(campaign: Campaign) -> str:
    form = form_of_campaign(campaign)
    if form is not None and form.guidelines:
        return form.guidelines
    if campaign.kind == Campaign.Kind.COLLECTION:
        return _collection()
    return "\n\n".join([_task(campaign), *_axes(campaign), _care()]) + "\n"


def _task(campaign: Campaign) -> str:
    if campaign.kind == Campaign.Kind.TURN:
        return _(
            "# What you do\n\nYou read a conversation between two people, A and B, and one "
            "response that B might give next. Judge how well this response does as what a person "
            "would say at this place.\n\n1. Read both personas: a few facts about each "
            "speaker.\n2. Read the conversation up to the response.\n3. Give the response a score "
            "from 1 to 5."
        )
    if campaign.kind == Campaign.Kind.DIALOGUE:
        return _(
            "# What you do\n\nYou read a conversation between two people, A and B. At each of B's "
            "turns you see what a system would have said there. The conversation itself goes on "
            "with B's original words, not with the system's.\n\n1. Read both personas.\n2. Read "
            "all of the system's responses, each in its place.\n3. Give all of them together one "
            "score from 1 to 5, as your overall impression."
        )
    return _(
        "# What you do\n\nYou chat with a system. You speak as A, the system speaks as B, and "
        "each has a persona: a few facts about who is speaking.\n\n1. Read your persona and speak "
        "as that person. You need not mention every fact.\n2. Keep to everyday topics and write "
        "as you would to someone you have just met.\n3. When the chat is over, give all that the "
        "system said one score from 1 to 5."
    )


def _axes(campaign: Campaign) -> list[str]:
    if campaign.axes_below is None or not campaign.axes:
        return []
    lines = "\n".join(
        f"- **{axis['name']}**" + (f": {axis['question']}" if axis["question"] else "")
        for axis in campaign.axes
    )
    requested = (
        _("After the score you are asked on which of these points it falls short:")
        if campaign.axes_below > len(campaign.scale_labels)
        else _("For a score below %(score)s you are asked on which of these points it falls short:")
        % {"score": campaign.axes_below}
    )
    return [_("# What makes it low") + f"\n\n{requested}\n\n{lines}"]


def _care() -> str:
    return _(
        "# Good to know\n\n"
        "- Trust your own impression; there is no score that you are meant to find.\n"
        "- Judge what is written, not whether you share the opinion.\n"
        "- A short answer can be a good one.\n"
        "- If something is broken or upsetting, skip it and say why, or flag it.\n"
        "- You can pause at any time. What you have sent is stored."
    )


def _collection() -> str:
    return (
        _(
            "# What you do\n\nYou write a conversation with another person. Each of you is given "
            "a persona, a few facts about who you are in this conversation, and sees only the own "
            "one. You write in turn.\n\n- Speak as the person described. You need not mention "
            "every fact, and must not contradict one.\n- Get to know each other: ask, answer, and "
            "take up what the other has said.\n- Write whole sentences, as you would to someone "
            "you have just met.\n- Do not copy the sentences of your persona; say them in your "
            "own way.\n- Never write anything that tells who you or others really are: no real "
            "names, addresses or numbers.\n\nIf your partner stops answering you can leave and "
            "meet someone else."
        )
        + "\n"
    )
