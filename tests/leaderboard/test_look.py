"""What can be proved of the look without a browser: contrast, and that nothing needs an inline
style or script."""

from __future__ import annotations

import re
from pathlib import Path

import plotly
import pytest

PROJECT = Path(__file__).resolve().parents[2]
STATIC = PROJECT / "dialeval_site" / "static" / "dialeval"
TOKENS = {
    name: (light, dark)
    for name, light, dark in re.findall(
        r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)",
        (STATIC / "tokens.css").read_text(),
    )
}


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_black_on_white_has_the_known_contrast() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


GROUNDS = ("paper", "surface", "sunk", "floating")
WASHED = ("accent", "people", "judge", "good", "warn", "bad")


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("text", "ground"),
    [(text, ground) for text in ("ink", "ink-2", "ink-3", *WASHED) for ground in GROUNDS]
    + [(text, f"{text}-wash") for text in WASHED]
    + [(text, f"{wash}-wash") for text in ("ink", "ink-2") for wash in WASHED]
    + [("on-accent", "accent")],
)
def test_text_has_a_contrast_of_four_and_a_half(text: str, ground: str, theme: int) -> None:
    assert contrast(TOKENS[text][theme], TOKENS[ground][theme]) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ground", ["paper", "surface"])
def test_controls_have_an_edge_of_three_to_one(ground: str, theme: int) -> None:
    assert contrast(TOKENS["rule-2"][theme], TOKENS[ground][theme]) >= 3


def test_the_typefaces_lie_here_with_their_licences() -> None:
    tokens = (STATIC / "tokens.css").read_text()
    faces = {Path(face).name for face in re.findall(r'url\("fonts/([^"]+)"\)', tokens)}
    assert {file.name for file in (STATIC / "fonts").glob("*.woff2")} == faces
    assert len(faces) == len(re.findall("src: url", tokens)) == 5
    assert sum((STATIC / "fonts" / face).stat().st_size for face in faces) < 80_000
    for licence in ("OFL-ibm-plex-sans.txt", "OFL-source-serif-4.txt"):
        assert "SIL Open Font License, Version 1.1" in " ".join(
            (STATIC / "fonts" / licence).read_text().split()
        )


def test_typefaces_that_come_late_move_no_line() -> None:
    """They wait for the next page, and the two of every page are asked for with the first."""
    faces = re.findall("@font-face {.*?}", (STATIC / "tokens.css").read_text(), re.DOTALL)
    loaded = [face for face in faces if "url(" in face]
    assert [face for face in loaded if "font-display: optional" not in face] == []
    base = (PROJECT / "templates/base.html").read_text()
    asked = re.findall(r'rel="preload" href="{% static \'dialeval/fonts/([\w-]+)', base)
    assert asked == ["sans-basic", "serif-basic"]


def test_figures_and_english_need_one_file_of_a_typeface() -> None:
    """``−`` and the thin space of numbers, quotes and dashes are in the file of letters."""
    tokens = (STATIC / "tokens.css").read_text()
    for name in ("sans-basic", "serif-basic"):
        ranges = re.search(name + r".*?unicode-range: ([^;]+);", tokens, re.DOTALL)
        assert ranges is not None
        bounds = [
            [int(end, 16) for end in one.removeprefix("U+").split("-")]
            for one in ranges[1].split(", ")
        ]
        for character in "aZ09~[]−\u2009\xa0±·×–—‘’“”…":
            assert any(span[0] <= ord(character) <= span[-1] for span in bounds), character


WRITTEN_BY_CODE = re.compile(
    r"(series|shade|tint|of)-\w+$"  # joined with a number or a kind
    r"|tied-with-the-best$"  # the slug of a badge's word
    r"|htmx-request$"
    r"|(js-plotly-plot|plotly-notifier|notifier-note|main-svg|svg-container|crisp|draglayer|nsewdrag"
    r"|user-select-none|cursor-[\w-]+)$"
)


def test_style_sheets_have_no_rule_for_a_class_that_nothing_has() -> None:
    packages = ("templates", "dialeval_site", "annotations", "workers", "leaderboard", "common")
    names = set(
        re.findall(
            r"[A-Za-z][\w-]*",
            " ".join(
                file.read_text(encoding="utf-8")
                for package in packages
                for file in (PROJECT / package).rglob("*.*")
                if file.suffix in (".html", ".js", ".py")
            ),
        )
    )
    styled = {
        (sheet.name, name)
        for sheet in STATIC.glob("*.css")
        for selector in re.findall(r"([^{}]*)[{]", _without_strings(sheet))
        for name in re.findall(r"\.([A-Za-z][\w-]*)", selector)
    }
    assert {
        one for one in styled if one[1] not in names and not WRITTEN_BY_CODE.match(one[1])
    } == set()


def test_every_token_is_used_and_none_is_unknown() -> None:
    sheets = " ".join(sheet.read_text() for sheet in STATIC.glob("*.css"))
    scripts = " ".join(script.read_text() for script in STATIC.glob("*.js"))
    defined = set(re.findall(r"(--[\w-]+)\s*:", sheets))
    used = set(re.findall(r"var\((--[\w-]+)", sheets))
    assert used - defined == set()
    assert defined - used - set(re.findall(r"--[\w-]+", scripts)) == set()


def _without_strings(sheet: Path) -> str:
    return re.sub(r'/\*.*?\*/|"[^"]*"', "", sheet.read_text(), flags=re.DOTALL)


def test_templates_have_no_inline_style_or_handler() -> None:
    found = [
        f"{path.relative_to(PROJECT)}: {match.group()}"
        for path in (PROJECT / "templates").rglob("*.html")
        for match in re.finditer(
            r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)|javascript:", _markup(path)
        )
    ]
    assert found == []


def _markup(template: Path) -> str:
    """Without what stands in tags of the template language: ``{% query only=None %}`` is no
    attribute."""
    return re.sub(r"{%.*?%}", "{}", template.read_text())


def test_the_map_style_that_plotly_is_told_to_leave_out_is_the_one_it_carries() -> None:
    script = (STATIC / "charts.js").read_text()
    style_id = re.search(r'MAP_STYLE_ID = "(\w+)"', script)
    assert style_id is not None
    library = (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_text(
        encoding="utf-8"
    )
    assert f'document.getElementById("{style_id.group(1)}")' in library


def test_plotly_still_honours_the_link_that_stands_for_its_own_style() -> None:
    library = (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_text(
        encoding="utf-8"
    )
    assert "no-inline-styles" in library
    assert re.search(
        r'id="plotly.js-style-global" class="no-inline-styles"',
        (PROJECT / "templates/base.html").read_text(),
    )
