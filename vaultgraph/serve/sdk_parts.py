"""The MCP SDK, imported only as far as a server needs it: not its clients, its framework and what these import.

Used by the command line around the import of the transports. The SDK's packages import all there is with their first
line; here they let their modules be imported one by one, and import the rest as soon as anybody asks for a name of it.
"""

import os
import sys
import typing
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from typing import Final

from vaultgraph.serve.open_modules import lending, open_module

_PACKAGES: Final = ("mcp", "mcp.server")  # each before those inside it
_OVER_HTTP: Final = (
    "anyio._core._sockets",
    "starlette.applications",
    "starlette.middleware",
    "starlette.middleware.authentication",
    "starlette.routing",
    "mcp.server.auth.middleware.auth_context",
    "mcp.server.auth.middleware.bearer_auth",
    "mcp.server.auth.provider",
    "mcp.server.auth.routes",
    "mcp.server.auth.settings",
    "mcp.server.streamable_http",
    "mcp.server.streamable_http_manager",
    "mcp.server.transport_security",
)
"""What is imported for every transport, and used by a server over HTTP only."""
_SELDOM: Final = ("importlib.metadata", "mcp_types._v2026_07_28")
"""What finds out which packages there are, and the messages of a version of the protocol that few clients speak yet."""
_LOOP: Final = "anyio._backends._asyncio"  # which running would bring in, with all it imports
_WEB_SERVER: Final = "uvicorn"  # an extra of the SDK's library for event streams, which looks whether it is there


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
        open_module(name)
    is_hidden = not over_http and _WEB_SERVER not in sys.modules
    if is_hidden:
        sys.modules[_WEB_SERVER] = None  # type: ignore[assignment] -- the import system's word for "there is none"
    try:
        with _annotations_once(), _adapters_when_used(), lending(_SELDOM if over_http else (*_SELDOM, *_OVER_HTTP)):
            yield
            with suppress(ImportError):  # another version than this was written for
                import_module(_LOOP)
    finally:
        if is_hidden:
            del sys.modules[_WEB_SERVER]


@contextmanager
def _annotations_once() -> Generator[None]:
    """Within it, texts of annotations are compiled once each: the SDK's classes repeat a few hundred of them."""
    names = typing.__dict__
    names["compile"] = cache(compile)
    try:
        yield
    finally:
        del names["compile"]


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
