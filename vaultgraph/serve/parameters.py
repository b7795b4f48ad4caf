"""Checking the arguments of a call against an operation's closed parameter schema.

Covers the part of JSON Schema the operations use: type (one or several), enum, items, minItems, minimum, maximum,
required, additionalProperties false. A null argument counts as absent, since callers spell "not given" both ways; a
text for a list of texts counts as its one entry.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from vaultgraph.errors import ParameterError
from vaultgraph.serve.payload import RESPONSE_SCHEMA

Schema = Mapping[str, Any]

_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}


_MEANT: Final[Mapping[str, tuple[str, ...]]] = {
    "label": ("types",),
    "labels": ("types",),
    "node": ("types",),
    "topic": ("cypher",),
    "relationship": ("connections",),
    "relationships": ("connections",),
    "statement": ("query",),
    "cypher": ("query",),
    "parameters": ("params",),
    "path": ("file_path", "items", "glob"),
    "file": ("file_path", "path", "glob"),
    "name": ("file_path", "types"),
    "note": ("file_path",),
    "title": ("file_path",),
    "folder": ("path", "glob"),
    "directory": ("path", "glob"),
    "section": ("heading",),
    "pattern": ("grep", "glob"),
    "regex": ("pattern", "grep"),
    "search": ("pattern", "grep"),
    "query": ("pattern", "grep"),
    "limit": ("max_results", "max_matches"),
    "image": ("items",),
    "images": ("items",),
    "paths": ("items",),
    "files": ("items",),
    "id": ("result_id",),
}
"""What callers call a parameter that is not named so, and the names it may have, the first one known counts."""


BUDGET: Final = "_response"
"""Accepted by every operation, also where an answer is always small and the schema does not spend bytes on it."""


def nearest(name: str, known: Sequence[str]) -> str | None:
    """The known name closest to ``name``, ignoring case; None where nothing is close."""
    folded = {other.casefold(): other for other in reversed(known)}
    if name.casefold() in folded:
        return folded[name.casefold()]
    from difflib import get_close_matches  # noqa: PLC0415 -- only for who is mistaken

    found = get_close_matches(name.casefold(), list(folded), n=1, cutoff=0.5)
    return folded[found[0]] if found else None


def check_arguments(schema: Schema, arguments: Mapping[str, Any], operation: str) -> dict[str, Any]:
    """The arguments that were given, checked; nulls are dropped and whole floats of integer parameters made integers.

    Raises:
        ParameterError: an argument is unknown, missing or of the wrong kind; the message names the nearest or accepted.
    """
    return _members(schema, arguments, operation, {BUDGET: RESPONSE_SCHEMA})


def _members(schema: Schema, values: Mapping[str, Any], owner: str, beside: Mapping[str, Schema]) -> dict[str, Any]:
    """The checked members of an object: those of ``schema``, and those that may stand ``beside`` them."""
    stated = cast("Mapping[str, Schema]", schema["properties"])
    properties = {**beside, **stated}
    for name in values:
        if name not in properties:
            raise _unknown(name, list(stated), owner)
    given = {name: _checked(value, properties[name], name) for name, value in values.items() if value is not None}
    for name in cast("Sequence[str]", schema.get("required", ())):
        if name not in given:
            raise ParameterError(
                f"{owner} needs the argument `{name}` ({describe(properties[name])}).",
                {"name": name, "reason": "missing"},
            )
    return given


def describe(schema: Schema) -> str:
    """The kind of value a property schema accepts, in words."""
    if "enum" in schema:
        return "one of " + ", ".join(str(item) for item in schema["enum"])
    kinds = _kinds(schema)
    words = [
        f"a list of {_plural(cast('Schema', schema['items']))}"
        if kind == "array" and "items" in schema
        else _WORDS[kind]
        for kind in kinds
    ]
    return " or ".join(words)


def _plural(items: Schema) -> str:
    return {"string": "texts", "integer": "whole numbers"}.get(str(items.get("type")), "values")


def _kinds(schema: Schema) -> list[str]:
    kind = schema.get("type", "object")
    return [kind] if isinstance(kind, str) else list(kind)


def _unknown(name: str, known: list[str], operation: str) -> ParameterError:
    shown = [other for other in known if other != "_response"]
    meant = next((other for other in _MEANT.get(name.casefold(), ()) if other in shown), None)
    close = meant or nearest(name, shown)
    advice = f" Did you mean `{close}`?" if close else ""
    accepted = f" It accepts: {', '.join(shown)}." if shown else " It takes no arguments."
    return ParameterError(
        f"{operation} has no argument `{name}`.{advice}{accepted}",
        {"name": name, "reason": "unknown", "nearest": close},
    )


def _checked(value: Any, schema: Schema, name: str) -> Any:
    if isinstance(value, float) and value.is_integer() and "integer" in _kinds(schema):
        value = int(value)
    if isinstance(value, str) and "array" in _kinds(schema):
        value = _listed(value, schema)
    if not any(_is_kind(value, kind) for kind in _kinds(schema)):
        raise _wrong(name, schema, value)
    if "enum" in schema and value not in schema["enum"]:
        close = nearest(str(value), [str(item) for item in schema["enum"]])
        raise _wrong(name, schema, value, f" Did you mean `{close}`?" if close else "")
    if isinstance(value, int) and not isinstance(value, bool) and value < schema.get("minimum", value):
        raise ParameterError(f"`{name}` must be at least {schema['minimum']}, not {value}.", _reason(name, "minimum"))
    if isinstance(value, int) and not isinstance(value, bool) and value > schema.get("maximum", value):
        raise ParameterError(f"`{name}` must be at most {schema['maximum']}, not {value}.", _reason(name, "maximum"))
    if _is_kind(value, "array"):
        items = cast("list[Any]", value)
        if len(items) < schema.get("minItems", 0):
            raise ParameterError(f"`{name}` must name at least one.", _reason(name, "minimum"))
        if "items" in schema:
            return [_checked(item, cast("Schema", schema["items"]), f"{name}[{at}]") for at, item in enumerate(items)]
    if _is_kind(value, "object") and "properties" in schema:
        return _members(schema, cast("dict[str, Any]", value), f"`{name}`", {})
    return value


def _listed(value: str, schema: Schema) -> Any:
    """A text given for a list as its one entry; "true" and "false" are meant as such where they are accepted."""
    if "boolean" in _kinds(schema) and value.casefold() in ("true", "false"):
        return value.casefold() == "true"
    is_texts = cast("Schema", schema.get("items", {})).get("type") == "string"
    return [value] if is_texts else value


def _is_kind(value: Any, kind: str) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case _:
            return isinstance(value, dict)


def _wrong(name: str, schema: Schema, value: Any, advice: str = "") -> ParameterError:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else shown[:57] + "…"
    return ParameterError(f"`{name}` must be {describe(schema)}, not {shown}.{advice}", _reason(name, "wrong kind"))


def _reason(name: str, reason: str) -> dict[str, str]:
    return {"name": name, "reason": reason}
