"""Values against the closed JSON Schema of a query's parameters: every fault at once, each with its place.

Used when a recipe is read (its defaults) and when one is run. A schema may come from a stranger's vault: what it may
say is a short list, its depth is bounded, and patterns run in polars' engine, which is linear in its input.
"""

from collections.abc import Callable, Mapping
from typing import Final, cast

import polars as pl
from polars.exceptions import ComputeError

from vaultgraph.frozen import frozen

Schema = Mapping[str, object]

MOST_ISSUES: Final = 20
MOST_DEPTH: Final = 8
MOST_PATTERN_CHARS: Final = 500


@frozen
class Issue:
    """One fault of a value: where (`$.name`, `$.list[2]`), what kind of fault, and what is wanted."""

    path: str
    category: str
    message: str


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


KINDS: Final[Mapping[str, Callable[[object], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "integer": _is_whole,
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
NULL: Final = "null"
"""Beside kinds in a list of them: the value may be null."""
_COUNTS: Final = ("minLength", "maxLength", "minItems", "maxItems")
_LIMITS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_TEXTS: Final = ("title", "description", "format", "pattern")
_FREE: Final = ("default", "examples", "const", "deprecated", "$comment")
_NESTED: Final = ("type", "enum", "items", "properties", "required", "additionalProperties")
KEYWORDS: Final = frozenset((*_COUNTS, *_LIMITS, *_TEXTS, *_FREE, *_NESTED))


def kinds_of(schema: Schema) -> tuple[str, ...]:
    """The kinds a value may have, "null" among them where it may be null; none where any value is right."""
    stated = schema.get("type")
    if isinstance(stated, list):
        return tuple(str(kind) for kind in cast("list[object]", stated))
    return () if stated is None else (str(stated),)


def _is_of(value: object, kinds: tuple[str, ...]) -> bool:
    return any(value is None if kind == NULL else KINDS[kind](value) for kind in kinds)


def schema_fault(schema: object, path: str = "$", depth: int = 0) -> str | None:
    """What is wrong with the schema of one value, in words; None where it can be held against values."""
    if not isinstance(schema, dict):
        return f"`{path}` must be a mapping."
    stated = cast("dict[str, object]", schema)
    if depth > MOST_DEPTH:
        return f"`{path}` is nested more than {MOST_DEPTH} deep."
    if unknown := sorted(str(key) for key in stated if key not in KEYWORDS):
        return f"`{path}` states `{unknown[0]}`, which is not checked here. Accepted: {', '.join(sorted(KEYWORDS))}."
    kinds = kinds_of(stated)
    if not set(kinds) <= {*KINDS, NULL} or not (set(kinds) - {NULL} or "type" not in stated):
        return f"`{path}` must have a `type` that is one of {', '.join(KINDS)}, or a list of them and null."
    for name, checks, kind in ((_COUNTS, _is_whole, "a whole number"), (_LIMITS, _is_number, "a number")):
        for key in name:
            if key in stated and not checks(stated[key]):
                return f"`{path}` has a `{key}` that is not {kind}."
    if any(key in stated and not isinstance(stated[key], str) for key in _TEXTS):
        return f"`{path}` has a {', '.join(key for key in _TEXTS if key in stated)} that is not text."
    if "enum" in stated and not isinstance(stated["enum"], list):
        return f"`{path}` must have a list as `enum`."
    return _pattern_fault(stated.get("pattern"), path) or _nested_fault(stated, path, depth)


def _pattern_fault(pattern: object, path: str) -> str | None:
    if not isinstance(pattern, str):
        return None
    if len(pattern) > MOST_PATTERN_CHARS:
        return f"`{path}` has a `pattern` of more than {MOST_PATTERN_CHARS} characters."
    try:
        pl.Series([""]).str.contains(pattern)
    except ComputeError:
        return (
            f"`{path}` has a `pattern` that is no regular expression (look-around and back references are not taken)."
        )
    return None


def _nested_fault(stated: Mapping[str, object], path: str, depth: int) -> str | None:
    if "items" in stated and (fault := schema_fault(stated["items"], f"{path}[]", depth + 1)):
        return fault
    if "additionalProperties" in stated and not isinstance(stated["additionalProperties"], bool):
        return f"`{path}` must have true or false as `additionalProperties`."
    required = stated.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in cast("list[object]", required)):
        return f"`{path}` must have a list of names as `required`."
    properties = stated.get("properties", {})
    if not isinstance(properties, dict):
        return f"`{path}` must have a mapping as `properties`."
    for name, inner in cast("dict[str, object]", properties).items():
        if fault := schema_fault(inner, f"{path}.{name}", depth + 1):
            return fault
    return None


def bind_values(schema: Schema, values: Mapping[str, object]) -> tuple[dict[str, object], list[Issue]]:
    """The values of all parameters, defaults taken for those not given, and what is wrong with them.

    A null counts as not given, but for a parameter that may be null. At most `MOST_ISSUES` faults are told.
    """
    properties = cast("Mapping[str, Schema]", schema.get("properties", {}))
    known = ", ".join(properties)
    message = f"is none of: {known}" if known else "there are no parameters"
    issues = [Issue(f"$.{name[:100]}", "unknown", message) for name in values if name not in properties]
    bound: dict[str, object] = {}
    for name, described in properties.items():
        value = values.get(name)
        if value is not None:
            bound[name] = _checked(value, described, f"$.{name}", issues)
        elif "default" in described:
            bound[name] = described["default"]
        elif name in values and NULL in kinds_of(described):
            bound[name] = None
        else:
            issues.append(Issue(f"$.{name}", "missing", f"is required: {_wanted(described)}"))
    return bound, issues[:MOST_ISSUES]


def value_issues(schema: Schema, value: object, path: str = "$") -> list[Issue]:
    """What is wrong with one value."""
    issues: list[Issue] = []
    _checked(value, schema, path, issues)
    return issues


def _wanted(schema: Schema) -> str:
    if isinstance(schema.get("enum"), list):
        return "one of " + ", ".join(map(str, cast("list[object]", schema["enum"])[:20]))
    return " or ".join(kinds_of(schema)) or "any value"


def _checked(value: object, schema: Schema, path: str, issues: list[Issue]) -> object:
    """``value``, a whole float of an integer made one; faults are appended."""
    if len(issues) >= MOST_ISSUES:
        return value
    kinds = kinds_of(schema)
    if "integer" in kinds and "number" not in kinds and isinstance(value, float) and value.is_integer():
        value = int(value)
    if kinds and not _is_of(value, kinds):
        issues.append(Issue(path, "wrong_type", f"must be {_wanted(schema)}"))
        return value
    if "const" in schema and value != schema["const"]:
        issues.append(Issue(path, "const", f"must be {schema['const']}"))
    if "enum" in schema and value not in cast("list[object]", schema["enum"]):
        issues.append(Issue(path, "enum", f"must be {_wanted(schema)}"))
    match value:
        case str():
            _check_text(value, schema, path, issues)
        case bool() | None:
            pass
        case int() | float():
            _check_number(value, schema, path, issues)
        case list():
            return _checked_items(cast("list[object]", value), schema, path, issues)
        case dict():
            return _checked_entries(cast("dict[str, object]", value), schema, path, issues)
        case _:
            pass
    return value


def _check_text(value: str, schema: Schema, path: str, issues: list[Issue]) -> None:
    _check_count(len(value), ("minLength", "maxLength"), "characters", schema, path, issues)
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and not pl.Series([value], dtype=pl.String).str.contains(pattern)[0]:
        issues.append(Issue(path, "pattern", f"must match {pattern}"))


def _check_count(count: int, names: tuple[str, str], what: str, schema: Schema, path: str, issues: list[Issue]) -> None:
    least, most = (cast("int | None", schema.get(name)) for name in names)
    if least is not None and count < least:
        issues.append(Issue(path, names[0], f"must have at least {least} {what}"))
    if most is not None and count > most:
        issues.append(Issue(path, names[1], f"must have at most {most} {what}"))


def _check_number(value: float, schema: Schema, path: str, issues: list[Issue]) -> None:
    least, most, above, below = (cast("float | None", schema.get(name)) for name in _LIMITS)
    if least is not None and not value >= least:
        issues.append(Issue(path, "minimum", f"must be at least {least}"))
    if most is not None and not value <= most:
        issues.append(Issue(path, "maximum", f"must be at most {most}"))
    if above is not None and not value > above:
        issues.append(Issue(path, "minimum", f"must be more than {above}"))
    if below is not None and not value < below:
        issues.append(Issue(path, "maximum", f"must be less than {below}"))


def _checked_items(value: list[object], schema: Schema, path: str, issues: list[Issue]) -> list[object]:
    _check_count(len(value), ("minItems", "maxItems"), "items", schema, path, issues)
    items = schema.get("items")
    if not isinstance(items, dict):
        return value
    described = cast("Schema", items)
    return [_checked(item, described, f"{path}[{at}]", issues) for at, item in enumerate(value)]


def _checked_entries(value: dict[str, object], schema: Schema, path: str, issues: list[Issue]) -> dict[str, object]:
    properties = cast("Mapping[str, Schema]", schema.get("properties", {}))
    required = cast("list[str]", schema.get("required", []))
    issues += [Issue(f"{path}.{name}", "missing", "is required") for name in required if name not in value]
    if schema.get("additionalProperties") is False:
        issues += [Issue(f"{path}.{name[:100]}", "unknown", "is not taken") for name in value if name not in properties]
    return {
        name: _checked(entry, properties[name], f"{path}.{name}", issues) if name in properties else entry
        for name, entry in value.items()
    }
