"""The manifest of a server: what its operator set, as plain values; the defaults are a server without one.

Read by manifest_yaml, held by the session, and obeyed where each setting has its effect. Loads nothing.
"""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from vaultgraph.frozen import frozen

if TYPE_CHECKING:  # loads the YAML reader: only a server with a manifest needs it
    from vaultgraph.profile.guidance import Recipe, Skill
    from vaultgraph.profile.yaml_tree import Entry

Mode = Literal["vault", "graph", "files"]
"""What is served: a folder of notes, a saved graph, or files alone."""

MOST_IMAGES: Final = 4
MOST_IMAGE_BYTES: Final = 4 * 1024 * 1024
MOST_TOTAL_BYTES: Final = 12 * 1024 * 1024


@frozen
class ImageCaps:
    """What one call of `fetch_images` delivers at most: how many, bytes of one, bytes of all."""

    most_images: int = MOST_IMAGES
    most_bytes: int = MOST_IMAGE_BYTES
    most_total_bytes: int = MOST_TOTAL_BYTES


@frozen
class CypherTool:
    """A tool ``name`` that runs one read-only query; ``parameters`` is a closed JSON Schema of its $parameters."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    cypher: str
    entry: "Entry"


@frozen
class BundledTool:
    """Another name or description of a built-in tool ``bundled``, or that it is not offered."""

    bundled: str
    rename: str | None
    description: str | None
    is_hidden: bool
    entry: "Entry"


@frozen
class ManifestRecipe:
    """A recipe of `cypher_recipes`, and the name of the ``tool`` it is offered as, beside `run_recipe_query`."""

    recipe: "Recipe"
    tool: str | None
    entry: "Entry"


@frozen
class SkillSources:
    """`skills:` as stated: the bundled ones or not, folders of skill files (later ones win), and skills written in it.

    ``is_on`` False: no skills at all, whoever wrote them.
    """

    is_on: bool
    has_bundled: bool = True
    folders: tuple[Path, ...] = ()
    inline: tuple["Skill", ...] = ()


@frozen
class CsvServer:
    """Where CSV answers are put to be fetched over loopback HTTP; port 0 is any free one, folder None a new one."""

    port: int = 0
    folder: Path | None = None
    cors_origin: str = "*"


@frozen
class EmbedderChoice:
    """What makes vectors of texts: a ``model`` of a ``library``, or ``factory`` as `module:attribute`."""

    library: str | None
    model: str | None
    factory: str | None


@frozen
class ValueCodec:
    """How values of ``property`` are written in queries and answers, other than they are stored.

    ``kind`` prefix: ``prefix`` stands before each; map: ``values``, stored by outer; regex: ``match`` and ``decode``
    from outer to stored, ``encode`` (match, replace) back. ``stored_type`` "int", "float" or "str": only such values.
    """

    property: str
    kind: Literal["prefix", "map", "regex"]
    prefix: str = ""
    values: Mapping[str, object] = field(default_factory=dict[str, object])
    match: str = ""
    decode: str = ""
    encode: tuple[str, str] | None = None
    stored_type: str | None = None


@frozen
class Manifest:
    """All of it; None and empty values are what is not stated.

    ``tools_allow`` None allows every tool. ``valid_time`` is "today", "all" or an ISO date. ``remarks``: a line each on
    what is written and has no effect.
    """

    path: Path | None = None
    name: str | None = None
    instructions: str | None = None
    overview_prefix: str | None = None
    source_roots: tuple[Path, ...] = ()
    env_file: Path | None = None
    tools: tuple[CypherTool | BundledTool, ...] = ()
    tools_allow: tuple[str, ...] | None = None
    recipes: tuple[ManifestRecipe, ...] = ()
    skills: SkillSources | None = None
    images: ImageCaps = field(default_factory=ImageCaps)
    csv_server: CsvServer | None = None
    embedder: EmbedderChoice | None = None
    value_codecs: tuple[ValueCodec, ...] = ()
    valid_time: str | None = None
    remarks: tuple[str, ...] = ()
