"""Telling clients that a resource they subscribed to has changed: its file was saved, came or went.

Beside guidance_changes, which looks once a second. Nothing is read: size and time of the files that somebody waits for
are compared, and the list of all files only where somebody waits for that. Works before the graph is built.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any, Final
from weakref import WeakKeyDictionary

import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import ListenHandler, ResourcesListChanged, ResourceUpdated, SubscriptionBus
from mcp.shared.exceptions import MCPError

from vaultgraph.errors import FileError, ParameterError
from vaultgraph.files.root import VaultRoot
from vaultgraph.serve import resources
from vaultgraph.serve.session import Session

MOST_WATCHED: Final = 1024
Context = ServerRequestContext[dict[str, Any], Any]
Stamp = tuple[str, int, int] | None
"""Where an address leads, size and time of the file; None where there is none."""


class ResourceChanges:
    """What is waited for: by connections of the older protocol, and by the open streams of the newer. One event loop
    uses it."""

    def __init__(self, session: Session, bus: SubscriptionBus) -> None:
        self._session = session
        self._bus = bus
        self._handler = ListenHandler(bus)
        self._watched: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()
        self._streams: list[types.SubscriptionFilter] = []
        self._seen: dict[str, Stamp] = {}
        self._paths: tuple[int, frozenset[str]] | None = None  # by generation

    async def subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Tell the connection from now on."""
        await self._watch([params.uri])
        self._watched.setdefault(_connection(context), set()).add(params.uri)
        return types.EmptyResult()

    async def unsubscribe(self, context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """Tell it no longer."""
        self._watched.get(_connection(context), set[str]()).discard(params.uri)
        return types.EmptyResult()

    async def listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve a stream of the newer protocol, of lists as well as of resources."""
        wanted = params.notifications
        await self._watch(wanted.resource_subscriptions or ())
        self._streams.append(wanted)
        try:
            return await self._handler(context, params)
        finally:
            self._streams = [one for one in self._streams if one is not wanted]

    async def look(self) -> None:
        """Compare, and tell of what differs."""
        listened = {uri for one in self._streams for uri in one.resource_subscriptions or ()}
        uris = listened.union(*self._watched.values())
        before = {uri: stamp for uri, stamp in self._seen.items() if uri in uris}
        self._seen = dict(before)  # not replaced afterwards: who subscribes while this waits adds to it
        now = await self._stamps(uris) if uris else {}
        self._seen |= now
        changed = {uri for uri, stamp in now.items() if uri in before and before[uri] != stamp}
        for connection, watched in list(self._watched.items()):
            for uri in sorted(changed & watched):
                await connection.send_resource_updated(uri)
        for uri in sorted(changed & listened):
            await self._bus.publish(ResourceUpdated(uri=uri))
        await self._look_at_list()

    async def _look_at_list(self) -> None:
        latest = self._session.latest()
        if latest is None or not any(one.resources_list_changed for one in self._streams):
            self._paths = None
            return
        before = self._paths
        if before is None or before[0] != latest.generation:
            paths = await anyio.to_thread.run_sync(resources.all_paths, self._session.root)
            self._paths = (latest.generation, paths)
            if before is not None and before[1] != paths:
                await self._bus.publish(ResourcesListChanged())

    async def _watch(self, uris: Iterable[str]) -> None:
        wanted = set(uris)
        self._check_room(wanted)
        stamps = await self._stamps(wanted)
        self._check_room(wanted)  # others may have subscribed meanwhile
        self._seen = stamps | self._seen

    def _check_room(self, uris: set[str]) -> None:
        if len(self._seen.keys() | uris) > MOST_WATCHED:
            raise MCPError(code=types.INVALID_PARAMS, message=f"At most {MOST_WATCHED:,} resources are watched.")

    async def _stamps(self, uris: set[str]) -> dict[str, Stamp]:
        return await anyio.to_thread.run_sync(partial(_stamps_of, self._session.root, sorted(uris)))


def _connection(context: Context) -> Any:
    # The SDK makes a session for each request; the connection below it is what lasts.
    return getattr(context.session, "_connection", context.session)


def _stamps_of(root: VaultRoot, uris: list[str]) -> dict[str, Stamp]:
    return {uri: _stamp(root, uri) for uri in uris}


def _stamp(root: VaultRoot, uri: str) -> Stamp:
    try:
        status = root.stat(resources.path_of(root, uri))
    except (FileError, ParameterError):
        return None
    return status.path, status.size_bytes, status.mtime_ns
