"""What `ontology:` declares: classes of nodes and relationships, and what they must be like.

Plain values; profile/ontology_yaml reads them, graph/ontology holds a graph against them. A declaration checks, it
never adds or changes anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Enforcement = Literal["advisory", "warn", "error"]


def _nothing() -> dict[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class Class:
    """A label: ``is_a`` its parent class, ``abstract`` when no node may have it as its own label."""

    is_a: str | None = None
    abstract: bool = False
    description: str | None = None
    by: str | None = None  # a property that tells kinds of the class apart; only shown
    required_properties: tuple[str, ...] = ()
    property_types: Mapping[str, str] = field(default_factory=_nothing)
    property_values: Mapping[str, tuple[str | int | float | bool, ...]] = field(default_factory=_nothing)
    enforcement: Enforcement = "warn"


@dataclass(frozen=True, slots=True)
class RelationshipClass:
    """A relationship type: from which classes to which, how many, and with which properties."""

    domain: tuple[str, ...] = ()
    range: tuple[str, ...] = ()
    description: str | None = None
    required: bool = False  # every node of the domain has one
    least: int | None = None  # `cardinality.min` of outgoing relationships of a node of the domain
    most: int | None = None  # `cardinality.max`
    required_properties: tuple[str, ...] = ()
    property_types: Mapping[str, str] = field(default_factory=_nothing)
    property_values: Mapping[str, tuple[str | int | float | bool, ...]] = field(default_factory=_nothing)
    inverse_name: str | None = None
    inverse_enforced: bool = False
    symmetric: bool = False
    transitive: bool = False
    enforcement: Enforcement = "warn"


@dataclass(frozen=True, slots=True)
class Ontology:
    """``closed_labels``: a label of a note that is no class is a violation."""

    classes: Mapping[str, Class] = field(default_factory=_nothing)
    relationships: Mapping[str, RelationshipClass] = field(default_factory=_nothing)
    closed_labels: bool = False
