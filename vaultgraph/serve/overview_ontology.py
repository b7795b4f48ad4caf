"""What the ontology of a vault declares about one label or relationship type, in a few lines, and how well it is met.

Beside overview.py and overview_detail.py, which show what is there; this shows what should be. Reads a snapshot only.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import polars as pl

from vaultgraph.graph.ontology_places import about_class, about_relationship
from vaultgraph.profile.ontology import Contract, Ontology, RelationshipClass, ValueRule
from vaultgraph.serve.cells import counted, one_line, text_cell
from vaultgraph.vault.snapshot import Snapshot

MOST_NAMES: Final = 12
MOST_CHARS: Final = 160  # of a description, and of the values of a property
MOST_PARENTS: Final = 5


def ontology_line(snapshot: Snapshot) -> str | None:
    """One line for the plain overview: how much is declared, and how much of it is violated; None without any."""
    ontology = snapshot.profile.ontology
    if ontology is None:
        return None
    classes = counted(len(ontology.classes), "class", "classes")
    types = counted(len(ontology.relationships), "relationship type")
    count = _violations(snapshot.problems).height
    return f"Ontology: {classes}, {types}; {counted(count, 'violation')}" + (" (problems:true)" if count else "")


def class_lines(snapshot: Snapshot, label: str) -> list[str]:
    """What is declared for a label; no line where it is no class and in no relationship."""
    ontology = snapshot.profile.ontology
    declared = ontology.classes.get(label) if ontology else None
    if ontology is None or declared is None:
        return []
    below = sorted(name for name, one in ontology.classes.items() if one.is_a == label)
    parts = ["abstract" if declared.abstract else ""]
    parts += [f"is_a {declared.is_a}" if declared.is_a else "", f"kinds in {declared.by}" if declared.by else ""]
    parts += [f"below it {_named(below)}" if below else ""]
    lines = [_head("declared", parts, declared.description)]
    lines += _contract_lines(declared.contract, "")
    for parent in _parents(ontology, label)[:MOST_PARENTS]:
        lines += _contract_lines(ontology.classes[parent].contract, f"as {one_line(parent)} ")
    lines += _relationship_summary(ontology, label)
    return [*lines, _count_line(snapshot.problems, about_class(label))]


def relationship_lines(snapshot: Snapshot, name: str) -> list[str]:
    """What is declared for a relationship type; no line where nothing is."""
    ontology = snapshot.profile.ontology
    declared = ontology.relationships.get(name) if ontology else None
    if declared is None:
        return []
    parts = [f"{declared.domain or 'any'} → {declared.range or 'any'}", *_counts(declared)]
    if declared.distinct is not None:
        parts.append("distinct" + (f" by {_named(declared.distinct)}" if declared.distinct else ""))
    parts += [word for word in ("symmetric", "transitive", "ancestry") if getattr(declared, word)]
    if declared.inverse_name:
        parts.append(f"inverse {declared.inverse_name}" + (" (enforced)" if declared.inverse_enforced else ""))
    parts += [f"{check} not for {_named(classes)}" for check, classes in declared.exempt.items()]
    lines = [_head("declared", parts, declared.description)]
    lines += _contract_lines(declared.contract, "")
    for source, contract in list(declared.by_source.items())[:MOST_NAMES]:
        lines += _contract_lines(contract, f"from {one_line(source)} ")
    return [*lines, _count_line(snapshot.problems, about_relationship(name))]


def _head(word: str, parts: Iterable[str], description: str | None) -> str:
    said = "; ".join(text_cell(part, MOST_CHARS) for part in parts if part) or "a class"
    return f"{word}: {said}" + (f" — {text_cell(description.strip(), MOST_CHARS)}" if description else "")


def _parents(ontology: Ontology, label: str) -> list[str]:
    """The classes above a class, the nearest first."""
    found: list[str] = []
    parent = ontology.classes[label].is_a
    while parent is not None:
        found.append(parent)
        parent = ontology.classes[parent].is_a
    return found


def _contract_lines(contract: Contract, about: str) -> Iterator[str]:
    if contract.required_properties:
        yield f"  {about}requires {_named(contract.required_properties)}"
    if contract.property_types:
        yield f"  {about}types: {_named(f'{key} {kind}' for key, kind in contract.property_types.items())}"
    if contract.property_values:
        yield f"  {about}values: {_ruled(contract.property_values)}"


def _ruled(rules: Mapping[str, ValueRule]) -> str:
    return _named(f"{key} {text_cell(rule.words, MOST_CHARS)}" for key, rule in rules.items())


def _relationship_summary(ontology: Ontology, label: str) -> list[str]:
    """The relationship types whose domain or range is the class, or a class above it."""
    kin = {label, *_parents(ontology, label)}
    declared = ontology.relationships.items()
    out = [_outgoing(name, one) for name, one in declared if one.domain in kin]
    into = [f"{name} from {one.domain or 'any'}" for name, one in declared if one.range in kin]
    lines = [f"  out: {_named(out)}"] if out else []
    return [*lines, f"  in: {_named(into)}"] if into else lines


def _outgoing(name: str, declared: RelationshipClass) -> str:
    counts = ", ".join(_counts(declared))
    return f"{name} → {declared.range or 'any'}" + (f" ({counts})" if counts else "")


def _counts(declared: RelationshipClass) -> list[str]:
    words = ["required"] if declared.required else []
    words += [f"at least {declared.least}"] if declared.least else []
    return [*words, f"at most {declared.most}"] if declared.most is not None else words


def _count_line(problems: pl.DataFrame, about: str) -> str:
    found = _violations(problems).filter(pl.col("message").str.starts_with(about))
    return f"  {counted(found.height, 'violation')}" + (" (problems:true)" if found.height else "")


def _violations(problems: pl.DataFrame) -> pl.DataFrame:
    return problems.filter(pl.col("code").str.starts_with("ontology-"))


def _named(names: Iterable[str]) -> str:
    listed = [text_cell(name, MOST_CHARS) for name in names]
    return ", ".join(listed[:MOST_NAMES]) + (f", +{len(listed) - MOST_NAMES} more" if len(listed) > MOST_NAMES else "")
