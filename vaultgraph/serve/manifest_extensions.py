"""Reading `extensions:` of a manifest: recipes, allowed tools, caps of images, the CSV server, codecs, valid time.

Unknown keys here are remarks, as the format has it; values of the wrong shape are errors. Nothing is started or loaded.
"""

import re
from collections.abc import Mapping
from datetime import date
from importlib.util import find_spec
from typing import Any, Final

from vaultgraph.profile.guidance import IDENTIFIER, IDENTIFIER_RULE, Recipe, read_description, read_tool_name
from vaultgraph.profile.parameters import read_parameters
from vaultgraph.profile.patterns import read_pattern
from vaultgraph.profile.statements import parameters_in
from vaultgraph.profile.yaml_tree import Entry, shown
from vaultgraph.serve.manifest import CsvServer, EmbedderChoice, ImageCaps, ManifestRecipe, ValueCodec
from vaultgraph.serve.manifest_reading import Reading
from vaultgraph.serve.manifest_tools import read_query
from vaultgraph.serve.value_codecs import inverse

WITHOUT_EFFECT: Final = {
    "writable": "notes are changed by editing their files; queries only read",
    "write_scope": "queries only read",
    "write_budget": "queries only read",
    "ontology": "it is declared in .kglite/vault.yaml",
    "parallel": "the engine always uses all cores",
    "graph_watch": "a graph is followed without it",
    "recipe_catalog": "a catalogue has its own budget",
    "recipe_tools": "the tools of recipes are there where recipes are",
    "embeddings": "there is one storage",
    "columns": "there is one storage",
    "topology": "there is one storage",
}
"""Keys of the format that switch nothing here, and why."""
KEYS: Final = (
    "cypher_recipes",
    "tools_allow",
    "fetch_images",
    "csv_http_server",
    "embedder",
    "value_codecs",
    "valid_time",
)
NEED_GRAPH: Final = ("cypher_recipes", "csv_http_server", "embedder", "value_codecs", "valid_time")
RECIPE_TOOLS: Final = ("list_recipe_queries", "run_recipe_query")
CODEC_KEYS: Final = ("property", "kind", "prefix", "map", "match", "decode", "encode", "stored_type")
LIBRARIES: Final = ("fastembed", "sentence-transformers", "fastembed-rs")
MOST_CAPPED_IMAGES: Final = 100
MOST_CAPPED_BYTES: Final = 64 * 1024 * 1024
MOST_RECIPES: Final = 200
_BOOLEAN: Final = ("writable", "parallel", "graph_watch", "recipe_tools")
_FACTORY: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
_ORIGIN: Final = re.compile(r"\*|https?://[A-Za-z0-9.\-\[\]:]+")


def read_extensions(reading: Reading, entry: Entry) -> dict[str, Any]:
    """The fields of a Manifest that `extensions:` states.

    Raises:
        ProfileError: a value is refused.
    """
    stated = {name: value for name, value in entry.mapping().items() if not value.is_null}
    for name, value in stated.items():
        if name in WITHOUT_EFFECT:
            _check_idle(name, value)
            reading.remark(value, f"has no effect: {WITHOUT_EFFECT[name]}")
        elif name not in KEYS:
            reading.remark(value, f"is not a known key and has no effect. Known: {', '.join((*KEYS, *WITHOUT_EFFECT))}")
        elif name in NEED_GRAPH and reading.mode == "files":
            reading.remark(value, "has no effect without a graph")
    found: dict[str, Any] = {}
    if "cypher_recipes" in stated:
        found["recipes"] = _recipes(stated["cypher_recipes"])
    if "tools_allow" in stated:
        found["tools_allow"] = _allowed(reading, stated["tools_allow"], has_recipes=bool(found.get("recipes")))
    if "fetch_images" in stated:
        found["images"] = _caps(stated["fetch_images"])
    if "csv_http_server" in stated:
        found["csv_server"] = _csv_server(reading, stated["csv_http_server"])
    if "embedder" in stated:
        found["embedder"] = _embedder(reading, stated["embedder"])
    if "value_codecs" in stated:
        found["value_codecs"] = _codecs(reading, stated["value_codecs"])
    if "valid_time" in stated:
        found["valid_time"] = _valid_time(stated["valid_time"])
    return found


def _check_idle(name: str, entry: Entry) -> None:
    """The shape of a key without effect, so that a slip in it is not taken for what it is not."""
    if name in _BOOLEAN:
        entry.boolean()
    elif name == "write_scope":
        entry.names()
    else:
        entry.mapping()


def _allowed(reading: Reading, entry: Entry, *, has_recipes: bool) -> tuple[str, ...]:
    names = entry.names()
    if entry.is_mapping:
        entry.refuse("must be a list of tools.")
    for tool in RECIPE_TOOLS if has_recipes else ():
        if (name := reading.renamed.get(tool, tool)) not in names:
            entry.refuse(f"leaves out `{name}`, which a manifest with `cypher_recipes` must allow.")
    return names


def _caps(entry: Entry) -> ImageCaps:
    stated = entry.stated(("max_items", "max_bytes_per_image", "max_total_bytes"))
    for name, value in stated.items():
        most = MOST_CAPPED_IMAGES if name == "max_items" else MOST_CAPPED_BYTES
        if (number := value.positive()) > most:
            value.refuse(f"is {number:,}; it may be {most:,} at most.")
    numbers = {name: value.integer() for name, value in stated.items()}
    default = ImageCaps()
    return ImageCaps(
        numbers.get("max_items", default.most_images),
        numbers.get("max_bytes_per_image", default.most_bytes),
        numbers.get("max_total_bytes", default.most_total_bytes),
    )


def _csv_server(reading: Reading, entry: Entry) -> CsvServer | None:
    if entry.is_boolean:
        return CsvServer() if entry.boolean() else None
    if not entry.is_mapping:
        entry.refuse("must be true, false, or a mapping of port, dir and cors_origin.")
    stated = entry.stated(("port", "dir", "cors_origin"))
    port = stated["port"].integer() if "port" in stated else 0
    if not 0 <= port <= 65_535:
        stated["port"].refuse(f"is {port}; it must be 0 (any) to 65535.")
    origin = stated["cors_origin"].text() if "cors_origin" in stated else "*"
    if not _ORIGIN.fullmatch(origin):
        stated["cors_origin"].refuse("must be * or an origin such as https://example.org.")
    return CsvServer(port, reading.path(stated["dir"]) if "dir" in stated else None, origin)


def _embedder(reading: Reading, entry: Entry) -> EmbedderChoice:
    stated = entry.stated(("library", "model", "factory"))
    if not reading.is_embedder_allowed:
        advice = "" if reading.is_named else ", in a manifest named with --mcp-config"
        entry.refuse(f"loads code: it needs `trust: {{allow_embedder: true}}`{advice}.")
    if "factory" in stated:
        if "library" in stated or "model" in stated:
            entry.refuse("has `factory` and `library`. Keep one of them.")
        factory = stated["factory"].text()
        if not _FACTORY.fullmatch(factory):
            stated["factory"].refuse("must be `module:attribute`.")
        choice, module = EmbedderChoice(None, None, factory), factory.split(":")[0].split(".")[0]
    else:
        for key in ("library", "model"):
            if key not in stated:
                entry.refuse(f"needs `{key}:`, or `factory:`.")
        library = stated["library"].choice(LIBRARIES)
        choice = EmbedderChoice(library, stated["model"].text(), None)
        module = library.removesuffix("-rs").replace("-", "_")
    there = "" if find_spec(module) else f"; the module `{module}` is not installed"
    reading.remark(entry, f"has no effect until there is a search by meaning{there}")
    return choice


def _codecs(reading: Reading, entry: Entry) -> tuple[ValueCodec, ...]:
    """The codecs, one a property; a later one of the same, or one without a way back, has no effect and is remarked."""
    codecs: dict[str, ValueCodec] = {}
    for item in entry.items("codecs"):
        codec = _codec(item)
        if codec.property in codecs:
            reading.remark(item, f"has no effect: `{codec.property}` has a codec above")
        elif codec.kind == "regex" and not codec.encode and inverse(codec.match, codec.decode) is None:
            reading.remark(item, "has no effect: without `encode:` nothing says how stored values are written")
        else:
            codecs[codec.property] = codec
    return tuple(codecs.values())


def _codec(entry: Entry) -> ValueCodec:
    kinds = {"prefix": ("prefix",), "map": ("map",), "regex": ("match", "decode")}
    every = entry.stated(CODEC_KEYS)
    for key in ("property", "kind"):
        if key not in every:
            entry.refuse(f"needs `{key}:`.")
    kind = every["kind"].choice(tuple(kinds))
    stated = entry.stated(("property", "kind", *kinds[kind], "stored_type", *(("encode",) if kind == "regex" else ())))
    for key in kinds[kind]:
        if key not in stated:
            entry.refuse(f"is of the kind `{kind}` and needs `{key}:`.")
    name = stated["property"].name()
    of = stated["stored_type"].choice(("int", "float", "str")) if "stored_type" in stated else None
    match kind:
        case "prefix":
            return ValueCodec(name, "prefix", prefix=stated["prefix"].text(), stored_type=of)
        case "map":
            return ValueCodec(name, "map", values=_bijection(stated["map"]), stored_type=of)
        case _:
            pair = stated["encode"].stated(("match", "replace")) if "encode" in stated else {}
            if "encode" in stated and len(pair) != 2:
                stated["encode"].refuse("must be a mapping of match and replace.")
            back = (read_pattern(pair["match"]), pair["replace"].string()) if pair else None
            match, decode = read_pattern(stated["match"]), stated["decode"].string()
            return ValueCodec(name, "regex", match=match, decode=decode, encode=back, stored_type=of)


def _bijection(entry: Entry) -> Mapping[str, object]:
    if not entry.is_mapping:
        entry.refuse("must be a mapping of outer to stored values.")
    values = {name: value.scalar() for name, value in entry.mapping().items()}
    seen: dict[tuple[type, object], str] = {}
    for name, value in values.items():
        if (other := seen.setdefault((type(value), value), name)) != name:
            entry.refuse(f"maps `{shown(other)}` and `{shown(name)}` to the same value; it must lead back from each.")
    return values


def _valid_time(entry: Entry) -> str | None:
    stated = entry.stated(("default",))
    if "default" not in stated:
        return None
    text = stated["default"].text()
    if text in ("today", "all"):
        return text
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        stated["default"].refuse(f"is `{shown(text)}`; use today, all or a date such as 2026-01-31.")


def _recipes(entry: Entry) -> tuple[ManifestRecipe, ...]:
    recipes: list[ManifestRecipe] = []
    for group, described in entry.mapping().items():
        _check_identifier(described, group)
        stated = described.stated(("description", "queries"))
        for key in ("description", "queries"):
            if key not in stated:
                described.refuse(f"needs `{key}:`.")
        about = read_description(stated["description"])
        recipes += [_recipe(group, about, name, one) for name, one in stated["queries"].mapping().items()]
    if len(recipes) > MOST_RECIPES:
        entry.refuse(f"has {len(recipes)} queries; at most {MOST_RECIPES} are read.")
    return tuple(recipes)


def _recipe(group: str, about: str, name: str, entry: Entry) -> ManifestRecipe:
    _check_identifier(entry, name)
    stated = entry.stated(("description", "parameters", "cypher", "tool"))
    for key in ("description", "cypher"):
        if key not in stated:
            entry.refuse(f"needs `{key}:`.")
    query = read_query(stated["cypher"])
    tool = read_tool_name(stated["tool"]) if "tool" in stated else None
    recipe = Recipe(
        path=entry.file,
        recipe=group,
        name=name,
        description=read_description(stated["description"]),
        recipe_description=about,
        parameters=read_parameters(entry, stated.get("parameters"), parameters_in(query)),
        cypher=query,
        tool=tool,
    )
    return ManifestRecipe(recipe, tool, stated.get("tool", entry))


def _check_identifier(entry: Entry, name: str) -> None:
    if not IDENTIFIER.fullmatch(name):
        entry.refuse(f"is a name that must be {IDENTIFIER_RULE}.")
