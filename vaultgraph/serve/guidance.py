"""What guides the callers of one session: recipes and skills of the vault, of the manifest and our own, as one.

The operator's win over the vault's, and nothing of a vault replaces what is ours: its skill of a taken name is offered
as `vault:NAME`, its tool of a taken name is not offered. Looked at anew for every generation, so an edit is live at
once. Text of a vault is labelled as such wherever it is shown.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from vaultgraph.errors import CorruptKglError, SettingsError, VaultgraphError
from vaultgraph.files.root import VaultRoot
from vaultgraph.frozen import frozen
from vaultgraph.serve.cells import compact_json
from vaultgraph.serve.guidance_predicates import applies
from vaultgraph.serve.session import Session
from vaultgraph.serve.tool_names import offered_name

if TYPE_CHECKING:
    from vaultgraph.profile.guidance import Guidance, Recipe, Skill
    from vaultgraph.vault.snapshot import Snapshot

Source = Literal["server", "manifest", "vault"]
OWN_SKILLS: Final = ("querying", "vault_authoring", "images")
MOST_TOOLS_CHARS: Final = 2_000  # of a vault's own tools together: every session reads them, and ours take 9 KB of 12
TOOL_CHARS: Final = 470  # of one, beside its description and parameters
SHOWN_DESCRIPTION_CHARS: Final = 300


@frozen
class ServedSkill:
    """A skill under the ``name`` it is offered by."""

    name: str
    skill: "Skill"
    source: Source


@frozen
class ServedRecipe:
    """A recipe, and the name of a tool that is offered for it."""

    recipe: "Recipe"
    source: Source
    tool: str | None = None


@frozen
class Guides:
    """Everything offered: ``skills`` by name, ours first; ``recipes`` by (group, name), in the order to show."""

    skills: Mapping[str, ServedSkill] = field(default_factory=dict[str, ServedSkill])
    recipes: Mapping[tuple[str, str], ServedRecipe] = field(default_factory=dict[tuple[str, str], ServedRecipe])


@frozen
class KeptGuides:
    """Guides, and what they were made of: they hold while it is the same."""

    generation: int | None
    carried: "Guidance | None"
    tools: Mapping[str, object]
    guides: Guides


def guides_of(session: Session, tools: Mapping[str, object], snapshot: "Snapshot | None" = None) -> Guides:
    """What the session offers; ``tools`` are the operations that do not come from guidance.

    Of ``snapshot``, else of the current one. Never waits for a first build: until then the vault's files are read.
    """
    try:
        return _made(session, tools, snapshot or _snapshot(session))
    except CorruptKglError:  # a cache file that was read from when a predicate asked: the vault is built anew
        snapshot = _snapshot(session)
    try:
        return _made(session, tools, snapshot)
    except CorruptKglError:  # which takes its time; the next generation is asked again
        return _made(session, tools, None)


def _made(session: Session, tools: Mapping[str, object], snapshot: "Snapshot | None") -> Guides:
    carried = _carried(session, snapshot)
    generation = snapshot.generation if snapshot else None
    kept = session.guides
    if kept and kept.generation == generation and kept.carried == carried and kept.tools is tools:
        return kept.guides
    load_own_skills(session)
    recipes = _recipes(session, carried, tools)
    # A skill may name a tool as it is called here or as it is called everywhere.
    shown = {each for tool in tools if (name := offered_name(session, tool)) is not None for each in (name, tool)}
    names = {*shown, *(served.tool for served in recipes.values() if served.tool)}
    guides = Guides(MappingProxyType(_skills(session, carried, snapshot, names)), MappingProxyType(recipes))
    session.guides = KeptGuides(generation, carried, tools, guides)
    return guides


def load_own_skills(session: Session) -> None:
    """Read our own skills and the operator's, once; a server with a manifest does it as it starts.

    Raises:
        SettingsError: a folder or file of the operator's skills cannot be used.
    """
    if session.own_skills is None:
        session.own_skills = tuple(_own_skills(session))


def has_skills(session: Session) -> bool:
    """Whether the session may offer skills at all."""
    stated = session.manifest.skills
    return stated is None or stated.is_on


def _snapshot(session: Session) -> "Snapshot | None":
    if not session.is_built():
        return None
    try:
        return session.vault().current()
    except VaultgraphError:
        return None


def _carried(session: Session, snapshot: "Snapshot | None") -> "Guidance | None":
    """What the vault says; None where it is not to be asked."""
    if not session.takes_vault_guidance or session.mode == "files":
        return None
    if snapshot is not None:
        return snapshot.guidance
    if session.mode == "graph":
        return None
    from vaultgraph.vault.guidance_files import read_guided  # noqa: PLC0415 -- loads the query engine

    return read_guided(session.root, None).guidance


def _recipes(
    session: Session, carried: "Guidance | None", tools: Mapping[str, object]
) -> dict[tuple[str, str], ServedRecipe]:
    taken = set(tools)
    found: dict[tuple[str, str], ServedRecipe] = {}
    for one in (stated.recipe for stated in session.manifest.recipes):
        tool = one.tool if one.tool not in taken else None
        taken |= {tool} if tool else set()
        found[one.recipe, one.name] = ServedRecipe(one, "manifest", tool)
    room = MOST_TOOLS_CHARS
    for one in carried.recipes if carried else ():
        key = (one.recipe, one.name)
        if key in found:
            continue
        tool = one.tool if one.tool not in taken and _size(one) <= room else None
        room -= _size(one) if tool else 0
        taken |= {tool} if tool else set()
        found[key] = ServedRecipe(one, "vault", tool)
    return dict(sorted(found.items()))


def _size(recipe: "Recipe") -> int:
    """About how many characters a recipe's own tool adds to the list of tools."""
    return TOOL_CHARS + min(SHOWN_DESCRIPTION_CHARS, len(recipe.description)) + len(compact_json(recipe.parameters))


def _skills(
    session: Session, carried: "Guidance | None", snapshot: "Snapshot | None", tools: set[str]
) -> dict[str, ServedSkill]:
    if not has_skills(session):
        return {}
    found: dict[str, ServedSkill] = {}
    for source, skill in session.own_skills or ():
        if applies(skill.applies_when, snapshot, tools, session.manifest):
            found[skill.name] = ServedSkill(skill.name, skill, source)
    for skill in carried.skills if carried else ():
        if applies(skill.applies_when, snapshot, tools, session.manifest):
            name = f"vault:{skill.name}" if skill.name in found else skill.name
            found[name] = ServedSkill(name, skill, "vault")
    return found


def _own_skills(session: Session) -> Iterator[tuple[Source, "Skill"]]:
    """Our own skills and the operator's, later ones of a name in place of earlier ones."""
    from importlib.resources import files  # noqa: PLC0415 -- only for who asks for them

    from vaultgraph.profile.guidance import SKILL_FOLDER, read_guidance  # noqa: PLC0415 -- loads the YAML reader
    from vaultgraph.vault.guidance_files import MOST_BYTES  # noqa: PLC0415 -- as above

    folder = files("vaultgraph.serve") / "skills"
    ours = {f"{SKILL_FOLDER}/{name}.md": (folder / f"{name}.md").read_bytes() for name in OWN_SKILLS}
    named: dict[str, tuple[Source, Skill]] = {}
    stated = session.manifest.skills
    if stated is None or stated.has_bundled:
        named |= {skill.name: ("server", skill) for skill in read_guidance(ours).skills}
    for path in stated.folders if stated else ():
        root = VaultRoot.open(path)
        names = sorted(entry.name for entry in path.iterdir() if entry.suffix.lower() == ".md")
        read = {f"{SKILL_FOLDER}/{name}": root.read_bytes(name, most_bytes=MOST_BYTES) for name in names}
        root.close()
        guidance = read_guidance(read)
        if guidance.problems:
            file, line, _, _, message = guidance.problems[0]
            raise SettingsError(f"{path}/{file.rpartition('/')[2]}:{line}: {message}")
        named |= {skill.name: ("manifest", skill) for skill in guidance.skills}
    named |= {skill.name: ("manifest", skill) for skill in (stated.inline if stated else ())}
    yield from sorted(named.values(), key=lambda one: ("server", "manifest").index(one[0]))
