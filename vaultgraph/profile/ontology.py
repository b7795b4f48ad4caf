"""What `ontology:` declares: classes of nodes and relationships, and what they must be like.

Plain values; profile/ontology_yaml reads them, graph/ontology holds a graph against them. A declaration checks, it
never adds or changes anything.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal

from vaultgraph.frozen import frozen

Enforcement = Literal["advisory", "warn", "error"]
PropertyType = Literal["string", "integer", "float", "boolean", "date", "datetime", "list", "point", "any"]
MOST_VALUES: Final = 8  # of an enum, in words


def _nothing() -> dict[str, Any]:
    return {}


@frozen
class ValueRule:
    """Which values a property may have; each part judges the kinds of values it is about, and none judges a null.

    ``enum``: one of these, an integer equals a float of the same value. ``pattern`` is found in a text, ``not_pattern``
    is not (polars' regular expressions). ``least`` and ``most`` bound numbers, both inclusive.
    """

    enum: tuple[str | int | float | bool, ...] = ()
    pattern: str | None = None
    not_pattern: str | None = None
    least: int | float | None = None
    most: int | float | None = None

    @property
    def words(self) -> str:
        """The rule as a report says it: "one of red, blue" or "at least 1 and at most 5"; long enums are cut."""
        values = [str(value).lower() if isinstance(value, bool) else str(value) for value in self.enum]
        listed = ", ".join(values[:MOST_VALUES]) + (" …" if len(values) > MOST_VALUES else "")
        parts = {
            f"one of {listed}": self.enum or None,
            f"at least {self.least}": self.least,
            f"at most {self.most}": self.most,
            f"like {self.pattern}": self.pattern,
            f"not like {self.not_pattern}": self.not_pattern,
        }
        return " and ".join(words for words, part in parts.items() if part is not None)


@frozen
class Contract:
    """The properties of nodes or relationships: which there must be, of which type, with which values."""

    required_properties: tuple[str, ...] = ()
    property_types: Mapping[str, PropertyType] = field(default_factory=_nothing)
    property_values: Mapping[str, ValueRule] = field(default_factory=_nothing)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is demanded."""
        return not (self.required_properties or self.property_types or self.property_values)


@frozen
class Class:
    """A label: ``is_a`` its parent class, ``abstract`` when no node may have it as its own label.

    The contract goes for the nodes of the class and of all classes below it.
    """

    is_a: str | None = None
    abstract: bool = False
    description: str | None = None
    by: str | None = None  # a property that tells kinds of the class apart; only shown
    contract: Contract = field(default_factory=Contract)
    enforcement: Enforcement = "warn"
    overrides: Mapping[str, Enforcement] = field(default_factory=_nothing)  # check → in place of ``enforcement``


@frozen
class RelationshipClass:
    """A relationship type: from which class to which, how many, and with which properties.

    A class stands for itself and all classes below it; a name that is no class is a label.
    """

    domain: str | None = None
    range: str | None = None
    description: str | None = None
    required: bool = False  # every node of the domain has one
    least: int | None = None  # `cardinality.min` of outgoing relationships of a node of the domain
    most: int | None = None  # `cardinality.max`
    contract: Contract = field(default_factory=Contract)
    by_source: Mapping[str, Contract] = field(default_factory=_nothing)  # class of the source → its own contract
    distinct: tuple[str, ...] | None = None  # one for the same ends and values of these; () for the same ends
    inverse_name: str | None = None
    inverse_enforced: bool = False
    symmetric: bool = False
    transitive: bool = False
    ancestry: bool = False  # leads from a thing to what it is a kind or part of; only shown
    exempt: Mapping[str, tuple[str, ...]] = field(default_factory=_nothing)  # check → classes of sources not judged
    enforcement: Enforcement = "warn"
    overrides: Mapping[str, Enforcement] = field(default_factory=_nothing)


@frozen
class Ontology:
    """``closed_labels``: a note whose own label is no class is a violation; ``enforcement`` is that rule's."""

    classes: Mapping[str, Class] = field(default_factory=_nothing)
    relationships: Mapping[str, RelationshipClass] = field(default_factory=_nothing)
    closed_labels: bool = False
    enforcement: Enforcement = "warn"

    def descendants(self) -> dict[str, frozenset[str]]:
        """Each class with itself and all classes below it."""
        below: dict[str, set[str]] = {name: {name} for name in self.classes}
        for name, declared in self.classes.items():
            parent = declared.is_a
            while parent is not None:  # profile/ontology_yaml refuses circles and bounds the depth
                below[parent].add(name)
                parent = self.classes[parent].is_a
        return {name: frozenset(members) for name, members in below.items()}
