"""Modules of other projects whose code runs when somebody asks for what it makes, not when they are imported.

Used by sdk_parts and engine_parts, which name them: packages that import all there is with their first line, and
modules that are imported for names of which a server uses none. Knows none of them itself.
"""

import importlib.util
import sys
import threading
from collections.abc import Generator, Iterable
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
        with _LOADING:
            if self.__class__ is OpenModule:
                super().__setattr__("__class__", ModuleType)  # before it runs: it asks for its own modules
                assert self.__spec__ is not None
                assert self.__spec__.loader is not None
                self.__spec__.loader.exec_module(self)
        return getattr(self, name)


class Borrowed:
    """A name of an open module that was imported before its code ran. What is done with it is done with what it stands
    for, and makes the code run."""

    __slots__ = ("__lender", "__name")

    def __init__(self, lender: ModuleType, name: str) -> None:
        self.__lender = lender
        self.__name = name

    def __real(self) -> Any:
        vars(self.__lender).pop("_lends", None)
        return getattr(self.__lender, self.__name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__real(), name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.__real()(*arguments, **named)

    def __getitem__(self, key: Any) -> Any:
        return self.__real()[key]

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, self.__real())

    def __subclasscheck__(self, cls: type) -> bool:
        return issubclass(cls, self.__real())

    def __mro_entries__(self, _bases: tuple[object, ...]) -> tuple[type]:
        return (self.__real(),)


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
