"""Time zones: offsets from UTC as text and seconds, and what named zones (zoneinfo) say of a moment.

Used by cypher/temporals and whatever makes moments. A named zone is looked up only here; its name is checked before it
can become part of a path. Years beyond Python's own follow the rules of a year 400 years (or a multiple) nearer.
"""

import re
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from vaultgraph.cypher.days import CYCLE_DAYS

SECOND: Final = 1_000_000_000
DAY: Final = 86_400 * SECOND
MOST_OFFSET: Final = 18 * 3600
_OFFSET: Final = re.compile(r"([-+])(\d{2})(?::?(\d{2})(?::?(\d{2}))?)?", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z][\w+-]{0,40}(?:/[A-Za-z][\w+-]{0,40}){0,2}", re.ASCII)
_EPOCH: Final = datetime(1970, 1, 1)
_LEAST_DAY: Final = -719_000  # a little within the years 1 … 9999, so that no offset leads out of them
_MOST_DAY: Final = 2_932_000


def read_offset(text: str) -> int | None:
    """Seconds east of UTC of ``Z``, ``UTC``, ``+02``, ``+0200``, ``+02:00``, ``+02:00:30``; None for anything else."""
    if text in ("Z", "z", "UTC"):
        return 0
    match = _OFFSET.fullmatch(text)
    if match is None or int(match[3] or 0) > 59 or int(match[4] or 0) > 59:
        return None
    seconds = int(match[2]) * 3600 + int(match[3] or 0) * 60 + int(match[4] or 0)
    return None if seconds > MOST_OFFSET else -seconds if match[1] == "-" else seconds


def offset_text(seconds: int) -> str:
    """``Z``, ``+02:00`` or ``-00:30:15``."""
    if not seconds:
        return "Z"
    hours, rest = divmod(abs(seconds), 3600)
    text = f"{'-' if seconds < 0 else '+'}{hours:02}:{rest // 60:02}"
    return f"{text}:{rest % 60:02}" if rest % 60 else text


def is_zone(name: str) -> bool:
    """Whether there is a zone of this name."""
    return _zone(name) is not None


def offset_at(name: str, second: int) -> int:
    """The offset of a named zone, in seconds, at an instant given in seconds since 1970.

    Raises:
        ValueError: there is no such zone.
    """
    zone = _known(name)
    day, rest = divmod(second, 86_400)
    moment = _EPOCH + timedelta(days=_near(day), seconds=rest)
    return _seconds(zone.fromutc(moment.replace(tzinfo=zone)).utcoffset())


def resolve(name: str, day: int, nanoseconds: int, preferred: int | None = None) -> tuple[int, int, int]:
    """A wall clock time in a named zone, as the zone has it: day, nanoseconds of the day, offset.

    A time that the clocks skip is moved on by what they skip; of a time that comes twice the first is meant, unless
    ``preferred`` is the offset of the second.

    Raises:
        ValueError: there is no such zone.
    """
    zone = _known(name)
    local = _EPOCH + timedelta(days=_near(day), seconds=nanoseconds // SECOND)
    offsets = [_seconds(local.replace(tzinfo=zone, fold=fold).utcoffset()) for fold in (0, 1)]
    if preferred in offsets and offsets[0] > offsets[1]:
        return day, nanoseconds, preferred  # type: ignore[return-value]
    instant = day * 86_400 + nanoseconds // SECOND - offsets[0]
    offset = offset_at(name, instant)
    moved_day, moved = divmod(instant + offset, 86_400)
    return moved_day, moved * SECOND + nanoseconds % SECOND, offset


def _near(day: int) -> int:
    """``day``, moved by whole cycles of the calendar to where Python's dates reach."""
    if _LEAST_DAY <= day <= _MOST_DAY:
        return day
    base = _LEAST_DAY if day < _LEAST_DAY else _MOST_DAY - CYCLE_DAYS + 1
    return base + (day - base) % CYCLE_DAYS


def _zone(name: str) -> ZoneInfo | None:
    if _NAME.fullmatch(name) is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _known(name: str) -> ZoneInfo:
    zone = _zone(name)
    if zone is None:
        raise ValueError(f"there is no time zone {name}")
    return zone


def _seconds(offset: timedelta | None) -> int:
    return 0 if offset is None else round(offset.total_seconds())
