"""Telling clients that the tools or prompts they were told of are others now: an edit of a recipe or skill is live.

Owned by the transport's server. What a connection was told is compared after its calls and once a second with what the
newest generation offers; clients of the newer protocol hear of it on the streams they opened.
"""

from collections.abc import AsyncGenerator, Callable, Hashable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final
from weakref import WeakKeyDictionary

import anyio
import anyio.to_thread
from mcp.server.subscriptions import InMemorySubscriptionBus, PromptsListChanged, ToolsListChanged

from vaultgraph.serve.cells import compact_json
from vaultgraph.serve.guidance import guides_of
from vaultgraph.serve.guidance_skills import described
from vaultgraph.serve.recipes import recipe_tools
from vaultgraph.serve.resource_changes import ResourceChanges
from vaultgraph.serve.session import Session
from vaultgraph.serve.surface import static_operations

LOOK_EVERY_S: Final = 1.0

Told = tuple[Hashable, Hashable]
"""What tells one list of tools from another, and one list of prompts."""


class Changes:
    """What each connection was told. One event loop uses it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._told: WeakKeyDictionary[Any, Told] = WeakKeyDictionary()
        self._bus = InMemorySubscriptionBus()
        self._published: Told | None = None
        self._generation: int | None = None
        self.resources = ResourceChanges(session, self._bus)

    async def note(self, server_session: object) -> None:
        """Remember that a connection was just told the lists as they are."""
        told = await anyio.to_thread.run_sync(told_of, self._session)
        self._published = self._published or told
        # The SDK makes a session for each request; the connection below it is what lasts.
        if (connection := getattr(server_session, "_connection", None)) is not None:
            self._told[connection] = told

    async def announce(self) -> None:
        """Tell whoever was told otherwise, once for each generation. Refreshes nothing."""
        latest = self._session.latest()
        if self._published is None or latest is None or latest.generation == self._generation:
            return
        self._generation = latest.generation
        now = await anyio.to_thread.run_sync(told_of, self._session)
        for connection, told in list(self._told.items()):
            self._told[connection] = now
            if told[0] != now[0]:
                await connection.send_tool_list_changed()
            if told[1] != now[1]:
                await connection.send_prompt_list_changed()
        before, self._published = self._published, now
        if before[0] != now[0]:
            await self._bus.publish(ToolsListChanged())
        if before[1] != now[1]:
            await self._bus.publish(PromptsListChanged())

    def lifespan(self) -> Callable[[Any], AbstractAsyncContextManager[dict[str, Any]]]:
        """For the SDK's server: looks for changes as long as it runs."""

        @asynccontextmanager
        async def looking(_server: Any) -> AsyncGenerator[dict[str, Any]]:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._look)
                yield {}
                tasks.cancel_scope.cancel()

        return looking

    async def _look(self) -> None:
        while True:
            await anyio.sleep(LOOK_EVERY_S)
            await self.announce()
            await self.resources.look()


def told_of(session: Session) -> Told:
    """What the lists say of guidance now: only that changes while a server runs."""
    guides = guides_of(session, static_operations(session), session.latest())
    tools = [(tool.name, tool.description, compact_json(tool.parameters)) for tool in recipe_tools(session, guides)]
    prompts = [(name, served.source, described(served)) for name, served in guides.skills.items()]
    return (bool(guides.recipes), bool(guides.skills), *tools), tuple(prompts)
