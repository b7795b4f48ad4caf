"""Modules of other projects whose code runs when somebody asks for what it makes, not when they are imported.

Used by sdk_parts and engine_parts, which name them: packages that import all there is with their first line, and
modules that are imported for names of which a server uses none. Knows none of them itself.
"""

import importlib.util
import operator
import sys
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, Final

_LOADING: Final = threading.RLock()


class OpenModule(ModuleType):
    """A module whose code has not run: modules inside it can be imported, its other names make it run."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if vars(self).get("_lends"):
            return Borrowed(self, name)
        with _LOADING:  # other threads wait until the code has run; what it asks itself is answered from what is there
            if self.__class__ is OpenModule and not vars(self).get("_runs"):
                assert self.__spec__ is not None
                assert self.__spec__.loader is not None
                vars(self)["_runs"] = True
                try:
                    self.__spec__.loader.exec_module(self)
                    super().__setattr__("__class__", ModuleType)
                finally:
                    del vars(self)["_runs"]
        return ModuleType.__getattribute__(self, name)


def _passed_on(work: Callable[..., Any]) -> Any:
    """A method that does ``work`` with what its object stands for."""

    def method(borrowed: "Borrowed", *arguments: Any, **named: Any) -> Any:
        return work(borrowed.real(), *arguments, **named)

    return method


def _called(real: Any, *arguments: Any, **named: Any) -> Any:
    return real(*arguments, **named)


class Borrowed:
    """A name of an open module that was imported before its code ran. What is done with it is done with what it stands
    for, and makes the code run."""

    __slots__ = ("_lender", "_name")

    def __init__(self, lender: ModuleType, name: str) -> None:
        self._lender = lender
        self._name = name

    def real(self) -> Any:
        """What the name stands for."""
        vars(self._lender).pop("_lends", None)
        return getattr(self._lender, self._name)

    def __mro_entries__(self, _bases: tuple[object, ...]) -> tuple[Any]:
        return (self.real(),)

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, self.real())

    def __subclasscheck__(self, cls: type) -> bool:
        return issubclass(cls, self.real())

    def __or__(self, other: Any) -> Any:
        return self.real() | other

    def __get_pydantic_core_schema__(self, _source: object, handler: Any) -> Any:
        return handler.generate_schema(self.real())

    def __ror__(self, other: Any) -> Any:
        return other | self.real()

    __getattr__ = _passed_on(getattr)
    __call__ = _passed_on(_called)
    __getitem__ = _passed_on(operator.getitem)
    __iter__ = _passed_on(iter)
    __len__ = _passed_on(len)
    __contains__ = _passed_on(operator.contains)
    __eq__ = _passed_on(operator.eq)
    __lt__ = _passed_on(operator.lt)
    __le__ = _passed_on(operator.le)
    __gt__ = _passed_on(operator.gt)
    __ge__ = _passed_on(operator.ge)
    __hash__ = _passed_on(hash)
    __bool__ = _passed_on(bool)
    __float__ = _passed_on(float)
    __index__ = _passed_on(operator.index)


def open_module(name: str) -> ModuleType | None:
    """Let the module ``name``, and those inside it, be imported without running its code.

    Nothing is imported, not even what it lies in. None where it has been imported, or there is none.
    """
    if name in sys.modules:
        return None
    spec = _spec_of(name)
    if spec is None or spec.loader is None:
        return None  # another version than this was written for: it is imported as a whole
    made = importlib.util.module_from_spec(spec)
    made.__class__ = OpenModule
    sys.modules[name] = made
    _fasten(made)
    return made


@contextmanager
def lending(names: Iterable[str]) -> Generator[None]:
    """Within it, `from NAME import …` gives what is looked up when it is used; ``names`` of modules, each before those
    inside it."""
    lenders = [made for name in names if (made := open_module(name))]
    for lender in lenders:
        vars(lender)["_lends"] = True
    try:
        yield
    finally:
        for lender in lenders:
            vars(lender).pop("_lends", None)
            _fasten(lender)


def _fasten(module: ModuleType) -> None:
    """Make the module an attribute of the package it lies in, as the import system does before a package goes on."""
    within, _, last = module.__name__.rpartition(".")
    if within in sys.modules and last not in vars(sys.modules[within]):
        setattr(sys.modules[within], last, module)


def _spec_of(name: str) -> ModuleSpec | None:
    """Where a module lies, found without importing what it lies in."""
    top, *inner = name.split(".")
    spec = importlib.util.find_spec(top)
    path = top
    for part in inner:
        if spec is None:
            return None
        path = f"{path}.{part}"
        spec = PathFinder.find_spec(path, spec.submodule_search_locations)
    return spec
