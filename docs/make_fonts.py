"""The site's fonts, cut from the published ones to the weights and characters that pages show.

    npm pack @fontsource-variable/ibm-plex-sans@5.3.0 @fontsource-variable/source-serif-4@5.3.1
    pip install fonttools brotli
    python docs/make_fonts.py FOLDER    # FOLDER holds their files …-wght-normal.woff2

English and figures, which every page has, are a file of their own, small enough to be there before
the first paint. The licence reserves the names of the originals, so the cut ones have others.
"""

from __future__ import annotations

import argparse
from io import BytesIO
from pathlib import Path
from typing import Any

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

FONTS = Path(__file__).parents[1] / "dialeval_site" / "static" / "dialeval" / "fonts"
BASIC = frozenset(map(chr, range(0x20, 0x7F))) | frozenset("\xa0\u2009±²·×–—‘’“”•…↑↓−")
LATIN = ["ccmp", "kern", "liga", "lnum", "locl", "mark", "mkmk", "tnum"]
CUT = [
    ("ibm-plex-sans-latin", "sans-basic", "dialeval Sans", BASIC, (400, 400, 700), LATIN),
    ("ibm-plex-sans-latin", "sans-latin", "dialeval Sans Latin", None, (400, 400, 700), LATIN),
    ("ibm-plex-sans-greek", "sans-greek", "dialeval Sans Greek", None, (400, 400, 700), []),
    ("source-serif-4-latin", "serif-basic", "dialeval Serif", BASIC, (400, 400, 600), LATIN),
    ("source-serif-4-latin", "serif-latin", "dialeval Serif Latin", None, (400, 400, 600), LATIN),
]


def main() -> None:
    options = argparse.ArgumentParser(description="Cut the site's fonts from the published ones.")
    options.add_argument("folder", type=Path, help="where the published fonts are")
    folder = options.parse_args().folder
    for source, target, family, characters, weights, features in CUT:
        font = TTFont(folder / f"{source}-wght-normal.woff2")
        wanted = characters or frozenset(map(chr, font.getBestCmap())) - BASIC
        rest = without_the_others(font, wanted, features)
        cut = instancer.instantiateVariableFont(rest, {"wght": weights})
        for record in cut["name"].names:
            if record.nameID in (1, 4, 6):
                record.string = family.replace(" ", "") if record.nameID == 6 else family
        cut.flavor = "woff2"
        cut.save(FONTS / f"{target}.woff2")
        print(target, len(wanted), "characters", (FONTS / f"{target}.woff2").stat().st_size)


def without_the_others(font: Any, characters: frozenset[str], features: list[str]) -> Any:
    """The font with these characters and their shapes alone, read again: its tables are lazy."""
    options = subset.Options(layout_features=features, notdef_outline=True)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text="".join(sorted(characters)))
    subsetter.subset(font)
    font.flavor = None
    stored = BytesIO()
    font.save(stored)
    stored.seek(0)
    return TTFont(stored)


if __name__ == "__main__":
    main()
