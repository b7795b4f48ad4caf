"""Bytes of a file as text with plain line ends, and patterns that match lines in linear time.

Shared by files/read and files/grep. Patterns are run by polars' regular expressions, which have no backtracking, so no
pattern can hang the server; the few spellings in which Python's `re` differs are translated.
"""

import re
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl
from polars.exceptions import ComputeError

from vaultgraph.errors import ParameterError
from vaultgraph.frozen import frozen

_MOST_PATTERN_CHARS: Final = 2000
_QUANTIFIER: Final = re.compile(r"\{(\d*)(,?)(\d*)\}")
_ABSOLUTE_ANCHOR: Final = re.compile(r"\\[AzZ]|\(\?[a-zA-Z]*-")


@frozen
class Pattern:
    """A checked pattern: ``line`` for single lines; ``whole`` finds, in a whole text, at least every line that matches.

    ``whole`` is None where no such pattern can be made; then lines have to be tried one by one.
    """

    line: str
    whole: str | None


def plain_text(data: bytes) -> tuple[str, bool]:
    """Text without BOM, every line end as LF, and whether ``data`` was UTF-8; other bytes become U+FFFD."""
    try:
        text, is_utf8 = data.decode("utf-8-sig"), True
    except UnicodeDecodeError:
        text, is_utf8 = data.decode("utf-8-sig", "replace"), False
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text, is_utf8


def lines_of(text: str) -> list[str]:
    """The lines of a plain text; the end of the last line starts no new one."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def compile_pattern(pattern: str, *, ignore_case: bool = False, name: str = "pattern") -> Pattern:
    """Check a regular expression.

    Raises:
        ParameterError: it is no regular expression, needs look-around or backreferences, or is too big; ``data`` has
            the parameter ``name``, the ``reason`` and, where it is known, the 0-based ``position`` in ``pattern``.
    """
    if not pattern:
        raise ParameterError(f"{name}: is empty. Give a regular expression.", {"name": name, "reason": "empty"})
    if len(pattern) > _MOST_PATTERN_CHARS:
        raise ParameterError(
            f"{name}: {len(pattern):,} characters, over the cap of {_MOST_PATTERN_CHARS:,}.",
            {"name": name, "reason": "too long"},
        )
    translated = _translated(pattern)
    flags = "i" if ignore_case else ""
    line = f"(?{flags}){translated}" if flags else translated
    try:
        pl.Series([""]).str.contains(line)
    except ComputeError as reason:
        raise _bad_pattern(pattern, str(reason), len(line) - len(translated), name) from reason
    whole = None if _ABSOLUTE_ANCHOR.search(pattern) else f"(?m{flags}){translated}"
    return Pattern(line, whole)


def lines_around(numbers: npt.NDArray[np.int64], context: int, count: int) -> list[int]:
    """The 0-based lines of ``count`` that lie within ``context`` lines of ``numbers``, rising.

    Takes memory for the lines of the text, however many match and however wide the context is.
    """
    starts = np.bincount(np.maximum(numbers - context, 0), minlength=count + 1)
    stops = np.bincount(np.minimum(numbers + context + 1, count), minlength=count + 1)
    return np.flatnonzero(np.cumsum(starts - stops)[:count] > 0).tolist()


def cut_around(line: str, start: int, most_chars: int) -> str:
    """``line``, or about ``most_chars`` of it around the character ``start``, with … where it was cut."""
    if len(line) <= most_chars:
        return line
    first = max(0, min(start - most_chars // 3, len(line) - most_chars))
    last = first + most_chars
    return f"{'…' if first else ''}{line[first:last]}{'…' if last < len(line) else ''}"


def match_start(lines: list[str], pattern: Pattern) -> list[int]:
    """The 0-based character at which ``pattern`` first matches in each of ``lines``; 0 where it does not."""
    found = pl.Series("line", lines, dtype=pl.String).str.find(pattern.line).fill_null(0).to_list()
    return [len(line.encode()[:offset].decode("utf-8", "ignore")) for line, offset in zip(lines, found, strict=True)]


def _translated(pattern: str) -> str:
    """``pattern`` as the linear engine spells it: literal braces and brackets that Python's `re` takes as they are."""
    out: list[str] = []
    index, in_class = 0, False
    while index < len(pattern):
        char = pattern[index]
        if char == "\\":
            escape = pattern[index : index + 2]
            out.append(r"\z" if escape == r"\Z" and not in_class else escape)
            index += 2
            # The braces of \p{…}, \x{…} and \u{…} belong to the escape.
            if escape[1:] in ("p", "P", "x", "u", "U") and pattern[index : index + 1] == "{":
                stop = pattern.find("}", index) + 1 or len(pattern)
                out.append(pattern[index:stop])
                index = stop
            continue
        if in_class:
            in_class = char != "]" or pattern[index - 1 : index] == "[" or pattern[index - 2 : index] == "[^"
            is_literal = (char == "[" and pattern[index + 1 : index + 2] != ":") or char in "&~"
            out.append(f"\\{char}" if is_literal else char)
        elif char == "[":
            in_class = True
            out.append(char)
        elif char == "{":
            index += _braces(pattern, index, out)
            continue
        elif char == "}":
            out.append(r"\}")
        else:
            out.append(char)
        index += 1
    return "".join(out)


def _braces(pattern: str, index: int, out: list[str]) -> int:
    """Append the quantifier at ``index`` ({,n} spelt {0,n}) or a literal brace; returns how many characters it took."""
    found = _QUANTIFIER.match(pattern, index)
    if index and found and (found[1] or found[3]):
        out.append(f"{{{found[1] or 0}{found[2]}{found[3]}}}")
        return len(found[0])
    out.append(r"\{")
    return 1


def _bad_pattern(pattern: str, report: str, prefix_chars: int, name: str) -> ParameterError:
    """The engine's report in our words; it holds the pattern, a line with carets under it, and `error: reason`."""
    reason = next((line[7:] for line in report.splitlines() if line.startswith("error: ")), "")
    if not reason:
        reason = "it is too big" if "size limit" in report else "it is no regular expression"
    data: dict[str, object] = {"name": name, "reason": reason}
    carets = next((line for line in report.splitlines() if line.strip() and not line.strip().strip("^")), "")
    place = ""
    if carets:
        position = min(max(carets.index("^") - 4 - prefix_chars, 0), len(pattern) - 1)
        data["position"] = position
        place = f"\n  {pattern}\n  {' ' * position}^"
    if "look-" in reason or "backreference" in reason:
        advice = "Matching takes linear time here, which rules these out; search for less and filter the lines."
    else:
        advice = "To find the characters . * + ? ( ) [ ] { } | ^ $ \\ as they are, write a \\ before them."
    return ParameterError(f"{name}: {reason}. {advice}{place}", data)
