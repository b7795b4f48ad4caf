"""A set of awkward images: each is delivered or refused for the right reason, within a bound of memory."""

import struct
import subprocess
import sys
import zlib
from io import BytesIO

import pytest
from PIL import Image, ImageChops

from vaultgraph.errors import ImageError, TooLargeError
from vaultgraph.files.image import load_image

CAP = 4 * 1024 * 1024


def encoded(image, kind, **options):
    buffer = BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def png(width, height, depth=8, colour=2, rows=None):
    """A PNG of zeros; compressed it is small whatever its size."""
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    row = b"\0" * (1 + (width * channels * depth + 7) // 8)
    packer = zlib.compressobj(9)
    data = b"".join(packer.compress(row) for _ in range(height if rows is None else rows)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    palette = [(b"PLTE", b"\0\0\0\xff\xff\xff")] if colour == 3 else []
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in [(b"IHDR", header), *palette, (b"IDAT", data), (b"IEND", b"")]
    )


def exif(orientation):
    tags = Image.Exif()
    tags[0x0112] = orientation
    return tags


NOISE = Image.effect_noise((300, 200), 90).convert("RGB")
SET = {
    # name: content, words of the refusal as it is, words of the refusal made smaller (None: delivered)
    "16 bits grey": (png(300, 200, 16, 0), None, None),
    "16 bits RGB": (png(300, 200, 16, 2), None, None),
    "16 bits RGBA": (png(300, 200, 16, 6), None, None),
    "1 bit": (png(300, 200, 1, 0), None, None),
    "palette": (png(300, 200, 8, 3), None, None),
    "CMYK": (encoded(NOISE.convert("CMYK"), "JPEG"), None, None),
    "progressive": (encoded(NOISE, "JPEG", progressive=True), None, None),
    "animated GIF": (encoded(NOISE, "GIF", save_all=True, append_images=[NOISE.rotate(90)]), None, None),
    "animated WebP": (encoded(NOISE, "WEBP", save_all=True, append_images=[NOISE.rotate(90)]), None, None),
    "animated PNG": (encoded(NOISE, "PNG", save_all=True, append_images=[NOISE.rotate(180)]), None, None),
    "EXIF mirrored": (encoded(NOISE, "JPEG", exif=exif(5)), None, None),
    "EXIF nonsense": (encoded(NOISE, "JPEG", exif=exif(99)), None, None),
    "EXIF broken": (encoded(NOISE, "JPEG", exif=b"Exif\0\0MM\0*\xff\xff\xff\xff"), None, None),
    "truncated PNG": (encoded(NOISE, "PNG")[:5000], None, "damaged or truncated"),
    "truncated JPEG": (encoded(NOISE, "JPEG")[:2000], None, "damaged or truncated"),
    "rows are missing": (png(300, 200, rows=50), None, None),
    "more rows than said": (png(300, 20, rows=9000), None, None),
    "just a header": (encoded(NOISE, "PNG")[:33], "header is damaged", "header is damaged"),
    "bomb within the pixel cap": (png(7000, 7000), None, "of memory"),
    "bomb beyond it": (png(20_000, 20_000, 1, 0, rows=10), "50,000,000", "50,000,000"),
    "wide as the sea": (png(2**31 - 1, 1, 1, 0, rows=0), "50,000,000|damaged", "50,000,000|damaged"),
    "no pixels": (png(0, 0), "damaged", "damaged"),
    "JPEG said to be 65,500 wide": (
        b"\xff\xd8\xff\xc0\x00\x11\x08\xff\xdc\xff\xdc\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01",
        "50,000,000|damaged",
        "50,000,000|damaged",
    ),
    "GIF said to be 65,535 wide": (b"GIF89a\xff\xff\xff\xff\x00\x00\x00;", "50,000,000|damaged", "50,000,000|damaged"),
    "text": (b"just text", "it is text", "it is text"),
    "HTML": (b"<!doctype html><script>alert(1)</script>", "it is text", "it is text"),
    "SVG": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg", "image/svg"),
    "PDF": (b"%PDF-1.7\n\0", "application/pdf", "application/pdf"),
    "ZIP": (b"PK\3\4\0\0", "application/zip", "application/zip"),
    "TIFF": (encoded(NOISE, "TIFF"), "image/tiff", "image/tiff"),
    "JPEG with HTML behind it": (encoded(NOISE, "JPEG") + b"<script>alert(1)</script>", None, None),
    "over the byte cap": (encoded(Image.effect_noise((2500, 2000), 90), "PNG"), "over the cap of 4,194,304", None),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Corrupt EXIF")
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize("name", SET)
def test_an_awkward_image_is_delivered_or_refused_for_its_reason(make_vault, name):
    content, as_it_is, smaller = SET[name]
    root = make_vault({"picture.png": content})
    for edge, words in ((None, as_it_is), (50, smaller)):
        if words is None:
            image = load_image(root, "picture.png", most_bytes=CAP, most_edge=edge)
            assert image.size_bytes <= CAP
            if edge is None:
                assert image.data == content
            else:
                assert max(image.width, image.height) == edge
                with Image.open(BytesIO(image.data)) as again:
                    again.load()
        else:
            with pytest.raises((ImageError, TooLargeError), match=words):
                load_image(root, "picture.png", most_bytes=CAP, most_edge=edge)


def test_a_large_photo_is_made_smaller_by_decoding_a_fraction_of_it(make_vault):
    photo = encoded(Image.new("RGB", (8000, 6000), "navy"), "JPEG")
    image = load_image(make_vault({"photo.jpg": photo}), "photo.jpg", most_bytes=CAP, most_edge=500)
    assert (image.width, image.height, image.note) == (500, 375, "scaled from 8000 × 6000")


MEASURE = """
import sys
from vaultgraph.errors import VaultgraphError
from vaultgraph.files.image import load_image
from vaultgraph.files.root import VaultRoot
def peak():
    # not what getrusage gives, which begins with the peak of the process that started this one
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
root = VaultRoot.open(sys.argv[1])
for name in ("a.png", "a.jpg", "a.webp", "a.gif"):
    load_image(root, name, most_bytes=1 << 22, most_edge=4)
before = peak()
for edge in (64, 1024, 3000):
    for name in sys.argv[2:]:
        try:
            load_image(root, name, most_bytes=1 << 22, most_edge=edge)
        except VaultgraphError:
            pass
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is measured in kilobytes on Linux")
def test_a_set_of_awkward_images_stays_within_64_mb(make_vault, folder):
    plain = Image.new("RGB", (3400, 3400), "navy")
    files = {f"a.{kind.lower()}": encoded(NOISE, kind) for kind in ("PNG", "WEBP", "GIF")}
    files |= {
        "a.jpg": encoded(NOISE, "JPEG"),
        "bomb.png": png(7000, 7000),
        "grey.png": png(7000, 7000, 8, 0),
        "bits.png": png(7000, 7000, 1, 0),
        "palette.png": png(7000, 7000, 8, 3),
        "deep.png": png(3600, 3600, 16, 6),
        "plain.png": png(3500, 3500),
        "large.jpg": encoded(plain.resize((4500, 4500)), "JPEG"),
        "progressive.jpg": encoded(plain.resize((4500, 4500)), "JPEG", progressive=True),
        "cmyk.jpg": encoded(Image.new("CMYK", (4500, 4500)), "JPEG"),
        "large.webp": encoded(plain, "WEBP"),
        "large.gif": encoded(plain, "GIF"),
        "moving.webp": encoded(
            plain.resize((1800, 1800)), "WEBP", save_all=True, append_images=[plain.resize((1800, 1800))]
        ),
        "noise.png": encoded(Image.effect_noise((2400, 2400), 90), "PNG"),
    }
    make_vault(files)
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(folder), *files], capture_output=True, text=True, timeout=120, check=True
    )
    assert int(done.stdout) <= 64 * 1024


@pytest.mark.parametrize(
    ("options", "width"), [({}, 2250), ({"progressive": True, "subsampling": 2}, 1125)], ids=["plain", "progressive"]
)
def test_a_photo_that_is_large_beside_what_is_asked_for_comes_smaller_not_never(make_vault, options, width):
    photo = encoded(Image.new("RGB", (4500, 3000), "navy"), "JPEG", **options)
    image = load_image(make_vault({"photo.jpg": photo}), "photo.jpg", most_bytes=CAP, most_edge=3000)
    assert (image.width, image.note) == (width, "scaled from 4500 × 3000")


@pytest.mark.parametrize(
    ("mode", "kind", "transparency"),
    [("RGB", "PNG", None), ("RGB", "PNG", (0, 0, 0)), ("L", "PNG", None), ("L", "PNG", 0), ("P", "PNG", 0),
     ("1", "PNG", None), ("RGBA", "PNG", None), ("LA", "PNG", None), ("P", "GIF", None), ("RGBA", "WEBP", None),
     ("CMYK", "JPEG", None)],
)  # fmt: skip
def test_scaling_in_strips_gives_the_picture_that_scaling_at_once_gives(make_vault, mode, kind, transparency):
    picture = Image.linear_gradient("L").resize((700, 900)).convert("RGBA").convert(mode)
    content = encoded(picture, kind, **({} if transparency is None else {"transparency": transparency}))
    image = load_image(make_vault({"a.png": content}), "a.png", most_bytes=CAP, most_edge=300)
    with Image.open(BytesIO(content)) as whole, Image.open(BytesIO(image.data)) as small:
        expected = whole.convert("RGBA").resize((233, 300), Image.Resampling.LANCZOS)
        far = max(most for _, most in ImageChops.difference(expected, small.convert("RGBA")).getextrema())
    assert (image.width, image.height) == (233, 300)
    assert far <= {"CMYK": 24, "RGBA": 12}.get(mode, 3)  # lossy kinds, and rounding


def test_sixteen_bits_of_grey_keep_their_brightness(make_vault):
    grey = Image.new("I;16", (100, 100), 40_000)
    image = load_image(make_vault({"a.png": encoded(grey, "PNG")}), "a.png", most_bytes=CAP, most_edge=10)
    with Image.open(BytesIO(image.data)) as again:
        assert (again.mode, again.getpixel((5, 5))) == ("L", 156)
