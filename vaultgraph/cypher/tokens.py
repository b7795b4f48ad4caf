"""From query text to tokens with exact spans: the first step of reading a query.

The tokens are parallel lists, because a parser that compares one word per step is faster over lists than over objects.
Brackets are paired here, so that every later step can look past a bracket in one step, and an unbalanced one is
reported by its opener. Reserved words are not decided here: that depends on the place.
"""

import re
import unicodedata
from typing import Final
from typing import Literal as Choice

from vaultgraph.errors import QuerySyntaxError
from vaultgraph.frozen import frozen

TokenKind = Choice["name", "quoted", "string", "number", "parameter", "symbol", "end"]

LONGEST_QUERY_CHARS = 1_000_000
_LONGEST_NUMBER_CHARS = 400  # no float or integer needs more

_TOKEN = re.compile(
    r"""
      (?P<space>(?:\s+|//[^\n]*|/\*.*?\*/)+)
    | (?P<name>[^\W\d]\w*)
    | (?P<number>0[xX][0-9a-fA-F]+|0[oO][0-7]+
        |[0-9]+(?:_[0-9]+)*(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?)
    | (?P<symbol><>|<=|>=|=~|\.\.|\|\||!=|==|&&|/(?!\*)|[-+*%^=<>()\[\]{},.:;|&!])
    | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | (?P<quoted>`(?:[^`]|``)*`)
    | (?P<parameter>\$(?:\w+|`(?:[^`]|``)*`))
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\\": "\\", "'": "'", '"': '"', "`": "`", "/": "/"}
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_LOOKALIKES = {
    **dict.fromkeys("‐‑‒–—―−﹘﹣－", ("a hyphen", "-")),
    **dict.fromkeys("‘’‚‛′＇", ("a straight quote", "'")),
    **dict.fromkeys("“”„‟″＂", ("a straight quote", '"')),
    **dict.fromkeys("→⟶⇒", ("the arrow", "->")),
    **dict.fromkeys("←⟵⇐", ("the arrow", "<-")),
    "≠": ("the operator", "<>"),
    "≤": ("the operator", "<="),
    "≥": ("the operator", ">="),
}


@frozen
class Tokens:
    """``n`` tokens and a last one of kind "end".

    ``words``: of a plain name its upper-case text, of a symbol the symbol, else "" (so a quoted name never is a
    keyword). ``values``: of names and parameters the name, of strings the decoded text, of numbers the text as
    written. ``starts``, ``ends``: character offsets. ``closers``: token index of an opening bracket to that of its
    closing one.
    """

    text: str
    kinds: list[TokenKind]
    words: list[str]
    values: list[str]
    starts: list[int]
    ends: list[int]
    closers: dict[int, int]


_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def split_tokens(text: str) -> Tokens:
    """The tokens of a query; comments and white space are dropped.

    Raises:
        QuerySyntaxError: a character, string, number or bracket that cannot be right.
    """
    if len(text) > LONGEST_QUERY_CHARS:
        raise QuerySyntaxError(f"The query has {len(text):,} characters, over the cap of {LONGEST_QUERY_CHARS:,}.")
    if not text.isascii() and (lone := _LONE_SURROGATE.search(text)):
        shown = _LONE_SURROGATE.sub("\ufffd", text)
        raise QuerySyntaxError("Half of a surrogate pair is no character.", shown, *lone.span())
    tokens = Tokens(text, [], [], [], [], [], {})
    kinds, words, values, starts, ends = tokens.kinds, tokens.words, tokens.values, tokens.starts, tokens.ends
    match, position, size = _TOKEN.match, 0, len(text)
    while position < size:
        found = match(text, position)
        if found is None:
            raise _foreign_character(text, position)
        start, position = position, found.end()
        kind = found.lastgroup
        if kind == "space":
            continue
        if kind == "name":
            if position < size and text[position] > "\x7f":
                position = _end_of_name(text, position)
            value = text[start:position]
            words.append(value.upper())
            kinds.append("name")
        elif kind == "symbol":
            value = text[start:position]
            words.append(value)
            kinds.append("symbol")
        else:
            value = _value(kind, text, start, position)
            words.append("")
            kinds.append(kind)  # type: ignore[arg-type]
        values.append(value)
        starts.append(start)
        ends.append(position)
    kinds.append("end")
    words.append("")
    values.append("")
    starts.append(size)
    ends.append(size)
    _pair_brackets(tokens)
    return tokens


def integer_of(text: str) -> int:
    """The value of a number as written, where it is an integer: decimal, 0x or 0o."""
    if text[:2] in ("0x", "0X"):
        return int(text, 16)
    if text[:2] in ("0o", "0O"):
        return int(text, 8)
    return int(text)


def is_integer(text: str) -> bool:
    """Whether a number as written is an integer."""
    return text[:2] in ("0x", "0X") or not ("." in text or "e" in text or "E" in text)


def _value(kind: str | None, text: str, start: int, end: int) -> str:
    """The decoded value of a string, quoted name, parameter or number."""
    if kind == "string":
        inner = text[start + 1 : end - 1]
        return _unescape(inner, text, start + 1) if "\\" in inner else inner
    if kind == "number":
        _check_number(text, start, end)
        return text[start:end]
    first = start + 1 if kind == "parameter" else start
    if text[first] != "`":
        return text[first:end]
    name = text[first + 1 : end - 1].replace("``", "`")
    if not name:
        raise QuerySyntaxError("A name in backticks cannot be empty.", text, start, end)
    return name


def _check_number(text: str, start: int, end: int) -> None:
    """A number must not run into letters, nor start with a zero that says nothing."""
    stop = end
    while stop < len(text) and (text[stop].isalnum() or text[stop] == "_"):
        stop += 1
    if stop > end:
        raise QuerySyntaxError(
            f"'{text[start:stop]}' is not a number, and a name cannot start with a digit (put it in backticks).",
            text,
            start,
            stop,
        )
    if end - start > _LONGEST_NUMBER_CHARS:
        raise QuerySyntaxError("The number has too many digits: quote it as a string.", text, start, end)
    if text[start] == "0" and end - start > 1 and text[start:end].isdigit():
        raise QuerySyntaxError(
            f"'{text[start:end]}' starts with a zero: write {int(text[start:end])}, or 0o… for an octal number, "
            "or quote it as a string.",
            text,
            start,
            end,
        )


def _unescape(inner: str, text: str, offset: int) -> str:
    """A string's escapes replaced; ``offset`` is where ``inner`` starts in ``text``."""

    def replace(found: re.Match[str]) -> str:
        digits = found[1] or found[2]
        start, end = offset + found.start(), offset + found.end()
        if digits:
            code = int(digits, 16)
            if code > 0x10FFFF:
                raise QuerySyntaxError(f"\\U{digits} is beyond the last Unicode character.", text, start, end)
            return chr(code)
        char = found[3]
        if char in "uU":
            need = "4 hexadecimal digits" if char == "u" else "8 hexadecimal digits"
            raise QuerySyntaxError(f"\\{char} must be followed by {need}.", text, start, end)
        if char not in _ESCAPED:
            raise QuerySyntaxError(
                f"\\{char} is not an escape: for a backslash itself (in a regular expression, say) write \\\\{char}.",
                text,
                start,
                end,
            )
        return _ESCAPED[char]

    decoded = _ESCAPE.sub(replace, inner)
    if any("\ud800" <= char <= "\udfff" for char in decoded):
        try:
            # Two \u escapes may spell one character beyond U+FFFF, as in JSON.
            decoded = decoded.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeDecodeError:
            raise QuerySyntaxError(
                "The string has half of a surrogate pair.", text, offset, offset + len(inner)
            ) from None
    return decoded


def _end_of_name(text: str, position: int) -> int:
    """Combining marks belong to a name but are not ``\\w``: without them a decomposed 'é' would end it."""
    while position < len(text):
        char = text[position]
        if not (char == "_" or char.isalnum() or unicodedata.category(char) in ("Mn", "Mc")):
            break
        position += 1
    return position


def _foreign_character(text: str, position: int) -> QuerySyntaxError:
    """Why no token starts here."""
    char = text[position]
    size = len(text)
    if char in "'\"":
        return QuerySyntaxError(f"The string is not closed: its {char} is missing.", text, position, size)
    if char == "`":
        return QuerySyntaxError("The name in backticks is not closed: its ` is missing.", text, position, size)
    if text.startswith("/*", position):
        return QuerySyntaxError("The comment is not closed: its */ is missing.", text, position, size)
    if char == "$":
        return QuerySyntaxError("A parameter needs a name: $name.", text, position, position + 1)
    if char in _LOOKALIKES:
        what, right = _LOOKALIKES[char]
        return QuerySyntaxError(f"'{char}' is not {what}: write {right}", text, position, position + 1)
    code = f"U+{ord(char):04X}"
    shown = f"'{char}' ({code})" if char.isprintable() else code
    hint = " A name with such a character goes into backticks: `…`." if char > "\x7f" or char in "#@?~" else ""
    return QuerySyntaxError(f"The character {shown} has no meaning here.{hint}", text, position, position + 1)


def _pair_brackets(tokens: Tokens) -> None:
    """Fill ``closers``; the innermost open bracket is the one reported."""
    open_brackets: list[int] = []
    words, text = tokens.words, tokens.text
    for index, word in enumerate(words):
        if word in _CLOSERS:
            open_brackets.append(index)
        elif word in (")", "]", "}"):
            start = tokens.starts[index]
            if not open_brackets:
                raise QuerySyntaxError(f"This {word} closes nothing: no bracket is open.", text, start, start + 1)
            opener = open_brackets.pop()
            if _CLOSERS[words[opener]] != word:
                raise _unbalanced(tokens, opener, f", but {word} comes first")
            tokens.closers[opener] = index
    if open_brackets:
        raise _unbalanced(tokens, open_brackets[-1], "")


def _unbalanced(tokens: Tokens, opener: int, why: str) -> QuerySyntaxError:
    word, start = tokens.words[opener], tokens.starts[opener]
    return QuerySyntaxError(
        f"This {word} is not closed: its {_CLOSERS[word]} is missing{why}.", tokens.text, start, start + 1
    )
