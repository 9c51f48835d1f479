"""What an organiser writes reaches raters as text and harmless markup only."""

from __future__ import annotations

import pytest

from annotations.campaigns.markdown import to_html


def test_headings_begin_below_the_page_s_own() -> None:
    assert to_html("# One\n\n###### Six") == "<h2>One</h2>\n<h6>Six</h6>\n"


def test_lists_emphasis_and_tables() -> None:
    html = to_html("- **bold**\n\n| a | b |\n| --- | --- |\n| 1 | 2 |")
    assert "<li><strong>bold</strong></li>" in html
    assert "<th>a</th>" in html
    assert "<td>2</td>" in html


def test_an_aligned_column_has_no_style_attribute() -> None:
    """The site's security policy would refuse it, and the browser complain."""
    html = to_html("| a |\n| ---: |\n| 1 |")
    assert "<td>1</td>" in html
    assert "style" not in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "text <b onclick='alert(1)'>bold</b>",
        "<iframe src='https://example.org'></iframe>",
        "<!-- hidden --> <style>p{display:none}</style>",
        "<svg/onload=alert(1)>",
    ],
)
def test_html_is_shown_as_text(text: str) -> None:
    html = to_html(text)
    assert "<" not in html.replace("<p>", "").replace("</p>", "")
    assert "&lt;" in html


@pytest.mark.parametrize(
    "target",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java&#115;cript:alert(1)",
        "&#106;avascript:alert(1)",
        "vbscript:x",
        "data:text/html;base64,PHNjcmlwdD4=",
        "file:///etc/passwd",
        "//example.org/",
        "/campaigns/",
    ],
)
def test_links_to_anything_but_a_web_or_mail_address_are_refused(target: str) -> None:
    assert "href" not in to_html(f"[click]({target})")
    assert "href" not in to_html(f"[click][r]\n\n[r]: {target}")
    assert "href" not in to_html(f"<{target}>")


def test_a_link_opens_beside_the_page_and_vouches_for_nothing() -> None:
    html = to_html('[paper](https://example.org/a?b="c")')
    assert 'href="https://example.org/a?b=%22c%22"' in html
    assert 'rel="nofollow noopener noreferrer"' in html
    assert 'target="_blank"' in html


def test_images_are_not_loaded() -> None:
    """An image on another server would tell it who rates, and when."""
    assert "<img" not in to_html("![seen](https://example.org/pixel.png)")


def test_a_nul_character_is_replaced() -> None:
    assert "\0" not in to_html("a\0b")


def test_fifty_thousand_brackets_are_read_in_time() -> None:
    assert to_html("[" * 50_000)
