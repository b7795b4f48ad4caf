"""A place in the tokens of a query: what the parsers look at, step over and complain about.

One cursor is made per query and moved by cypher/patterns, cypher/expressions and cypher/clauses. It also keeps the
caps on nesting, so that no query can exhaust the stack, here or in a later walk of the tree.
"""

from collections.abc import Callable, Sequence

from vaultgraph.cypher.advice import CLAUSES, RESERVED, WRITES, for_other_language, nearest, write_refusal
from vaultgraph.cypher.syntax import Expression, Query, Span
from vaultgraph.cypher.tokens import Tokens
from vaultgraph.errors import QueryError, QuerySyntaxError

DEEPEST = 90  # operators and brackets within each other; each costs up to eight frames of Python's thousand
TALLEST = 100  # levels of one expression tree, long chains of + included


class Cursor:
    """``index`` is the next token. ``height`` is that of the expression tree being read (see expressions).

    ``bar_closes`` says that a bare ``|`` ends the expression (``[x IN xs | …]``), so it cannot be part of a label
    expression. ``bare`` are the patterns read as values that nothing has yet taken as a condition, by identity.
    ``read_query`` reads the clauses of a query within braces; cypher/clauses puts it in.
    ``takes_map`` says that a parameter may stand for all properties of a pattern: where a pattern is created.
    """

    __slots__ = (
        "bar_closes", "bare", "closers", "depth", "ends", "height", "index", "kinds", "read_query", "starts",
        "takes_map", "text", "values", "words",
    )  # fmt: skip

    def __init__(self, tokens: Tokens) -> None:
        self.text = tokens.text
        self.kinds = tokens.kinds
        self.words = tokens.words
        self.values = tokens.values
        self.starts = tokens.starts
        self.ends = tokens.ends
        self.closers = tokens.closers
        self.index = 0
        self.depth = 0
        self.height = 0
        self.bar_closes = False
        self.takes_map = False
        self.read_query: Callable[[Cursor], Query] | None = None
        self.bare: dict[int, Expression] = {}

    @property
    def word(self) -> str:
        """The next token's word, in upper case; "" for strings, numbers, quoted names and the end."""
        return self.words[self.index]

    def accept(self, word: str) -> bool:
        """Step over ``word`` where it is next."""
        if self.words[self.index] == word:
            self.index += 1
            return True
        return False

    def expect(self, word: str, why: str = "") -> None:
        """Step over ``word``.

        Raises:
            QueryError: something else is next.
        """
        if not self.accept(word):
            raise self.unexpected([word], why)

    def is_name(self, index: int) -> bool:
        """Whether the token can be a variable: a name that is not reserved."""
        kind = self.kinds[index]
        return (kind == "name" and self.words[index] not in RESERVED) or kind == "quoted"

    def variable(self, what: str = "a variable") -> str:
        """Step over a variable's name.

        Raises:
            QueryError: it is missing or reserved.
        """
        index = self.index
        if not self.is_name(index):
            if self.kinds[index] == "name" and self.words[index] not in CLAUSES:
                raise self.reserved()
            raise self.unexpected([], f"{what} is expected")
        self.index = index + 1
        if self.values[index].startswith(" "):
            raise self.error("A variable cannot start with a space.", index, index + 1)
        return self.values[index]

    def any_name(self, what: str) -> str:
        """Step over a label, type, property key or procedure part: any word, reserved or not.

        Raises:
            QueryError: it is missing.
        """
        index = self.index
        if self.kinds[index] == "parameter":
            raise self.error(
                f"{self.text[self.starts[index] : self.ends[index]]}: names are written out, a parameter cannot give "
                "them. Test with $label IN labels(n) or type(r) = $type, and read a property with n[$key]."
            )
        if self.kinds[index] not in ("name", "quoted"):
            raise self.unexpected([], f"{what} is expected")
        self.index = index + 1
        return self.values[index]

    def span(self, start: int) -> Span:
        """From token ``start`` to the last token stepped over."""
        return self.starts[start], self.ends[self.index - 1]

    def as_condition(self, expression: Expression) -> Expression:
        """The expression, taken as true or false: the place where a bare pattern may stand."""
        if self.bare:
            self.bare.pop(id(expression), None)
        return expression

    def deeper(self, levels: int = 1) -> None:
        """Enter one more operator or bracket; leave with ``depth -= levels``.

        Raises:
            QuerySyntaxError: over the cap.
        """
        self.depth += levels
        if self.depth > DEEPEST:
            raise self.error(f"The query is nested too deep (more than {DEEPEST} levels): split it with WITH.")

    def grow(self, height: int) -> None:
        """Take ``height`` as that of the tree just read.

        Raises:
            QuerySyntaxError: over the cap.
        """
        self.height = height
        if height > TALLEST:
            raise self.error(
                f"The expression is more than {TALLEST} levels high: split it with WITH, or use x IN [a, b, …]."
            )

    def error(self, reason: str, start: int | None = None, end: int | None = None) -> QuerySyntaxError:
        """An error at the next token, or from token ``start`` to before token ``end``."""
        first = self.index if start is None else start
        last = first if end is None else max(first, end - 1)
        return QuerySyntaxError(reason, self.text, self.starts[first], self.ends[last])

    def reserved(self) -> QuerySyntaxError:
        """The error for a reserved word where a name is expected."""
        shown = self.values[self.index]
        return self.error(f"{shown} is a reserved word: as a name it needs backticks, `{shown}`.")

    def unexpected(self, words: Sequence[str], why: str = "", also: Sequence[str] = ()) -> QueryError:
        """The error for the next token, where one of ``words`` or what ``why`` says was expected.

        ``also`` are words that could have been meant, but are not worth listing.
        """
        index = self.index
        word, start, end = self.words[index], self.starts[index], self.ends[index]
        foreign = for_other_language(word, self.text, start, end)
        if foreign is not None:
            return foreign
        if word in WRITES and "RETURN" in words:
            return write_refusal(word, self.text, start, end)
        if self.kinds[index] == "string" and self.kinds[index - 1] == "string" and self.ends[index - 1] == start:
            return self.error("A quote within a text is written \\' or \\\", or the text in quotes of the other kind.")
        if word == "NOT" and self.words[index + 1] == "IN":
            return self.error("NOT stands before the whole test: NOT x IN list.", index, index + 2)
        shown = "The query ends here" if self.kinds[index] == "end" else f"'{self.text[start:end]}' is unexpected"
        suggestion = None
        if self.kinds[index] == "name" and len(word) > 2 and word not in RESERVED:
            suggestion = nearest(word, [one for one in (*words, *also) if one.isalpha()])
        if why:
            shown += f": {why}"
        elif words and not suggestion:
            shown += f": expected {' or '.join(words) if len(words) < 4 else 'one of ' + ', '.join(words)}"
        return QuerySyntaxError(shown + ".", self.text, start, end, suggestion)
