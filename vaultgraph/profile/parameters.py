"""Reading `parameters:` of a recipe: a closed JSON Schema of exactly the query's $parameters.

Used by guidance.py. Shapes are checked here; arguments are held against the schema by whoever runs the recipe.
"""

from collections.abc import Callable, Mapping, Set
from typing import Final

from vaultgraph.profile.yaml_tree import Entry, shown


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_CHECKS: Final[Mapping[str, Callable[[object], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "integer": _is_integer,
    "number": lambda value: _is_integer(value) or isinstance(value, float),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def read_parameters(front: Entry, entry: Entry | None, used: Set[str]) -> dict[str, object]:
    """The JSON Schema; where nothing is written, that of no parameters. ``used`` are those of the query.

    Raises:
        ProfileError: it is not a closed schema of exactly ``used``; a parameter without a default is not required,
            or one with a default is; a default is not of the type stated.
    """
    if entry is None or entry.is_null:
        _match(front, used, set())
        return {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    stated = entry.mapping()
    if "type" not in stated or stated["type"].plain() != "object":
        entry.refuse("must have `type: object`.")
    if "additionalProperties" not in stated or stated["additionalProperties"].plain() is not False:
        entry.refuse("must have `additionalProperties: false`.")
    properties = stated["properties"].mapping() if "properties" in stated else {}
    with_default = {name for name, described in properties.items() if _has_default(described)}
    _match(entry, used, set(properties))
    required = set(stated["required"].texts()) if "required" in stated else set[str]()
    if required != set(properties) - with_default:
        wanted = ", ".join(sorted(set(properties) - with_default)) or "nothing"
        entry.refuse(f"must require exactly the parameters without `default`: {shown(wanted)}.")
    return {name: part.plain() for name, part in stated.items()}


def _match(entry: Entry, used: Set[str], declared: Set[str]) -> None:
    if missing := sorted(used - declared):
        names = shown(", ".join(missing))
        entry.refuse(f"must declare each $parameter of the query: {names} is missing in `parameters:`.")
    if unused := sorted(declared - used):
        entry.refuse(f"must declare only $parameters of the query: {shown(', '.join(unused))} is not used.")


def _has_default(described: Entry) -> bool:
    """Whether a parameter has a default, once its type is known and the default is of it."""
    stated = described.mapping()
    if "type" not in stated:
        described.refuse(f"needs `type:`, one of {', '.join(_CHECKS)}.")
    wanted = stated["type"].choice(tuple(_CHECKS))
    default = stated.get("default")
    if default is not None and not _CHECKS[wanted](default.plain()):
        default.refuse(f"must be of the type `{wanted}`.")
    return default is not None
