"""The tools of one session: the table of operations by mode, and what the manifest adds, renames, hides and allows.

Transports list these and dispatch looks calls up in them. What a tool of the manifest does is in manifest_tools.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from vaultgraph.serve.guidance import guides_of
from vaultgraph.serve.manifest import BundledTool, CypherTool, ImageCaps, Manifest, Mode
from vaultgraph.serve.operations import OPERATIONS, Operation
from vaultgraph.serve.recipes import TOOL_OUTPUT, recipe_tools
from vaultgraph.serve.session import Session
from vaultgraph.serve.tool_names import in_callers_words

FILE_TOOLS: Final = ("read_source", "grep", "list_source", "fetch_images", "ping", "expand_response")
ALWAYS: Final = "expand_response"  # answers refer to it
RECIPE_TOOLS: Final = ("list_recipe_queries", "run_recipe_query")
SKILL_TOOL: Final = "skill"
GUIDANCE_RUNS: Final = tuple(OPERATIONS[name].run for name in (*RECIPE_TOOLS, SKILL_TOOL))
IMAGES_SAID: Final = (
    "Images (png, jpeg, gif, webp) by vault-relative path or unique file name; at most {} a call, {:.3g} MiB each."
)
NOT_HERE: Final = ("explore", "read_code_source", "save_graph", "save_graph_as", "load_graph", "create_graph")
"""Tools of the format's other server: a manifest may change them, to no effect."""
NOT_IN: Final[Mapping[Mode, frozenset[str]]] = MappingProxyType(
    {
        "vault": frozenset({"reload_graph"}),
        "graph": frozenset({"rebuild_graph"}),
        "files": frozenset(OPERATIONS) - frozenset(FILE_TOOLS),
    }
)
"""Operations of the table that a mode does not offer."""


def operations_of(session: Session) -> Mapping[str, Operation]:
    """Every operation this session offers now by its name there, in the order callers see."""
    static = static_operations(session)
    guides = guides_of(session, static)
    table = dict(static)
    for name in RECIPE_TOOLS if not guides.recipes else ():
        table.pop(name, None)
    if not guides.skills:
        table.pop(SKILL_TOOL, None)
    last = table.pop(ALWAYS)
    for tool in recipe_tools(session, guides):
        table[tool.name] = Operation(
            tool.name, tool.title, tool.description, tool.parameters, tool.run, checks_itself=True, output=TOOL_OUTPUT
        )
    allowed = as_allowed({**table, ALWAYS: last}, session.manifest)
    return {name: _described(session, one) for name, one in allowed.items()} if session.manifest.tools else allowed


def _described(session: Session, operation: Operation) -> Operation:
    """A built-in tool, whose description calls others as they are called here."""
    ours = any(operation.description == one.description for one in OPERATIONS.values())
    return replace(operation, description=in_callers_words(session, operation.description)) if ours else operation


def find_operation(session: Session, name: str) -> Operation | None:
    """The operation this session offers as ``name`` now; what guides callers is looked at only where it decides."""
    if name not in (*RECIPE_TOOLS, SKILL_TOOL):
        found = as_allowed(static_operations(session), session.manifest).get(name)
        if found is not None and found.run not in GUIDANCE_RUNS:
            return found
    return operations_of(session).get(name)


def static_operations(session: Session) -> Mapping[str, Operation]:
    """The operations that are the same as long as the session lasts, before the manifest changes and allows any."""
    if session.offered is None:
        session.offered = MappingProxyType(_of_mode(session.mode, session.manifest))
    return session.offered


def as_allowed(table: Mapping[str, Operation], manifest: Manifest) -> Mapping[str, Operation]:
    """``table`` as the manifest has it: built-in tools renamed, described otherwise or hidden, then what is allowed."""
    for tool in manifest.tools:
        if isinstance(tool, BundledTool):
            table = _changed(table, tool)
    if manifest.tools_allow is None:
        return table
    always = {ALWAYS, SKILL_TOOL} if manifest.skills and manifest.skills.is_on else {ALWAYS}
    return {name: one for name, one in table.items() if name in always or name in manifest.tools_allow}


def check_surface(mode: Mode, manifest: Manifest) -> tuple[str, ...]:
    """Remarks on changes of tools that this server does not have.

    Raises:
        ProfileError: a tool of the manifest has a name that is taken, or changes a tool that nobody has.
    """
    taken = dict.fromkeys(OPERATIONS, "a built-in tool")
    remarks: list[str] = []
    changed: set[str] = set()
    for tool in manifest.tools:
        if not isinstance(tool, BundledTool):
            _take(taken, tool.name, tool)
            continue
        known = tool.bundled in OPERATIONS
        if not known and tool.bundled not in NOT_HERE:
            tool.entry.refuse(f"is `{tool.bundled}`, which is no built-in tool. There are: {', '.join(OPERATIONS)}.")
        if tool.bundled in changed:
            tool.entry.refuse(f"changes `{tool.bundled}` a second time.")
        changed.add(tool.bundled)
        if not known or tool.bundled in NOT_IN[mode]:
            remarks.append(f"{tool.entry.file}:{tool.entry.line}: there is no tool `{tool.bundled}` here to change")
        if tool.rename:
            _take(taken, tool.rename, tool)
    return tuple(remarks)


def _take(taken: dict[str, str], name: str, tool: BundledTool | CypherTool) -> None:
    if (owner := taken.get(name)) is not None:
        tool.entry.refuse(f"asks for the name `{name}`, which is that of {owner}.")
    taken[name] = f"the tool of line {tool.entry.line}"


def _of_mode(mode: Mode, manifest: Manifest) -> dict[str, Operation]:
    """The operations of the table and the manifest's own, which stand before the last one."""
    table = {name: operation for name, operation in OPERATIONS.items() if name not in NOT_IN[mode]}
    if manifest.images != ImageCaps():
        images, caps = table["fetch_images"], manifest.images
        said = IMAGES_SAID.format(caps.most_images, caps.most_bytes / 1024**2)
        table["fetch_images"] = replace(images, description=said)
    last = table.pop(ALWAYS)
    if any(isinstance(tool, CypherTool) for tool in manifest.tools):
        from vaultgraph.serve.manifest_tools import cypher_operations  # noqa: PLC0415 -- loads the YAML reader

        table |= {operation.name: operation for operation in cypher_operations(manifest.tools)}
    return {**table, ALWAYS: last}


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
