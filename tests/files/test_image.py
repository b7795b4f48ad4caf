"""Images by header, caps before decoding, bytes untouched unless asked."""

import struct
import zlib
from io import BytesIO

import pytest
from PIL import Image, ImageDraw

from vaultgraph.errors import FileError, ImageError, MissingFileError, ParameterError, PathEscapeError, TooLargeError
from vaultgraph.files.image import load_image

CAP = 1_000_000


def picture(kind: str, size=(40, 20), mode="RGB", **options) -> bytes:
    buffer = BytesIO()
    image = Image.new(mode, size)
    ImageDraw.Draw(image).rectangle((0, 0, size[0] // 2, size[1] // 2), fill=1 if mode == "P" else "white")
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def bomb(width: int, height: int) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(b"")), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_the_header_decides_and_the_bytes_stay_as_they_are(make_vault, kind):
    data = picture(kind)
    root = make_vault({"Folder/strange.txt": data})
    image = load_image(root, "Folder/strange.txt", most_bytes=CAP)
    assert (image.path, image.mime, image.data) == ("Folder/strange.txt", f"image/{kind.lower()}", data)
    assert (image.width, image.height, image.size_bytes, image.source_bytes, image.note) == (
        40,
        20,
        len(data),
        len(data),
        "",
    )


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
@pytest.mark.parametrize("mode", ["RGB", "L", "P", "RGBA", "CMYK", "1", "LA"])
def test_scaling_keeps_the_ratio_whatever_the_kind_and_mode(make_vault, kind, mode):
    try:
        data = picture(kind, size=(200, 100), mode=mode)
    except (OSError, ValueError):
        pytest.skip(f"no {kind} has the mode {mode}")
    image = load_image(make_vault({"a.png": data}), "a.png", most_bytes=CAP, most_edge=50)
    assert (image.width, image.height) == (50, 25)
    assert image.mime == ("image/png" if kind == "GIF" else f"image/{kind.lower()}")
    assert image.note == "scaled from 200 × 100"
    with Image.open(BytesIO(image.data)) as again:
        assert again.size == (50, 25)
        assert Image.MIME[again.format] == image.mime
    assert image.source_bytes == len(data)


def test_a_picture_small_enough_is_untouched(make_vault):
    data = picture("JPEG")
    root = make_vault({"a.jpg": data})
    assert load_image(root, "a.jpg", most_bytes=CAP, most_edge=40).data == data


def test_scaling_turns_a_photo_upright(make_vault):
    exif = Image.Exif()
    exif[0x0112] = 6
    data = picture("JPEG", size=(200, 100), exif=exif)
    image = load_image(make_vault({"a.jpg": data}), "a.jpg", most_bytes=CAP, most_edge=50)
    assert (image.width, image.height) == (25, 50)


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_an_animation_becomes_its_first_frame_and_says_so(make_vault, kind):
    buffer = BytesIO()
    frames = [Image.new("RGB", (100, 100), color) for color in ("red", "blue", "green")]
    frames[0].save(buffer, kind, save_all=True, append_images=frames[1:], lossless=True)
    image = load_image(make_vault({"a": buffer.getvalue()}), "a", most_bytes=CAP, most_edge=10)
    assert image.note == "scaled from 100 × 100, first frame of an animation"
    with Image.open(BytesIO(image.data)) as again:
        assert getattr(again, "n_frames", 1) == 1
        red, green, _ = again.convert("RGB").getpixel((5, 5))
        assert red > 250 > 5 > green


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg.xml"),
        ("<?xml version='1.0'?>\n<svg/>", "image/svg.xml"),
        ("just text", "not an image by its header"),
        (b"\0\1\2\3", "not an image by its header"),
        (b"%PDF-1.7", "application/pdf"),
        (picture("BMP"), "image/bmp"),
        (picture("TIFF"), "image/tiff"),
        (b"\0\0\0\x1cftypavif", "image/avif"),
        (b"", "not an image by its header"),
        (b"\x89PNG\r\n\x1a\n", "header is damaged"),
        (b"\xff\xd8\xff", "header is damaged"),
        (b"GIF89a", "header is damaged"),
        (b"RIFF\0\0\0\0WEBP", "header is damaged"),
    ],
)
def test_what_is_not_delivered_is_refused_by_what_it_is(make_vault, content, words):
    root = make_vault({"image.png": content})
    with pytest.raises(ImageError, match=words):
        load_image(root, "image.png", most_bytes=CAP)


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize("size", [(10_000, 5_001), (11_000, 9_000), (60_000, 60_000)])
@pytest.mark.parametrize("edge", [None, 10])
def test_a_pixel_bomb_is_refused_from_its_header(make_vault, size, edge):
    root = make_vault({"bomb.png": bomb(*size)})
    with pytest.raises(TooLargeError, match="50,000,000"):
        load_image(root, "bomb.png", most_bytes=CAP, most_edge=edge)
    assert load_image(make_vault({"ok.png": bomb(10_000, 5_000)}), "ok.png", most_bytes=CAP).width == 10_000


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_truncated_picture_is_delivered_but_not_scaled(make_vault, kind):
    image = Image.effect_noise((300, 300), 90).convert("RGB")
    buffer = BytesIO()
    image.save(buffer, kind)
    data = buffer.getvalue()
    root = make_vault({"a": data[: len(data) // 2]})
    if kind != "WEBP":  # a WebP states its length first, so its header is no longer valid
        assert load_image(root, "a", most_bytes=CAP).width == 300
    with pytest.raises(ImageError, match="damaged"):
        load_image(root, "a", most_bytes=CAP, most_edge=30)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_damaged_bytes_anywhere_are_an_image_or_an_error_of_ours(make_vault, folder, kind):
    data = picture(kind, size=(64, 64))
    root = make_vault({})
    for position in range(0, len(data), max(1, len(data) // 60)):
        damaged = bytearray(data)
        damaged[position] ^= 0xFF
        (folder / "a").write_bytes(damaged)
        try:
            assert load_image(root, "a", most_bytes=CAP, most_edge=16).width <= 16
        except FileError:
            continue


def test_the_cap_counts_what_is_delivered(make_vault):
    image = Image.effect_noise((600, 600), 90)
    buffer = BytesIO()
    image.save(buffer, "PNG")
    data = buffer.getvalue()
    root = make_vault({"big.png": data})
    with pytest.raises(TooLargeError):
        load_image(root, "big.png", most_bytes=len(data) - 1)
    assert load_image(root, "big.png", most_bytes=len(data) - 1, most_edge=60).size_bytes < len(data) // 10
    with pytest.raises(TooLargeError, match="max_edge"):
        load_image(root, "big.png", most_bytes=100, most_edge=60)


def test_paths_are_checked_like_all_others(make_vault):
    root = make_vault({"a.png": picture("PNG")})
    with pytest.raises(MissingFileError) as error:
        load_image(root, "b.png", most_bytes=CAP)
    assert error.value.data["nearest"] == ["a.png"]
    with pytest.raises(PathEscapeError):
        load_image(root, "../a.png", most_bytes=CAP)
    with pytest.raises(ParameterError):
        load_image(root, "a.png", most_bytes=CAP, most_edge=0)
