"""The MCP transport over stdio: prints the table of operations as tools and hands calls to dispatch.

The only module that imports the MCP SDK. The core is synchronous: calls run on worker threads, so that a slow one
delays neither another nor the protocol's own messages; a cancelled request sets the event its query looks at.
"""

import json
import re
from base64 import b64encode
from functools import partial
from threading import Event
from types import TracebackType
from typing import Any, Final, Self, TypeGuard, cast

import anyio
import anyio.to_thread
import mcp_types as types
from anyio import CapacityLimiter
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from vaultgraph import __version__
from vaultgraph.serve.answers import Answer, ImagePart, TextPart, text_answer
from vaultgraph.serve.cells import compact_json
from vaultgraph.serve.dispatch import dispatch
from vaultgraph.serve.guidance import has_skills
from vaultgraph.serve.guidance_changes import Changes
from vaultgraph.serve.http_limits import GONE, Limits
from vaultgraph.serve.instructions import instructions_of
from vaultgraph.serve.mcp_resources import add_resources
from vaultgraph.serve.operations import Operation
from vaultgraph.serve.prompts import get_prompt, list_prompts
from vaultgraph.serve.session import Session
from vaultgraph.serve.surface import operations_of, static_operations

WORKERS: Final = 4  # calls that run at the same time: more would only share the interpreter, and memory add up
QUICK_WORKERS: Final = 16
MOST_CALLS: Final = Limits().running  # that run or wait; a client that sends more is told so at once
LISTS_TTL_MS: Final = 60_000  # they change with the vault's recipes and skills
REPORT_EVERY_S: Final = 0.25

MOST_DIGITS: Final = 19  # of a request's id
MOST_ID_CHARS: Final = 1000
MOST_LOOKED_AT_CHARS: Final = 65_536  # of a line that cannot be read
WITHOUT_ID: Final = "A request needs an id that is text or a whole number."
_MARKS: Final = re.compile(r'"(?:[^"\\]|\\.?)*+"?|[{}\[\]:,]|[^\s"{}\[\]:,]++', re.DOTALL)  # each takes something

Context = ServerRequestContext[dict[str, Any], Any]
Message = SessionMessage | Exception


def serve_stdio(session: Session) -> None:
    """Serve on stdin and stdout until stdin ends. ``session`` must have been started."""
    anyio.run(_serve, session)


def make_server(session: Session) -> Server[dict[str, Any]]:
    """The SDK's server over the table of operations; a transport runs it."""
    changes = Changes(session)
    calls = _Calls(session, changes)

    async def prompts(context: Context, _params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        listed = await list_prompts(session)
        await changes.note(context.session)
        return listed

    async def prompt(_context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        return await get_prompt(session, params)

    server = _Server(
        f"vaultgraph ({session.name})",
        version=__version__,
        instructions=instructions_of(session),
        cache_hints={
            "tools/list": CacheHint(ttl_ms=LISTS_TTL_MS, scope="private"),
            "prompts/list": CacheHint(ttl_ms=LISTS_TTL_MS, scope="private"),
        },
        # Without it the SDK lists all tools before every call over HTTP, to look for headers none of them declares.
        get_tool_input_schema=lambda _name: None,
        on_list_tools=calls.list_tools,
        on_call_tool=calls.call_tool,
        on_list_prompts=prompts if has_skills(session) else None,
        on_get_prompt=prompt if has_skills(session) else None,
        on_subscribe_resource=changes.resources.subscribe,
        on_unsubscribe_resource=changes.resources.unsubscribe,
        on_subscriptions_listen=changes.resources.listen,
        lifespan=changes.lifespan(),
    )
    add_resources(server, session)
    return server


class _Server(Server[dict[str, Any]]):
    """The SDK's server, which says that its lists may change."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """As the SDK does, for every transport."""
        options = notification_options or NotificationOptions(prompts_changed=True, tools_changed=True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)


async def _serve(session: Session) -> None:
    server = make_server(session)
    async with stdio_server() as (read_stream, write_stream):
        lines = _AnsweredLines(read_stream, write_stream)
        await server.run(lines, write_stream, server.create_initialization_options())


class _AnsweredLines:
    """The client's messages. A line that is none is answered here: the SDK drops it, and its sender would wait."""

    def __init__(self, messages: ReadStream[Message], replies: WriteStream[SessionMessage]) -> None:
        self._messages = messages
        self._replies = replies

    @property
    def last_context(self) -> Any:
        """Where the SDK looks for the sender's context."""
        return getattr(self._messages, "last_context", None)

    async def receive(self) -> SessionMessage:
        while True:
            message = await self._messages.receive()
            if isinstance(message, SessionMessage) and not _has_lost_its_id(message):
                return message
            refused = refusal(message) if isinstance(message, Exception) else _refused(None, WITHOUT_ID)
            if refused is not None:
                await self._replies.send(SessionMessage(refused))

    async def aclose(self) -> None:
        await self._messages.aclose()

    def __aiter__(self) -> "_AnsweredLines":
        return self

    async def __anext__(self) -> Message:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


def _has_lost_its_id(message: SessionMessage) -> bool:
    """Whether it is a request that the SDK took for a notification, as its id is null, 1.5 or the like."""
    content = message.message
    return isinstance(content, types.JSONRPCNotification) and not content.method.startswith("notifications/")


def refusal(error: Exception) -> types.JSONRPCError | None:
    """The protocol's error for a line that is no message, with its id where that can be told; None for a blank line."""
    found = error.errors(include_url=False) if isinstance(error, ValidationError) else []
    inputs: list[Any] = [item["input"] for item in found]
    line: Any = next((item["input"] for item in found if item["type"] == "json_invalid"), None)
    code, text = types.INVALID_REQUEST, "The line is JSON but no message of JSON-RPC 2.0."
    message: Any = next(filter(_is_object, inputs), None)
    if isinstance(line, str):
        if not line.strip():
            return None
        code = types.PARSE_ERROR
        text = (
            "The line is not JSON in UTF-8 (lone surrogates, deep nesting and numbers of many digits are refused too)."
        )
        try:
            # Python's reader takes some of what the protocol's refuses, so that the request can be told by its id.
            message = json.loads(line, parse_int=lambda digits: int(digits) if len(digits) < MOST_DIGITS else 0)
        except (ValueError, RecursionError):
            message = {"id": _id_within(line)}
    given: Any = message.get("id") if _is_object(message) else None
    known = given if isinstance(given, str | int) and not isinstance(given, bool) else None
    if isinstance(known, str):
        known = _valid(known)
    return _refused(known, text, code)


def _refused(request_id: str | int | None, text: str, code: int = types.INVALID_REQUEST) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=text))


def _id_within(line: str) -> str | int | None:
    """The id of a message that nobody can read as a whole, as it is nested too deeply, say: its sender waits for it."""
    depth, before = 0, ("", "")
    for found in _MARKS.finditer(line[:MOST_LOOKED_AT_CHARS]):
        mark = found[0]
        if depth == 1 and before == ('"id"', ":"):
            try:
                value: Any = json.loads(mark) if len(mark) < MOST_ID_CHARS else None
            except ValueError:
                return None
            return value if isinstance(value, str | int) and not isinstance(value, bool) else None
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(mark, 0)
        before = (before[1], mark)
    return None


class _Calls:
    """Runs calls on threads; the limiters belong to one event loop."""

    def __init__(self, session: Session, changes: Changes) -> None:
        self._session = session
        self._changes = changes
        self._workers = CapacityLimiter(WORKERS)
        self._quick = CapacityLimiter(QUICK_WORKERS)
        self._unanswered = 0  # calls that run on a worker or wait for one

    async def list_tools(self, context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        offered = await anyio.to_thread.run_sync(operations_of, self._session, limiter=self._quick)
        await self._changes.note(context.session)
        return types.ListToolsResult(tools=[_tool(operation) for operation in offered.values()])

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        operation = static_operations(self._session).get(params.name)
        if operation is not None and operation.is_quick:
            return await self._answer(context, params, self._quick)
        if self._unanswered >= MOST_CALLS:  # before a thread is asked for anything
            text = f"busy: {self._unanswered} calls run or wait. Ask again when some of them are answered."
            return _result(text_answer(text, is_error=True))
        self._unanswered += 1
        try:
            return await self._answer(context, params, self._workers)
        finally:
            self._unanswered -= 1

    async def _answer(
        self, context: Context, params: types.CallToolRequestParams, limiter: CapacityLimiter
    ) -> types.CallToolResult:
        cancelled = _gone(context)
        if self._session.is_settled():
            return await self._run(params, cancelled, limiter)
        results: list[types.CallToolResult] = []
        async with anyio.create_task_group() as reporting:
            reporting.start_soon(self._report_build, context)
            results.append(await self._run(params, cancelled, limiter))
            reporting.cancel_scope.cancel()
        return results[0]

    async def _run(
        self, params: types.CallToolRequestParams, cancelled: Event, limiter: CapacityLimiter
    ) -> types.CallToolResult:
        work = partial(dispatch, self._session, params.name, params.arguments or {}, cancelled)
        try:
            result = _result(await anyio.to_thread.run_sync(work, limiter=limiter, abandon_on_cancel=True))
            await self._changes.announce()
            return result
        finally:
            cancelled.set()

    async def _report_build(self, context: Context) -> None:
        """Tell a client that asked for it how the first build goes on, until the call is answered."""
        while True:
            await context.session.report_progress(self._session.percent(), 100, "building the graph")
            await anyio.sleep(REPORT_EVERY_S)


def _gone(context: Context) -> Event:
    """The event that says that nobody waits for the answer: over HTTP it is set when the client hangs up."""
    scope: Any = getattr(context.request, "scope", None)
    gone: Any = scope.get(GONE) if _is_object(scope) else None
    return gone if isinstance(gone, Event) else Event()


def _is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _tool(operation: Operation) -> types.Tool:
    return types.Tool(
        name=operation.name,
        title=operation.title,
        description=operation.description,
        input_schema=dict(operation.parameters),
        output_schema=None if operation.output is None else dict(operation.output),
        annotations=types.ToolAnnotations(
            read_only_hint=operation.is_read_only,
            destructive_hint=None if operation.is_read_only else False,
            idempotent_hint=None if operation.is_read_only else True,
            open_world_hint=False,
        ),
    )


def _result(answer: Answer) -> types.CallToolResult:
    return types.CallToolResult(
        content=[_content(part) for part in answer.parts],
        structured_content=_structure(answer.structured),
        is_error=answer.is_error,
    )


def _content(part: TextPart | ImagePart) -> types.ContentBlock:
    if isinstance(part, TextPart):
        return types.TextContent(text=_valid(part.text))
    return types.ImageContent(data=b64encode(part.data).decode("ascii"), mime_type=part.mime)


def _valid(text: str) -> str:
    """``text`` without lone surrogates, which file names can bring in and JSON in UTF-8 cannot carry."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def _structure(data: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if data is None else cast("dict[str, Any]", json.loads(_valid(compact_json(data))))
