"""The syntax tree of statements that write: the clauses that change a graph, beside those of cypher/syntax.

Made by cypher/write_clauses, checked and completed by cypher/bind_writes, carried out by execute/write_….
"""

from dataclasses import dataclass

from vaultgraph.cypher.syntax import Clause, Expression, PathPattern, Syntax


@dataclass(frozen=True, slots=True)
class SetProperty(Syntax):
    """``subject.key = value``; ``subject`` gives a node or relationship."""

    subject: Expression
    key: str
    value: Expression


@dataclass(frozen=True, slots=True)
class SetProperties(Syntax):
    """``subject = value``, or where ``adds`` ``subject += value``, of a map, node or relationship."""

    subject: Expression
    value: Expression
    adds: bool


@dataclass(frozen=True, slots=True)
class SetLabels(Syntax):
    """``subject:A:B``."""

    subject: Expression
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RemoveProperty(Syntax):
    """``REMOVE subject.key``."""

    subject: Expression
    key: str


@dataclass(frozen=True, slots=True)
class RemoveLabels(Syntax):
    """``REMOVE subject:A:B``."""

    subject: Expression
    labels: tuple[str, ...]


Change = SetProperty | SetProperties | SetLabels | RemoveProperty | RemoveLabels


@dataclass(frozen=True, slots=True)
class Create(Syntax):
    """After binding every node and relationship has a variable; those that are known before are only used."""

    patterns: tuple[PathPattern, ...]


@dataclass(frozen=True, slots=True)
class Merge(Syntax):
    """MERGE of one path, with what is set where it is made, and where it is found."""

    pattern: PathPattern
    on_create: tuple[Change, ...] = ()
    on_match: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Alter(Syntax):
    """SET or REMOVE: the changes in their order."""

    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Delete(Syntax):
    """``detaches``: DETACH DELETE, which takes the relationships of a node along."""

    targets: tuple[Expression, ...]
    detaches: bool


@dataclass(frozen=True, slots=True)
class Foreach(Syntax):
    """``FOREACH (variable IN source | clauses)``; what is named inside is not known behind it."""

    variable: str
    source: Expression
    clauses: "tuple[WriteClause, ...]"


WriteClause = Create | Merge | Alter | Delete | Foreach
AnyClause = Clause | WriteClause


@dataclass(frozen=True, slots=True)
class Part(Syntax):
    """Clauses that read and write, up to RETURN or the end."""

    clauses: tuple[AnyClause, ...]


@dataclass(frozen=True, slots=True)
class Statement(Syntax):
    """Parts joined by UNION; ``keeps_all`` says that it is UNION ALL."""

    parts: tuple[Part, ...]
    keeps_all: bool = False
