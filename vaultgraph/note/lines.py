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
DELIMITER_ROW: Final = rf"^[ \t>]*(?:\|{_CELL}(?:\|{_CELL})*\|?|{_CELL}(?:\|{_CELL})+\|?)[ \t]*$"
"""The second row of a table: `|---|:-:|`."""
_RULE: Final = r"(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$"

_ODD_FOOTNOTE: Final = (
    r"^\[\^[^\]\[]+\]:[ \t]*"
    rf"(?:$|`{{3}}|~{{3}}|[<>]|#{{1,6}}(?:[ \t]|$)|\$\$|%%|{MARKER}(?:[ \t]|$)|{_RULE}|\[[^\[\]]*\]:)"
)
_LATE: Final = r"(?:0*[2-9][0-9]*|0*1[0-9]+|0+)[.)](?:[ \t]|$)"  # the marker of an item that is not the first

# name, first characters (after blank space) of the lines it is looked for in, pattern
_FLAGS: Final = (
    ("heading", "#", r"^ {0,3}#{1,6}(?:[ \t]|$)"),
    ("list_item", "-*+0123456789", rf"^[ \t]*{MARKER}(?:[ \t]|$)"),
    ("empty_item", "-*+0123456789", rf"^[ \t]*{MARKER}[ \t]*$"),
    ("late_item", "0123456789", rf"^[ \t]*{_LATE}"),
    ("deep_item", "-*+0123456789", rf"^(?:[ \t]*(?:{MARKER}[ \t]+){{3}}|[ \t]{{30,}}{MARKER}[ \t])"),
    ("quote", ">", "^"),
    ("deep_quote", ">", r"^[ \t]*>[ \t]*>"),
    ("deeper_quote", ">", r"^[ \t]*>[ \t]*>[ \t]*>"),
    ("quote_item", ">", rf"^[ \t>]*{MARKER}(?:[ \t]|$)"),
    ("quote_late_item", ">", rf"^[ \t>]*{_LATE}"),
    ("inner_quote", "-*+0123456789", rf"^[ \t]*(?:{MARKER}[ \t]+)+>"),
    ("inner_code", ">-*+0123456789", rf"^[ \t>]*(?:{MARKER}[ \t]+[ \t>]*)*(?:{MARKER}|>)(?: {{5}}| {{0,4}}\t)"),
    ("rule", "-*_", rf"^ {{0,3}}{_RULE}"),
    ("underline", "-=", r"^ {0,3}(?:=+|-+)[ \t]*$"),
    ("delimiter_row", "-|:>", DELIMITER_ROW),
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
# the same, below a margin or a marker only
_INNER_FLAGS: Final = (
    ("inner_heading", "#", r"^#{1,6}(?:[ \t]|$)"),
    ("inner_rule", "-*_+0123456789", rf"^(?:{_RULE}|{MARKER}[ \t]*$)"),
    ("inner_underline", "-=", r"^(?:=+|-+)[ \t]*$"),
)

_MARGIN: Final = b" \t"
_PREFIX: Final = rf"^[ \t>]*(?:{MARKER}[ \t]+[ \t>]*)*"
_NO_BYTE: Final = 0xFF  # stands for the first byte of an empty line; UTF-8 has no such byte


@dataclass(frozen=True, slots=True)
class Lines:
    """Every line of every body, in order.

    ``text``: String, without line ends. ``body``: int64[lines], the body of each line. ``first``: int64[bodies + 1],
    the row of each body's first line. ``flags``: bool[lines] by name; `blank`, `margin` (begins with blank space),
    `indented` (a column of 4 or more), `container` (begins with a marker of a quote or a list item), `open` (may hold
    a link, a tag or a block id), `inner_blank` (nothing but markers) and those of the tables above.
    """

    text: pl.Series
    body: IntArray
    first: IntArray
    flags: dict[str, BoolArray]


def split_lines(bodies: Sequence[str] | pl.Series, *, every_line: bool = False) -> Lines:
    """One row a line of all ``bodies``, whose line ends are LF; with ``every_line`` each line that is not blank is
    `open`."""
    split = pl.Series("text", bodies, dtype=pl.String).str.split("\n")
    counts = split.list.len().to_numpy().astype(np.int64)
    text = split.explode()
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


def _flags(text: pl.Series) -> dict[str, BoolArray]:
    size = len(text)
    column = pl.col("text")
    frame = text.to_frame().select(open=column.str.contains(_OPEN_SYNTAX), lead=_first_byte(column))
    lead = frame["lead"].to_numpy().copy()
    flags = {name: np.zeros(size, dtype=np.bool_) for name, *_ in (*_FLAGS, *_CONTENT_FLAGS, *_INNER_FLAGS)}
    flags["open"] = frame["open"].to_numpy()
    flags["margin"] = np.isin(lead, list(_MARGIN))
    margins = np.flatnonzero(flags["margin"])
    within = text.gather(margins)
    flags["indented"] = np.zeros(size, dtype=np.bool_)
    flags["indented"][margins[within.str.contains(_INDENTED).to_numpy()]] = True
    content = within.str.strip_chars_start(" \t")
    lead[margins] = content.to_frame().select(_first_byte(column)).to_series().to_numpy()
    flags["blank"] = lead == _NO_BYTE
    _find_flags(flags, _FLAGS, np.arange(size), text, lead)
    flags["container"] = flags["quote"] | flags["list_item"]
    top = np.flatnonzero(~(flags["container"] | flags["margin"]))
    _find_flags(flags, _CONTENT_FLAGS, top, text, lead[top])
    holders = np.flatnonzero(flags["container"])
    loose = np.flatnonzero(~flags["container"][margins])
    nested = np.concatenate([margins[loose], holders])
    content = pl.concat([content.gather(loose), text.gather(holders).str.replace(_PREFIX, "")])
    lead = content.to_frame().select(_first_byte(column)).to_series().to_numpy()
    flags["inner_blank"] = np.zeros(size, dtype=np.bool_)
    flags["inner_blank"][nested] = lead == _NO_BYTE
    _find_flags(flags, (*_CONTENT_FLAGS, *_INNER_FLAGS), nested, content, lead)
    return flags


def _find_flags(
    flags: dict[str, BoolArray],
    table: Sequence[tuple[str, str, str]],
    rows: IntArray,
    texts: pl.Series,
    lead: NDArray[np.uint8],
) -> None:
    """Looks for the patterns of ``table`` in the lines ``rows`` whose byte of ``lead`` allows them. ``texts`` are those
    of the rows, or of all lines."""
    marks = _marks(table)[lead]  # a bit for each flag that the first byte allows
    some = np.flatnonzero(marks)
    marks, rows, texts = marks[some], rows[some], texts.gather(rows[some] if len(texts) > len(lead) else some)
    for number, (name, _, pattern) in enumerate(table):
        chosen = np.flatnonzero(marks & (1 << number))
        if len(chosen):
            found = texts.gather(chosen).str.contains(pattern).to_numpy()
            flags[name][rows[chosen[found]]] = True


def _first_byte(texts: pl.Expr) -> pl.Expr:
    return texts.cast(pl.Binary).bin.get(0, null_on_oob=True).fill_null(_NO_BYTE)


def _marks(table: Sequence[tuple[str, str, str]]) -> NDArray[np.uint32]:
    """For each byte, the flags of which it may be the first visible character, a bit each."""
    marks = np.zeros(256, dtype=np.uint32)
    for number, (_, characters, _) in enumerate(table):
        marks[list(characters.encode())] |= np.uint32(1 << number)
    return marks
