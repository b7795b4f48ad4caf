"""Operands: what an expression has become, either one constant for all rows or a column.

Literals and whatever is made of them alone stay scalar until a row-wise result is needed.
"""

from dataclasses import dataclass

from vaultgraph.cypher.execute.bindings import BoundColumn


@dataclass(frozen=True, slots=True)
class Constant:
    """The same value for every row."""

    value: object


Operand = Constant | BoundColumn
