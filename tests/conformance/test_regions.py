"""Reading finds the text of real notes as markdown-it-py does, line by line.

All notes of the small vaults, some of the big ones; benchmarks/regions_check.py judges them all.
"""

import os
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

from vaultgraph.note.frontmatter import front_of

SHARED = Path(os.environ.get("VAULTGRAPH_SHARED", Path(__file__).parents[3] / "shared"))
VAULTS = sorted((SHARED / "vaults").glob("*.tar.xz"))
MOST_BYTES = 1_500_000  # of the notes that are judged of one vault
MOST_PACKED_BYTES = 12_000_000  # a bigger archive takes too long to unpack

pytestmark = pytest.mark.skipif(not VAULTS, reason=f"no packed vaults under {SHARED}")


def bodies_of(vault: Path) -> list[str]:
    """The bodies of every n-th note, with LF as line ends."""
    with tarfile.open(vault) as archive:
        members = [member for member in archive if member.name.lower().endswith(".md")]
        step = max(1, sum(member.size for member in members) // MOST_BYTES)
        files = [archive.extractfile(member) for member in members[::step]]
        contents = [file.read().removeprefix(b"\xef\xbb\xbf") for file in files if file is not None]
    bodies = [data[front_of(data)[1] :] for data in contents if data.isascii() or _is_text(data)]
    return [body.decode().replace("\r\n", "\n").replace("\r", "\n") for body in bodies]


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize("vault", VAULTS, ids=lambda path: path.name.partition(".")[0])
def test_reading_finds_the_text_of_a_vault(vault: Path, plain_markdown: ModuleType) -> None:
    if vault.stat().st_size > MOST_PACKED_BYTES:
        pytest.skip("too big to unpack here; benchmarks/regions_check.py judges it")
    oracle = plain_markdown.PlainMarkdown()
    bodies = bodies_of(vault)
    assert bodies
    assert plain_markdown.differences(bodies, oracle) == []
    assert plain_markdown.differences(bodies, oracle, every_line=True) == []
