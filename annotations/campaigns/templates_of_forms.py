"""Which templates of forms a campaign can begin with."""

from __future__ import annotations

from annotations.campaigns.plan.form_changes import is_about
from annotations.questions import templates
from annotations.questions.schema import Form


def templates_for(kind: str) -> list[Form]:
    """Those about what raters of such a campaign see, by title."""
    forms = [templates.load(name) for name in templates.names()]
    fitting = [form for form in forms if is_about(form, kind)]
    return sorted(fitting, key=lambda form: form.title.casefold())


def template_named(name: str, kind: str) -> Form | None:
    """None where there is no such template for campaigns of this kind."""
    return next((form for form in templates_for(kind) if form.name == name), None)
