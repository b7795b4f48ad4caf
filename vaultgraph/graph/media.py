"""What a file's extension says: its labels in the graph and its MIME type.

A closed table, so that a graph never depends on the machine it was built on. Bytes are never looked at.
"""

from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.names import extension
from vaultgraph.graph.texts import Texts, rows_at

IMAGE: Final = ("Image",)
ATTACHMENT: Final = ("Attachment",)
CANVAS: Final = ("Attachment", "Canvas")

IMAGES: Final = {
    "avif": "image/avif",
    "bmp": "image/bmp",
    "gif": "image/gif",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "png": "image/png",
    "svg": "image/svg+xml",
    "webp": "image/webp",
}
_KINDS: Final[dict[str, dict[str, str]]] = {
    "Audio": {
        "3gp": "audio/3gpp",
        "flac": "audio/flac",
        "m4a": "audio/mp4",
        "mp3": "audio/mpeg",
        "oga": "audio/ogg",
        "ogg": "audio/ogg",
        "opus": "audio/ogg",
        "wav": "audio/wav",
    },
    "Base": {"base": "application/yaml"},
    "Canvas": {"canvas": "application/json"},
    "Pdf": {"pdf": "application/pdf"},
    "Video": {
        "mkv": "video/x-matroska",
        "mov": "video/quicktime",
        "mp4": "video/mp4",
        "ogv": "video/ogg",
        "webm": "video/webm",
    },
}
_OTHERS: Final = {
    "7z": "application/x-7z-compressed",
    "bib": "text/x-bibtex",
    "css": "text/css",
    "csv": "text/csv",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "epub": "application/epub+zip",
    "gz": "application/gzip",
    "htm": "text/html",
    "html": "text/html",
    "ico": "image/vnd.microsoft.icon",
    "ipynb": "application/x-ipynb+json",
    "js": "text/javascript",
    "json": "application/json",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odt": "application/vnd.oasis.opendocument.text",
    "ppt": "application/vnd.ms-powerpoint",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "py": "text/x-python",
    "rtf": "application/rtf",
    "tar": "application/x-tar",
    "tex": "text/x-tex",
    "tif": "image/tiff",
    "tiff": "image/tiff",
    "toml": "application/toml",
    "ts": "text/x-typescript",
    "tsv": "text/tab-separated-values",
    "txt": "text/plain",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xml": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "zip": "application/zip",
}
_UNKNOWN: Final = "application/octet-stream"


_KIND_OF: Final = {
    **dict.fromkeys(IMAGES, "Image"),
    **{extension: kind for kind, table in _KINDS.items() for extension in table},
    **dict.fromkeys(_OTHERS, ""),
}
_MIME_OF: Final = {
    **IMAGES,
    **{extension: mime for table in _KINDS.values() for extension, mime in table.items()},
    **_OTHERS,
}


def labels_of_kind(kind: str) -> tuple[str, ...]:
    """The labels of a file node whose ``kind`` is as in ``media_of``."""
    if kind == "Image":
        return IMAGE
    return ("Attachment", kind) if kind else ATTACHMENT


def media_of(paths: pl.Series) -> pl.DataFrame:
    """(kind, mime) of each path, same order; ``""`` and ``application/octet-stream`` where it is not known.

    ``kind`` is Image, a second label, or ``""``.
    """
    texts = Texts()
    at = texts.numbers(extension(paths))
    # row loop: once for each distinct extension
    known = [(_KIND_OF.get(name, ""), _MIME_OF.get(name, _UNKNOWN)) for name in texts.distinct.to_list()]
    table = pl.DataFrame([*known, ("", _UNKNOWN)], schema={"kind": pl.String, "mime": pl.String}, orient="row")
    return rows_at(table, np.where(at >= 0, at, len(known)))


def has_known_extension(extensions: pl.Series) -> pl.Series:
    """Boolean: a name with this extension means a file even in a plain wikilink; ``extensions`` as names.extension."""
    # row loop: once for each distinct name of what is not found
    return pl.Series([name in _KIND_OF for name in extensions.to_list()], dtype=pl.Boolean)
