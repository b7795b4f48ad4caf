"""Reading `parameters:` of a recipe: a closed JSON Schema of exactly the query's $parameters.

Used by guidance.py. Shapes are checked here; arguments are held against the schema by whoever runs the recipe.
"""

from collections.abc import Set
from typing import cast

from vaultgraph.profile.parameter_values import KINDS, kinds_of, schema_fault, value_issues
from vaultgraph.profile.yaml_tree import Entry, shown


def read_parameters(front: Entry, entry: Entry | None, used: Set[str]) -> dict[str, object]:
    """The JSON Schema; where nothing is written, that of no parameters. ``used`` are those of the query.

    Raises:
        ProfileError: it is not a closed schema of exactly ``used``; a parameter without a default is not required,
            or one with a default is; a parameter's schema states what is not checked, or its default is not of it.
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
        described.refuse(f"needs `type:`, one of {', '.join(KINDS)}.")
    if stated["type"].is_string:
        stated["type"].choice(tuple(KINDS))
    schema = cast("dict[str, object]", described.plain())
    if (fault := schema_fault(schema)) is not None:
        described.refuse(f"is not a schema that can be checked: {fault}")
    default = stated.get("default")
    if default is None:
        return False
    found = value_issues(schema, default.plain())
    if found and found[0].category == "wrong_type" and found[0].path == "$":
        default.refuse(f"must be of the type `{' or '.join(kinds_of(schema))}`.")
    if found:
        default.refuse(f"does not satisfy its own parameter: {found[0].message}.")
    return True
