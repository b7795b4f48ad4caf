"""From a syntax tree back to text that parses to an equal tree.

Used by tests, by EXPLAIN and wherever a part of a query is shown. Everything nested is put in brackets rather than
weighed by precedence. An unaliased column is printed as its name, which is its text in the query.
"""

from typing import assert_never

from vaultgraph.cypher.advice import RESERVED
from vaultgraph.cypher.syntax import (
    Binary,
    CallProcedure,
    CallSubquery,
    Case,
    Clause,
    Comparison,
    CountStar,
    Expression,
    Finish,
    FunctionCall,
    HasLabels,
    Index,
    IsNull,
    LabelAnd,
    LabelAny,
    LabelExpression,
    LabelName,
    LabelNot,
    LabelOr,
    ListComprehension,
    ListLiteral,
    Literal,
    MapLiteral,
    MapProjection,
    Match,
    NodePattern,
    Parameter,
    PathPattern,
    PatternComprehension,
    PatternCount,
    PatternPredicate,
    Projection,
    ProjectionItem,
    Property,
    Quantifier,
    Query,
    Reduce,
    RelationshipPattern,
    Return,
    SingleQuery,
    Slice,
    Subquery,
    Unary,
    Unwind,
    Variable,
    With,
)

_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def print_query(query: Query) -> str:
    """One line of Cypher."""
    mode = "" if query.mode == "run" else query.mode.upper() + " "
    return mode + _union(query) + (" FORMAT CSV" if query.csv else "")


def _union(query: Query) -> str:
    parts = [_single(query.parts[0])]
    for part, every in zip(query.parts[1:], query.union_all, strict=True):
        parts += ["UNION ALL" if every else "UNION", _single(part)]
    return " ".join(parts)


def print_expression(tree: Expression) -> str:
    """An expression; compound ones come in brackets where they could be taken apart."""
    match tree:
        case Literal(value):
            return _literal(value)
        case ListLiteral(items):
            return f"[{_list(items)}]"
        case MapLiteral():
            return _map(tree)
        case Parameter(name):
            return "$" + (name if name.isalnum() else _name(name))
        case Variable(name):
            return _variable(name)
        case Property(subject, key):
            return f"{_subject(subject)}.{_name(key)}"
        case Index(subject, index):
            return f"{_subject(subject)}[{print_expression(index)}]"
        case Slice(subject, start, stop):
            return f"{_subject(subject)}[{_optional(start)}..{_optional(stop)}]"
        case Unary("-" | "+" as operator, Literal(int() | float()) as operand):
            return f"({operator}({_literal(operand.value)}))"  # else the sign would belong to the number
        case Unary(operator, operand):
            return f"({operator} {print_expression(operand)})"
        case Binary(operator, left, right):
            return f"({print_expression(left)} {operator} {print_expression(right)})"
        case Comparison(first, rest):
            return f"({print_expression(first)}{''.join(f' {sign} {print_expression(side)}' for sign, side in rest)})"
        case IsNull(operand, negated):
            return f"({print_expression(operand)} IS {'NOT ' if negated else ''}NULL)"
        case HasLabels(subject, labels):
            return f"({_subject(subject)}:{_labels(labels)})"
        case FunctionCall() | CountStar() | Case() | MapProjection():
            return _form(tree)
        case ListComprehension() | Quantifier() | Reduce():
            return _local(tree)
        case PatternPredicate() | PatternCount() | PatternComprehension():
            return _with_pattern(tree)
        case Subquery(kind, query):
            return f"{kind.upper()} {{ {_union(query)} }}"
        case _:
            assert_never(tree)


def print_path(pattern: PathPattern) -> str:
    """A path pattern as in MATCH."""
    text = _node(pattern.nodes[0])
    for relationship, node in zip(pattern.relationships, pattern.nodes[1:], strict=True):
        text += _relationship(relationship) + _node(node)
    if pattern.shortest is not None:
        text = f"{'shortestPath' if pattern.shortest == 'one' else 'allShortestPaths'}({text})"
    return text if pattern.variable is None else f"{_variable(pattern.variable)} = {text}"


def _form(tree: FunctionCall | CountStar | Case | MapProjection) -> str:
    match tree:
        case FunctionCall(name, arguments, distinct):
            called = ".".join(_name(part) for part in name.split("."))
            return f"{called}({'DISTINCT ' if distinct else ''}{_list(arguments)})"
        case CountStar():
            return "count(*)"
        case Case(subject, branches, default):
            text = "CASE" if subject is None else f"CASE {print_expression(subject)}"
            for test, value in branches:
                text += f" WHEN {print_expression(test)} THEN {print_expression(value)}"
            return text + ("" if default is None else f" ELSE {print_expression(default)}") + " END"
        case MapProjection(subject, entries, everything):
            parts = [".*"] if everything else []
            parts += [f"{_name(key)}: {print_expression(value)}" for key, value in entries]
            # COUNT { and COLLECT { begin a subquery, so a variable of that name must not look like one
            shown = _subject(subject)
            shown = f"`{shown}`" if shown.upper() in ("COUNT", "COLLECT") else shown
            return f"{shown} {{{', '.join(parts)}}}"


def _local(tree: ListComprehension | Quantifier | Reduce) -> str:
    match tree:
        case ListComprehension(variable, source, where, projection):
            shown = "" if projection is None else f" | {print_expression(projection)}"
            return f"[{_variable(variable)} IN {print_expression(source)}{_where(where)}{shown}]"
        case Quantifier(kind, variable, source, where):
            return f"{kind}({_variable(variable)} IN {print_expression(source)}{_where(where)})"
        case Reduce(accumulator, start, variable, source, step):
            head = f"{_variable(accumulator)} = {print_expression(start)}, {_variable(variable)}"
            return f"reduce({head} IN {print_expression(source)} | {print_expression(step)})"


def _with_pattern(tree: PatternPredicate | PatternCount | PatternComprehension) -> str:
    if isinstance(tree, PatternComprehension):
        return f"[{print_path(tree.pattern)}{_where(tree.where)} | {print_expression(tree.projection)}]"
    keyword = "EXISTS" if isinstance(tree, PatternPredicate) else "COUNT"
    return f"{keyword} {{ {', '.join(map(print_path, tree.patterns))}{_where(tree.where)} }}"


def _single(part: SingleQuery) -> str:
    return " ".join(_clause(clause) for clause in part.clauses)


def _clause(clause: Clause) -> str:
    match clause:
        case Match(patterns, where, optional):
            keyword = "OPTIONAL MATCH" if optional else "MATCH"
            return f"{keyword} {', '.join(map(print_path, patterns))}{_where(where)}"
        case Unwind(source, variable):
            return f"UNWIND {print_expression(source)} AS {_variable(variable)}"
        case With(projection, where):
            return f"WITH {_projection(projection)}{_where(where)}"
        case Return(projection):
            return f"RETURN {_projection(projection)}"
        case Finish():
            return "FINISH"
        case CallSubquery(query, imports, star, optional):
            taken = "*" if star else None if imports is None else ", ".join(map(_variable, imports))
            head = ("OPTIONAL " if optional else "") + ("CALL" if taken is None else f"CALL ({taken})")
            return f"{head} {{ {_union(query)} }}"
        case CallProcedure(name, arguments, yields, star, where):
            text = "CALL " + ".".join(_name(part) for part in name.split("."))
            text += "" if arguments is None else f"({_list(arguments)})"
            if star:
                text += " YIELD *"
            elif yields is not None:
                named = (_name(one) if one == two else f"{_name(one)} AS {_variable(two)}" for one, two in yields)
                text += f" YIELD {', '.join(named)}"
            return text + _where(where)
        case _:
            assert_never(clause)


def _projection(projection: Projection) -> str:
    items = ["*"] if projection.star else []
    items += [_item(item) for item in projection.items]
    text = ("DISTINCT " if projection.distinct else "") + ", ".join(items)
    if projection.order:
        order = (print_expression(item.expression) + (" DESC" if item.descending else "") for item in projection.order)
        text += f" ORDER BY {', '.join(order)}"
    if projection.skip is not None:
        text += f" SKIP {print_expression(projection.skip)}"
    if projection.limit is not None:
        text += f" LIMIT {print_expression(projection.limit)}"
    return text


def _item(item: ProjectionItem) -> str:
    if item.aliased:
        return f"{print_expression(item.expression)} AS {_variable(item.name)}"
    return _variable(item.expression.name) if isinstance(item.expression, Variable) else item.name


def _node(node: NodePattern) -> str:
    parts = ["" if node.variable is None else _variable(node.variable)]
    parts[0] += "" if node.labels is None else ":" + _labels(node.labels)
    return f"({_details(parts, node.properties, node.where)})"


def _relationship(relationship: RelationshipPattern) -> str:
    parts = ["" if relationship.variable is None else _variable(relationship.variable)]
    if relationship.types:
        parts[0] += ":" + "|".join(map(_name, relationship.types))
    elif relationship.type_expression is not None:
        parts[0] += ":" + _labels(relationship.type_expression)
    if relationship.length is not None:
        least, most = relationship.length
        parts[0] += f"*{least}..{'' if most is None else most}"
    detail = _details(parts, relationship.properties, relationship.where)
    left = "<-" if relationship.direction == "in" else "-"
    right = "->" if relationship.direction == "out" else "-"
    return f"{left}[{detail}]{right}" if detail else left + right


def _details(parts: list[str], properties: MapLiteral | Parameter | None, where: Expression | None) -> str:
    if properties is not None:
        parts.append(print_expression(properties))
    if where is not None:
        parts.append("WHERE " + print_expression(where))
    return " ".join(part for part in parts if part)


def _labels(labels: LabelExpression) -> str:
    match labels:
        case LabelName(name):
            return _name(name)
        case LabelAny():
            return "%"
        case LabelNot(part):
            return "!" + _inner_labels(part)
        case LabelAnd(parts):
            return "&".join(map(_inner_labels, parts))
        case LabelOr(parts):
            return "|".join(map(_inner_labels, parts))
        case _:
            assert_never(labels)


def _inner_labels(labels: LabelExpression) -> str:
    shown = _labels(labels)
    return f"({shown})" if isinstance(labels, LabelAnd | LabelOr) else shown


def _subject(tree: Expression) -> str:
    """What something follows without a space: a number would run into it."""
    shown = print_expression(tree)
    if (
        isinstance(tree, Variable | Property | Index | Slice | Parameter | FunctionCall | ListLiteral)
        or shown[0] == "("
    ):
        return shown
    return f"({shown})"


def _map(tree: MapLiteral) -> str:
    return "{" + ", ".join(f"{_name(key)}: {print_expression(value)}" for key, value in tree.entries) + "}"


def _list(items: tuple[Expression, ...]) -> str:
    return ", ".join(map(print_expression, items))


def _optional(tree: Expression | None) -> str:
    return "" if tree is None else print_expression(tree)


def _where(tree: Expression | None) -> str:
    return "" if tree is None else f" WHERE {print_expression(tree)}"


def _variable(name: str) -> str:
    return f"`{name}`" if name.upper() in RESERVED else _name(name)


def _name(name: str) -> str:
    """A label, key or function name: backticks where the characters ask for them."""
    if name.isidentifier() and name.isascii():
        return name
    return "`" + name.replace("`", "``") + "`"


def _literal(value: bool | int | float | str | None) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return "'" + "".join(_ESCAPES.get(char, char) for char in value) + "'"
        case float():
            return repr(value)
        case int():
            return str(value)
