"""The MCP SDK, imported only as far as a server needs it: not its clients, its framework and what these import.

Used by the command line around the import of the transports. The SDK's packages import all there is with their first
line; here they let their modules be imported one by one, and import the rest as soon as anybody asks for a name of it.
"""

import importlib.util
import os
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Final

_PACKAGES: Final = ("mcp", "mcp.server")  # each before those inside it
_WEB_SERVER: Final = "uvicorn"  # an extra of the SDK's library for event streams, which looks whether it is there
_LOADING: Final = threading.RLock()


@contextmanager
def parts_only(*, over_http: bool) -> Generator[None]:
    """Within it, modules of the SDK bring in what they use themselves. Not for threads that import the SDK meanwhile.

    The protocol's types are made ready one by one then: of the hundreds there are a client uses a dozen.
    """
    # Read by pydantic when it makes its first class; looking for plugins opens a file of every package there is.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from pydantic import BaseModel  # noqa: PLC0415 -- slow; who imports this module need not wait for it

    BaseModel.model_config["defer_build"] = True
    for name in _PACKAGES:
        _open_package(name)
    is_hidden = not over_http and _WEB_SERVER not in sys.modules
    if is_hidden:
        sys.modules[_WEB_SERVER] = None  # type: ignore[assignment] -- the import system's word for "there is none"
    try:
        with _adapters_when_used():
            yield
    finally:
        if is_hidden:
            del sys.modules[_WEB_SERVER]


@contextmanager
def _adapters_when_used() -> Generator[None]:
    """Within it, validators of what is no class are made ready when they are used, too: the SDK cannot be told to."""
    from pydantic import TypeAdapter  # noqa: PLC0415 -- as above

    name, told = "_defer_build", property(lambda _: True)
    known = vars(TypeAdapter).get(name)
    if known is None:  # a pydantic that this was not written for makes them ready at once
        yield
        return
    setattr(TypeAdapter, name, told)
    try:
        yield
    finally:
        setattr(TypeAdapter, name, known)


class _OpenPackage(ModuleType):
    """A package whose own code has not run: its modules can be imported, its other names make it run."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        with _LOADING:  # other threads wait until the code has run; what it asks itself is answered from what is there
            if self.__class__ is _OpenPackage and "_runs" not in vars(self):
                assert self.__spec__ is not None
                assert self.__spec__.loader is not None
                vars(self)["_runs"] = True
                try:
                    self.__spec__.loader.exec_module(self)
                    super().__setattr__("__class__", ModuleType)
                finally:
                    del vars(self)["_runs"]
        return ModuleType.__getattribute__(self, name)


def _open_package(name: str) -> None:
    """Make the modules of the package ``name`` importable without running its code, unless that has been done."""
    if name in sys.modules:
        return
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None or spec.submodule_search_locations is None:
        return  # another SDK than this was written for: it is imported as a whole
    made = importlib.util.module_from_spec(spec)
    made.__class__ = _OpenPackage
    sys.modules[name] = made
    within, _, last = name.rpartition(".")
    if within:
        setattr(sys.modules[within], last, made)
