"""Notes and images as resources, over stdio and in both eras of the protocol."""

import base64

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceTemplateReference

from vaultgraph.errors import FileError, ParameterError
from vaultgraph.files.root import VaultRoot
from vaultgraph.serve.mcp_server import make_server
from vaultgraph.serve.resources import PAGE, complete_path, list_resources, read_resource, uri_of
from vaultgraph.serve.session import Session
from vaultgraph.vault.vault import open_vault


@pytest.fixture
def ask(sample):
    """Run something with the official client of a server in this process: `ask(talk, mode)`."""

    def run(talk, mode="legacy"):
        async def within():
            session = Session(VaultRoot.open(sample), lambda _: open_vault(sample, None, build=False), name="v")
            session.start()
            session.wait_built(30)
            try:
                async with Client(make_server(session), mode=mode) as client:
                    return await talk(client)
            finally:
                session.close()

        return anyio.run(within)

    return run


@pytest.mark.parametrize(("mode", "missing"), [("legacy", -32002), ("auto", -32602)])
def test_notes_and_images_are_listed_and_read_in_both_eras(ask, sample, mode, missing):
    async def talk(client):
        listed = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        note = (await client.read_resource("vault://Boats/Selkie.md")).contents[0]
        image = (await client.read_resource("vault://media/selkie.png")).contents[0]
        with pytest.raises(MCPError) as error:
            await client.read_resource("vault://Boats/Selky.md")
        return listed, templates, note, image, error.value

    listed, templates, note, image, error = ask(talk, mode)
    assert {entry.uri: entry.mime_type for entry in listed} == {
        "vault://Boats/Fulmar.md": "text/markdown",
        "vault://Boats/Selkie.md": "text/markdown",
        "vault://Home.md": "text/markdown",
        "vault://Log/Broken.md": "text/markdown",
        "vault://Log/Latin.md": "text/markdown",
        "vault://media/chart.jpg": "image/jpeg",
        "vault://media/fake.png": "image/png",
        "vault://media/selkie.png": "image/png",
    }
    assert [template.uri_template for template in templates] == ["vault://{+path}"]
    assert (note.text, note.mime_type) == ((sample / "Boats/Selkie.md").read_text(), "text/markdown")
    assert base64.b64decode(image.blob) == (sample / "media/selkie.png").read_bytes()
    assert error.code == missing
    assert "Boats/Selkie.md" in error.message


@pytest.mark.filterwarnings("ignore:resources/.*subscribe is removed")  # … in the newer protocol
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_hears_that_a_resource_it_subscribed_to_was_saved(sample, mode):
    home, other = "vault://Home.md", "vault://Boats/Fulmar.md"

    async def within():
        told, heard = [], anyio.Event()

        async def on_message(message):
            told.append(message)
            heard.set()

        session = Session(VaultRoot.open(sample), lambda _: open_vault(sample, None, build=False), name="v")
        session.start()
        session.wait_built(30)
        try:
            async with Client(make_server(session), mode=mode, message_handler=on_message) as client:
                if mode == "legacy":
                    await client.session.subscribe_resource(home)
                    await client.session.subscribe_resource(other)
                    await client.session.unsubscribe_resource(other)
                    (sample / "Boats/Fulmar.md").write_text("saved, and nobody waits for it")
                    (sample / "Home.md").write_text("saved")
                    await heard.wait()
                    return client.server_capabilities.resources.subscribe, [one.params.uri for one in told]
                async with client.listen(resource_subscriptions=[home]) as events:
                    (sample / "Boats/Fulmar.md").write_text("saved, and nobody waits for it")
                    (sample / "Home.md").write_text("saved")
                    async for event in events:
                        return client.server_capabilities.resources.subscribe, [event.uri]
        finally:
            session.close()

    assert anyio.run(within) == (True, [home])


def test_paths_are_completed_by_their_start_their_name_and_what_they_hold(ask):
    async def talk(client):
        reference = ResourceTemplateReference(uri="vault://{+path}")
        other = ResourceTemplateReference(uri="other://{+path}")
        found = [
            (await client.complete(reference, {"name": "path", "value": start})).completion
            for start in ("boats/s", "SEL", "kie", "zz")
        ]
        return [completion.values for completion in found], (
            await client.complete(other, {"name": "path", "value": "b"})
        ).completion.values

    found, other = ask(talk)
    assert found == [
        ["Boats/Selkie.md"],
        ["Boats/Selkie.md", "media/selkie.png"],
        ["Boats/Selkie.md", "media/selkie.png"],
        [],
    ]
    assert other == []


def test_lists_come_in_pages_that_neither_skip_nor_repeat(write):
    root = VaultRoot.open(write({f"n{i:04}.md": "x" for i in range(2 * PAGE + 5)}))
    seen, cursor = [], None
    while True:
        page, cursor = list_resources(root, cursor)
        seen += [entry.path for entry in page]
        if cursor is None:
            break
    assert seen == [f"n{i:04}.md" for i in range(2 * PAGE + 5)]
    assert complete_path(root, "n")[1] == 2 * PAGE + 5
    assert len(complete_path(root, "n")[0]) == 100
    with pytest.raises(ParameterError, match="cursor"):
        list_resources(root, "é")


LIKE_ADDRESSES = ["C:\\x.md", "C:x.md", "~x.md", "~/x.md", "\\\\server\\x.md", "file:x.md"]


@pytest.mark.parametrize(
    "name", ["A b.md", "100%.md", "C# notes.md", "what?.md", "ü/ñ.md", "a%20b.md", "x&y=z.md", *LIKE_ADDRESSES]
)
def test_every_name_has_an_address_that_reads_it(write, name):
    root = VaultRoot.open(write({name: name}))
    assert read_resource(root, uri_of(name)).data == name
    assert list_resources(root, None)[0][0].uri == uri_of(name)
    assert read_resource(root, f"vault:///{name}").data == name  # as a client writes it that encodes nothing


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("vault://../secret.md", "`..` is refused"),
        ("vault://%2e%2e/secret.md", "`..` is refused"),
        ("vault://..%2fsecret.md", "`..` is refused"),
        ("vault:////etc/passwd", "absolute paths are refused"),
        ("vault://%2fetc/passwd", "refused"),
        ("vault://leak.md", "leads out"),
        ("vault://.git/config", "start with a dot"),
        ("vault://%00", "NUL"),
        ("vault://", "Folder/Note.md|refused|empty|vault|folder"),
        ("vault://paper.pdf", "application/pdf is not delivered"),
        ("vault://fake.png", ""),
    ],
)
def test_the_sandbox_holds_for_resources(write, uri, words):
    folder = write({"Home.md": "x", "paper.pdf": b"%PDF-1.7\0", "fake.png": "text", ".git/config": "x"})
    (folder.parent / "secret.md").write_text("secret")
    (folder / "leak.md").symlink_to(folder.parent / "secret.md")
    root = VaultRoot.open(folder)
    if not words:
        assert read_resource(root, uri).mime == "text/plain"  # the header counts, not the name
        return
    with pytest.raises((FileError, ParameterError), match=words):
        read_resource(root, uri)


@pytest.mark.parametrize("uri", ["file:///etc/passwd", "http://x/", "", "vault:/x", "other://Home.md"])
def test_addresses_of_other_schemes_are_refused(write, uri):
    with pytest.raises(ParameterError, match="vault://"):
        read_resource(VaultRoot.open(write({"Home.md": "x"})), uri)


def test_a_long_text_is_refused_with_the_tool_that_gives_parts(write):
    root = VaultRoot.open(write({"long.md": "x" * 1_100_000, "huge.md": "x" * 5_000_000}))
    with pytest.raises(FileError, match="read_source"):
        read_resource(root, "vault://long.md")
    with pytest.raises(FileError):
        read_resource(root, "vault://huge.md")
