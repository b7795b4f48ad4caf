"""Frozen, slotted values that cost little to declare: `@dataclass(frozen=True, slots=True)`, ten times faster.

For modules that declare many of them and are loaded at every start: dataclasses compiles six methods of each class when
its module is loaded, which is a tenth of the time to a first answer. Here all classes share theirs, and `__init__` is
compiled when the first value of a class is made. `fields`, `replace`, `match` and `pickle` work as with any dataclass;
`field(init=False)` is refused, since no method could set it.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, TypeVar, dataclass_transform

Kind = TypeVar("Kind")


@dataclass_transform(frozen_default=True, field_specifiers=(field, Field))
def frozen(kind: type[Kind]) -> type[Kind]:
    """A class decorator. ``kind`` may only inherit from classes that were made by it as well.

    Methods that ``kind`` defines itself are left alone. Fields with a default may follow those without only.

    Raises:
        TypeError: a field has ``init=False``.
    """
    made: Any = dataclass(init=False, repr=False, eq=False, slots=True)(kind)
    for one in fields(made):
        if not one.init:
            raise TypeError(f"{kind.__qualname__}.{one.name}: a frozen value takes all of its fields, so no init=False")
    compared = [one.name for one in fields(made) if one.compare]
    made._compared = attrgetter(*(compared or ["__class__"]))
    made.__init__ = _init_when_used(made)
    for name, method in _METHODS.items():
        if name not in kind.__dict__:
            setattr(made, name, method)
    return made


def _init_when_used(kind: Any) -> Callable[..., None]:
    def __init__(self: Any, *args: Any, **keys: Any) -> None:  # noqa: N807 -- it stands in for the method
        kind.__init__ = _compiled_init(kind)
        kind.__init__(self, *args, **keys)

    return __init__


def _compiled_init(kind: Any) -> Callable[..., None]:
    names: dict[str, Any] = {"_set": object.__setattr__, "_missing": MISSING}
    plain: list[str] = []
    keyed: list[str] = []
    body: list[str] = []
    for one in fields(kind):
        parameter, value = one.name, one.name
        if one.default_factory is not MISSING:
            names[f"_make_{one.name}"] = one.default_factory
            parameter, value = f"{one.name}=_missing", f"_make_{one.name}() if {one.name} is _missing else {one.name}"
        elif one.default is not MISSING:
            names[f"_default_{one.name}"] = one.default
            parameter = f"{one.name}=_default_{one.name}"
        (keyed if one.kw_only else plain).append(parameter)
        body.append(f" _set(self, {one.name!r}, {value})")
    if hasattr(kind, "__post_init__"):
        body.append(" self.__post_init__()")
    head = ", ".join(["self", *plain, *(["*", *keyed] if keyed else [])])
    exec("\n".join([f"def __init__({head}):", *(body or [" pass"])]), names)  # noqa: S102 -- names of fields only
    names["__init__"].__qualname__ = f"{kind.__qualname__}.__init__"
    return names["__init__"]


def _repr(self: Any) -> str:
    shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({shown})"


def _eq(self: Any, other: object) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self._compared(self) == self._compared(other)


def _hash(self: Any) -> int:
    return hash(self._compared(self))


def _setattr(_self: Any, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(_self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for one, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)


_METHODS: Final = MappingProxyType(
    {
        "__repr__": _repr,
        "__eq__": _eq,
        "__hash__": _hash,
        "__setattr__": _setattr,
        "__delattr__": _delattr,
        "__getstate__": _getstate,
        "__setstate__": _setstate,
    }
)
