"""What a file's extension says: its labels in the graph and its MIME type.

A closed table, so that a graph never depends on the machine it was built on. Bytes are never looked at.
"""

from typing import Final

import polars as pl

from vaultgraph.graph.names import extension

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


def media_table() -> pl.DataFrame:
    """Every known extension: (extension, kind, mime), all String; kind is Image, a second label, or ``""``."""
    rows = [(name, "Image", mime) for name, mime in IMAGES.items()]
    rows += [(name, kind, mime) for kind, table in _KINDS.items() for name, mime in table.items()]
    rows += [(name, "", mime) for name, mime in _OTHERS.items()]
    return pl.DataFrame(rows, schema={"extension": pl.String, "kind": pl.String, "mime": pl.String}, orient="row")


def labels_of_kind(kind: str) -> tuple[str, ...]:
    """The labels of a file node whose ``kind`` is as in ``media_table``."""
    if kind == "Image":
        return IMAGE
    return ("Attachment", kind) if kind else ATTACHMENT


def media_of(paths: pl.Series) -> pl.DataFrame:
    """(kind, mime) of each path, same order; ``""`` and ``application/octet-stream`` where it is not known."""
    table = media_table()
    found = extension(paths)
    return pl.DataFrame(
        {
            "kind": found.replace_strict(table["extension"], table["kind"], default="").fill_null(""),
            "mime": found.replace_strict(table["extension"], table["mime"], default=_UNKNOWN).fill_null(_UNKNOWN),
        }
    )


def has_known_extension(names: pl.Series) -> pl.Series:
    """Boolean: the name ends with an extension of the table, so it means a file even in a plain wikilink."""
    return extension(names).is_in(media_table()["extension"].to_list()).fill_null(False)
