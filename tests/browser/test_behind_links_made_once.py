"""Pages that stand in no list: behind a password, a letter, or a signed address."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import requests
from playwright.sync_api import Browser, expect

from tests.browser.for_everybody import assert_everybody_can_use
from tests.browser.stage import Stage
from tests.browser.visit import Visit, visitors
from tests.dialeval_site.authenticator import code_of
from tests.dialeval_site.openid_provider import CLIENT_ID, CLIENT_SECRET, running_provider
from tests.site import Site

PASSWORD, NEW = "a door of seven colours", "a window of eight colours"


@pytest.mark.slow
def test_two_factor_log_in_is_set_up_and_asked_for(
    visit: Callable[..., Visit], stage: Stage
) -> None:
    """The app's code turns it on; a recovery code logs in, for an app's code is good once."""
    stage.python(
        "from django.contrib.auth.models import User\nUser.objects.create_user('two', "
        f"password={PASSWORD!r})"
    )
    visitor = visit()
    visitor.log_in("two", PASSWORD)
    page = visitor.go("/accounts/two-factor/")
    page.get_by_label("Code").fill(code_of(page.locator("code.key").inner_text()))
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Turn it on").click()
    recovery = page.locator(".code-list code").first.inner_text()
    assert_everybody_can_use(page)
    page.get_by_role("link", name="I have saved them").click()
    expect(page.get_by_role("heading", name="Turn it off")).to_be_visible()
    assert_everybody_can_use(page)
    page.get_by_role("button", name="Log out").click()

    page.goto("/accounts/login/")
    page.get_by_label("Username").fill("two")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Your code")).to_be_visible()
    assert_everybody_can_use(page)
    page.get_by_label("Code").fill(recovery)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("button", name="Log out")).to_be_visible()


@pytest.mark.slow
def test_a_letter_s_link_leads_to_a_new_password(visit: Callable[..., Visit], stage: Stage) -> None:
    link = stage.python(
        "from django.contrib.auth.models import User\nfrom django.contrib.auth.tokens import "
        "default_token_generator\nfrom django.urls import reverse\nfrom django.utils.http import "
        "urlsafe_base64_encode\nuser = User.objects.create_user('forgetful', "
        f"email='f@example.org', password={PASSWORD!r})\nuid = "
        "urlsafe_base64_encode(str(user.pk).encode())\nprint(reverse('password-reset-link', "
        "args=[uid, default_token_generator.make_token(user)]))"
    )
    visitor = visit()
    page = visitor.go(link)
    assert_everybody_can_use(page)
    page.get_by_label("New password", exact=True).fill(NEW)
    page.get_by_label("New password confirmation").fill(NEW)
    page.locator("main button").click()
    page.wait_for_load_state("load")
    visitor.log_in("forgetful", NEW)
    assert_everybody_can_use(visitor.go(link))  # it was good once, and says so


@pytest.mark.slow
def test_an_account_is_linked_to_a_provider_and_logs_in_by_it(
    chromium: Browser, stage: Stage
) -> None:
    stage.python(
        "from django.contrib.auth.models import User\nUser.objects.create_user('linked', "
        f"'l@example.edu', {PASSWORD!r})"
    )
    person = {"sub": "u-1", "email": "l@example.edu", "email_verified": True}
    with running_provider() as provider:
        requests.post(f"{provider}/person", json={"claims": person}, timeout=30)
        site = Site(
            stage.site.home,
            {
                **stage.site.settings,
                "DIALEVAL_OIDC_ISSUER": provider,
                "DIALEVAL_OIDC_CLIENT_ID": CLIENT_ID,
                "DIALEVAL_OIDC_CLIENT_SECRET": CLIENT_SECRET,
            },
        )
        try:
            with visitors(chromium, site.start_web(), {}) as visit:
                page = visit().go("/accounts/login/")
                assert_everybody_can_use(page)
                page.get_by_role("link", name="Log in with your institution").click()
                assert_everybody_can_use(page)
                page.get_by_label("Password").fill(PASSWORD)
                page.get_by_role("button", name="Link the account").click()
                page.get_by_role("button", name="Log out").click()
                page.goto("/accounts/login/?next=/accounts/")
                page.get_by_role("link", name="Log in with your institution").click()
                expect(page.get_by_role("heading", name="Linked log-in")).to_be_visible()
                assert_everybody_can_use(page)
        finally:
            site.stop()


@pytest.mark.slow
def test_the_state_of_a_statistic_is_a_page(visit: Callable[..., Visit], stage: Stage) -> None:
    visitor = visit()
    visitor.go("/corpora/demo/systems/")
    signed = stage.python(
        "from leaderboard.results.look import KEYS\n"
        "from leaderboard.models import Analysis\n"
        "print(KEYS.sign(str(Analysis.objects.filter(state='done').latest('computed_at').pk)))"
    )
    page = visitor.go(f"/analyses/{signed}/")
    expect(page.get_by_text("It is there: computed")).to_be_visible()
    assert_everybody_can_use(page)
