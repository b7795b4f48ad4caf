"""Reading patterns: nodes, relationships, paths, label expressions, and the property maps inside them.

Called by cypher/expressions (pattern predicates and comprehensions) and cypher/clauses (MATCH). How an expression is
read is handed in, since expressions hold patterns and patterns hold expressions. No names are checked here.
"""

from collections.abc import Callable
from typing import Literal as Choice

from vaultgraph.cypher.cursor import Cursor
from vaultgraph.cypher.syntax import (
    Expression,
    LabelAnd,
    LabelAny,
    LabelExpression,
    LabelName,
    LabelNot,
    LabelOr,
    MapLiteral,
    NodePattern,
    Parameter,
    PathPattern,
    RelationshipPattern,
)
from vaultgraph.cypher.tokens import integer_of, is_integer
from vaultgraph.errors import UnsupportedError

Parse = Callable[[Cursor], Expression]
Length = tuple[int, int | None]

_SHORTEST: dict[str, Choice["one", "all"]] = {"SHORTESTPATH": "one", "ALLSHORTESTPATHS": "all"}


def starts_pattern(cursor: Cursor, index: int) -> bool:
    """Whether the "(" at token ``index`` begins a path pattern with a relationship, not a parenthesised expression.

    Decided by what is just inside the bracket and just behind it, so it costs the same for any nesting.
    """
    words = cursor.words
    close = cursor.closers[index]
    after = close + 1
    if words[after] == "<" and words[after + 1] == "-":
        after += 1
        if words[after + 1] not in ("-", "["):
            return False
    elif words[after] != "-":
        return False
    if words[after + 1] == "-":
        # (a)--(b) is a pattern, but (a) - -(b) is a subtraction
        joined = cursor.ends[after] == cursor.starts[after + 1]
        if words[after + 2] != ">" and not (words[after + 2] == "(" and joined):
            return False
    elif words[after + 1] not in ("[", ">"):
        return False
    inside = index + 1
    if cursor.is_name(inside):
        inside += 1
    return inside == close or words[inside] in (":", "{", "WHERE", "IS") or cursor.kinds[inside] == "parameter"


def path_pattern(cursor: Cursor, parse: Parse) -> PathPattern:
    """``[name =] (a)-[r]->(b)…``, or shortestPath(…) or allShortestPaths(…) of one."""
    cursor.deeper(2)
    pattern = _path(cursor, parse)
    cursor.depth -= 2
    return pattern


def _path(cursor: Cursor, parse: Parse) -> PathPattern:
    first, variable = cursor.index, None
    if cursor.is_name(first) and cursor.words[first + 1] == "=":
        variable = cursor.variable()
        cursor.index += 1
    word = cursor.word
    if word in _SHORTEST and cursor.words[cursor.index + 1] == "(":
        cursor.index += 2
        nodes, relationships = _chain(cursor, parse)
        if len(relationships) != 1:
            raise cursor.error(f"{cursor.values[first]} takes one relationship: (a)-[*]->(b).", first, cursor.index)
        cursor.expect(")")
        return PathPattern(variable, nodes, relationships, _SHORTEST[word], at=cursor.span(first))
    if word in ("ANY", "ALL", "SHORTEST") and cursor.words[cursor.index + 1] != "=":
        raise UnsupportedError(
            "This form is not supported: write shortestPath((a)-[*]->(b)) or allShortestPaths((a)-[*]->(b)).",
            cursor.text,
            cursor.starts[cursor.index],
            cursor.ends[cursor.index],
        )
    nodes, relationships = _chain(cursor, parse)
    return PathPattern(variable, nodes, relationships, at=cursor.span(first))


def path_patterns(cursor: Cursor, parse: Parse) -> tuple[PathPattern, ...]:
    """Path patterns separated by commas."""
    patterns = [path_pattern(cursor, parse)]
    while cursor.accept(","):
        patterns.append(path_pattern(cursor, parse))
    if cursor.word == "(":
        raise cursor.error("Patterns are separated by a comma, or joined by a relationship such as -[:TYPE]->.")
    return tuple(patterns)


def label_expression(cursor: Cursor, *, bar: bool = True) -> LabelExpression:
    """What follows the colon: ``A:B``, ``A&B``, ``A|B``, ``!A``, ``(A|B)&C``, ``%``; without ``bar`` a bar ends it."""
    first = cursor.index
    parts = [_label_and(cursor)]
    while bar and cursor.accept("|"):
        cursor.accept(":")
        parts.append(_label_and(cursor))
    return parts[0] if len(parts) == 1 else LabelOr(tuple(parts), at=cursor.span(first))


def map_literal(cursor: Cursor, parse: Parse) -> MapLiteral:
    """``{key: expression, …}``."""
    first = cursor.index
    cursor.expect("{")
    entries: list[tuple[str, Expression]] = []
    while cursor.word != "}":
        if entries:
            cursor.expect(",")
        if cursor.kinds[cursor.index] == "string":
            key = cursor.values[cursor.index]
            shown = key if key.isidentifier() else f"`{key}`"
            raise cursor.error(f"A key is a name, not a string: write {shown}: …")
        name = cursor.any_name("a key")
        cursor.expect(":", f"a key is followed by a colon and its value, {name}: …")
        entries.append((name, parse(cursor)))
    cursor.index += 1
    return MapLiteral(tuple(entries), at=cursor.span(first))


def _label_and(cursor: Cursor) -> LabelExpression:
    first = cursor.index
    parts = [_label_not(cursor)]
    while cursor.word in (":", "&"):
        cursor.index += 1
        parts.append(_label_not(cursor))
    return parts[0] if len(parts) == 1 else LabelAnd(tuple(parts), at=cursor.span(first))


def _label_not(cursor: Cursor) -> LabelExpression:
    first = cursor.index
    if cursor.accept("!"):
        cursor.deeper()
        part = _label_not(cursor)
        cursor.depth -= 1
        return LabelNot(part, at=cursor.span(first))
    if cursor.accept("("):
        cursor.deeper()
        inner = label_expression(cursor)
        cursor.depth -= 1
        cursor.expect(")")
        return inner
    if cursor.accept("%"):
        return LabelAny(at=cursor.span(first))
    return LabelName(cursor.any_name("a name"), at=cursor.span(first))


def _chain(cursor: Cursor, parse: Parse) -> tuple[tuple[NodePattern, ...], tuple[RelationshipPattern, ...]]:
    """Nodes and the relationships between them; brackets around the whole are dropped."""
    if cursor.words[cursor.index : cursor.index + 2] == ["(", "("]:
        opener = cursor.index
        cursor.index += 1
        cursor.deeper()
        chain = _chain(cursor, parse)
        cursor.depth -= 1
        cursor.expect(")")
        if cursor.word in ("{", "+", "*"):
            raise UnsupportedError(
                "A quantifier on a whole path is not supported: put it on one relationship, (a)-[:TYPE*1..3]->(b).",
                cursor.text,
                *cursor.span(opener),
            )
        return chain
    nodes, relationships = [_node(cursor, parse)], list[RelationshipPattern]()
    while cursor.word in ("-", "<"):
        relationships.append(_relationship(cursor, parse))
        nodes.append(_node(cursor, parse))
    return tuple(nodes), tuple(relationships)


def _node(cursor: Cursor, parse: Parse) -> NodePattern:
    first = cursor.index
    cursor.expect("(", "a node such as (n:Label) is expected")
    variable = cursor.variable() if cursor.is_name(cursor.index) else None
    labels = None
    if cursor.accept(":") or cursor.accept("IS"):
        labels = label_expression(cursor)
    properties = _properties(cursor, parse)
    where = cursor.as_condition(parse(cursor)) if cursor.accept("WHERE") else None
    if cursor.word != ")":
        raise _bad_detail(cursor, first, labelled=labels is not None)
    cursor.index += 1
    return NodePattern(variable, labels, properties, where, at=cursor.span(first))


def _bad_detail(cursor: Cursor, opener: int, *, labelled: bool) -> Exception:
    """The error for what does not belong into a node or relationship; a label with spaces is the usual reason."""
    index = cursor.index
    if cursor.kinds[index] == "name" and cursor.words[index - 1] in ("(", "["):
        return cursor.reserved()
    previous = cursor.kinds[index - 1]
    if labelled and previous == "name" and cursor.word not in ("}", "]", ",", ""):
        close = cursor.closers[opener]
        start = next(at for at in range(index - 1, opener, -1) if cursor.words[at] in (":", "|", "&", "!", "IS"))
        stop = next((at for at in range(index, close) if cursor.words[at] in ("{", "WHERE", "*")), close)
        name = cursor.text[cursor.starts[start + 1] : cursor.ends[stop - 1]]
        return cursor.error(f"A name with such characters goes into backticks: `{name}`.", start + 1, stop)
    closer = ")" if cursor.words[opener] == "(" else "]"
    return cursor.unexpected(["WHERE"], f"expected {{…}}, WHERE or {closer}")


def _properties(cursor: Cursor, parse: Parse) -> MapLiteral | Parameter | None:
    if cursor.word == "{":
        return map_literal(cursor, parse)
    if cursor.kinds[cursor.index] == "parameter":
        name = cursor.values[cursor.index]
        if cursor.takes_map:
            cursor.index += 1
            return Parameter(name, at=cursor.span(cursor.index - 1))
        raise cursor.error(f"A whole map cannot be matched: name the properties, {{key: ${name}.key}}.")
    return None


def _relationship(cursor: Cursor, parse: Parse) -> RelationshipPattern:
    first = cursor.index
    how = "a relationship is written --, -->, <-- or -[r:TYPE]->"
    left = cursor.accept("<")
    cursor.expect("-", how)
    variable, types, labels, length, properties, where = None, tuple[str, ...](), None, None, None, None
    opener = cursor.index
    if cursor.accept("["):
        variable = cursor.variable() if cursor.is_name(cursor.index) else None
        if cursor.accept(":") or cursor.accept("IS"):
            types, labels = _types(cursor)
        if cursor.accept("*"):
            length = _star_length(cursor)
        properties = _properties(cursor, parse)
        where = cursor.as_condition(parse(cursor)) if cursor.accept("WHERE") else None
        if cursor.word != "]":
            if cursor.word == "..":
                raise cursor.error("A length is written with a star: -[:TYPE*1..3]->.")
            raise _bad_detail(cursor, opener, labelled=bool(types) or labels is not None)
        cursor.index += 1
    cursor.expect("-", how)
    right = cursor.accept(">")
    quantifier = _quantifier(cursor)
    if quantifier is not None and length is not None:
        raise cursor.error("The relationship has two lengths: keep * or the quantifier.", first, cursor.index)
    direction: Choice["out", "in", "both"] = "both" if left == right else ("out" if right else "in")
    at = cursor.span(first)
    return RelationshipPattern(variable, types, direction, length or quantifier, properties, where, labels, at=at)


def _types(cursor: Cursor) -> tuple[tuple[str, ...], LabelExpression | None]:
    """Plain alternatives as names, anything else as the expression it is."""
    labels = label_expression(cursor)
    parts = labels.parts if isinstance(labels, LabelOr) else (labels,)
    names = tuple(part.name for part in parts if isinstance(part, LabelName))
    return (names, None) if len(names) == len(parts) else ((), labels)


def _star_length(cursor: Cursor) -> Length:
    """What follows the star: nothing, ``n``, ``n..``, ``..m`` or ``n..m``; n over m is right and matches nothing."""
    first = cursor.index - 1
    least = _hops(cursor)
    if not cursor.accept(".."):
        if least is None and cursor.word in ("-", "+") and cursor.kinds[cursor.index + 1] == "number":
            raise cursor.error("A length cannot be negative.", first, cursor.index + 2)
        return (1, None) if least is None else (least, least)
    most = _hops(cursor)
    return 1 if least is None else least, most


def _quantifier(cursor: Cursor) -> Length | None:
    """What may follow the arrow: ``{n}``, ``{n,m}``, ``{n,}``, ``{,m}``, ``+`` or ``*``."""
    if cursor.accept("+"):
        return 1, None
    if cursor.accept("*"):
        return 0, None
    if not cursor.accept("{"):
        return None
    least = _hops(cursor)
    most = least
    if cursor.accept(","):
        most = _hops(cursor)
    elif least is None:
        raise cursor.unexpected([], "a quantifier is written {n}, {n,m}, {n,} or {,m}")
    cursor.expect("}")
    return 0 if least is None else least, most


def _hops(cursor: Cursor) -> int | None:
    index = cursor.index
    if cursor.kinds[index] != "number":
        return None
    text = cursor.values[index]
    if not is_integer(text):
        raise cursor.error("A length is a whole number.")
    hops = integer_of(text)
    if hops > 2**31:
        raise cursor.error("The length is too large; leave it out for no bound.")
    cursor.index += 1
    return hops
