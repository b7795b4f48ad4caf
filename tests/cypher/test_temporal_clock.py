"""The time of a query: the same for all its parts, in any zone, except where the very moment is asked for."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from vaultgraph.cypher.functions.registry import find
from vaultgraph.cypher.temporals import LocalTime, Time
from vaultgraph.errors import EvaluationError

Ask = Callable[..., Any]
KINDS = ("date", "localtime", "time", "localdatetime", "datetime")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("clock", ["transaction", "statement"])
def test_a_query_has_one_time(ask: Ask, kind: str, clock: str) -> None:
    assert ask(f"{kind}() = {kind}.{clock}()") is True
    assert ask(f"duration.inSeconds({kind}(), {kind}.{clock}())").seconds == 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_very_moment_is_not_before_the_query_began(ask: Ask, kind: str) -> None:
    assert ask("datetime.realtime() >= datetime()") is True
    assert ask(f"valueType({kind}.realtime()) = valueType({kind}())") is True
    found = find(f"{kind}.realtime")
    assert found is not None
    assert found.is_volatile


def test_zoned_times_are_in_utc_unless_a_zone_is_named(ask: Ask) -> None:
    assert ask("datetime().offset") == "Z"
    assert ask("time().offset") == "Z"
    assert ask("datetime.statement('Asia/Kathmandu').offset") == "+05:45"
    assert ask("datetime.statement('Asia/Kathmandu').timezone") == "Asia/Kathmandu"
    assert ask("datetime.statement('Asia/Kathmandu') = datetime()") is True
    assert ask("time.statement('+05:45').offsetMinutes") == 345


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_value_the_time_of_the_query_is_cut(ask: Ask, kind: str) -> None:
    assert ask(f"{kind}.truncate('day') = {kind}.truncate('day', {kind}())") is True


def test_times_without_a_zone_are_those_on_the_wall_there(ask: Ask) -> None:
    query = "localdatetime.statement('+01:00') = localdatetime(datetime()) + duration('PT1H')"
    assert ask(query) is True


def test_the_types_are_pythons_where_those_do(ask: Ask) -> None:
    kinds = [type(ask(f"{kind}()")) for kind in KINDS]
    assert kinds == [date, LocalTime, Time, datetime, datetime]
    assert ask("datetime()").utcoffset() == timedelta(0)
    assert abs(ask("datetime()") - datetime.now(UTC)) < timedelta(minutes=10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("clock", ["transaction", "statement", "realtime"])
def test_an_unknown_zone_has_no_time_and_a_null_gives_null(ask: Ask, kind: str, clock: str) -> None:
    assert ask(f"{kind}.{clock}(null)") is None
    with pytest.raises(EvaluationError, match="no time zone"):
        ask(f"{kind}.{clock}('Mars/Base')")
