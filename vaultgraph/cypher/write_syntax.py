"""The syntax tree of statements that write: the clauses that change a graph, beside those of cypher/syntax.

Made by cypher/write_clauses, checked and completed by cypher/bind_writes, carried out by execute/write_….
"""

from vaultgraph.cypher.syntax import Clause, Expression, PathPattern, Syntax
from vaultgraph.frozen import frozen


@frozen
class SetProperty(Syntax):
    """``subject.key = value``; ``subject`` gives a node or relationship."""

    subject: Expression
    key: str
    value: Expression


@frozen
class SetProperties(Syntax):
    """``subject = value``, or where ``adds`` ``subject += value``, of a map, node or relationship."""

    subject: Expression
    value: Expression
    adds: bool


@frozen
class SetLabels(Syntax):
    """``subject:A:B``."""

    subject: Expression
    labels: tuple[str, ...]


@frozen
class RemoveProperty(Syntax):
    """``REMOVE subject.key``."""

    subject: Expression
    key: str


@frozen
class RemoveLabels(Syntax):
    """``REMOVE subject:A:B``."""

    subject: Expression
    labels: tuple[str, ...]


Change = SetProperty | SetProperties | SetLabels | RemoveProperty | RemoveLabels


@frozen
class Create(Syntax):
    """After binding every node and relationship has a variable; those that are known before are only used."""

    patterns: tuple[PathPattern, ...]


@frozen
class Merge(Syntax):
    """MERGE of one path, with what is set where it is made, and where it is found."""

    pattern: PathPattern
    on_create: tuple[Change, ...] = ()
    on_match: tuple[Change, ...] = ()


@frozen
class Alter(Syntax):
    """SET or REMOVE: the changes in their order."""

    changes: tuple[Change, ...]


@frozen
class Delete(Syntax):
    """``detaches``: DETACH DELETE, which takes the relationships of a node along."""

    targets: tuple[Expression, ...]
    detaches: bool


@frozen
class Foreach(Syntax):
    """``FOREACH (variable IN source | clauses)``; what is named inside is not known behind it."""

    variable: str
    source: Expression
    clauses: "tuple[WriteClause, ...]"


WriteClause = Create | Merge | Alter | Delete | Foreach
AnyClause = Clause | WriteClause


@frozen
class Part(Syntax):
    """Clauses that read and write, up to RETURN or the end."""

    clauses: tuple[AnyClause, ...]


@frozen
class Statement(Syntax):
    """Parts joined by UNION; ``keeps_all`` says that it is UNION ALL."""

    parts: tuple[Part, ...]
    keeps_all: bool = False
