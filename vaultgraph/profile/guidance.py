"""Reading the advice a vault carries: `.kglite/skills/*.md` and `.kglite/recipes/*.md` to a Guidance.

A file that breaks a rule is a problem that names the rule, and its siblings load. All of it is text from a vault that
may be a stranger's: it is data to list under the vault's name, never a tool or a description of ours. It does not read
files itself and runs no query.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeVar, cast

from vaultgraph.errors import ProfileError
from vaultgraph.profile.parameters import read_parameters
from vaultgraph.profile.statements import fenced_blocks, parameters_in, writing_word_in
from vaultgraph.profile.yaml_tree import MOST_BYTES, Entry, read_tree

SKILL_FOLDER: Final = ".kglite/skills"
RECIPE_FOLDER: Final = ".kglite/recipes"
MOST_FILES: Final = 200  # of each kind
MOST_NAME_CHARS: Final = 100
MOST_DESCRIPTION_CHARS: Final = 5_000
MOST_STATEMENT_CHARS: Final = 20_000

PREDICATES: Final = ("graph_has_node_type", "graph_has_property", "tool_registered", "extension_enabled")

_FRONT: Final = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
IDENTIFIER_RULE: Final = "letters, digits and `_`, no digit first"
_SKILL_NAME: Final = re.compile(r"[^\s/\\:]+")
_TOOL_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")

Problem = tuple[str, int | None, str, str, str]
"""Path, line, code, severity and message."""


@dataclass(frozen=True, slots=True)
class Skill:
    """Advice that an agent can load by ``name``; ``applies_when`` is as written, ``text`` without frontmatter."""

    path: str
    name: str
    description: str
    references_tools: tuple[str, ...]
    applies_when: object
    delivery: Literal["eager", "lazy"]
    text: str


@dataclass(frozen=True, slots=True)
class Recipe:
    """A read-only query ``name`` of the group ``recipe``; ``parameters`` is a closed JSON Schema of its $parameters.

    ``tool``: the name of a tool of its own that runs it.
    """

    path: str
    recipe: str
    name: str
    description: str
    recipe_description: str | None
    parameters: Mapping[str, object]
    cypher: str
    tool: str | None = None


@dataclass(frozen=True, slots=True)
class Guidance:
    """What a vault carries for agents, in order of path, and what is wrong with the files that are left out."""

    skills: tuple[Skill, ...] = ()
    recipes: tuple[Recipe, ...] = ()
    problems: tuple[Problem, ...] = ()


Read = TypeVar("Read", Skill, Recipe)


def read_guidance(files: Mapping[str, bytes]) -> Guidance:
    """The skills and recipes among ``files`` (bytes by vault-relative path); other files are passed over."""
    problems: list[Problem] = []
    skills = _read_all(files, SKILL_FOLDER, "bad-skill", _skill, problems)
    recipes = _read_all(files, RECIPE_FOLDER, "bad-recipe", _recipe, problems)
    return Guidance(skills, recipes, tuple(problems))


def _read_all(
    files: Mapping[str, bytes],
    folder: str,
    code: str,
    read: Callable[[Entry, str], Read],
    problems: list[Problem],
) -> tuple[Read, ...]:
    """What the Markdown files right in ``folder`` hold, their problems appended to ``problems``."""
    paths = sorted(path for path in files if path.rpartition("/")[0] == folder and path.lower().endswith(".md"))
    found: dict[tuple[str, str], Read] = {}
    for path in paths[:MOST_FILES]:
        try:
            entry, text = _parted(path, files[path])
            one = read(entry, text)
            key = (one.recipe if isinstance(one, Recipe) else "", one.name)
            if key in found:
                entry.mapping()["name"].refuse(f"is `{one.name}`, like that of {found[key].path}. Names are unique.")
            found[key] = one
        except ProfileError as error:
            line = cast("int", error.data["line"])
            problems.append((path, line, code, "warning", error.message.removeprefix(f"{path}:{line}: ")))
    if len(paths) > MOST_FILES:
        message = f"Left out, like every file after it: at most {MOST_FILES} are read."
        problems.append((paths[MOST_FILES], None, code, "warning", message))
    return tuple(found.values())


def _parted(path: str, data: bytes) -> tuple[Entry, str]:
    """The frontmatter, its lines counted as in the file, and the text below it."""
    whole = Entry(path, "", 1, None)
    if len(data) > MOST_BYTES:
        whole.refuse(f"has {len(data)} bytes; at most {MOST_BYTES} are read.")
    try:
        text = data.decode()
    except UnicodeDecodeError as reason:
        Entry(path, "", data.count(b"\n", 0, reason.start) + 1, None).refuse("is not UTF-8. Save the file as UTF-8.")
    front = _FRONT.match(text)
    if front is None:
        whole.refuse("has no frontmatter. Begin with `---`, `name:`, `description:` and `---`.")
    return read_tree(path, b"\n" + front[1].encode()), text[front.end() :]


def _required(front: Entry, entries: dict[str, Entry], name: str) -> Entry:
    entry = entries.get(name)
    if entry is None or entry.is_null:
        Entry(front.file, name, front.line, None).refuse("is missing.")
    return entry


def read_description(entry: Entry) -> str:
    """What a skill, a recipe or a tool says of itself."""
    return entry.text_within(MOST_DESCRIPTION_CHARS)


def read_skill_name(entry: Entry) -> str:
    """The name of a skill: one word, which is no path."""
    return _token(entry, _SKILL_NAME, "one word without `/`, `\\` and `:`")


def read_tool_name(entry: Entry) -> str:
    """The name of a tool."""
    return _token(entry, _TOOL_NAME, "letters, digits, `_` and `-`, no digit first", 64)


def _token(entry: Entry, allowed: re.Pattern[str], rule: str, most_chars: int = MOST_NAME_CHARS) -> str:
    name = entry.name()
    if len(name) > most_chars or not allowed.fullmatch(name):
        entry.refuse(f"must be {rule}, at most {most_chars} characters.")
    return name


def _skill(front: Entry, text: str) -> Skill:
    stated = front.mapping()
    tools = stated.get("references_tools")
    delivery = stated.get("delivery")
    return Skill(
        path=front.file,
        name=read_skill_name(_required(front, stated, "name")),
        description=read_description(_required(front, stated, "description")),
        references_tools=() if tools is None else (tools.text(),) if tools.is_string else tools.texts(),
        applies_when=read_predicates(stated.get("applies_when")),
        delivery=cast("Literal['eager', 'lazy']", delivery.choice(("eager", "lazy")))
        if delivery and not delivery.is_null
        else "lazy",
        text=text,
    )


def read_predicates(entry: Entry | None) -> Mapping[str, object] | None:
    """`applies_when:` as it is written, its keys and their shapes known; None where nothing is stated.

    Raises:
        ProfileError: an unknown predicate, or one of another shape.
    """
    if entry is None or entry.is_null:
        return None
    for name, wanted in entry.record(PREDICATES).items():
        if name == "graph_has_property":
            pair = wanted.record(("node_type", "prop_name"))
            if len(pair) < 2:
                wanted.refuse("needs `node_type:` and `prop_name:`.")
            for part in pair.values():
                part.text()
        elif not wanted.is_string:
            wanted.texts()
    return cast("Mapping[str, object]", entry.plain())


def _recipe(front: Entry, text: str) -> Recipe:
    stated = front.mapping()
    about = stated.get("recipe_description")
    tool = stated.get("tool")
    statement = _statement(front, text)
    return Recipe(
        path=front.file,
        recipe=_token(_required(front, stated, "recipe"), IDENTIFIER, IDENTIFIER_RULE),
        name=_token(_required(front, stated, "name"), IDENTIFIER, IDENTIFIER_RULE),
        description=read_description(_required(front, stated, "description")),
        recipe_description=read_description(about) if about and not about.is_null else None,
        parameters=read_parameters(front, stated.get("parameters"), parameters_in(statement)),
        cypher=statement,
        tool=read_tool_name(tool) if tool and not tool.is_null else None,
    )


def _statement(front: Entry, text: str) -> str:
    """The one query of a recipe, read-only as far as its words tell."""
    whole = Entry(front.file, "", 1, None)
    blocks = fenced_blocks(text, "cypher")
    if len(blocks) != 1:
        whole.refuse(f"must hold one fenced block marked `cypher`, not {len(blocks) or 'none'}.")
    statement = blocks[0].strip()
    if not statement:
        whole.refuse("has an empty query.")
    if len(statement) > MOST_STATEMENT_CHARS:
        whole.refuse(f"has a query of {len(statement)} characters; at most {MOST_STATEMENT_CHARS} are read.")
    if (word := writing_word_in(statement)) is not None:
        whole.refuse(f"must only read: its query holds {word}.")
    return statement
