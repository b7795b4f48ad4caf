"""What a file is by its first bytes, whatever its name says.

Used by files/read, files/grep and files/image to tell text from what is not, and to name what is refused.
"""

from typing import Final

HEAD_BYTES: Final = 4096  # as much of a file as any decision here needs
DELIVERED_IMAGES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp")
_STARTS: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"\0\0\1\0", "image/x-icon"),
    (b"ID3", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
)
_BRANDS: Final = {b"avif": "image/avif", b"avis": "image/avif", b"heic": "image/heic", b"heix": "image/heic"}
_BRANDS_MIF1: Final = {b"mif1": "image/heif", b"M4A ": "audio/mp4", b"qt  ": "video/quicktime"}


def mime_of(head: bytes) -> str | None:
    """The type of a file from its first bytes (up to HEAD_BYTES); "text/plain" for text, None for unknown binary."""
    for start, mime in _STARTS:
        if head.startswith(start):
            return mime
    if head[:4] == b"RIFF":
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(head[8:12])
    if head[4:8] == b"ftyp":
        return (_BRANDS | _BRANDS_MIF1).get(head[8:12], "video/mp4")
    if head[:2] == b"BM" and head[6:10] == bytes(4):
        return "image/bmp"
    if b"\0" in head[:HEAD_BYTES]:
        return None
    if b"<svg" in head[:HEAD_BYTES].lower() and head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return "image/svg+xml"
    return "text/plain"


def is_text(mime: str | None) -> bool:
    """Whether files of this type are read as text."""
    return mime in ("text/plain", "image/svg+xml")
