"""Reading `ontology:` of vault.yaml: the classes of nodes and relationships a vault declares.

Called by vault_yaml.py. It refuses what cannot be meant (an unknown key, type name or parent, a circle of parents);
whether the vault is as declared is held against the graph, in graph/ontology.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple, cast, get_args

from vaultgraph.profile.ontology import (
    Class,
    Contract,
    Enforcement,
    Ontology,
    PropertyType,
    RelationshipClass,
    ValueRule,
)
from vaultgraph.profile.patterns import read_pattern
from vaultgraph.profile.yaml_tree import Entry

CONTRACT_KEYS: Final = ("required_properties", "property_types", "property_values")
CLASS_KEYS: Final = ("is_a", "abstract", "description", "by", *CONTRACT_KEYS, "enforcement", "enforcement_overrides")
RELATIONSHIP_KEYS: Final = (
    "domain",
    "range",
    *CONTRACT_KEYS,
    "by_source",
    "distinct",
    "inverse_name",
    "inverse_enforced",
    "cardinality",
    "required",
    "transitive",
    "ancestry",
    "symmetric",
    "enforcement",
    "exempt",
    "description",
    "enforcement_overrides",
)
RELATIONSHIP_CHECKS: Final = (
    "domain",
    "range",
    "required",
    *CONTRACT_KEYS,
    "cardinality",
    "distinct",
    "inverse",
    "symmetric",
    "transitive",
)
EXEMPTIBLE: Final = (*CONTRACT_KEYS, "required", "distinct")
TYPE_NAMES: Final[tuple[PropertyType, ...]] = get_args(PropertyType)
OTHER_TYPE_NAMES: Final[Mapping[str, PropertyType]] = {
    "str": "string",
    "int": "integer",
    "double": "float",
    "number": "float",
    "bool": "boolean",
    "timestamp": "datetime",
    "array": "list",
    "int64": "integer",
    "i64": "integer",
    "float64": "float",
    "f64": "float",
    "uniqueid": "any",
}
MOST_CLASSES: Final = 1000  # of nodes, and of relationships
MOST_DEPTH: Final = 50  # classes above a class
MOST_PATTERNS: Final = 200  # different ones; each is compiled


class _Severity(NamedTuple):
    every: Enforcement
    overrides: dict[str, Enforcement]


def read_ontology(entry: Entry | None) -> Ontology | None:
    """The declarations below `ontology:`; None where it is absent.

    Raises:
        ProfileError: a wrong key, shape or name; ``data`` has file, line and key.
    """
    if entry is None:
        return None
    stated = entry.stated(("version", "classes", "relationships", "closed_labels", "enforcement"))
    if "version" in stated:
        stated["version"].positive()
    enforcement = _enforcement(stated["enforcement"]) if "enforcement" in stated else "warn"
    patterns: set[str] = set()
    described = _declared(stated.get("classes"))
    classes = {name: _class(one, enforcement, patterns) for name, one in described.items()}
    _check_parents(classes, described)
    closed = stated["closed_labels"].boolean() if "closed_labels" in stated else False
    if closed and not classes:
        stated["closed_labels"].refuse("needs at least one class; without any, every label would be wrong.")
    relationships = {
        name: _relationship(one, enforcement, patterns) for name, one in _declared(stated.get("relationships")).items()
    }
    return Ontology(classes=classes, relationships=relationships, closed_labels=closed, enforcement=enforcement)


def _declared(entry: Entry | None) -> dict[str, Entry]:
    """Classes by name; each must be a mapping, maybe an empty one."""
    declared = entry.named() if entry else {}
    if entry and len(declared) > MOST_CLASSES:
        entry.refuse(f"has {len(declared):,} entries; at most {MOST_CLASSES:,} are read.")
    for one in declared.values():
        if not one.is_mapping:
            one.refuse("must be a mapping; write `{}` where there is nothing to say.")
    return declared


def _class(entry: Entry, enforcement: Enforcement, patterns: set[str]) -> Class:
    stated = entry.stated(CLASS_KEYS)
    severity = _severity(stated, enforcement, CONTRACT_KEYS)
    return Class(
        is_a=_name(stated, "is_a"),
        abstract=_boolean(stated, "abstract"),
        description=_string(stated, "description"),
        by=_name(stated, "by"),
        contract=_contract(stated, patterns),
        enforcement=severity.every,
        overrides=severity.overrides,
    )


def _check_parents(classes: Mapping[str, Class], described: Mapping[str, Entry]) -> None:
    """Refuse a parent that is no class, a circle, and a chain that is too long."""
    depths: dict[str, int] = {}
    for name in classes:
        chain: dict[str, None] = {}
        at: str | None = name
        while at is not None and at not in depths:
            if at in chain:
                described[at].mapping()["is_a"].refuse(
                    "leads back to the class itself. Parents must not form a circle."
                )
            chain[at] = None
            parent = classes[at].is_a
            if parent is not None and parent not in classes:
                described[at].mapping()["is_a"].refuse(f"is `{parent}`, which is no class here. Declare it.")
            at = parent
        depth = depths[at] + 1 if at is not None else 0
        for member in reversed(chain):
            depths[member] = depth
            if depth > MOST_DEPTH:
                described[member].refuse(f"has more than {MOST_DEPTH} classes above it.")
            depth += 1


def _relationship(entry: Entry, enforcement: Enforcement, patterns: set[str]) -> RelationshipClass:
    stated = entry.stated(RELATIONSHIP_KEYS)
    severity = _severity(stated, enforcement, RELATIONSHIP_CHECKS)
    least, most = _cardinality(stated.get("cardinality"))
    declared = RelationshipClass(
        domain=_name(stated, "domain"),
        range=_name(stated, "range"),
        description=_string(stated, "description"),
        required=_boolean(stated, "required"),
        least=least,
        most=most,
        contract=_contract(stated, patterns),
        by_source=_by_source(stated.get("by_source"), patterns),
        distinct=_distinct(stated.get("distinct")),
        inverse_name=_name(stated, "inverse_name"),
        inverse_enforced=_boolean(stated, "inverse_enforced"),
        symmetric=_boolean(stated, "symmetric"),
        transitive=_boolean(stated, "transitive"),
        ancestry=_boolean(stated, "ancestry"),
        exempt=_exempt(stated.get("exempt")),
        enforcement=severity.every,
        overrides=severity.overrides,
    )
    if declared.inverse_enforced and declared.inverse_name is None:
        stated["inverse_enforced"].refuse("needs `inverse_name`, the type that leads back.")
    if declared.transitive and declared.ancestry:
        stated["ancestry"].refuse(
            "does not go with `transitive`, which demands a relationship for every way round. Keep one."
        )
    return declared


def _cardinality(entry: Entry | None) -> tuple[int | None, int | None]:
    stated = entry.stated(("min", "max")) if entry else {}
    bounds = {name: bound.integer() for name, bound in stated.items()}
    for name, bound in bounds.items():
        if bound < 0:
            stated[name].refuse(f"is {bound}; it must be 0 or more.")
    least, most = bounds.get("min"), bounds.get("max")
    if least is not None and most is not None and least > most:
        stated["min"].refuse(f"is {least}, more than `max`, which is {most}.")
    return least, most


def _distinct(entry: Entry | None) -> tuple[str, ...] | None:
    """``()`` for `true`, None for `false` and where it is absent."""
    if entry is None:
        return None
    if entry.is_boolean:
        return () if entry.boolean() else None
    names = entry.names()
    if not names:
        entry.refuse("lists no properties; write `true` for one relationship between the same nodes.")
    return names


def _exempt(entry: Entry | None) -> dict[str, tuple[str, ...]]:
    checks = entry.stated(EXEMPTIBLE) if entry else {}
    return {check: classes.names() for check, classes in checks.items()}


def _by_source(entry: Entry | None, patterns: set[str]) -> dict[str, Contract]:
    sources = entry.named() if entry else {}
    return {name: _contract(described.stated(CONTRACT_KEYS), patterns) for name, described in sources.items()}


def _contract(stated: Mapping[str, Entry], patterns: set[str]) -> Contract:
    """The contract; ``patterns``: those of the ontology so far, which are added to."""
    types = stated["property_types"].named() if "property_types" in stated else {}
    values = stated["property_values"].named() if "property_values" in stated else {}
    return Contract(
        required_properties=stated["required_properties"].names() if "required_properties" in stated else (),
        property_types={key: _type_name(entry) for key, entry in types.items()},
        property_values={key: _value_rule(entry, patterns) for key, entry in values.items()},
    )


def _type_name(entry: Entry) -> PropertyType:
    name = entry.text().lower()
    name = OTHER_TYPE_NAMES.get(name, name)
    if name not in TYPE_NAMES:
        entry.refuse(f"is `{entry.text()}`; use one of {', '.join(TYPE_NAMES)}.")
    return name


def _value_rule(entry: Entry, patterns: set[str]) -> ValueRule:
    stated = entry.stated(("enum", "pattern", "not_pattern", "min", "max"))
    if not stated:
        entry.refuse("must be a mapping with at least one of enum, pattern, not_pattern, min, max.")
    enum = tuple(item.scalar() for item in stated["enum"].items("values")) if "enum" in stated else ()
    if "enum" in stated and not enum:
        stated["enum"].refuse("must have at least one value.")
    least, most = (_number(stated[name]) if name in stated else None for name in ("min", "max"))
    if least is not None and most is not None and least > most:
        stated["min"].refuse(f"is {least}, more than `max`, which is {most}.")
    return ValueRule(
        enum=enum,
        pattern=_pattern(stated["pattern"], patterns) if "pattern" in stated else None,
        not_pattern=_pattern(stated["not_pattern"], patterns) if "not_pattern" in stated else None,
        least=least,
        most=most,
    )


def _pattern(entry: Entry, patterns: set[str]) -> str:
    pattern = entry.string()
    if pattern not in patterns:
        if len(patterns) == MOST_PATTERNS:
            entry.refuse(f"is one pattern too many; an ontology has at most {MOST_PATTERNS}.")
        patterns.add(read_pattern(entry))
    return pattern


def _number(entry: Entry) -> int | float:
    value = entry.scalar()
    if isinstance(value, bool | str):
        entry.refuse("must be a number.")
    return value


def _severity(stated: Mapping[str, Entry], default: Enforcement, checks: tuple[str, ...]) -> _Severity:
    """`enforcement` as a word goes for every check; as a mapping, what it leaves out is advisory."""
    every: Enforcement = default
    overrides: dict[str, Enforcement] = {}
    written = stated.get("enforcement")
    if written is not None and written.is_mapping:
        every, overrides = "advisory", _by_check(written, checks)
    elif written is not None:
        every = _enforcement(written)
    if "enforcement_overrides" in stated:
        overrides |= _by_check(stated["enforcement_overrides"], checks)
    return _Severity(every, overrides)


def _by_check(entry: Entry, checks: tuple[str, ...]) -> dict[str, Enforcement]:
    return {check: _enforcement(severity) for check, severity in entry.stated(checks).items()}


def _enforcement(entry: Entry) -> Enforcement:
    return cast("Enforcement", entry.choice(get_args(Enforcement)))


def _name(stated: Mapping[str, Entry], key: str) -> str | None:
    return stated[key].name() if key in stated else None


def _string(stated: Mapping[str, Entry], key: str) -> str | None:
    return stated[key].string() if key in stated else None


def _boolean(stated: Mapping[str, Entry], key: str) -> bool:
    return stated[key].boolean() if key in stated else False
