"""Frozen, slotted values that cost little to declare: `@dataclass(frozen=True, slots=True)`, ten times faster.

For modules that declare many of them and are loaded at every start: dataclasses compiles six methods of each class when
its module is loaded, which is a tenth of the time to a first answer. Here a method is compiled when it is used first,
and classes share those that need not be quick. `fields`, `replace`, `match` and `pickle` work as with any dataclass;
`field(init=False)` is refused, since no method could set it.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields, is_dataclass
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
    kind.__doc__ = kind.__doc__ or kind.__name__  # else dataclasses makes one out of the signature, which is slow
    made: Any = dataclass(init=False, repr=False, eq=False, slots=True)(kind)
    for one in fields(made):
        if not one.init:
            raise TypeError(f"{kind.__qualname__}.{one.name}: a frozen value takes all of its fields, so no init=False")
    made.__init__ = _when_used(made, "__init__", _compiled_init)
    for name, compiled in (("__eq__", _compiled_eq), ("__hash__", _compiled_hash)):
        if _is_ours_to_set(kind, name):
            setattr(made, name, _when_used(made, name, compiled))
    for name, method in _METHODS.items():
        if name not in kind.__dict__:
            setattr(made, name, method)
    return made


def _is_ours_to_set(kind: type, name: str) -> bool:
    """Whether values compare by their fields: not where ``kind``, or a class it inherits from, says how they do."""
    giver = next(one for one in kind.__mro__ if name in one.__dict__)
    return giver is object or (giver is not kind and is_dataclass(giver))


def _when_used(kind: Any, name: str, compiled: Callable[[Any], Callable[..., Any]]) -> Callable[..., Any]:
    """A method that puts the one of ``compiled`` in its own place when it is called for the first time."""

    def method(self: Any, *args: Any, **keys: Any) -> Any:
        setattr(kind, name, compiled(kind))
        return getattr(kind, name)(self, *args, **keys)

    method.__name__ = name
    method.__qualname__ = f"{kind.__qualname__}.{name}"
    return method


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
    return _compiled(kind, "__init__", head, body or [" pass"], names)


def _compiled_eq(kind: Any) -> Callable[..., Any]:
    body = [
        " if other.__class__ is not self.__class__: return NotImplemented",
        f" return {_compared(kind, 'self')} == {_compared(kind, 'other')}",
    ]
    return _compiled(kind, "__eq__", "self, other", body, {})


def _compiled_hash(kind: Any) -> Callable[..., Any]:
    return _compiled(kind, "__hash__", "self", [f" return hash({_compared(kind, 'self')})"], {})


def _compared(kind: Any, value: str) -> str:
    return f"({''.join(f'{value}.{one.name},' for one in fields(kind) if one.compare)})"


def _compiled(kind: Any, name: str, head: str, body: list[str], names: dict[str, Any]) -> Callable[..., Any]:
    exec("\n".join([f"def {name}({head}):", *body]), names)  # noqa: S102 -- names of fields only
    names[name].__qualname__ = f"{kind.__qualname__}.{name}"
    return names[name]


def _repr(self: Any) -> str:
    shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({shown})"


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
        "__setattr__": _setattr,
        "__delattr__": _delattr,
        "__getstate__": _getstate,
        "__setstate__": _setstate,
    }
)
