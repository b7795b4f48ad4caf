"""Images of the vault as bytes that can be delivered: judged by their header, never by their name.

Behind the tool `fetch_images`. PNG, JPEG, GIF and WebP only; bytes are untouched unless the caller asks for a smaller
picture. The size is read from the header before anything is decoded. How many bytes a whole reply may take is the
caller's business.
"""

import struct
import zlib
from importlib import import_module
from io import BytesIO
from threading import Lock
from typing import TYPE_CHECKING, Final

from vaultgraph.errors import ImageError, ParameterError, TooLargeError
from vaultgraph.files.kinds import DELIVERED_IMAGES, HEAD_BYTES, is_text, mime_of
from vaultgraph.files.root import VaultRoot
from vaultgraph.frozen import frozen

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS: Final = 50_000_000
MOST_SOURCE_BYTES: Final = 24 << 20  # read at most, where a smaller picture is made of it
MOST_DECODED_BYTES: Final = 58_000_000  # of memory, with the file itself, to make a smaller picture
_STRIP_PIXELS: Final = 250_000  # worked on at once, where a picture has to be converted before it is scaled
_PLUGINS: Final = {"image/png": "Png", "image/jpeg": "Jpeg", "image/gif": "Gif", "image/webp": "WebP"}
_FORMATS: Final = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WEBP"}
_PIXEL_BYTES: Final = {"image/png": 0, "image/jpeg": 0, "image/gif": 4, "image/webp": 12}
"""What a decoder keeps for each pixel beside the picture it makes."""
_MODE_BYTES: Final = {"1": 1, "L": 1, "P": 1, "I;16": 2, "I;16B": 2}
"""Memory of a pixel by mode; 4 for all others."""
_ONE_AT_A_TIME: Final = Lock()
"""Held while a picture is decoded: what several calls need together is not more than what one needs."""
# What Pillow lets through on damaged data, from its decoders and from what lies below them.
_DAMAGED: Final = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    IndexError,
    KeyError,
    TypeError,
    OverflowError,
    struct.error,
    zlib.error,
)


@frozen
class ImageData:
    """``data`` is a whole image file of type ``mime``, ``width`` × ``height`` pixels.

    ``size_bytes``: of ``data``; ``source_bytes``: of the file in the vault. ``note``: what was done to it, or "".
    """

    path: str
    mime: str
    data: bytes
    width: int
    height: int
    size_bytes: int
    source_bytes: int
    note: str


def load_image(root: VaultRoot, rel: str, *, most_bytes: int, most_edge: int | None = None) -> ImageData:
    """The image ``rel``; with ``most_edge`` scaled down until no edge has more pixels (never up).

    A scaled picture is turned upright by its EXIF orientation; of an animation it is the first frame.

    Raises:
        ImageError: not an image by its header, a type that is not delivered, or damaged where it has to be decoded.
        TooLargeError: over ``most_bytes`` as delivered, over 50 million pixels, or scaling takes too much memory.
        ParameterError: ``most_edge`` below 1.
        PathEscapeError, MissingFileError, FileError: as VaultRoot.read_bytes.
    """
    if most_edge is not None and most_edge < 1:
        raise ParameterError("max_edge: must be 1 or more.", {"name": "max_edge", "reason": "too small"})
    data = root.read_bytes(rel, most_bytes=MOST_SOURCE_BYTES if most_edge else most_bytes)
    path = root.stat(rel).path
    mime = mime_of(data[:HEAD_BYTES])
    if mime not in DELIVERED_IMAGES:
        raise ImageError(_refusal(path, mime), {"mime": mime})
    picture = _open(path, data, mime)
    width, height = picture.size
    if width * height > MOST_PIXELS:
        raise _too_many_pixels(path, width, height)
    note, out = "", data
    if most_edge is not None and max(width, height) > most_edge:
        before = f"scaled from {width} × {height}"
        with _ONE_AT_A_TIME:
            needed = len(data) + _decoded_bytes(picture, mime, most_edge)
            if needed > MOST_DECODED_BYTES:
                raise _too_much_memory(path, width, height, needed)
            out, mime, (width, height), remark = _scaled(path, picture, mime, most_edge)
        note = before + remark
    if len(out) > most_bytes:
        advice = " Ask for a smaller max_edge."
        raise TooLargeError(f"{path}: {len(out):,} bytes, over the cap of {most_bytes:,} bytes.{advice}")
    return ImageData(path, mime, out, width, height, len(out), len(data), note)


def _refusal(path: str, mime: str | None) -> str:
    if mime == "text/plain":
        return f"{path}: not an image by its header (it is text). read_source shows text."
    if mime is None:
        return f"{path}: not an image by its header."
    advice = " read_source shows its text." if is_text(mime) else ""
    return f"{path}: {mime} is not delivered; only png, jpeg, gif and webp are.{advice}"


def _open(path: str, data: bytes, mime: str) -> "Image":
    """The picture, not decoded: only its header is read."""
    # Pillow is imported late: it costs start-up time that a server without images need not pay.
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415

    # Its many other decoders are never loaded: the one needed is there before Pillow would go looking for all.
    import_module(f"PIL.{_PLUGINS[mime]}ImagePlugin")
    try:
        return Image.open(BytesIO(data), formats=[_FORMATS[mime]])
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as reason:
        raise TooLargeError(f"{path}: over the cap of {MOST_PIXELS:,} pixels.") from reason
    except (UnidentifiedImageError, *_DAMAGED) as reason:
        raise ImageError(f"{path}: starts like {mime} but its header is damaged.", {"mime": mime}) from reason


def _decoded_bytes(picture: "Image", mime: str, most_edge: int) -> int:
    """About how much memory making ``picture`` smaller takes; a JPEG is told to decode at a fraction of its size."""
    if mime != "image/jpeg":
        return _scaling_bytes(picture, picture.size, mime, most_edge)
    # The coefficients of a progressive one are all kept until the last scan.
    kept = _coefficient_bytes(picture) if picture.info.get("progressive") else 0
    # Twice the pixels that are asked for look best; where they would take too much, fewer do.
    parts = [(max(1, picture.width // divisor), max(1, picture.height // divisor)) for divisor in (1, 2, 4, 8)]
    wanted = max((number for number, part in enumerate(parts) if max(part) >= 2 * most_edge), default=0)
    needed = {part: kept + _scaling_bytes(picture, part, mime, most_edge) for part in parts[wanted:]}
    part = next((part for part, size in needed.items() if size <= MOST_DECODED_BYTES), parts[-1])
    picture.draft(None, part)  # type: ignore[arg-type] -- as Pillow itself calls it; only the first time counts
    return needed[part]


def _coefficient_bytes(picture: "Image") -> int:
    width, height = picture.size
    samples = [(across, down) for _, across, down, _ in getattr(picture, "layer", [])] or [(1, 1)] * 4
    most = max(across for across, _ in samples) * max(down for _, down in samples)
    return 2 * width * height * sum(across * down for across, down in samples) // most


def _scaling_bytes(picture: "Image", size: tuple[int, int], mime: str, most_edge: int) -> int:
    """… where it is decoded as ``size`` pixels."""
    width, height = size
    across, down = _size_within(size, most_edge)
    kept = (_PIXEL_BYTES[mime] + _MODE_BYTES.get(picture.mode, 4)) * width * height
    if (across, down) == (width, height):
        return kept + (4 if picture.mode in ("L", "RGB") else 8) * width * height  # in other colours, turned upright
    # Scaled across, and once more with its colours weighed by alpha; scaled down, turned upright.
    copies = 2 if _has_alpha(picture) else 1
    return kept + 4 * across * (copies * height + 2 * down) + 12 * _STRIP_PIXELS


def _size_within(size: tuple[int, int], most_edge: int) -> tuple[int, int]:
    """The size with the same proportions whose longer edge is ``most_edge``; never more than ``size``."""
    scale = min(1.0, most_edge / max(size))
    return max(1, round(size[0] * scale)), max(1, round(size[1] * scale))


def _has_alpha(picture: "Image") -> bool:
    return picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info


def _scaled(path: str, picture: "Image", mime: str, most_edge: int) -> tuple[bytes, str, tuple[int, int], str]:
    """Bytes, type, size and a remark of the picture made smaller."""
    from PIL import ImageOps  # noqa: PLC0415 - late, as in _open

    kind = "PNG" if mime == "image/gif" else _FORMATS[mime]  # a GIF of scaled colours would be dithered
    try:
        is_animated = bool(getattr(picture, "is_animated", False))
        small = _shrunk(picture, _size_within(picture.size, most_edge))
        small.info = {name: value for name, value in picture.info.items() if name != "transparency"}
        ImageOps.exif_transpose(small, in_place=True)
        buffer = BytesIO()
        small.save(buffer, kind, quality=85) if kind != "PNG" else small.save(buffer, kind)
    except _DAMAGED as reason:
        raise ImageError(f"{path}: damaged or truncated, so it cannot be scaled.", {"mime": mime}) from reason
    remark = ", first frame of an animation" if is_animated else ""
    return buffer.getvalue(), f"image/{kind.lower()}", small.size, remark


def _shrunk(picture: "Image", size: tuple[int, int]) -> "Image":
    """The picture scaled: first across, some rows at a time, then down. Copies of all its pixels are never made."""
    from PIL import Image  # noqa: PLC0415 - late, as in _open

    picture.load()
    if size == picture.size and picture.mode in ("L", "RGB"):
        return picture
    width, height = picture.size
    rows = max(1, _STRIP_PIXELS // width)
    narrow: Image.Image | None = None
    for top in range(0, height, rows):
        strip = _plain(picture.crop((0, top, width, min(top + rows, height))))
        strip = strip.resize((size[0], strip.height), Image.Resampling.LANCZOS)
        narrow = narrow or Image.new(strip.mode, (size[0], height))
        narrow.paste(strip, (0, top))
    assert narrow is not None
    return narrow.resize(size, Image.Resampling.LANCZOS)


def _plain(strip: "Image") -> "Image":
    """In colours that can be scaled."""
    if strip.mode == "CMYK":
        return strip.convert("RGB")
    if strip.mode in ("P", "PA", "1") or (strip.mode in ("L", "RGB") and _has_alpha(strip)):
        return strip.convert("RGBA" if _has_alpha(strip) else "RGB")
    if strip.mode.startswith("I"):  # 16 bits of grey, which few programs show
        return strip.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    return strip


def _too_many_pixels(path: str, width: int, height: int) -> TooLargeError:
    return TooLargeError(
        f"{path}: {width:,} × {height:,} pixels, over the cap of {MOST_PIXELS:,}; it was not decoded.",
        {"width": width, "height": height, "most_pixels": MOST_PIXELS},
    )


def _too_much_memory(path: str, width: int, height: int, needed: int) -> TooLargeError:
    return TooLargeError(
        f"{path}: {width:,} × {height:,} pixels; making it smaller takes about {needed // 1_000_000} MB of memory, "
        f"over the cap of {MOST_DECODED_BYTES // 1_000_000}. Without max_edge it comes as it is, up to the byte cap.",
        {"width": width, "height": height},
    )
