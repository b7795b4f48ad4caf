"""The tools of one session: the table of operations by mode, and what the manifest adds, renames, hides and allows.

Transports list these and dispatch looks calls up in them. What a query of the manifest does is in manifest_tools.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from vaultgraph.serve.manifest import BundledTool, Manifest, Mode
from vaultgraph.serve.operations import OPERATIONS, Operation
from vaultgraph.serve.session import Session

FILE_TOOLS: Final = ("read_source", "grep", "list_source", "fetch_images", "ping", "expand_response")
ALWAYS: Final = "expand_response"  # answers refer to it
NOT_IN: Final[Mapping[Mode, frozenset[str]]] = MappingProxyType(
    {
        "vault": frozenset({"reload_graph"}),
        "graph": frozenset({"rebuild_graph"}),
        "files": frozenset(OPERATIONS) - frozenset(FILE_TOOLS),
    }
)
"""Operations of the table that a mode does not offer."""


def operations_of(session: Session) -> Mapping[str, Operation]:
    """Every operation this session offers by its name there, in the order callers see."""
    if session.offered is None:
        session.offered = offered(session.mode, session.manifest)
    return session.offered


def offered(mode: Mode, manifest: Manifest) -> Mapping[str, Operation]:
    """The operations of a mode, as the manifest has them.

    Raises:
        ProfileError: a tool of the manifest has a name that is taken, or changes a tool that is not there.
    """
    table = {name: operation for name, operation in OPERATIONS.items() if name not in NOT_IN[mode]}
    for tool in manifest.tools:
        if isinstance(tool, BundledTool):
            table = _changed(table, tool)
    if manifest.tools_allow is not None:
        table = {name: one for name, one in table.items() if name in manifest.tools_allow or name == ALWAYS}
    return MappingProxyType(table)


def _changed(table: Mapping[str, Operation], tool: BundledTool) -> dict[str, Operation]:
    """``table`` with one built-in tool under another name, described otherwise, or gone."""
    changed: dict[str, Operation] = {}
    for name, operation in table.items():
        if name != tool.bundled:
            changed[name] = operation
        elif not tool.is_hidden:
            called = tool.rename or name
            changed[called] = replace(operation, name=called, description=tool.description or operation.description)
    return changed
