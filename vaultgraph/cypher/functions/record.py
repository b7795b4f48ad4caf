"""The record of one function: its signature as text and as parameters, its implementation and its vector kernel.

Families build tuples of these; functions/registry looks them up; execute/calls checks arguments against them.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

from vaultgraph.cypher.execute.bindings import BoundColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.operand import Operand
from vaultgraph.frozen import frozen

Kernel = Callable[[Sequence[Operand], Context], BoundColumn | None]
"""Works on whole columns (at least one argument is a column), or gives None to decline: then rows are looped over."""

_SIGNATURE: Final = re.compile(r"([\w.]+)\((.*)\) :: (.+)")


@frozen
class Parameter:
    """``types`` are the accepted type names of cypher/values; empty accepts any. ``repeated``: one or more of it."""

    name: str
    types: frozenset[str]
    optional: bool
    repeated: bool


@frozen
class Function:
    """``least`` and ``most`` count arguments; most None is unbounded.

    ``implementation`` takes engine values, the Context first where ``takes_context``; it may raise Refusal. Where
    ``null_through`` any null argument gives null without a call. ``is_volatile``: every call gives another value.
    """

    name: str
    signature: str
    least: int
    most: int | None
    parameters: tuple[Parameter, ...]
    implementation: Callable[..., object]
    kernel: Kernel | None = None
    null_through: bool = True
    takes_context: bool = False
    is_volatile: bool = False

    def parameter(self, position: int) -> Parameter:
        """The parameter of argument ``position`` (0-based)."""
        return self.parameters[min(position, len(self.parameters) - 1)]


def function(
    signature: str,
    implementation: Callable[..., object],
    kernel: Kernel | None = None,
    *,
    null_through: bool = True,
    takes_context: bool = False,
    is_volatile: bool = False,
) -> Function:
    """A Function from its signature, ``name(text :: STRING, length? :: INTEGER, rest... :: ANY) :: STRING``."""
    match = _SIGNATURE.fullmatch(signature)
    if match is None:
        raise ValueError(f"not a signature: {signature}")
    parameters = tuple(parameter(part) for part in match[2].split(", ") if part)
    least = sum(not one.optional for one in parameters)
    repeated = any(one.repeated for one in parameters)
    return Function(
        name=match[1],
        signature=signature,
        least=least,
        most=None if repeated else len(parameters),
        parameters=parameters,
        implementation=implementation,
        kernel=kernel,
        null_through=null_through,
        takes_context=takes_context,
        is_volatile=is_volatile,
    )


def parameter(text: str) -> Parameter:
    """A parameter as a signature writes it, ``name? :: TYPE | TYPE``."""
    name, _, types = text.partition(" :: ")
    accepted: set[str] = set()
    for part in types.split(" | "):
        accepted |= _TYPES.get(part) or {part}
    plain = name.rstrip("?").removesuffix("...")
    return Parameter(plain, frozenset(accepted - {"ANY"}), name.endswith("?"), name.endswith("..."))


_TYPES: Final[dict[str, set[str]]] = {
    "NUMBER": {"INTEGER", "FLOAT"},
    "DATETIME": {"LOCAL DATETIME", "ZONED DATETIME"},
    "TEMPORAL": {"DATE", "LOCAL TIME", "ZONED TIME", "LOCAL DATETIME", "ZONED DATETIME"},
    "LIST<ANY>": {"LIST"},
}
