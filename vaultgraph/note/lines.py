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

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

_INDENTED: Final = r"^(?: {4}| {0,3}\t)"
_OPEN_SYNTAX: Final = r"\[\[|\]\(|://|#[^\s#]|\^[A-Za-z0-9-]+[ \t]*$"

_MARKER: Final = r"(?:[-*+]|[0-9]{1,9}[.)])"
_PREFIX: Final = rf"[ \t>]*(?:{_MARKER}[ \t]+[ \t>]*)*"
_FENCE: Final = r"(?:`{3,}[^`]*|~{3,}.*)$"
_HTML_NAMES: Final = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h1|h2|h3|h4|h5|h6|head|header|hr|html|iframe|legend|li|link|"
    "main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|"
    "title|tr|track|ul"
)
_HTML_BLOCK: Final = rf"</?(?i:{_HTML_NAMES})(?:[ \t>]|/>|$)"
_HTML_VERBATIM: Final = r"<(?i:script|pre|style|textarea)(?:[ \t>]|$)|<\?|<![A-Za-z]|<!\[CDATA\["
_HTML_LONE: Final = (
    r"(?:<[A-Za-z][A-Za-z0-9-]*"
    r"(?:[ \t]+[A-Za-z_:][A-Za-z0-9_.:-]*(?:[ \t]*=[ \t]*(?:\"[^\"]*\"|'[^']*'|[^ \t\"'=<>`]+))?)*[ \t]*/?>"
    r"|</[A-Za-z][A-Za-z0-9-]*[ \t]*>)[ \t]*$"
)
_DEFINITION: Final = (
    rf"^{_PREFIX}\[(?:[^\]\[\\^]|\\.)(?:[^\]\[\\]|\\.)*\]:"
    r"[ \t]*(?:$|(?:<[^<>]*>|[^ \t<][^ \t]*)[ \t]*(?:$|[ \t][\"'(]))"
)
_CELL: Final = r"[ \t]*:?-+:?[ \t]*"
DELIMITER_ROW: Final = rf"^[ \t>]*(?:\|{_CELL}(?:\|{_CELL})*\|?|{_CELL}(?:\|{_CELL})+\|?)[ \t]*$"
"""The second row of a table: `|---|:-:|`."""

# name, first characters (after blank space) of the lines it is looked for in, pattern
_FLAGS: Final = (
    ("heading", "#", r"^ {0,3}#{1,6}(?:[ \t]|$)"),
    ("fence", "`~", f"^{_FENCE}"),
    ("inner_fence", "`~>-*+0123456789", f"^{_PREFIX}{_FENCE}"),
    ("percent", "%", r"^ {0,3}%%(?:[^%]|%[^%])*%?$"),
    ("dollar", "$", r"^ {0,3}\$\$(?:[^$]|\$[^$])*\$?$"),
    ("html_comment", "<", r"^<!--"),
    ("html_block", "<", f"^{_HTML_BLOCK}"),
    ("html_lone", "<", f"^{_HTML_LONE}"),
    ("html_verbatim", "<", f"^(?:{_HTML_VERBATIM})"),
    ("inner_html", "<>-*+0123456789", rf"^{_PREFIX}(?:<!--|{_HTML_BLOCK}|{_HTML_VERBATIM}|{_HTML_LONE})"),
    ("inner_code", ">-*+0123456789", rf"^{_PREFIX}(?:{_MARKER}|>)(?: {{5}}| {{0,4}}\t)"),
    ("inner_quote", "-*+0123456789", rf"^[ \t]*(?:{_MARKER}[ \t]+)+>"),
    ("list_item", "-*+0123456789", rf"^[ \t]*{_MARKER}(?:[ \t]|$)"),
    ("empty_item", "-*+0123456789", rf"^[ \t]*{_MARKER}[ \t]*$"),
    ("quote", ">", "^"),
    ("rule", "-*_", r"^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$"),
    ("underline", "-=", r"^ {0,3}(?:=+|-+)[ \t]*$"),
    ("delimiter_row", "-|:>", DELIMITER_ROW),
    ("definition", "[>-*+0123456789", _DEFINITION),
    ("footnote", "[", r"^ {0,3}\[\^[^\]\[]+\]:"),
)

_BLANKS: Final = b" \t"
_NO_BYTE: Final = 0xFF  # stands for the first byte of an empty line; UTF-8 has no such byte
_NOTHING: Final = np.zeros(0, dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class Lines:
    """Every line of every body, in order.

    ``text``: String, without line ends. ``body``: int64[lines], the body of each line. ``first``: int64[bodies + 1],
    the row of each body's first line. ``flags``: bool[lines] by name; `blank`, `indented` (a column of 4 or more),
    `open` (may hold a link, a tag or a block id) and those of the table above.
    """

    text: pl.Series
    body: IntArray
    first: IntArray
    flags: dict[str, BoolArray]


def split_lines(bodies: Sequence[str] | pl.Series) -> Lines:
    """One row a line of all ``bodies``, whose line ends are LF."""
    split = pl.Series("text", bodies, dtype=pl.String).str.split("\n")
    counts = split.list.len().to_numpy().astype(np.int64)
    text = split.explode()
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return Lines(text, np.repeat(np.arange(len(counts)), counts), first, _flags(text))


def _flags(text: pl.Series) -> dict[str, BoolArray]:
    size = len(text)
    column = pl.col("text")
    frame = text.to_frame().select(open=column.str.contains(_OPEN_SYNTAX), lead=_first_byte(column))
    lead = frame["lead"].to_numpy().copy()
    flags = {"open": frame["open"].to_numpy()}
    margins = np.flatnonzero(np.isin(lead, list(_BLANKS)))
    inner = (
        text.gather(margins)
        .to_frame()
        .select(lead=_first_byte(column.str.strip_chars_start(" \t")), is_indented=column.str.contains(_INDENTED))
    )
    lead[margins] = inner["lead"].to_numpy()
    flags["indented"] = _spread(margins, inner["is_indented"].to_numpy(), size)
    flags["blank"] = lead == _NO_BYTE
    marks = _marks()[lead]  # a bit for each flag that the first byte allows
    rows = np.flatnonzero(marks)
    marks, some = marks[rows], text.gather(rows)
    for number, (name, _, pattern) in enumerate(_FLAGS):
        chosen = np.flatnonzero(marks & (1 << number))
        found = some.gather(chosen).str.contains(pattern).to_numpy() if len(chosen) else _NOTHING
        flags[name] = _spread(rows[chosen], found, size)
    return flags


def _first_byte(texts: pl.Expr) -> pl.Expr:
    return texts.cast(pl.Binary).bin.get(0, null_on_oob=True).fill_null(_NO_BYTE)


def _marks() -> NDArray[np.uint32]:
    """For each byte, the flags of which it may be the first visible character, a bit each."""
    marks = np.zeros(256, dtype=np.uint32)
    for number, (_, characters, _) in enumerate(_FLAGS):
        marks[list(characters.encode())] |= np.uint32(1 << number)
    return marks


def _spread(rows: IntArray, found: BoolArray, size: int) -> BoolArray:
    spread = np.zeros(size, dtype=np.bool_)
    spread[rows[found]] = True
    return spread
