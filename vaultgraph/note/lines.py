"""Bodies to one row a line, with what each line looks like on its own.

Third step of reading notes, all bodies at once. A flag says what the line would be at the top level of a document
(a heading, a fence, a list item); whether it really is one depends on the regions around it, which `regions` decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vaultgraph.note.alone import TEXTS, made_of, selected

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

_INDENTS: Final = ("    ", "\t", " \t", "  \t", "   \t")
_OPEN_SYNTAX: Final = r"\[\[|\]\(|://|#[^\s#]|\^[A-Za-z0-9-]+[ \t]*$"

MARKER: Final = r"(?:[-*+]|[0-9]{1,9}[.)])"
"""The marker of a list item."""

_FENCE: Final = r"^(?:`{3,}[^`]*|~{3,}.*)$"
_HTML_NAMES: Final = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h1|h2|h3|h4|h5|h6|head|header|hr|html|iframe|legend|li|link|"
    "main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|"
    "title|tr|track|ul"
)
_HTML_BLOCK: Final = rf"^</?(?i:{_HTML_NAMES})(?:[ \t>]|/>|$)"
_HTML_VERBATIM: Final = r"^<(?:(?i:script|pre|style|textarea)(?:[ \t>]|$)|\?|![A-Za-z]|!\[CDATA\[)"
_HTML_LONE: Final = (
    r"^(?:<[A-Za-z][A-Za-z0-9-]*"
    r"(?:[ \t]+[A-Za-z_:][A-Za-z0-9_.:-]*(?:[ \t]*=[ \t]*(?:\"[^\"]*\"|'[^']*'|[^ \t\"'=<>`]+))?)*[ \t]*/?>"
    r"|</[A-Za-z][A-Za-z0-9-]*[ \t]*>)[ \t]*$"
)
_DEFINITION: Final = r"^\[(?:[^\]\[\\^]|\\.)(?:[^\]\[\\]|\\.)*\]:[ \t]*(?:$|<.*>|[^ \t<][^ \t]*[ \t]*(?:$|[ \t][\"'(]))"
_CELL: Final = r"[ \t]*:?-+:?[ \t]*"
_DELIMITERS: Final = rf"(?:\|{_CELL}(?:\|{_CELL})*\|?|{_CELL}(?:\|{_CELL})+\|?)[ \t]*$"
DELIMITER_ROW: Final = rf"^[ \t]*{_DELIMITERS}"
"""The second row of a table: `|---|:-:|`, without the markers of quotes."""
_QUOTED_DELIMITER_ROW: Final = rf"^[ \t>]*{_DELIMITERS}"
_RULE: Final = r"(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$"

_ODD_FOOTNOTE: Final = (
    r"^\[\^[^\]\[]+\]:[ \t]*"
    rf"(?:$|`{{3}}|~{{3}}|[<>]|#{{1,6}}(?:[ \t]|$)|\$\$|%%|{MARKER}(?:[ \t]|$)|{_RULE}|\[[^\[\]]*\]:)"
)
_LATE: Final = r"(?:0*[2-9][0-9]*|0*1[0-9]+|0+)[.)](?:[ \t]|$)"  # the marker of an item that is not the first

# name, first characters (after blank space) of the lines it is looked for in, pattern
_COMMON: Final = (
    ("heading", "#", r"^ {0,3}#{1,6}(?:[ \t]|$)"),
    ("list_item", "-*+0123456789", rf"^[ \t]*{MARKER}(?:[ \t]|$)"),
)
_INNER_CODE: Final = rf"^[ \t>]*(?:{MARKER}[ \t]+[ \t>]*)*(?:{MARKER}|>)(?: {{5}}| {{0,4}}\t)"
_SELDOM: Final = (
    ("empty_item", "-*+0123456789", rf"^[ \t]*{MARKER}[ \t]*$"),
    ("late_item", "0123456789", rf"^[ \t]*{_LATE}"),
    ("deep_item", "-*+0123456789", rf"^(?:[ \t]*(?:{MARKER}[ \t]+){{3}}|[ \t]{{30,}}{MARKER}[ \t])"),
    ("inner_quote", "-*+0123456789", rf"^[ \t]*(?:{MARKER}[ \t]+)+>"),
    ("inner_code", "-*+0123456789", _INNER_CODE),
    ("rule", "-*_", rf"^ {{0,3}}{_RULE}"),
    ("underline", "-=", r"^ {0,3}(?:=+|-+)[ \t]*$"),
    ("delimiter_row", "-|:", DELIMITER_ROW),
)
# apart from the others, as many of these are what list items are too
_QUOTED: Final = (
    ("deep_quote", ">", r"^[ \t]*>[ \t]*>"),
    ("deeper_quote", ">", r"^[ \t]*>[ \t]*>[ \t]*>"),
    ("quote_item", ">", rf"^[ \t>]*{MARKER}(?:[ \t]|$)"),
    ("quote_late_item", ">", rf"^[ \t>]*{_LATE}"),
    ("inner_code", ">", _INNER_CODE),
    ("delimiter_row", ">", _QUOTED_DELIMITER_ROW),
)
# the same for what is left of a line without margin and markers of containers
_CONTENT_FLAGS: Final = (
    ("fence", "`~", _FENCE),
    ("percent", "%", r"^%%(?:[^%]|%[^%])*%?$"),
    ("dollar", "$", r"^\$\$(?:[^$]|\$[^$])*\$?$"),
    ("html_comment", "<", "^<!--"),
    ("html_block", "<", _HTML_BLOCK),
    ("html_lone", "<", _HTML_LONE),
    ("html_verbatim", "<", _HTML_VERBATIM),
    ("definition", "[", _DEFINITION),
    ("open_label", "[", r"^\[(?:[^\]\[\\]|\\.)*\\?$"),
    ("footnote", "[", r"^\[\^[^\]\[]+\]:"),
    ("odd_footnote", "[", _ODD_FOOTNOTE),
)
# what all of one first character have in common, in their place where lines with any are looked for: compiled sooner
_OUTLINES: Final = {
    "<": "^<",
    "[": r"^\[(?:[^\]\[]*|(?:[^\]\[\\]|\\.)*\\?)(?:$|\]:)",
}
# the same, below a margin or a marker only
_INNER_FLAGS: Final = (
    ("inner_heading", "#", r"^#{1,6}(?:[ \t]|$)"),
    ("inner_rule", "-*_+0123456789", rf"^(?:{_RULE}|{MARKER}[ \t]*$)"),
    ("inner_underline", "-=", r"^(?:=+|-+)[ \t]*$"),
)

_MARGIN: Final = b" \t"
_QUOTE_MARK: Final = b">"
_PREFIX: Final = rf"^[ \t>]*(?:{MARKER}[ \t]+[ \t>]*)*"
_NO_BYTE: Final = 0xFF  # stands for the first byte of an empty line; UTF-8 has no such byte


@dataclass(frozen=True, slots=True)
class _Table:
    """Flags that are looked for together: ``marks`` has, for each first byte, a bit for each flag that it allows,
    ``is_asked`` whether there are any; ``any_of`` finds the lines with any of them, and may find others that allow
    several."""

    names: tuple[str, ...]
    holds: tuple[pl.Expr, ...]  # a column of that name for each: whether a text has it
    any_of: pl.Expr
    marks: NDArray[np.uint16]
    is_asked: bytes


def _table(*rows: tuple[str, str, str]) -> _Table:
    marks = np.zeros(256, dtype=np.uint16)
    for number, (_, characters, _) in enumerate(rows):
        marks[list(characters.encode())] |= np.uint16(1 << number)
    marks.setflags(write=False)
    holds = tuple(TEXTS.str.contains(pattern).alias(name) for name, _, pattern in rows)
    any_of = "|".join(dict.fromkeys(_OUTLINES.get(characters, pattern) for _, characters, pattern in rows))
    return _Table(tuple(name for name, *_ in rows), holds, TEXTS.str.contains(any_of), marks, (marks != 0).tobytes())


_COMMON_TABLE: Final = _table(*_COMMON)
_SELDOM_TABLE: Final = _table(*_SELDOM)
_QUOTED_TABLE: Final = _table(*_QUOTED)
_TOP_TABLE: Final = _table(*_CONTENT_FLAGS)
_NESTED_TABLE: Final = _table(*_CONTENT_FLAGS, *_INNER_FLAGS)
_FOUND_BY_PATTERN: Final = tuple(
    dict.fromkeys((*_COMMON_TABLE.names, *_SELDOM_TABLE.names, *_QUOTED_TABLE.names, *_NESTED_TABLE.names))
)


@dataclass(frozen=True, slots=True)
class Lines:
    """Every line of every body, in order.

    ``text``: String, without line ends. ``body``: int64[lines], the body of each line. ``first``: int64[bodies + 1],
    the row of each body's first line. ``flags``: bool[lines] by name; `blank`, `margin` (begins with blank space),
    `indented` (a column of 4 or more), `quote`, `container` (begins with a marker of a quote or a list item), `open`
    (may hold a link, a tag or a block id), `caret` (holds one and is open), `inner_blank` (nothing but markers) and
    those of the tables above.
    """

    text: pl.Series
    body: IntArray
    first: IntArray
    flags: dict[str, BoolArray]


def split_lines(bodies: Sequence[str] | pl.Series, *, every_line: bool = False) -> Lines:
    """One row a line of all ``bodies``, whose line ends are LF; with ``every_line`` each line that is not blank is
    `open`."""
    split = made_of(pl.Series("text", bodies, dtype=pl.String), _SPLIT)
    if len(split) == 1:
        text = split[0].alias("text")
        counts = np.array([len(text)], dtype=np.int64)
    else:
        text = split.explode()
        counts = split.list.len().to_numpy().astype(np.int64)
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    flags = _flags(text)
    if every_line:
        flags["open"] = ~flags["blank"]
    return Lines(text, np.repeat(np.arange(len(counts)), counts), first, flags)


def above_of(lines: Lines, flag: BoolArray, *, at_top: bool = False) -> BoolArray:
    """For each line, ``flag`` of the line directly above; ``at_top`` for the first line of a body."""
    above = np.empty(len(flag), dtype=np.bool_)
    above[1:] = flag[:-1]
    above[lines.first[:-1]] = at_top
    return above


def at_rows(values: pl.Series, rows: IntArray) -> pl.Series:
    """``values`` at ``rows``; `Series.gather` takes ten times as long to begin.

    In one piece first: out of several, texts are copied.
    """
    return values.rechunk()[pl.Series(rows.astype(np.uint32))]


def columns_of(lines: Lines, rows: IntArray) -> IntArray:
    """The column at which each line's text begins."""
    texts = at_rows(lines.text, rows)
    found = selected(texts.to_frame("text"), [_MARGIN_SIZE, _HAS_TAB])
    column = found["margin"].to_numpy().astype(np.int64)
    if found["tab"].any():
        tabbed = np.flatnonzero(found["tab"].to_numpy())
        # row loop: lines with a tab, among those in question
        for row, text in zip(tabbed.tolist(), at_rows(texts, tabbed).to_list(), strict=True):
            column[row] = len(text[: column[row]].expandtabs(4))
    return column


def _flags(text: pl.Series) -> dict[str, BoolArray]:
    size = len(text)
    frame = selected(text.to_frame(), [_IS_OPEN, _LEAD])
    lead = frame["lead"].to_numpy().copy()
    flags = {name: np.zeros(size, dtype=np.bool_) for name in _FOUND_BY_PATTERN}
    flags["open"] = frame["open"].to_numpy()
    flags["caret"] = np.zeros(size, dtype=np.bool_)
    flags["caret"][flags["open"]] = made_of(text.filter(frame["open"]), _HAS_CARET).to_numpy()
    flags["margin"] = margin = (lead == _MARGIN[0]) | (lead == _MARGIN[1])
    flags["indented"] = np.zeros(size, dtype=np.bool_)
    if margin.any():
        within = selected(text.filter(pl.Series(margin)).to_frame(), [_IS_INDENTED, _BARE_LEAD])
        flags["indented"][margin] = within["indented"].to_numpy()
        lead[margin] = within["lead"].to_numpy()
    flags["blank"] = lead == _NO_BYTE
    _find_flags(flags, _COMMON_TABLE, text, lead)
    flags["quote"] = lead == _QUOTE_MARK[0]
    flags["container"] = container = flags["quote"] | flags["list_item"]
    for table in (_SELDOM_TABLE, _QUOTED_TABLE):
        _find_flags(flags, table, text, lead)
    top = np.flatnonzero(~(container | margin))
    _find_flags(flags, _TOP_TABLE, text, lead, top)
    flags["inner_blank"] = np.zeros(size, dtype=np.bool_)
    loose = np.flatnonzero(margin & ~container)
    if len(loose):
        flags["inner_blank"][loose] = lead[loose] == _NO_BYTE
        _find_flags(flags, _NESTED_TABLE, text, lead, loose, has_margin=True)
    if container.any():
        holders = np.flatnonzero(container)
        content = made_of(text.filter(pl.Series(container)), _CONTENT)
        inner = made_of(content, _LEAD).to_numpy()
        flags["inner_blank"][holders] = inner == _NO_BYTE
        lead[holders] = inner
        _find_flags(flags, _NESTED_TABLE, content, lead, holders)
    return flags


def _find_flags(
    flags: dict[str, BoolArray],
    table: _Table,
    texts: pl.Series,
    lead: NDArray[np.uint8],
    rows: IntArray | None = None,
    *,
    has_margin: bool = False,
) -> None:
    """Looks for the patterns of ``table`` in the lines ``rows`` (None: all) whose byte of ``lead`` allows them.
    ``texts`` are those of the rows, or of all lines; with ``has_margin``, blank space before them is left out."""
    firsts = lead if rows is None else lead[rows]
    asked = np.flatnonzero(np.frombuffer(firsts.tobytes().translate(table.is_asked), dtype=np.bool_))
    if not len(asked):
        return
    marks, found_at = table.marks[firsts[asked]], asked if rows is None else rows[asked]
    texts = texts[pl.Series((found_at if len(texts) == len(lead) else asked).astype(np.uint32))]
    if has_margin:
        texts = made_of(texts, _BARE)
    # all at once first: of most patterns there is nothing to find
    found = made_of(texts, table.any_of)
    if not found.any():
        return
    is_found = found.to_numpy()
    marks, found_at, texts = marks[is_found], found_at[is_found], texts.filter(found)
    is_several = (marks & (marks - 1)) != 0
    lone, several = np.flatnonzero(~is_several), np.flatnonzero(is_several)
    for number, name in enumerate(table.names):
        flags[name][found_at[lone[marks[lone] == 1 << number]]] = True  # nothing else can have been found
    if not len(several):
        return
    marks, found_at, texts = marks[several], found_at[several], at_rows(texts, several)
    asked_for = int(np.bitwise_or.reduce(marks))
    numbers = [number for number in range(len(table.names)) if asked_for & (1 << number)]
    held = selected(texts.to_frame("text"), [table.holds[number] for number in numbers])
    for number in numbers:
        name = table.names[number]
        is_asked = marks & (1 << number) != 0
        flags[name][found_at[is_asked & held[name].to_numpy()]] = True


def _first_byte(texts: pl.Expr) -> pl.Expr:
    return texts.cast(pl.Binary).bin.get(0, null_on_oob=True).fill_null(_NO_BYTE).alias("lead")


_SPLIT: Final = TEXTS.str.split("\n")
_LEAD: Final = _first_byte(TEXTS)
_HAS_CARET: Final = TEXTS.str.contains("^", literal=True)
_CONTENT: Final = TEXTS.str.replace(_PREFIX, "")
_IS_OPEN: Final = TEXTS.str.contains(_OPEN_SYNTAX).alias("open")
_IS_INDENTED: Final = pl.any_horizontal(TEXTS.str.starts_with(indent) for indent in _INDENTS).alias("indented")
_BARE: Final = TEXTS.str.strip_chars_start(" \t")
_MARGIN_SIZE: Final = (TEXTS.str.len_bytes().cast(pl.Int64) - _BARE.str.len_bytes()).alias("margin")
_HAS_TAB: Final = TEXTS.str.contains("\t", literal=True).alias("tab")
_BARE_LEAD: Final = _first_byte(_BARE)
