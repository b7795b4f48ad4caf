"""Images of the vault as bytes that can be delivered: judged by their header, never by their name.

Behind the tool `fetch_images`. PNG, JPEG, GIF and WebP only; bytes are untouched unless the caller asks for a smaller
picture. The size is read from the header before anything is decoded. How many bytes a whole reply may take is the
caller's business.
"""

import struct
import zlib
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Final

from vaultgraph.errors import ImageError, ParameterError, TooLargeError
from vaultgraph.files.kinds import DELIVERED_IMAGES, HEAD_BYTES, is_text, mime_of
from vaultgraph.files.root import VaultRoot

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS: Final = 50_000_000
MOST_SOURCE_BYTES: Final = 24 << 20  # read at most, where a smaller picture is made of it
MOST_DECODED_BYTES: Final = 56_000_000  # of memory, with the file itself, to make a smaller picture
_PLUGINS: Final = {"image/png": "Png", "image/jpeg": "Jpeg", "image/gif": "Gif", "image/webp": "WebP"}
_FORMATS: Final = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WEBP"}
_PIXEL_BYTES: Final = {"image/png": 0, "image/jpeg": 0, "image/gif": 4, "image/webp": 12}
"""What a decoder keeps for each pixel beside the picture it makes."""
_MODE_BYTES: Final = {"1": 5, "L": 1, "P": 5, "I;16": 11, "I;16B": 11, "I": 9, "PA": 8}
"""Memory of a pixel by mode, with what it is converted to before scaling; 4 for all others."""
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


@dataclass(frozen=True, slots=True)
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
        needed = len(data) + _decoded_bytes(picture, mime, most_edge)
        if needed > MOST_DECODED_BYTES:
            raise _too_much_memory(path, width, height, needed)
        before = f"scaled from {width} × {height}"
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
    width, height = picture.size
    needed = 0
    if mime == "image/jpeg":
        if picture.info.get("progressive"):
            needed = 6 * width * height  # its coefficients are all kept until the last scan
        picture.draft(None, (2 * most_edge, 2 * most_edge))  # type: ignore[arg-type] -- as Pillow itself calls it
        width, height = picture.size
    scale = min(1.0, most_edge / max(width, height))
    across, down = max(1, round(width * scale)), max(1, round(height * scale))
    needed += (_PIXEL_BYTES[mime] + _MODE_BYTES.get(picture.mode, 4)) * width * height
    return needed + 4 * across * (height + 2 * down)  # scaled across, scaled down, turned upright


def _scaled(path: str, picture: "Image", mime: str, most_edge: int) -> tuple[bytes, str, tuple[int, int], str]:
    """Bytes, type, size and a remark of the picture made smaller."""
    from PIL import Image, ImageOps  # noqa: PLC0415 - late, as in _open

    kind = "PNG" if mime == "image/gif" else _FORMATS[mime]  # a GIF of scaled colours would be dithered
    try:
        is_animated = bool(getattr(picture, "is_animated", False))
        small = picture
        if picture.mode in ("P", "PA", "1"):
            small = picture.convert("RGBA" if "transparency" in picture.info or picture.mode == "PA" else "RGB")
        elif picture.mode.startswith("I"):  # 16 bits of grey, which cannot be scaled and which few programs show
            small = picture.convert("I").point(lambda value: value * (1 / 256)).convert("L")
        small.thumbnail((most_edge, most_edge), Image.Resampling.LANCZOS)
        upright = ImageOps.exif_transpose(small)
        if kind == "JPEG" and upright.mode not in ("RGB", "L"):
            upright = upright.convert("RGB")
        buffer = BytesIO()
        upright.save(buffer, kind, quality=85) if kind != "PNG" else upright.save(buffer, kind)
    except _DAMAGED as reason:
        raise ImageError(f"{path}: damaged or truncated, so it cannot be scaled.", {"mime": mime}) from reason
    remark = ", first frame of an animation" if is_animated else ""
    return buffer.getvalue(), f"image/{kind.lower()}", upright.size, remark


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
