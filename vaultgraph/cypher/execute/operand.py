"""Operands: what an expression has become, either one constant for all rows or a column.

Literals and whatever is made of them alone stay scalar until a row-wise result is needed.
"""

from vaultgraph.cypher.execute.bindings import BoundColumn
from vaultgraph.frozen import frozen


@frozen
class Constant:
    """The same value for every row."""

    value: object


Operand = Constant | BoundColumn
