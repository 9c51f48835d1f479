"""``name[key=value,…]`` is read, checked, written in one way, and turned into a signature."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.metrics.base import Metric, Option
from workers.metrics.common import configuration
from workers.metrics.common.configuration import (
    Configuration,
    ConfigurationError,
    parse,
    parse_list,
)
from workers.models import MetricRun

METER = Metric(
    name="meter",
    version="3",
    summary="",
    citation="",
    build=lambda options: options,
    options=(
        Option("model", "small", ""),
        Option("layers", 6, ""),
        Option("weight", 0.5, ""),
        Option("exact", False, ""),
        Option("pool", "mean", "", choices=("mean", "max")),
    ),
    signature_facts=(("epsilon", "1e-12"),),
)


@pytest.fixture(autouse=True, scope="module")
def _with_meter() -> Iterator[None]:
    known = configuration.all_metrics
    configuration.all_metrics = lambda: {**known(), "meter": METER}
    yield
    configuration.all_metrics = known


def test_a_name_alone_has_the_defaults() -> None:
    assert parse("word_f1").options == {
        "normalize": True,
        "tokenize": "auto",
        "unicode": "fold",
    }


def test_values_have_the_type_of_their_default() -> None:
    read = parse("meter[model=hub/large, layers=12, weight=2, exact=true]").options
    assert read == {
        "model": "hub/large",
        "layers": 12,
        "weight": 2.0,
        "exact": True,
        "pool": "mean",
    }
    assert isinstance(read["weight"], float)


def test_text_names_what_differs_from_the_default_sorted() -> None:
    assert parse("meter[weight=0.25,layers=6,exact=true]").text == "meter[exact=true,weight=0.25]"


def test_two_ways_to_write_the_same_are_equal() -> None:
    assert parse("bleu_4[ normalize = TRUE ]") == parse("bleu_4[]") == parse(" bleu_4 ")
    assert hash(parse("bleu_4[]")) == hash(parse("bleu_4"))


def test_a_list_splits_outside_brackets_only() -> None:
    written = "bleu_4,meter[layers=1,exact=true],word_f1[normalize=false]"
    assert [one.text for one in parse_list(written)] == [
        "bleu_4",
        "meter[exact=true,layers=1]",
        "word_f1[normalize=false]",
    ]


def test_a_list_names_each_configuration_once() -> None:
    assert [one.text for one in parse_list("bleu_4, word_f1,bleu_4[normalize=true],")] == [
        "bleu_4",
        "word_f1",
    ]


@given(st.text(st.sampled_from('ab,[]="\\ |é/\n'), max_size=8))
def test_any_text_value_survives_being_written_and_read(value: str) -> None:
    written = Configuration.of(METER, model=value, layers=2).text
    assert parse(written).options["model"] == value
    assert [one.options["model"] for one in parse_list(f"bleu_4,{written}")[1:]] == [value]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("blue_4", 'unknown metric "blue_4"; nearest: bleu_4'),
        ("zzzzzz", 'unknown metric "zzzzzz"; there are: word_f1'),
        ("bleu_4[smoother=1]", 'bleu_4 has no option "smoother"; its options: normalize'),
        ("bleu_4[normalize=maybe]", 'option "normalize" must be true or false, not "maybe"'),
        ("bleu_4[normalize]", '"normalize" is not an option: write key=value'),
        ("bleu_4[normalize=true,normalize=false]", 'option "normalize" is given twice'),
        ("meter[layers=2.5]", 'option "layers" must be a whole number, not "2.5"'),
        ("meter[weight=nan]", 'option "weight" must be a number, not "nan"'),
        ("meter[weight=heavy]", 'option "weight" must be a number, not "heavy"'),
        ("meter[pool=min]", 'option "pool" must be one of mean, max, not "min"'),
        ('meter[model="a]', "has no partner"),
        ("bleu_4[normalize=false", "is not a metric"),
        ("bleu_4]", "is not a metric"),
        ("", "is not a metric"),
    ],
)
def test_says_what_is_wrong(written: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        parse(written)
    assert message in str(raised.value)


@pytest.mark.parametrize("value", [r"a\u0000b", r"\ud800"])
def test_what_no_database_stores_is_no_value(value: str) -> None:
    with pytest.raises(
        ConfigurationError, match='option "model" holds a character that is no text'
    ):
        parse(f'meter[model="{value}"]')


def test_a_configuration_is_no_longer_than_its_column() -> None:
    assert MetricRun._meta.get_field("configuration").max_length == configuration.LONGEST
    most = configuration.LONGEST - len("meter[model=]")
    assert len(parse(f"meter[model={'m' * most}]").text) == configuration.LONGEST
    with pytest.raises(
        ConfigurationError, match="meter with these options is 301 characters: at most 300"
    ):
        parse(f"meter[model={'m' * (most + 1)}]")


@pytest.mark.parametrize("written", ["bleu_4,meter[layers=1", "bleu_4]x,word_f1", 'bleu_4,"'])
def test_a_list_with_a_lonely_bracket_is_refused(written: str) -> None:
    with pytest.raises(ConfigurationError, match="has no partner"):
        parse_list(written)


def test_an_empty_list_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no metric is named"):
        parse_list(" , ")


def test_code_is_checked_like_text() -> None:
    with pytest.raises(ConfigurationError, match="must be a whole number"):
        Configuration.of(METER, layers=True)
    with pytest.raises(ConfigurationError, match='no option "depth"'):
        Configuration.of(METER, depth=1)


def test_the_signature_holds_every_option_the_facts_and_what_it_is_given() -> None:
    assert parse("bleu_4").signature(corpus="usr@2f", n=300, seed=None) == (
        "metric:bleu_4|version:2|normalize:true|tokenize:auto|unicode:fold|smooth:method1|"
        "lowercase:false|epsilon:1e-12|references:clipped|corpus:usr@2f|n:300"
    )


def test_a_separator_in_a_value_cannot_forge_a_part() -> None:
    assert "|seed:1" not in Configuration.of(METER, model="x|seed:1").signature()


def test_the_scorer_gets_every_option() -> None:
    assert parse("meter[layers=1]").scorer() == {
        "model": "small",
        "layers": 1,
        "weight": 0.5,
        "exact": False,
        "pool": "mean",
    }


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("prd[seeds=0]", "a whole number from 1 to 1000"),
        ("prd[seeds=1001]", "a whole number from 1 to 1000"),
        ("prd[seed=-1]", "a whole number from 0 to 4294966295"),
        ("fbd[layer=-2]", "a whole number from -1"),
    ],
)
def test_a_number_outside_an_option_s_range_is_refused_where_it_is_written(
    written: str, wanted: str
) -> None:
    with pytest.raises(ConfigurationError, match=f"must be {wanted}, not"):
        parse(written)


def test_the_ends_of_a_range_are_within_it() -> None:
    assert parse("prd[seeds=1000,seed=4294966295]").options["seeds"] == 1000


def test_a_look_that_fails_is_a_reason_in_lists_and_itself_where_a_run_asks() -> None:
    """Of a run it is told as it was: one that the database's absence stopped waits again."""

    def missing(options: object) -> str:
        raise FileNotFoundError("/home/s3cret/words.txt")

    broken = Configuration.of(replace(METER, missing=missing))
    assert (
        broken.missing()
        == "whether it can run here cannot be told (FileNotFoundError): the log says more"
    )
    with pytest.raises(FileNotFoundError):
        broken.scorer()


def test_an_option_may_be_named_as_an_argument_of_ours_is() -> None:
    named = replace(METER, options=(Option("metric", "a", ""),))
    assert Configuration.of(named, metric="b").text == "meter[metric=b]"
