"""Every function family by example: texts, lists, numbers, conversion, and how calls go wrong."""

import math
from collections.abc import Callable
from datetime import datetime, timedelta, timezone

import pytest

from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.clauses import parse
from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.execute.bindings import Bindings
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.evaluate import evaluate
from vaultgraph.cypher.execute.fetch import column_values
from vaultgraph.cypher.execute.pattern_runner import PlannedPatterns
from vaultgraph.cypher.functions import registry
from vaultgraph.cypher.syntax import Return
from vaultgraph.errors import EvaluationError
from vaultgraph.graph.facts import Facts
from vaultgraph.graph.graph import Graph

NO_STATISTICS = Statistics(Facts(Graph(0, (), {}, {})))


@pytest.fixture
def value() -> Callable[[str], object]:
    """What an expression without variables gives."""

    def run(text: str) -> object:
        query = f"RETURN {text}"
        clause = parse(query).parts[0].clauses[0]
        assert isinstance(clause, Return)
        now = datetime(2026, 1, 15, 10, 30, tzinfo=timezone(timedelta(hours=1)))
        context = Context(
            Graph(0, (), {}, {}),
            {"long": "x" * 4_000_000},
            query,
            Budget(),
            now,
            PlannedPatterns({}, NO_STATISTICS),
        )
        return column_values(evaluate(clause.projection.items[0].expression, Bindings(1, {}), context))[0]

    return run


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("toLower('ÀB')", "àb"),
        ("UPPER('straße')", "STRASSE"),
        ("trim('\\t a b\\u00a0')", "a b"),
        ("ltrim('  a ')", "a "),
        ("rtrim('  a ')", "  a"),
        ("replace('banana', 'a', 'o')", "bonono"),
        ("replace('ab', '', '-')", "-a-b-"),
        ("split('a,b,,c', ',')", ["a", "b", "", "c"]),
        ("split('abc', '')", ["a", "b", "c"]),
        ("split('a,b;c', [',', ';'])", ["a", "b", "c"]),
        ("split('', ',')", [""]),
        ("substring('0123456789', 1)", "123456789"),
        ("substring('hello', 1, 3)", "ell"),
        ("substring('hello', 9)", ""),
        ("left('hello', 2)", "he"),
        ("left('hello', 99)", "hello"),
        ("right('hello', 2)", "lo"),
        ("right('hello', 99)", "hello"),
        ("right('hello', 0)", ""),
        ("reverse('añb')", "bña"),
        ("size('h\\u00e9\\u00e9')", 3),
        ("char_length('')", 0),
        ("toUpper(null)", None),
        ("replace('a', null, 'b')", None),
        ("btrim('  a ')", "a"),
        ("btrim('xxaxyx', 'xy')", "a"),
        ("ltrim('xxax', 'x')", "ax"),
        ("rtrim('xxax', 'x')", "xxa"),
        ("trim(BOTH 'x' FROM 'xxax')", "a"),
        ("trim(LEADING 'x' FROM 'xxax')", "ax"),
        ("trim(TRAILING FROM ' a ')", " a"),
        ("size(normalize('e\\u0301'))", 1),
        ("size(normalize('\\u00e9', 'NFD'))", 2),
        ("normalize('\\ufb01', 'NFKC')", "fi"),
    ],
)
def test_text_functions(value: Callable[[str], object], text: str, expected: object) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("size([1, null])", 2),
        ("size({a: 1})", 1),
        ("head([1, 2])", 1),
        ("head([])", None),
        ("last([1, 2])", 2),
        ("last([])", None),
        ("tail([1, 2, 3])", [2, 3]),
        ("tail([])", []),
        ("reverse([1, 'a', null])", [None, "a", 1]),
        ("range(1, 4)", [1, 2, 3, 4]),
        ("range(10, -10, -3)", [10, 7, 4, 1, -2, -5, -8]),
        ("range(0, 1, -1)", []),
        ("range(0, 0, -1)", [0]),
        ("range(0, null)", None),
        ("keys({b: 1, a: null})", ["b", "a"]),
        ("coalesce(null, 1, 1 / 0)", 1),
        ("coalesce(null)", None),
        ("isEmpty([])", True),
        ("isEmpty('a')", False),
        ("isEmpty({})", True),
        ("isEmpty(null)", None),
        ("nullIf(1, 1.0)", None),
        ("nullIf(1, 2)", 1),
        ("nullIf(null, null)", None),
        ("reduce(total = 0, x IN [1, 2, 3] | total + x)", 6),
        ("reduce(total = 0, x IN null | total + x)", None),
        ("reduce(total = 0, x IN [1, null] | total + x)", None),
        ("exists({a: 1}.a)", True),
        ("coll.sort([3, 'a', null, 1.5, true])", ["a", True, 1.5, 3, None]),
        ("coll.distinct([1, 1.0, null, 'a', null, 1])", [1, None, "a"]),
        ("coll.indexOf([1, null, 2], 2)", 2),
        ("coll.indexOf([1, 2], 3)", -1),
        ("coll.indexOf([1, 2], null)", None),
        ("coll.max([1, null, 3.5, 2])", 3.5),
        ("coll.min([])", None),
        ("coll.min(['b', 'a'])", "a"),
        ("coll.flatten([1, [2, [3]], null])", [1, 2, [3], None]),
        ("coll.flatten([1, [2, [3]]], 2)", [1, 2, 3]),
        ("coll.flatten([[1]], 0)", [[1]]),
    ],
)
def test_list_functions(value: Callable[[str], object], text: str, expected: object) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("abs(-3)", 3),
        ("abs(-0.5)", 0.5),
        ("ceil(1.2)", 2.0),
        ("floor(-1.2)", -2.0),
        ("round(2.5)", 3.0),
        ("round(-2.5)", -3.0),
        ("round(2.345, 2)", 2.35),
        ("round(7)", 7.0),
        ("round(1.25, 1)", 1.3),
        ("round(1e300, 2)", 1e300),
        ("sign(-0.5)", -1),
        ("sign(0)", 0),
        ("sqrt(12.96)", 3.6),
        ("sqrt(4)", 2.0),
        ("exp(0)", 1.0),
        ("log(e())", 1.0),
        ("log(0)", -math.inf),
        ("log10(1000)", 3.0),
        ("exp(1000)", math.inf),
        ("sin(0)", 0.0),
        ("cos(0)", 1.0),
        ("tan(0)", 0.0),
        ("atan2(1, 1)", math.pi / 4),
        ("acos(1)", 0.0),
        ("asin(0)", 0.0),
        ("atan(0)", 0.0),
        ("degrees(pi())", 180.0),
        ("radians(180)", math.pi),
        ("isNaN(0.0 / 0.0)", True),
        ("sinh(0)", 0.0),
        ("cosh(0)", 1.0),
        ("tanh(0)", 0.0),
        ("coth(1)", 1 / math.tanh(1)),
        ("isNaN(coth(0))", True),
        ("haversin(pi())", 1.0),
        ("round(1.249, 1, 'UP')", 1.3),
        ("round(-1.25, 1, 'DOWN')", -1.2),
        ("round(1.25, 1, 'half_even')", 1.2),
        ("round(-1.2, 0, 'FLOOR')", -2.0),
        ("abs(null)", None),
    ],
)
def test_number_functions(value: Callable[[str], object], text: str, expected: object) -> None:
    found = value(text)
    assert type(found) is type(expected)
    assert found == pytest.approx(expected) if isinstance(expected, float) else found == expected


@pytest.mark.parametrize("text", ["sqrt(-1)", "log(-1)", "asin(2)"])
def test_outside_its_domain_a_number_function_gives_nan(value: Callable[[str], object], text: str) -> None:
    found = value(text)
    assert isinstance(found, float)
    assert math.isnan(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("toInteger('42')", 42),
        ("toInteger(' -7 ')", -7),
        ("toInteger('2.9')", 2),
        ("toInteger('1e3')", 1000),
        ("toInteger('foo')", None),
        ("toInteger('')", None),
        ("toInteger('0x1F')", None),
        ("toInteger(82.9)", 82),
        ("toInteger(-82.9)", -82),
        ("toInteger(true)", 1),
        ("toInteger(1e300)", None),
        ("toInteger('9223372036854775808')", None),
        ("toFloat('5')", 5.0),
        ("toFloat('.5')", 0.5),
        ("toFloat('five')", None),
        ("toFloat(3)", 3.0),
        ("toBoolean('TRUE')", True),
        ("toBoolean('f alse')", None),
        ("toBoolean(0)", False),
        ("toString(42)", "42"),
        ("toString(1.0)", "1.0"),
        ("toString(true)", "true"),
        ("toString(1.0 / 0)", "Infinity"),
        ("toString(date('2026-01-05'))", "2026-01-05"),
        ("toString(duration({days: 7}))", "P7D"),
        ("toIntegerOrNull([])", None),
        ("toFloatOrNull(true)", None),
        ("toBooleanOrNull(1.5)", None),
        ("toStringOrNull([1])", None),
        ("toIntegerList(['1', 2.5, 'x', null, []])", [1, 2, None, None, None]),
        ("toFloatList([1, '2'])", [1.0, 2.0]),
        ("toBooleanList(['true', 'no'])", [True, None]),
        ("toStringList([1, true])", ["1", "true"]),
        ("valueType(1)", "INTEGER NOT NULL"),
        ("valueType(null)", "NULL"),
        ("valueType([1, 'a', 2])", "LIST<INTEGER NOT NULL | STRING NOT NULL> NOT NULL"),
        ("size(randomUUID())", 36),
    ],
)
def test_conversions(value: Callable[[str], object], text: str, expected: object) -> None:
    found = value(text)
    assert type(found) is type(expected)
    assert found == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("left(1, 2)", ["left()", "STRING", "argument 1", "INTEGER"]),
        ("substring('a', -1)", ["substring()", "negative", "-1"]),
        ("range(1, 2, 0)", ["range()", "step"]),
        ("range(1, 99999999999)", ["range()", "cap"]),
        ("range(0.0, 1)", ["range()", "INTEGER", "argument 1", "FLOAT"]),
        ("toInteger([])", ["toInteger()", "LIST"]),
        ("toFloat(true)", ["toFloat()", "BOOLEAN"]),
        ("toBoolean(1.0)", ["toBoolean()", "FLOAT"]),
        ("toString({})", ["toString()", "MAP"]),
        ("size(1)", ["size()", "INTEGER"]),
        ("labels(1)", ["labels()", "NODE", "INTEGER"]),
        ("type('')", ["type()", "RELATIONSHIP", "STRING"]),
        ("properties(1)", ["properties()", "INTEGER"]),
        ("abs(-9223372036854775808)", ["overflow", "abs()"]),
        ("duration('7 days')", ["'7 days'", "P7D"]),
        ("duration({fortnights: 1})", ["fortnights"]),
        ("duration({days: 1.0 / 0})", ["finite"]),
        ("duration('P1D') * (0.0 / 0)", ["finite"]),
        ("range(-9223372036854775807, 9223372036854775807)", ["cap"]),
        ("replace('aaaaaaaaaa', 'a', toString(range(1, 2)[0]) + $long)", ["replace()", "longer"]),
    ],
)
def test_wrong_arguments_are_named_with_their_place(
    value: Callable[[str], object], text: str, words: list[str]
) -> None:
    with pytest.raises(EvaluationError) as caught:
        value(text)
    for word in words:
        assert word in caught.value.reason
    assert caught.value.text[caught.value.start : caught.value.end] == text


def test_doubling_loops_are_stopped(value: Callable[[str], object]) -> None:
    for start in ("'ab'", "[1, 2]"):
        with pytest.raises(EvaluationError, match="longer than"):
            value(f"reduce(s = {start}, x IN range(1, 60) | s + s)")


def test_absurd_numbers_in_text_are_no_numbers(value: Callable[[str], object]) -> None:
    assert value(f"toInteger('{'9' * 5000}')") is None
    assert value(f"date('{'9' * 5000}')") is None


def test_chance_differs_from_row_to_row(value: Callable[[str], object]) -> None:
    drawn = value("[x IN range(1, 20) | rand()]")
    assert isinstance(drawn, list)
    assert len(set(drawn)) > 1
    assert all(0 <= one < 1 for one in drawn)


def test_functions_are_found_in_any_case() -> None:
    found = registry.find("TOLOWER")
    assert found is not None
    assert (found.name, found.least, found.most) == ("toLower", 1, 1)
    assert registry.find("nothing") is None
    coalesce = registry.find("coalesce")
    assert coalesce is not None
    assert (coalesce.least, coalesce.most) == (1, None)


def test_every_function_shows_its_signature() -> None:
    assert len(registry.names()) > 80
    for name in registry.names():
        found = registry.find(name)
        assert found is not None
        assert found.signature.startswith(f"{name}(")
        assert " :: " in found.signature
