"""The template tags around tables: what the address asks for is what the page shows and keeps."""

from __future__ import annotations

import html
import json
import re

from django.template import Context, engines
from django.test import RequestFactory
from django.utils.html import json_script

from common.tables import Cell, Column, Row, Table
from common.templatetags.dialeval import json_element, options, rating_list, score_list
from tests.common.tables.example import TABLE


def page(address: str, source: str = "{% data_table table %}", table: Table = TABLE) -> str:
    request = RequestFactory().get(address)
    template = engines["django"].from_string("{% load dialeval %}" + source)
    # Rendered without context processors, which would want a session and a user.
    return template.template.render(Context({"request": request, "table": table}))


def row_ids(page_html: str) -> list[str]:
    return re.findall(r'<tr[^>]* data-id="(\w+)"', page_html)


def test_the_address_sorts_the_rows() -> None:
    assert row_ids(page("/?sort=r")) == ["meteor", "bleu", "fbd"]


def test_a_header_links_to_its_order_and_keeps_the_rest_of_the_address() -> None:
    assert 'href="/?kind=agent&sort=-r"' in html.unescape(page("/?kind=agent"))


def test_a_header_of_the_sorted_column_turns_the_order_round() -> None:
    assert 'href="/?sort=r"' in html.unescape(page("/?sort=-r"))


def test_columns_of_the_address_may_come_in_one_or_in_several() -> None:
    addresses = ("/?columns=r,rank", "/?columns=r&columns=rank")
    shown = [re.findall(r'value="(\w+)" checked', page(address)) for address in addresses]
    assert shown == [["r", "rank"], ["r", "rank"]]


def long_table(rows: int) -> Table:
    columns = (Column("name", "Name"), Column("r", "r", "number"))
    return Table(
        "t",
        "T",
        columns,
        tuple(Row(f"n{n}", {"name": Cell(f"n{n}"), "r": Cell(n)}) for n in range(rows)),
    )


def test_of_a_long_table_the_first_hundred_in_the_order_asked_for_show() -> None:
    shown = page("/?sort=-r", table=long_table(201))
    assert row_ids(shown) == [f"n{n}" for n in range(200, 100, -1)]
    assert "The first 100 of 201 rows in this order" in shown
    assert 'href="/?sort=-r&rows=all"' in html.unescape(shown)


def test_a_long_table_shows_all_rows_to_who_asks() -> None:
    shown = page("/?rows=all", table=long_table(201))
    assert len(row_ids(shown)) == 201
    assert "All 201 rows." in shown


def test_a_table_that_is_not_long_shows_all_its_rows_and_says_nothing_of_it() -> None:
    shown = page("/", table=long_table(200))
    assert (len(row_ids(shown)), "table-rows" in shown) == (200, False)


def test_the_rows_of_two_tables_are_asked_for_apart() -> None:
    source = '{% data_table table prefix="turn-" %}'
    assert [
        len(row_ids(page(asked, source, long_table(201))))
        for asked in ("/?rows=all", "/?turn-rows=all")
    ] == [
        100,
        201,
    ]


def test_a_prefix_keeps_two_tables_apart() -> None:
    asked = "/?sort=r&turn-sort=-r"
    assert row_ids(page(asked, '{% data_table table prefix="turn-" %}')) == [
        "bleu",
        "meteor",
        "fbd",
    ]


def test_the_forms_send_the_rest_of_the_address_along() -> None:
    assert page("/?kind=agent").count('<input type="hidden" name="kind" value="agent">') == 2


def test_text_of_the_address_is_escaped() -> None:
    assert "<script>" not in page("/?kind=<script>&sort=<script>&columns=<script>")


def test_downloads_are_linked_by_the_name_of_the_table_and_keep_what_was_asked() -> None:
    assert 'href="/c/?aspect=Engaging&download=metrics.csv"' in html.unescape(
        page("/c/?aspect=Engaging")
    )


def test_a_table_without_rows_says_so() -> None:
    empty = Table("t", "Nothing", (Column("a", "a"),), ())
    assert "No rows yet." in page("/", table=empty)
    assert "<table" not in page("/", table=empty)


def test_a_phone_is_offered_what_its_cards_leave_out_and_nothing_else() -> None:
    """Of the columns of one table each: a range of ranks is always there, so it is nothing to
    unfold."""
    columns = {
        "corpus": (Column("corpus", "Corpus", "text"), Cell("one")),
        "r": (Column("r", "r", "number"), Cell(0.25, ci=(0.1, 0.4))),
        "p": (Column("p", "difference", "number"), Cell(0.25, p=0.04)),
        "rank": (Column("rank", "rank", "rank"), Cell(1, ci=(1, 2))),
        "tau": (Column("tau", "τ", "number", detail=True), Cell(0.2)),
    }

    def offered(*keys: str) -> list[str]:
        table = Table(
            "t",
            "",
            tuple(columns[key][0] for key in keys),
            (Row("a", {key: columns[key][1] for key in keys}),),
        )
        return re.findall(
            r'class="all-fields choice"><input[^>]*> ([^<]*)</label>', page("/", table=table)
        )

    assert offered("corpus", "rank") == []
    assert offered("corpus", "r", "rank") == offered("corpus", "p") == ["intervals"]
    assert offered("corpus", "tau") == ["every column"]
    assert offered("corpus", "r", "tau") == ["intervals and every column"]


def test_a_score_that_is_undefined_keeps_its_reason_within_reach() -> None:
    shown = page("/", '{% score value "no reference" %}')
    assert "undefined: no reference" in shown


def test_query_changes_one_parameter_and_removes_another() -> None:
    assert (
        html.unescape(page("/?page=1&kind=agent&sort=r", "{% query page=2 kind=None %}"))
        == "?page=2&sort=r"
    )


def test_what_is_written_for_a_script_is_what_django_writes() -> None:
    value = {"a": ["</script><b>&amp; é\u2028", 1.5, None, True], "b": "\\u003c"}
    assert json_element(json.dumps(value), "x<y") == json_script(value, "x<y")


def test_options_say_which_is_chosen_and_escape_their_words() -> None:
    assert options(["a", "<b>"], "<b>") == (
        '<option value="a">a</option><option value="&lt;b&gt;" selected>&lt;b&gt;</option>'
    )


def test_options_may_have_words_of_their_own() -> None:
    assert options([(1, "one"), (2, "<two>")], 2) == (
        '<option value="1">one</option><option value="2" selected>&lt;two&gt;</option>'
    )


def test_names_are_escaped_in_the_frame_of_the_table_too() -> None:
    table = Table(
        "t",
        "<i>caption</i>",
        (Column("a", "<i>"),),
        (Row("1", {"a": Cell("<i>")}),),
        notes=("<i>",),
    )
    assert "<i>" not in page("/", table=table)


def test_each_column_can_be_sorted_both_ways_by_the_name_of_its_group() -> None:
    shown = re.findall(r"<option value=.*?</option>", page("/?sort=-r"))
    assert shown[:4] == [
        '<option value="metric">metric, ascending</option>',
        '<option value="-metric">metric, descending</option>',
        '<option value="r">r (turn), ascending</option>',
        '<option value="-r" selected>r (turn), descending</option>',
    ]


def test_columns_are_chosen_under_the_names_of_their_groups() -> None:
    shown = re.findall(r'choice-group">(\w+)<|name="columns" value="(\w+)"', page("/"))
    assert ["".join(one) for one in shown] == ["turn", "r", "system", "loss", "rank"]


def test_a_list_of_scores_has_a_figure_or_a_reason_and_what_to_know() -> None:
    listed = score_list(
        [("bleu_4", 0.12345, "", "cut at 512 tokens"), ("meteor", None, "no words", "")]
    )
    assert listed == (
        '<div><dt>bleu_4</dt><dd><span class="figure">0.123</span></dd><dd class="remark">cut at 512 tokens</dd></div>'
        '<div><dt>meteor</dt><dd><details class="undefined"><summary aria-label="undefined: no words">–</summary>'
        "no words</details></dd></div>"
    )


def test_text_in_a_list_of_scores_is_escaped() -> None:
    listed = score_list([("<b>", 1.0, "", "<script>"), ("<i>", None, "<img>", "")])
    assert not re.search("<(b|script|i|img)>", listed)
    assert [listed.count(f"&lt;{name}&gt;") for name in ("b", "script", "i", "img")] == [1, 1, 1, 2]


def test_ratings_name_their_raters_where_these_have_names() -> None:
    assert (
        rating_list([("rater 1", "4"), ("", "3.5")]) == "<span>rater 1: 4</span>, <span>3.5</span>"
    )
    assert "<b>" not in rating_list([("<b>", "<b>")])
