"""From the flags of serving to a session: what is served, by which manifest, under which name.

Used by serving and selftest. Wrong paths and wrong manifests end here, in one line, before anything is built.
"""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from vaultgraph.errors import SettingsError
from vaultgraph.files.root import VaultRoot
from vaultgraph.frozen import frozen
from vaultgraph.serve.manifest import Manifest, Mode
from vaultgraph.serve.session import Opener, Progress, Session, Source

if TYPE_CHECKING:
    from vaultgraph.vault.watch import WatchMode

MOST_ENV_BYTES: Final = 65_536
_VARIABLE: Final = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)")


@frozen
class HttpOptions:
    """The flags of serving over HTTP, as given."""

    address: str
    token_file: str | None
    allow: tuple[str, ...]


@frozen
class ServeOptions:
    """The flags of serving, as given; ``cache`` is "default", "none" or a path; ``http`` None means stdio.

    One of ``vault``, ``graph`` and ``source_root`` says what is served; the last also goes with ``graph``.
    """

    vault: str | None
    cache: str
    name: str | None
    watch: str
    log_level: str
    http: HttpOptions | None = None
    takes_guidance: bool = True
    graph: str | None = None
    source_root: str | None = None
    mcp_config: str | None = None

    @property
    def mode(self) -> Mode:
        """What is served."""
        return "vault" if self.vault is not None else "graph" if self.graph is not None else "files"


def open_session(options: ServeOptions) -> tuple[Session, tuple[str, ...]]:
    """The session, not started yet, and remarks on its manifest, a line each.

    The variables of the manifest's `env_file` are set where the environment has none of that name.

    Raises:
        SettingsError: a folder, a file or the manifest cannot be used.
        KglError: the saved graph is no file of vaultgraph's.
    """
    mode = options.mode
    asked = {"vault": options.vault, "graph": options.graph, "files": options.source_root}[mode] or ""
    root = None if mode == "graph" else VaultRoot.open(asked)  # which refuses an empty name
    place = Path(asked).expanduser().absolute() if root is None else root.path
    if mode == "graph":
        _check_graph(place)
    manifest, remarks = _manifest(mode, place, options)
    others: list[VaultRoot] = []
    if root is None or (mode == "files" and manifest.source_roots):
        root, more = _file_root(options, manifest, place)
        remarks += more
        if options.source_root is None:
            others = [VaultRoot.open(path) for path in dict.fromkeys(manifest.source_roots[1:])]
    if manifest.env_file:
        for name, value in read_env(manifest.env_file).items():
            os.environ.setdefault(name, value)
    name = options.name or manifest.name or (_graph_name(place) if mode == "graph" else root.name)
    session = Session(
        root,
        _opener(options, place),
        name=name,
        mode=mode,
        manifest=manifest,
        takes_vault_guidance=options.takes_guidance,
        follows_edits=mode != "vault" or options.watch != "off",
        more_roots=others,
    )
    if manifest.skills:
        from vaultgraph.serve.guidance import load_own_skills  # noqa: PLC0415 -- loads the YAML reader

        load_own_skills(session)
    return session, remarks


def saved_graph(text: str) -> Path | None:
    """The saved graph that ``text`` names by its suffix, of a command that takes folders too; None for a folder.

    Raises:
        SettingsError: it ends so and is not there, or cannot be looked at.
    """
    path = Path(text)
    if path.suffix != ".kgl":
        return None
    is_there = _is_there(path)
    if path.is_dir():
        return None
    if not is_there:
        raise SettingsError(f"{text}: no such file. vaultgraph build DIR makes one, in DIR/.kglite.")
    return path


def read_env(path: Path) -> dict[str, str]:
    """The variables of a file with lines `KEY=VALUE`; a value may stand in quotes, `#` begins a comment.

    Raises:
        SettingsError: it cannot be read, or a line is none of these.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_ENV_BYTES + 1)
        text = data.decode()
    except OSError as error:
        raise SettingsError(f"{path}: the env_file cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: the env_file is not UTF-8.") from error
    if len(data) > MOST_ENV_BYTES:
        raise SettingsError(f"{path}: the env_file has more than {MOST_ENV_BYTES:,} bytes.")
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not (bare := line.strip()) or bare.startswith("#"):
            continue
        match = _VARIABLE.fullmatch(bare)
        if match is None or "\0" in bare:
            raise SettingsError(f"{path}:{number}: must be KEY=VALUE.")
        found[match[1]] = _value(match[2])
    return found


def _value(text: str) -> str:
    if len(text) > 1 and text[0] in "\"'" and (end := text.find(text[0], 1)) > 0:
        return text[1:end]
    return text.split(" #", 1)[0].strip()


def _graph_name(path: Path) -> str:
    """The file's own name; of a vault's cache, the vault's."""
    return path.parent.parent.name if (path.parent.name, path.name) == (".kglite", "graph.kgl") else path.stem


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:  # the name is too long, or a folder above is closed
        raise SettingsError(f"{path}: cannot be looked at ({error.strerror}).") from error


def _check_graph(path: Path) -> None:
    is_there = _is_there(path)
    if path.is_dir():
        raise SettingsError(f"{path}: is a folder. --graph takes a .kgl file; --vault DIR serves a folder of notes.")
    if not is_there:
        raise SettingsError(f"{path}: no such file. --graph takes a .kgl file; vaultgraph build DIR makes one.")
    from vaultgraph.kgl.reader import open_kgl  # noqa: PLC0415 -- loads numpy

    open_kgl(path)


def _manifest(mode: Mode, place: Path, options: ServeOptions) -> tuple[Manifest, tuple[str, ...]]:
    """The manifest, its tools checked against those there are. Where there is none its reader is not loaded."""
    beside = place / "workspace_mcp.yaml" if mode == "vault" else place.with_name(f"{place.stem}_mcp.yaml")
    if options.mcp_config == "none" or (options.mcp_config is None and not os.path.lexists(beside)):
        return Manifest(), ()
    if options.mcp_config is None and not options.takes_guidance:
        return Manifest(), (f"{beside} is not read, because of --no-vault-guidance",)
    from vaultgraph.serve.manifest_yaml import find_manifest  # noqa: PLC0415 -- only for who has one
    from vaultgraph.serve.surface import check_surface  # noqa: PLC0415 -- as above

    try:
        manifest = find_manifest(mode, place, options.mcp_config)
        return manifest, (*manifest.remarks, *check_surface(mode, manifest))
    except SettingsError as error:
        if options.mcp_config is None:
            advice = f"--mcp-config none serves without {beside.name}."
            raise type(error)(f"{error.message} ({advice})", error.data) from error
        raise


def _file_root(options: ServeOptions, manifest: Manifest, place: Path) -> tuple[VaultRoot, tuple[str, ...]]:
    """The folder of the file tools: that of the flag, of the manifest, or the one the saved graph lies in."""
    if options.source_root is not None:
        remark = f"{manifest.path}: `source_root` has no effect beside --source-root"
        return VaultRoot.open(options.source_root), (remark,) if manifest.source_roots else ()
    return VaultRoot.open(manifest.source_roots[0] if manifest.source_roots else place.parent), ()


def _opener(options: ServeOptions, place: Path) -> Opener:
    def open_graph(progress: Progress) -> Source:
        # Imports in this thread, beside other imports.
        if options.mode == "graph":
            from vaultgraph.serve.graph_file import GraphFile  # noqa: PLC0415

            return GraphFile(place)
        from vaultgraph.vault.vault import open_vault  # noqa: PLC0415

        cache = None if options.cache == "none" else options.cache
        return open_vault(place, cache, watch=cast("WatchMode", options.watch), progress=progress, build=False)

    return open_graph
