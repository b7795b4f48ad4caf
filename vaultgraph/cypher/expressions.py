"""Reading expressions: operators by precedence, postfix forms and atoms. Forms of their own are in cypher/forms.

From loose to tight: OR, XOR, AND, NOT, comparisons (a chain), the predicates (IN, STARTS WITH, ENDS WITH, CONTAINS, =~,
IS NULL), + - ||, * / %, ^, unary + and -, postfix. Every token is read once: what could be two things is decided by
looking past a bracket, never by trying. Names are not checked here.
"""

from typing import Final

from vaultgraph.cypher import forms
from vaultgraph.cypher.advice import CLAUSES, RESERVED
from vaultgraph.cypher.cursor import Cursor
from vaultgraph.cypher.patterns import label_expression, map_literal, path_pattern, starts_pattern
from vaultgraph.cypher.syntax import (
    Binary,
    BinaryOperator,
    Comparison,
    ComparisonOperator,
    Expression,
    FunctionCall,
    HasLabels,
    Index,
    IsNull,
    Literal,
    Parameter,
    PatternPredicate,
    Property,
    Slice,
    Unary,
    Variable,
)
from vaultgraph.cypher.tokens import integer_of, is_integer
from vaultgraph.errors import UnsupportedError

_NOT: Final = 4
_COMPARISON: Final = 5
_PREDICATE: Final = 6
_JOINED: Final[dict[str, tuple[int, BinaryOperator]]] = {"OR": (1, "OR"), "XOR": (2, "XOR"), "AND": (3, "AND")}
_COMPARED: Final[dict[str, ComparisonOperator]] = {"=": "=", "<>": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_PREDICATES: Final = frozenset({"IN", "STARTS", "ENDS", "CONTAINS", "=~", "IS"})
_ARITHMETIC: Final[dict[str, tuple[int, BinaryOperator]]] = {
    "+": (7, "+"),
    "-": (7, "-"),
    "||": (7, "||"),
    "*": (8, "*"),
    "/": (8, "/"),
    "%": (8, "%"),
    "^": (9, "^"),
}
_IS: Final = "IS is followed by NULL or NOT NULL; compare other values with ="
_AFTER_IS: Final = {
    ":": "a type is tested by valueType(x) STARTS WITH 'STRING'",
    "TYPED": "a type is tested by valueType(x) STARTS WITH 'STRING'",
    "NORMALIZED": "write x = normalize(x)",
}
_CONSTANTS: Final[dict[str, bool | None]] = {"TRUE": True, "FALSE": False, "NULL": None}
_CALLABLE_KEYWORDS: Final = frozenset({"EXISTS", "CONTAINS"})
_FOLLOWERS: Final = ("AND", "OR", "XOR", "STARTS", "ENDS", "CONTAINS")
_LARGEST: Final = 2**63


def expression(cursor: Cursor, bar_closes: bool = False) -> Expression:
    """The expression at the cursor, as long as it goes; with ``bar_closes`` a bare ``|`` ends it.

    Raises:
        QueryError: there is none, or it is wrong.
    """
    outer_height, outer_bar = cursor.height, cursor.bar_closes
    cursor.height, cursor.bar_closes = 0, bar_closes
    tree = _climb(cursor, 1)
    cursor.bar_closes = outer_bar
    # Expressions read in turn inside one form are siblings: the form is one level higher than the highest.
    cursor.grow(max(outer_height, cursor.height + 1))
    return tree


def condition(cursor: Cursor) -> Expression:
    """An expression taken as true or false, where a bare pattern may stand."""
    return cursor.as_condition(expression(cursor))


def _climb(cursor: Cursor, least: int) -> Expression:
    """Operators that bind at least as tight as ``least``."""
    first = cursor.index
    cursor.deeper()
    left = _negations(cursor) if cursor.word == "NOT" and least <= _NOT else _signed(cursor)
    while True:
        word = cursor.words[cursor.index]
        if word in _ARITHMETIC:
            power, operator = _ARITHMETIC[word]
            if power < least:
                break
            left = _binary(cursor, operator, left, power + 1, first)
        elif word in _COMPARED:
            if least > _COMPARISON:
                break
            left = _comparison(cursor, left, first)
        elif word in _JOINED:
            power, operator = _JOINED[word]
            if power < least:
                break
            left = _joined(cursor, operator, left, power + 1, first)
        elif word in _PREDICATES:
            if least > _PREDICATE:
                break
            left = _predicate(cursor, left, first)
        else:
            break
    cursor.depth -= 1
    return left


def _binary(cursor: Cursor, operator: BinaryOperator, left: Expression, power: int, first: int) -> Expression:
    """One operator and its right side; the operator is one token long."""
    height = cursor.height
    cursor.index += 1
    cursor.height = 0
    right = _climb(cursor, power)
    cursor.grow(max(height, cursor.height) + 1)
    return Binary(operator, left, right, at=cursor.span(first))


def _joined(cursor: Cursor, operator: BinaryOperator, left: Expression, power: int, first: int) -> Expression:
    """A chain of one logical operator, as a balanced tree, so that a long chain is not a high tree."""
    parts, height = [cursor.as_condition(left)], cursor.height
    while cursor.accept(operator):
        cursor.height = 0
        parts.append(cursor.as_condition(_climb(cursor, power)))
        height = max(height, cursor.height)
    cursor.grow(height + (len(parts) - 1).bit_length())
    start = cursor.starts[first]

    def balanced(low: int, high: int) -> Expression:
        if high - low == 1:
            return parts[low]
        middle = (low + high + 1) // 2
        one, two = balanced(low, middle), balanced(middle, high)
        return Binary(operator, one, two, at=(start if low == 0 else one.at[0], two.at[1]))

    return balanced(0, len(parts))


def _negations(cursor: Cursor) -> Expression:
    starts: list[int] = []
    while cursor.word == "NOT":
        starts.append(cursor.index)
        cursor.index += 1
    tree = _climb(cursor, _COMPARISON)
    for start in reversed(starts):
        tree = Unary("NOT", cursor.as_condition(tree), at=cursor.span(start))
        cursor.grow(cursor.height + 1)
    return tree


def _comparison(cursor: Cursor, left: Expression, first: int) -> Expression:
    rest: list[tuple[ComparisonOperator, Expression]] = []
    height = cursor.height
    while cursor.word in _COMPARED:
        operator = _COMPARED[cursor.word]
        cursor.index += 1
        if cursor.word in ("=", ">", "<") and operator in ("=", "<", ">"):
            raise cursor.error("Comparisons are written =, <>, <, <=, > and >=.", cursor.index - 1, cursor.index + 1)
        cursor.height = 0
        rest.append((operator, _climb(cursor, _PREDICATE)))
        height = max(height, cursor.height)
    cursor.grow(height + 1)
    return Comparison(left, tuple(rest), at=cursor.span(first))


def _predicate(cursor: Cursor, left: Expression, first: int) -> Expression:
    word = cursor.word
    if word == "IS":
        cursor.index += 1
        negated = cursor.accept("NOT")
        if not negated and isinstance(left, Variable) and _names_label(cursor):
            tree = HasLabels(left, label_expression(cursor, bar=not cursor.bar_closes), at=cursor.span(first))
        else:
            cursor.expect("NULL", _AFTER_IS.get(cursor.word, _IS))
            tree = IsNull(left, negated, at=cursor.span(first))
        cursor.grow(cursor.height + 1)
        return tree
    if word in ("STARTS", "ENDS"):
        cursor.index += 1
        if cursor.word != "WITH":
            raise cursor.unexpected(["WITH"], f"{word} is followed by WITH")
        return _binary(cursor, "STARTS WITH" if word == "STARTS" else "ENDS WITH", left, _PREDICATE + 1, first)
    operator: BinaryOperator = "IN" if word == "IN" else "CONTAINS" if word == "CONTAINS" else "=~"
    return _binary(cursor, operator, left, _PREDICATE + 1, first)


def _names_label(cursor: Cursor) -> bool:
    """Whether what follows IS can be a label, as in ``n IS Person``."""
    return cursor.word not in _AFTER_IS and (cursor.is_name(cursor.index) or cursor.word in ("!", "%"))


def _compared(cursor: Cursor, subject: Expression) -> Expression | None:
    """``subject`` compared as the next tokens say (``> 3``, ``IS NULL``); None where they begin no comparison."""
    if cursor.word in _COMPARED:
        return _comparison(cursor, subject, cursor.index)
    return _predicate(cursor, subject, cursor.index) if cursor.word in _PREDICATES else None


def _signed(cursor: Cursor) -> Expression:
    """Unary signs; a minus before a number belongs to the number, so that the smallest integer can be written."""
    first = cursor.index
    while cursor.words[cursor.index] in ("-", "+"):
        cursor.index += 1
    signs = cursor.index - first
    if not signs:
        return postfix(cursor)
    negative = cursor.kinds[cursor.index] == "number" and cursor.words[cursor.index - 1] == "-"
    tree = postfix(cursor, negative=negative)
    for index in range(first + signs - 1 - negative, first - 1, -1):
        tree = Unary("-" if cursor.words[index] == "-" else "+", tree, at=cursor.span(index))
        cursor.grow(cursor.height + 1)
    return tree


def postfix(cursor: Cursor, *, negative: bool = False) -> Expression:
    """An atom and what follows it: ``.key``, ``[index]``, ``[from..to]``, ``:Label``, ``{map projection}``."""
    first = cursor.index
    tree = _number(cursor, negative) if cursor.kinds[first] == "number" else _atom(cursor)
    while True:
        word = cursor.words[cursor.index]
        if word == ".":
            cursor.index += 1
            tree = Property(tree, cursor.any_name("a property key"), at=cursor.span(first))
        elif word == "[":
            tree = _indexed(cursor, tree, first)
        elif word == ":":
            cursor.index += 1
            labels = label_expression(cursor, bar=not cursor.bar_closes)
            tree = HasLabels(tree, labels, at=cursor.span(first))
        elif word == "{" and isinstance(tree, Variable | Property | Index):
            tree = forms.map_projection(cursor, tree, first, expression)
        else:
            return tree
        cursor.grow(cursor.height + 1)


def _indexed(cursor: Cursor, subject: Expression, first: int) -> Expression:
    cursor.index += 1
    start = None if cursor.word == ".." else expression(cursor)
    if not cursor.accept(".."):
        cursor.expect("]")
        if start is None:
            raise cursor.error("An index is missing.", first, cursor.index)
        return Index(subject, start, at=cursor.span(first))
    stop = None if cursor.word == "]" else expression(cursor)
    cursor.expect("]")
    return Slice(subject, start, stop, at=cursor.span(first))


def _number(cursor: Cursor, negative: bool) -> Expression:
    """A number; ``negative`` where the token before it is its minus."""
    index = cursor.index
    text = cursor.values[index]
    cursor.index += 1
    first = index - negative
    if is_integer(text):
        value = -integer_of(text) if negative else integer_of(text)
        if not -_LARGEST <= value < _LARGEST:
            raise cursor.error("The integer is beyond 64 bits: write it as a float, or quote it.", first, cursor.index)
        return Literal(value, at=cursor.span(first))
    number = float(text)
    if number == float("inf"):
        raise cursor.error("The number is too large for a float.", first, cursor.index)
    return Literal(-number if negative else number, at=cursor.span(first))


def _atom(cursor: Cursor) -> Expression:
    index = cursor.index
    kind, word = cursor.kinds[index], cursor.words[index]
    if kind == "string":
        cursor.index += 1
        return Literal(cursor.values[index], at=cursor.span(index))
    if kind == "parameter":
        cursor.index += 1
        return Parameter(cursor.values[index], at=cursor.span(index))
    if word == "(":
        return _parenthesised(cursor)
    if word == "[":
        return forms.bracket(cursor, expression)
    if word == "{":
        return map_literal(cursor, expression)
    if kind == "quoted" or kind == "name":
        return _named(cursor, word)
    if word in ("*", ",", ")", "]", "}", ""):
        raise cursor.unexpected([], "an expression is expected")
    raise cursor.unexpected([])


def _named(cursor: Cursor, word: str) -> Expression:
    """A constant, a form with a keyword, a function call or a variable."""
    index = cursor.index
    if word in _CONSTANTS:
        cursor.index += 1
        return Literal(_CONSTANTS[word], at=cursor.span(index))
    form = _form(cursor, word)
    if form is not None:
        return form
    last = index
    while cursor.words[last + 1] == "." and cursor.kinds[last + 2] in ("name", "quoted"):
        last += 2
    if cursor.words[last + 1] == "(" and (word not in RESERVED or word in _CALLABLE_KEYWORDS or last > index):
        return _call(cursor, last)
    if word in CLAUSES and (index == 0 or cursor.words[index - 1] != "."):
        raise cursor.unexpected([], "an expression is expected")
    if word in RESERVED:
        raise cursor.reserved()
    cursor.index += 1
    return Variable(cursor.values[index], at=cursor.span(index))


def _form(cursor: Cursor, word: str) -> Expression | None:
    """What begins with a keyword and is neither a plain call nor a variable; None where it is one of those."""
    if word == "CASE":
        return forms.case(cursor, expression, _compared)
    follower = cursor.words[cursor.index + 1]
    if follower not in ("(", "{"):
        return None
    match word:
        case "COUNT":
            return forms.count_call(cursor, expression)
        case "EXISTS":
            return forms.exists_call(cursor, expression)
        case "SIZE":
            return forms.size_call(cursor, expression)
        case "TRIM":
            return forms.trim_call(cursor, expression)
        case "ALL" | "ANY" | "NONE" | "SINGLE":
            return forms.quantifier(cursor, expression)
        case "REDUCE" if follower == "(":
            return forms.reduce_call(cursor, expression)
        case "COLLECT" if follower == "{":
            return forms.collect_call(cursor, expression)
        case "SHORTESTPATH" | "ALLSHORTESTPATHS" if follower == "(":
            name, close = cursor.values[cursor.index], cursor.closers[cursor.index + 1]
            raise UnsupportedError(
                f"{name} is a pattern: write MATCH p = {name}((a)-[*]-(b)) and use p.",
                cursor.text,
                cursor.starts[cursor.index],
                cursor.ends[close],
            )
        case "FILTER" | "EXTRACT" if cursor.words[cursor.index + 3] == "IN":
            raise cursor.error(f"{word.lower()}(…) is written [x IN list WHERE condition | value] now.")
        case _:
            return None


def _call(cursor: Cursor, last: int) -> Expression:
    """A function call whose name ends at token ``last``; ``exists(value)`` is read as IS NOT NULL."""
    first = cursor.index
    name = ".".join(cursor.values[first : last + 1 : 2])
    cursor.index = last + 2
    distinct = cursor.accept("DISTINCT")
    arguments: list[Expression] = []
    if cursor.word == "*":
        raise cursor.error(f"Only count takes a star: count(*). {name} needs a value.")
    while not cursor.accept(")"):
        if arguments:
            cursor.expect(",", f"the arguments of {name} are separated by commas, and closed by )")
        arguments.append(expression(cursor))
    at = cursor.span(first)
    if cursor.words[first] == "EXISTS" and last == first and len(arguments) == 1:
        if not isinstance(arguments[0], Property | Index):
            raise cursor.error(
                "exists(…) takes a property or a pattern: exists(n.key), EXISTS { (n)-->() }.", first, cursor.index
            )
        return IsNull(arguments[0], True, at=at)
    return FunctionCall(name, tuple(arguments), distinct, at=at)


def _parenthesised(cursor: Cursor) -> Expression:
    first = cursor.index
    if starts_pattern(cursor, first):
        pattern = path_pattern(cursor, expression)
        predicate = PatternPredicate((pattern,), bare=True, at=cursor.span(first))
        cursor.bare[id(predicate)] = predicate
        return predicate
    cursor.index += 1
    tree = expression(cursor)
    if cursor.word == ",":
        raise cursor.error("A list is written with square brackets: [1, 2].", first, cursor.index + 1)
    if not cursor.accept(")"):
        raise cursor.unexpected([*_FOLLOWERS, ")"])
    return tree
