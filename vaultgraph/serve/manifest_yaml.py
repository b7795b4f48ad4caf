"""Reading a manifest: which file it is, and its top level to a Manifest.

An unknown key or a wrong shape is an error with file, line, key and what is accepted; what is right and has no effect
is a remark. A manifest that lies beside what is served may be a stranger's: it is believed less than one that is named
with `--mcp-config`. The key `extensions` is read in manifest_extensions, `tools` in manifest_tools, `skills` in
manifest_skills.
"""

import stat
from pathlib import Path
from typing import Any, Final

from vaultgraph.errors import MissingFileError, SettingsError
from vaultgraph.files.root import VaultRoot, askable
from vaultgraph.profile.yaml_tree import MOST_BYTES, Entry, read_tree
from vaultgraph.serve.manifest import BundledTool, Manifest, Mode
from vaultgraph.serve.manifest_reading import Reading

VAULT_MANIFEST: Final = "workspace_mcp.yaml"
TOP_KEYS: Final = (
    "name",
    "instructions",
    "overview_prefix",
    "source_root",
    "source_roots",
    "trust",
    "tools",
    "builtins",
    "env_file",
    "extensions",
    "skills",
)
BUILTINS: Final = ("save_graph", "temp_cleanup", "github", "screen_stargazers")
MOST_TEXT_CHARS: Final = 10_000
MOST_NAME_CHARS: Final = 100
_NAMED_ONLY: Final = "has no effect in a manifest that was found: it counts only in one named with --mcp-config"


def find_manifest(mode: Mode, place: Path, named: str | None) -> Manifest:
    """The manifest to serve ``place`` (the folder, or the saved graph) by.

    ``named`` is the value of `--mcp-config`: a file, "none" for no manifest, None to look beside ``place``.

    Raises:
        SettingsError: the named file is not there or cannot be read.
        ProfileError: the manifest is refused; ``data`` has file, line and key.
    """
    if named == "none":
        return Manifest()
    if named is not None:
        path = Path(named).expanduser().absolute()
        return read_manifest(path, named, _content(path), mode, is_named=True)
    if mode == "files":
        return Manifest()
    folder, name = (place, VAULT_MANIFEST) if mode == "vault" else (place.parent, f"{place.stem}_mcp.yaml")
    root = VaultRoot.open(folder)
    try:
        data = root.read_bytes(askable(name), most_bytes=MOST_BYTES)
    except MissingFileError:
        return Manifest()
    finally:
        root.close()
    return read_manifest(folder / name, name, data, mode, is_named=False)


def read_manifest(path: Path, shown: str, data: bytes, mode: Mode, *, is_named: bool) -> Manifest:
    """The manifest in ``data``; ``shown`` is what messages call its file.

    Raises:
        ProfileError: it is refused.
    """
    from vaultgraph.serve.manifest_extensions import read_extensions  # noqa: PLC0415 -- only where there is a manifest
    from vaultgraph.serve.manifest_skills import read_skills  # noqa: PLC0415 -- as above
    from vaultgraph.serve.manifest_tools import read_tools  # noqa: PLC0415 -- as above

    stated = read_tree(shown, data).stated(TOP_KEYS)
    reading = Reading(path.parent, is_named, mode)
    _read_trust(reading, stated.get("trust"))
    _read_builtins(reading, stated.get("builtins"))
    roots = _roots(reading, stated)
    env_file = _env_file(reading, stated.get("env_file"))
    prefix = stated.get("overview_prefix")
    if prefix and mode == "files":
        reading.remark(prefix, "has no effect without a graph")
    tools = read_tools(reading, stated["tools"]) if "tools" in stated else ()
    reading.renamed = {tool.bundled: tool.rename for tool in tools if isinstance(tool, BundledTool) and tool.rename}
    extended: dict[str, Any] = read_extensions(reading, stated["extensions"]) if "extensions" in stated else {}
    return Manifest(
        path=path,
        name=_short(stated["name"]) if "name" in stated else None,
        instructions=stated["instructions"].text_within(MOST_TEXT_CHARS) if "instructions" in stated else None,
        overview_prefix=prefix.text_within(MOST_TEXT_CHARS) if prefix else None,
        source_roots=roots,
        env_file=env_file,
        tools=tools,
        skills=read_skills(reading, stated.get("skills"), path),
        **extended,
        remarks=tuple(reading.remarks),
    )


def _content(path: Path) -> bytes:
    """The bytes of a manifest that was named."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise SettingsError(f"{path}: is not a file. --mcp-config takes a YAML file, or none.")
        if status.st_size > MOST_BYTES:
            raise SettingsError(f"{path}: has {status.st_size:,} bytes; at most {MOST_BYTES:,} are read.")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise SettingsError(f"{path}: --mcp-config names a file that is not there.") from error
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read ({error.strerror}).") from error


def _short(entry: Entry) -> str:
    name = entry.name()
    if len(name) > MOST_NAME_CHARS:
        entry.refuse(f"has {len(name)} characters; at most {MOST_NAME_CHARS} are read.")
    return name


def _read_trust(reading: Reading, entry: Entry | None) -> None:
    stated = entry.stated(("allow_embedder", "allow_python_tools")) if entry else {}
    for name, flag in stated.items():
        if not flag.boolean():
            continue
        if name == "allow_python_tools":
            reading.remark(flag, "has no effect: tools in Python are not run")
        elif not reading.is_named:
            reading.remark(flag, _NAMED_ONLY)
        else:
            reading.is_embedder_allowed = True


def _read_builtins(reading: Reading, entry: Entry | None) -> None:
    """`builtins:`, for the format's sake: there is nothing here that it switches."""
    for name, value in (entry.stated(BUILTINS) if entry else {}).items():
        if name == "temp_cleanup":
            value.choice(("never", "on_overview"))
        elif not value.boolean():
            continue
        words = "notes are changed by editing their files" if name == "save_graph" else "there is no such tool here"
        if name == "temp_cleanup":
            words = "what a server made for later is removed when it ends"
        reading.remark(value, f"has no effect: {words}")


def _roots(reading: Reading, stated: dict[str, Entry]) -> tuple[Path, ...]:
    """`source_root` and `source_roots`, for modes in which they have an effect."""
    one, several = stated.get("source_root"), stated.get("source_roots")
    if one and several:
        several.refuse("stands beside `source_root`. Keep one of them.")
    entries = [one] if one else several.items("folders") if several else []
    found = tuple(reading.folder_at(entry) for entry in entries)
    if found and reading.mode == "vault":
        reading.remark(entries[0], "has no effect with --vault: the folder of notes is what file tools read")
        return ()
    return found


def _env_file(reading: Reading, entry: Entry | None) -> Path | None:
    if entry is None:
        return None
    if not reading.is_named:
        entry.text()
        reading.remark(entry, _NAMED_ONLY)
        return None
    path = reading.path(entry)
    if not path.is_file():
        entry.refuse(f"must be a file with lines KEY=VALUE; {path} is {'none' if path.exists() else 'not there'}.")
    return path
