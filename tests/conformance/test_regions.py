"""Reading finds the text of real notes as markdown-it-py does, line by line.

All notes of the small vaults, some of the big ones; benchmarks/regions_check.py judges them all.
"""

import os
import tarfile
from pathlib import Path
from types import ModuleType
from zlib import crc32

import pytest

from vaultgraph.note.frontmatter import front_of

SHARED = Path(os.environ.get("VAULTGRAPH_SHARED", Path(__file__).parents[3] / "shared"))
VAULTS = sorted((SHARED / "vaults").glob("*.tar.xz"))
PACKED_BYTES = 700_000  # of a packed vault for each time its notes are thinned out

pytestmark = pytest.mark.skipif(not VAULTS, reason=f"no packed vaults under {SHARED}")


def bodies_of(vault: Path) -> list[str]:
    """The bodies of the notes of a vault, or of an even choice of them, with LF as line ends."""
    one_of = 1 + vault.stat().st_size // PACKED_BYTES
    contents: list[bytes] = []
    with tarfile.open(vault, "r|xz") as archive:
        for member in archive:
            if member.name.lower().endswith(".md") and crc32(member.name.encode()) % one_of == 0:
                file = archive.extractfile(member)
                assert file is not None
                contents.append(file.read().removeprefix(b"\xef\xbb\xbf"))
    bodies = [data[front_of(data)[1] :].decode() for data in contents if _is_text(data)]
    return [body.replace("\r\n", "\n").replace("\r", "\n") for body in bodies]


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize("vault", VAULTS, ids=lambda path: path.name.partition(".")[0])
def test_reading_finds_the_text_of_a_vault(vault: Path, plain_markdown: ModuleType) -> None:
    oracle = plain_markdown.PlainMarkdown()
    bodies = bodies_of(vault)
    assert bodies
    assert plain_markdown.differences(bodies, oracle) == []
    assert plain_markdown.differences(bodies, oracle, every_line=True) == []
