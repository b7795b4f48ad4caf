"""A server of our own as a child process, and the official client that talks to it over stdio.

What `--selftest` uses, so that it goes the way a client goes: process, handshake, lists, calls. Answers come back as
the values operations give; nothing of the protocol's types leaves this module.
"""

from base64 import b64decode
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from os import environ
from typing import Any, Final, TextIO

import mcp_types as types
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from vaultgraph.serve.answers import Answer, ImagePart, Part, TextPart, text_answer

REQUEST_S: Final = 60.0


class Child:
    """A running server after its handshake."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @property
    def introduction(self) -> str:
        """What the server said of itself: its name, version and protocol."""
        told = self._client.server_info
        name = f"{told.name} {told.version}" if told else "a server without a name"
        return f"{name}, protocol {self._client.protocol_version}"

    async def tools(self) -> dict[str, Mapping[str, Any]]:
        """The schemas of the arguments of every tool, by its name, in order."""
        listed = await self._client.list_tools(cache_mode="bypass")
        return {tool.name: tool.input_schema for tool in listed.tools}

    async def prompts(self) -> list[str]:
        """The names of all prompts; none where the server offers none."""
        if self._client.server_capabilities.prompts is None:
            return []
        return [prompt.name for prompt in (await self._client.list_prompts()).prompts]

    async def prompt(self, name: str) -> str:
        """The text of a prompt."""
        told = await self._client.get_prompt(name)
        return "\n".join(one.content.text for one in told.messages if isinstance(one.content, types.TextContent))

    async def resources(self) -> list[str]:
        """The addresses of the first resources; none where the server offers none."""
        if self._client.server_capabilities.resources is None:
            return []
        return [str(one.uri) for one in (await self._client.list_resources()).resources]

    async def resource(self, address: str) -> int:
        """How many parts a resource has."""
        return len((await self._client.read_resource(address)).contents)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        """The answer of a tool; an error of the protocol is an answer too."""
        try:
            result = await self._client.call_tool(name, dict(arguments))
        except MCPError as error:
            return text_answer(f"{error.error.code}: {error.error.message}", is_error=True)
        parts: list[Part] = []
        for part in result.content:
            if isinstance(part, types.TextContent):
                parts.append(TextPart(part.text))
            elif isinstance(part, types.ImageContent):
                parts.append(ImagePart(b64decode(part.data), part.mime_type))
        return Answer(tuple(parts), result.structured_content, bool(result.is_error))


@asynccontextmanager
async def started_child(command: Sequence[str], log: TextIO) -> AsyncGenerator[Child]:
    """Start ``command``, shake hands, and end it afterwards; what it says on stderr goes to the file ``log``.

    Raises:
        ConnectionError: it does not answer, as when it ended at once, or refuses what the protocol has.
    """
    parameters = StdioServerParameters(command=command[0], args=list(command[1:]), env=dict(environ))
    transport = stdio_client(parameters, errlog=log)
    reason = ""
    try:
        async with Client(transport, mode="legacy", read_timeout_seconds=REQUEST_S) as client:
            yield Child(client)
    except* MCPError as errors:
        reason = _innermost(errors)
    if reason:
        raise ConnectionError(reason)


def _innermost(errors: BaseExceptionGroup[MCPError]) -> str:
    """The words of the first error within groups of errors."""
    first = errors.exceptions[0]
    return _innermost(first) if isinstance(first, BaseExceptionGroup) else first.error.message
