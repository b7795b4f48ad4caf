"""Functions of numbers: rounding, roots, logarithms, angles, constants, chance.

Outside their domain they give NaN, as floats do. Part of the table in functions/registry.
"""

import math
import random
from collections.abc import Callable, Sequence
from decimal import (
    ROUND_CEILING,
    ROUND_DOWN,
    ROUND_FLOOR,
    ROUND_HALF_DOWN,
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    ROUND_UP,
    Decimal,
    localcontext,
)
from types import MappingProxyType
from typing import Final

import polars as pl

from vaultgraph.cypher.execute.bindings import BoundColumn, ValueColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.operand import Operand
from vaultgraph.cypher.functions.record import Function, Kernel, function
from vaultgraph.cypher.value_operators import LEAST_INTEGER
from vaultgraph.cypher.values import Refusal

_MODES: Final = MappingProxyType(
    {
        "UP": ROUND_UP,
        "DOWN": ROUND_DOWN,
        "CEILING": ROUND_CEILING,
        "FLOOR": ROUND_FLOOR,
        "HALF_UP": ROUND_HALF_UP,
        "HALF_DOWN": ROUND_HALF_DOWN,
        "HALF_EVEN": ROUND_HALF_EVEN,
    }
)


def _number_kernel(work: Callable[[pl.Series], pl.Series]) -> Kernel:
    """A kernel of one numeric argument that gives a Float64."""

    def run(arguments: Sequence[Operand], _context: Context) -> BoundColumn | None:
        match arguments:
            case [ValueColumn(series)] if series.dtype.is_numeric():
                return ValueColumn(work(series.cast(pl.Float64)))
            case _:
                return None

    return run


def _abs_kernel(arguments: Sequence[Operand], _context: Context) -> BoundColumn | None:
    match arguments:
        case [ValueColumn(series)] if series.dtype == pl.Float64:
            return ValueColumn(series.abs())
        case [ValueColumn(series)] if series.dtype == pl.Int64 and series.min() != LEAST_INTEGER:
            return ValueColumn(series.abs())
        case _:
            return None


def _abs(value: float) -> int | float:
    if isinstance(value, int) and value == LEAST_INTEGER:
        raise Refusal("Integer overflow: the result of abs() does not fit 64 bits.")
    return abs(value)


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _rounded(value: float, precision: int = 0, mode: str = "HALF_UP") -> float:
    """The nearest with ``precision`` decimals, by the decimal digits shown; halves go away from zero, or as ``mode``
    says."""
    rounding = _MODES.get(mode.upper())
    if rounding is None:
        raise Refusal(f"round() knows the modes {', '.join(_MODES)}, not {mode}.")
    if isinstance(value, float) and not math.isfinite(value):
        return value
    if precision > 300:
        return float(value)
    if precision < 0:
        raise Refusal(f"round() needs a precision that is not negative, not {precision}.")
    scaled = abs(value) * 10.0**precision if precision < 16 else math.inf
    if rounding == ROUND_HALF_UP and scaled < 2**40 and abs(scaled % 1 - 0.5) > 1e-3:
        return float(round(value, precision))  # far from a half: no way of rounding to the nearest differs
    exact = Decimal(repr(value))
    if -exact.as_tuple().exponent <= precision:  # type: ignore[operator]
        return float(value)
    with localcontext(prec=700):
        return float(exact.quantize(Decimal(1).scaleb(-precision), rounding=rounding))


def _whole(work: Callable[[float], int]) -> Callable[[float], float]:
    def run(value: float) -> float:
        if isinstance(value, float) and not math.isfinite(value):
            return value
        return math.copysign(float(work(value)), value)

    return run


def _real(work: Callable[[float], float], at_zero: float = math.nan) -> Callable[[float], float]:
    """``work`` with NaN outside its domain (``at_zero`` at 0) and infinity where it overflows."""

    def run(value: float) -> float:
        try:
            return work(value)
        except ValueError:
            return math.nan if value else at_zero
        except OverflowError:
            return math.inf

    return run


def _cotangent(value: float) -> float:
    tangent = math.tan(value)
    return 1 / tangent if tangent else math.copysign(math.inf, value)


def _hyperbolic_cotangent(value: float) -> float:
    tangent = math.tanh(value)
    return 1 / tangent if tangent else math.nan


def _haversine(value: float) -> float:
    return (1 - math.cos(value)) / 2


def _random() -> float:
    return random.random()  # noqa: S311 -- not for secrets


def _circle() -> float:
    return math.pi


def _euler() -> float:
    return math.e


def functions() -> tuple[Function, ...]:
    """The functions of this family."""
    real: tuple[tuple[str, Callable[[float], float]], ...] = (
        ("exp", _real(math.exp)),
        ("log", _real(math.log, -math.inf)),
        ("log10", _real(math.log10, -math.inf)),
        ("sin", _real(math.sin)),
        ("cos", _real(math.cos)),
        ("tan", _real(math.tan)),
        ("cot", _real(_cotangent)),
        ("asin", _real(math.asin)),
        ("acos", _real(math.acos)),
        ("atan", _real(math.atan)),
        ("sinh", _real(math.sinh)),
        ("cosh", _real(math.cosh)),
        ("tanh", _real(math.tanh)),
        ("coth", _hyperbolic_cotangent),
        ("haversin", _real(_haversine)),
        ("degrees", math.degrees),
        ("radians", math.radians),
    )
    return (
        function("abs(value :: NUMBER) :: NUMBER", _abs, _abs_kernel),
        function("ceil(value :: NUMBER) :: FLOAT", _whole(math.ceil), _number_kernel(lambda cells: cells.ceil())),
        function("floor(value :: NUMBER) :: FLOAT", _whole(math.floor), _number_kernel(lambda cells: cells.floor())),
        function("round(value :: NUMBER, precision? :: INTEGER, mode? :: STRING) :: FLOAT", _rounded),
        function("sign(value :: NUMBER) :: INTEGER", _sign),
        function("sqrt(value :: NUMBER) :: FLOAT", _real(math.sqrt), _number_kernel(lambda cells: cells.sqrt())),
        *(function(f"{name}(value :: NUMBER) :: FLOAT", work) for name, work in real),
        function("atan2(y :: NUMBER, x :: NUMBER) :: FLOAT", math.atan2),
        function("pi() :: FLOAT", _circle),
        function("e() :: FLOAT", _euler),
        function("rand() :: FLOAT", _random, is_volatile=True),
        function("isNaN(value :: NUMBER) :: BOOLEAN", math.isnan),
    )
