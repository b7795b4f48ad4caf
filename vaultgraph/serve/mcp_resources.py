"""The protocol around resources: list, templates, read and completion, for a server of the MCP SDK.

The work is in resources and runs on threads of its own few, so that a long listing delays no call.
"""

from base64 import b64encode
from collections.abc import Callable
from typing import Any, Final, TypeVar

import anyio.to_thread
import mcp_types as types
from anyio import CapacityLimiter
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from vaultgraph.errors import MissingFileError, ParameterError, VaultgraphError
from vaultgraph.serve import resources
from vaultgraph.serve.cells import error_text
from vaultgraph.serve.session import Session
from vaultgraph.serve.tool_names import in_callers_words

WORKERS: Final = 4
NOT_FOUND: Final = -32002  # of the protocol's versions that begin with a handshake; later ones say invalid parameters
MODERN: Final = "2026-07-28"

Context = ServerRequestContext[dict[str, Any], Any]
Given = TypeVar("Given")


def add_resources(server: Server[dict[str, Any]], session: Session) -> None:
    """Let ``server`` offer the notes and images of the session's folder as resources."""
    handlers = _Resources(session)
    server.add_request_handler("resources/list", types.PaginatedRequestParams, handlers.list)
    server.add_request_handler("resources/templates/list", types.PaginatedRequestParams, handlers.templates)
    server.add_request_handler("resources/read", types.ReadResourceRequestParams, handlers.read)
    server.add_request_handler("completion/complete", types.CompleteRequestParams, handlers.complete)


class _Resources:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._workers = CapacityLimiter(WORKERS)

    async def list(self, context: Context, params: types.PaginatedRequestParams) -> types.ListResourcesResult:
        entries, following = await self._run(
            context, lambda: resources.list_resources(self._session.folder(), params.cursor)
        )
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=entry.uri, name=entry.path, mime_type=entry.mime, size=entry.size_bytes)
                for entry in entries
            ],
            next_cursor=following,
        )

    async def templates(
        self, _context: Context, _params: types.PaginatedRequestParams
    ) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            uri_template=resources.TEMPLATE,
            name="file",
            title="A note or an image",
            description="By vault-relative path, for instance vault://Folder/Note.md.",
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read(self, context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        found = await self._run(context, lambda: resources.read_resource(self._session.folder(), params.uri))
        if isinstance(found.data, str):
            text = found.data.encode("utf-8", "replace").decode()
            return types.ReadResourceResult(
                contents=[types.TextResourceContents(uri=found.uri, mime_type=found.mime, text=text)]
            )
        blob = b64encode(found.data).decode("ascii")
        return types.ReadResourceResult(
            contents=[types.BlobResourceContents(uri=found.uri, mime_type=found.mime, blob=blob)]
        )

    async def complete(self, context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        reference = params.ref
        is_ours = (
            isinstance(reference, types.ResourceTemplateReference)
            and reference.uri.startswith(resources.SCHEME)
            and params.argument.name == "path"
        )
        if not is_ours:
            return types.CompleteResult(completion=types.Completion(values=[], total=0, has_more=False))
        found, total = await self._run(
            context, lambda: resources.complete_path(self._session.folder(), params.argument.value)
        )
        return types.CompleteResult(completion=types.Completion(values=found, total=total, has_more=total > len(found)))

    async def _run(self, context: Context, work: Callable[[], Given]) -> Given:
        try:
            return await anyio.to_thread.run_sync(work, limiter=self._workers, abandon_on_cancel=True)
        except VaultgraphError as error:
            is_gone = isinstance(error, MissingFileError) and context.protocol_version < MODERN
            is_callers = isinstance(error, (ParameterError, MissingFileError)) or error.code == "path_escape"
            code = NOT_FOUND if is_gone else types.INVALID_PARAMS if is_callers else types.INTERNAL_ERROR
            message = in_callers_words(self._session, f"{error.code}: {error_text(error)}")
            text = message.encode("utf-8", "backslashreplace").decode()
            raise MCPError(code=code, message=text) from None
