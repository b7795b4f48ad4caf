"""Notes and images as resources: `vault://Folder/Note.md`, page by page, by template, with completion of paths.

Between the vault's folder and mcp_resources, which speaks the protocol. Answers from the files, so it works before the
graph is built. A resource is given whole or refused: parts of long notes are what read_source is for.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final
from urllib.parse import quote, unquote

from vaultgraph.errors import FileError, MissingFileError, ParameterError
from vaultgraph.files.image import load_image
from vaultgraph.files.kinds import DELIVERED_IMAGES, HEAD_BYTES, is_text, mime_of
from vaultgraph.files.root import VaultRoot
from vaultgraph.files.stamps import is_canvas, is_note, scan
from vaultgraph.files.text import plain_text
from vaultgraph.files.walk import fold
from vaultgraph.frozen import frozen
from vaultgraph.serve.manifest import MOST_IMAGE_BYTES

SCHEME: Final = "vault://"
TEMPLATE: Final = "vault://{+path}"
PAGE: Final = 200
MOST_TEXT_BYTES: Final = 1 << 20
MOST_COMPLETIONS: Final = 100  # the protocol's own cap
_SUFFIXES: Final = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
}


@frozen
class Entry:
    """One resource of a list; ``mime`` by the name's suffix, as lists read no file."""

    uri: str
    path: str
    mime: str
    size_bytes: int


@frozen
class Contents:
    """What a resource holds; ``data`` is text, or the bytes of an image. ``mime`` by the file's header."""

    uri: str
    mime: str
    data: str | bytes


def uri_of(path: str) -> str:
    """The address of the file at ``path``; names that are not UTF-8 are no resources."""
    return SCHEME + quote(path, safe="/")


def list_resources(root: VaultRoot, cursor: str | None) -> tuple[list[Entry], str | None]:
    """The notes, canvases and images after ``cursor`` in path order, and where the next page begins.

    Raises:
        ParameterError: the cursor is none of ours.
    """
    after = "" if cursor is None else _after(cursor)
    found = _resources(root)
    page = [entry for entry in found if entry.path > after][:PAGE]
    has_more = bool(page) and page[-1].path < found[-1].path
    return page, urlsafe_b64encode(page[-1].path.encode()).decode("ascii") if has_more else None


def read_resource(root: VaultRoot, uri: str) -> Contents:
    """The text or the image at ``uri``.

    Raises:
        ParameterError: no address of this scheme.
        FileError: nothing there, refused by the sandbox, over a cap, or neither text nor a deliverable image.
    """
    path = path_of(root, uri)
    head = root.read_bytes(path, most_bytes=MOST_IMAGE_BYTES)
    mime = mime_of(head[:HEAD_BYTES])
    if mime in DELIVERED_IMAGES:
        image = load_image(root, path, most_bytes=MOST_IMAGE_BYTES)
        return Contents(uri, image.mime, image.data)
    if not is_text(mime):
        kind = mime or "unknown binary data"
        raise FileError(f"{path}: {kind} is not delivered; notes, other texts, png, jpeg, gif and webp are.")
    if len(head) > MOST_TEXT_BYTES:
        raise FileError(
            f"{path}: {len(head):,} bytes, over the cap of {MOST_TEXT_BYTES:,} of a resource; read_source gives parts."
        )
    return Contents(uri, "text/markdown" if is_note(path) else mime or "text/plain", plain_text(head)[0])


def complete_path(root: VaultRoot, start: str) -> tuple[list[str], int]:
    """Paths that begin with ``start``, then those whose file name does, then those that hold it; and how many."""
    wanted = fold(start.removeprefix(SCHEME))
    ranked: tuple[list[str], list[str], list[str]] = ([], [], [])
    for entry in _resources(root):
        folded = fold(entry.path)
        if folded.startswith(wanted):
            ranked[0].append(entry.path)
        elif folded.rsplit("/", 1)[-1].startswith(wanted):
            ranked[1].append(entry.path)
        elif wanted in folded:
            ranked[2].append(entry.path)
    found = [path for paths in ranked for path in paths]
    return found[:MOST_COMPLETIONS], len(found)


def all_paths(root: VaultRoot) -> frozenset[str]:
    """The paths of all resources."""
    return frozenset(entry.path for entry in _resources(root))


def _resources(root: VaultRoot) -> list[Entry]:
    files = scan(root).files
    entries: list[Entry] = []
    for path, size in zip(files["path"].to_list(), files["size_bytes"].to_list(), strict=True):
        mime = _mime_by_name(path)
        if mime is not None:
            entries.append(Entry(uri_of(path), path, mime, size))
    return sorted(entries, key=lambda entry: entry.path)


def _mime_by_name(path: str) -> str | None:
    if is_note(path):
        return "text/markdown"
    if is_canvas(path):
        return "application/json"
    return _SUFFIXES.get(path.rsplit(".", 1)[-1].lower())


def path_of(root: VaultRoot, uri: str) -> str:
    """The path ``uri`` names: percent-encoded as it should be, or as it stands where a client encoded nothing.

    Raises:
        ParameterError: no address of this scheme.
        FileError: nothing there, or refused by the sandbox.
    """
    if uri[: len(SCHEME)].lower() != SCHEME:
        raise ParameterError(
            f"Resources of this server begin with {SCHEME}, for instance {SCHEME}Folder/Note.md.",
            {"name": "uri", "reason": "scheme"},
        )
    written = uri[len(SCHEME) :].removeprefix("/")  # an empty authority is spelled with a third slash
    decoded = unquote(written)
    try:
        return root.stat(decoded).path
    except MissingFileError:
        if decoded == written:
            raise
        try:
            return root.stat(written).path
        except MissingFileError:
            pass
        raise


def _after(cursor: str) -> str:
    try:
        return urlsafe_b64decode(cursor.encode("ascii")).decode()
    except ValueError:
        raise ParameterError("The cursor is none of this server.", {"name": "cursor", "reason": "unknown"}) from None
