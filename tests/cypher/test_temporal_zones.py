"""Named zones: clocks that skip and repeat an hour, far years, and names that are none."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultgraph.cypher.days import CYCLE_DAYS, day_number
from vaultgraph.cypher.temporals import moment_text, zoned_at, zoned_in
from vaultgraph.cypher.zones import is_zone, offset_text, read_offset
from vaultgraph.errors import EvaluationError

Ask = Callable[..., Any]


def test_a_skipped_time_is_moved_on_by_what_the_clocks_skip(ask: Ask) -> None:
    assert str(ask("datetime('2024-03-31T02:30[Europe/Berlin]')")) == "2024-03-31T03:30+02:00[Europe/Berlin]"


def test_of_a_repeated_time_the_first_is_meant_unless_the_offset_is_given(ask: Ask) -> None:
    assert str(ask("datetime('2024-10-27T02:30[Europe/Berlin]')")) == "2024-10-27T02:30+02:00[Europe/Berlin]"
    assert str(ask("datetime('2024-10-27T02:30+01:00[Europe/Berlin]')")) == "2024-10-27T02:30+01:00[Europe/Berlin]"


@settings(deadline=None)
@given(
    st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
    st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"]),
)
def test_zones_say_what_zoneinfo_says(instant: datetime, name: str) -> None:
    local = instant.replace(tzinfo=UTC).astimezone(ZoneInfo(name))
    since = instant - datetime(1970, 1, 1)
    made = zoned_at((since // timedelta(microseconds=1)) * 1000, name)
    assert made == local.astimezone(UTC)
    assert (made.offset_seconds, made.zone) == (local.utcoffset().total_seconds(), name)
    again = zoned_in(made.day, made.nanoseconds, name, made.offset_seconds)
    assert moment_text(again) == moment_text(made)


def test_years_beyond_pythons_follow_the_calendar_of_nearer_ones() -> None:
    summer = day_number(2024, 7, 1) + 100_000 * CYCLE_DAYS
    assert moment_text(zoned_in(summer, 0, "Europe/Berlin")) == "+40002024-07-01T00:00+02:00[Europe/Berlin]"
    early = moment_text(zoned_in(day_number(-5000, 7, 1), 0, "Europe/Berlin"))
    assert early.startswith("-5000-07-01T00:00+00:53:28")


@pytest.mark.parametrize(
    "name",
    ["", "Mars/Base", "../../etc/passwd", "/etc/localtime", "Europe", "Europe/../UTC", "a" * 300, "Europe/Berlin\n"],
)
def test_names_that_are_no_zone(name: str, ask: Ask) -> None:
    assert not is_zone(name)
    with pytest.raises(EvaluationError, match="no time zone"):
        ask("datetime({year: 2024, timezone: $name})", name=name)


@settings(deadline=None)
@given(st.integers(-64_800, 64_800))
def test_printed_offsets_read_back(seconds: int) -> None:
    assert read_offset(offset_text(seconds)) == seconds


@pytest.mark.parametrize("text", ["", "+1", "+19", "+18:01", "+01:60", "01:00", "+01:", "ZZ"])
def test_what_is_no_offset(text: str) -> None:
    assert read_offset(text) is None
