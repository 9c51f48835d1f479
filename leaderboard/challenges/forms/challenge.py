"""The forms of a challenge: what it is, its rules, and the reason of a decision."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth import get_user_model
from django.core.validators import validate_slug
from django.utils.translation import gettext_lazy as _

from annotations.campaigns.forms.fields import PlainText
from annotations.models import CorpusVersion
from leaderboard.challenges.actions.refusal import LONGEST_REASON
from leaderboard.challenges.actions.setup import LONGEST_RULES, ChallengeParams
from leaderboard.challenges.models import Challenge, Member, Team
from leaderboard.challenges.queries.organising import versions_to_choose

LARGEST_TEAM = 1000


def version_text(version: CorpusVersion) -> str:
    words = f"{version.corpus.name} ({version.corpus.slug} v{version.number})"
    return words if version.corpus.is_public else f"{words}, {_('private')}"


class ChallengeForm(forms.Form):
    """With ``challenge``: its settings. Without: a new one, from the plan or empty."""

    name = PlainText(
        max_length=200,
        label=_("Name"),
        help_text=_("As people call it, such as CPD challenge 2026."),
    )
    summary = PlainText(
        max_length=300,
        required=False,
        label=_("In one sentence"),
        help_text=_("Shown in the list of challenges."),
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    slug = PlainText(
        max_length=80,
        required=False,
        label=_("Address"),
        help_text=_(
            "The last part of the challenge's address. Left empty, it is made from the name."
        ),
        validators=[validate_slug],
    )
    largest_team = forms.IntegerField(
        min_value=1,
        max_value=LARGEST_TEAM,
        initial=10,
        label=_("Most members of a team"),
        help_text=_("From 1."),
    )
    use_plan = forms.BooleanField(
        required=False, initial=True, label=_("Start from the plan of the CPD challenge")
    )
    practice = forms.ModelChoiceField(
        CorpusVersion.objects.none(),
        empty_label=None,
        label=_("Corpus of the warm-up"),
        help_text=_("Teams see its references."),
    )
    test = forms.ModelChoiceField(
        CorpusVersion.objects.none(),
        empty_label=None,
        label=_("Corpus of rounds 1 and 2"),
        help_text=_(
            "If it is another corpus, its references are hidden: from the moment you make the "
            "draft only organisers see its pages. On the corpus of the warm-up they are public "
            "throughout."
        ),
    )

    def __init__(self, data: Any = None, *, challenge: Challenge | None = None) -> None:
        self.challenge = challenge
        initial = (
            {}
            if challenge is None
            else {
                name: getattr(challenge, name)
                for name in ("name", "summary", "slug", "largest_team")
            }
        )
        super().__init__(data, initial=initial)
        if challenge is not None:
            for name in ("use_plan", "practice", "test"):
                del self.fields[name]
            if challenge.state != Challenge.State.DRAFT:
                slug = self.fields["slug"]
                slug.help_text = _(
                    "It stays as it is once a challenge was opened: people have links."
                )
                slug.widget.attrs["readonly"] = True
            return
        versions = versions_to_choose()
        for name in ("practice", "test"):
            field = self.fields[name]
            field.queryset = versions
            field.label_from_instance = version_text
            field.required = data is None or bool(data.get("use_plan"))
            field.error_messages["required"] = _(
                "The plan needs a corpus. Import one, or start without the plan."
            )
        self.has_corpora = versions.exists()
        if not self.has_corpora:
            self.fields["use_plan"].initial = False

    def params(self) -> ChallengeParams:
        """Of a valid form."""
        cleaned = self.cleaned_data
        return ChallengeParams(
            cleaned["name"], cleaned["slug"], cleaned["summary"], cleaned["largest_team"]
        )


class RulesForm(forms.Form):
    text = PlainText(
        max_length=LONGEST_RULES,
        strip=False,
        label=_("Text, in Markdown"),
        widget=forms.Textarea(attrs={"rows": 22, "spellcheck": "true"}),
        help_text=_(
            "Headings with #, lists with * or 1., links as [words](https://…). HTML is shown as "
            "text."
        ),
    )


class ReasonForm(forms.Form):
    reason = PlainText(
        max_length=LONGEST_REASON,
        label=_("Reason"),
        help_text=_("The team reads it, and the audit log keeps it."),
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class RemovalForm(forms.Form):
    """Which member is taken out of a team, and why."""

    member = forms.ModelChoiceField(
        Member.objects.none(), label=_("Member"), empty_label=_("choose a member")
    )
    reason = PlainText(
        max_length=LONGEST_REASON,
        label=_("Reason for the removal"),
        help_text=_("The audit log keeps it."),
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    ban = forms.BooleanField(required=False, label=_("Also ban from this challenge"))

    def __init__(self, team: Team, data: Any = None) -> None:
        super().__init__(data, prefix="removal")
        member = self.fields["member"]
        member.queryset = team.members.select_related("user").order_by("pk")
        member.label_from_instance = lambda one: one.user.get_username()


class BanForm(forms.Form):
    """An account that is to take no part in a challenge, and why."""

    account = PlainText(
        max_length=150,
        label=_("Account"),
        help_text=_("The name it logs in with."),
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    reason = PlainText(
        max_length=LONGEST_REASON,
        label=_("Reason"),
        help_text=_("For organisers; the audit log keeps it, too."),
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, prefix="ban")

    def clean_account(self) -> Any:
        user = get_user_model().objects.filter(username=self.cleaned_data["account"]).first()
        if user is None:
            raise forms.ValidationError(_("There is no such account."))
        return user


class DeleteForm(forms.Form):
    slug = PlainText(max_length=80, required=False, label=_("The challenge's address"))
