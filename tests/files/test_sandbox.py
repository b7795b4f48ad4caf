"""The sandbox: what a path may be, and where it can never lead."""

import os
import socket
import threading
from pathlib import Path

import pytest

from vaultgraph.errors import FileError, MissingFileError, PathEscapeError, SettingsError, TooLargeError
from vaultgraph.files.root import VaultRoot, check_path

CAP = 1000


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("../secret.md", "`..`"),
        ("Folder/../../secret.md", "`..`"),
        ("Folder/..", "`..`"),
        ("..", "`..`"),
        ("..\\secret.md", "`..`"),
        ("Folder\\..\\..\\secret.md", "`..`"),
        ("/etc/passwd", "absolute"),
        ("\\Windows\\win.ini", "absolute"),
        ("~/secret.md", "~"),
        ("~root/secret.md", "~"),
        ("file:///etc/passwd", "file:"),
        ("FILE:secret.md", "file:"),
        ("C:\\Windows\\win.ini", "drive letter"),
        ("c:/secret.md", "drive letter"),
        ("C:secret.md", "drive letter"),
        ("\\\\server\\share\\x.md", "UNC"),
        ("//server/share/x.md", "UNC"),
        ("Note.md\0.png", "NUL"),
        (".git/config", "dot"),
        (".env", "dot"),
        (".obsidian/app.json", "dot"),
        ("Folder/.hidden.md", "dot"),
        (".kglite/.secret", "dot"),
        ("Folder/.kglite/vault.yaml", "dot"),
        ("./.git/config", "dot"),
        ("bad\ud800name.md", "Unicode"),
    ],
)
def test_a_refused_path_names_the_rule_before_touching_the_disk(path, rule):
    with pytest.raises(PathEscapeError) as error:
        check_path(path)
    assert rule in error.value.message


@pytest.mark.parametrize(
    ("path", "normal"),
    [
        ("Note.md", "Note.md"),
        ("./Folder//Note.md", "Folder/Note.md"),
        ("Folder/", "Folder"),
        (".", ""),
        ("", ""),
        (".kglite/vault.yaml", ".kglite/vault.yaml"),
        ("a..b/c...md", "a..b/c...md"),
        ("Zeit 12:30.md", "Zeit 12:30.md"),
    ],
)
def test_an_allowed_path_is_normalised(path, normal):
    assert check_path(path) == normal


@pytest.mark.parametrize("path", ["%2e%2e/secret.md", "x/%2e%2e%2fsecret.md", "%2fetc%2fpasswd", "．．/secret.md"])
def test_encoded_escapes_are_plain_names_of_files_that_are_not_there(make_vault, tmp_path, path):
    (tmp_path / "secret.md").write_text("secret")
    root = make_vault({"Note.md": "x"})
    with pytest.raises(MissingFileError):
        root.read_bytes(path, most_bytes=CAP)


def test_a_file_is_read_and_measured(make_vault):
    root = make_vault({"Folder/Note.md": "text"})
    assert root.read_bytes("Folder/Note.md", most_bytes=CAP) == b"text"
    status = root.stat("./Folder//Note.md")
    assert (status.path, status.is_folder, status.size_bytes) == ("Folder/Note.md", False, 4)
    assert root.is_folder("Folder")
    assert root.is_folder(".")
    assert not root.is_folder("Folder/Note.md")
    assert not root.is_folder("../vault")


def test_the_profile_folder_is_the_one_dot_folder_that_is_read(make_vault):
    root = make_vault({".kglite/vault.yaml": "kglite_vault: 1", ".obsidian/app.json": "{}"})
    assert root.read_bytes(".kglite/vault.yaml", most_bytes=CAP) == b"kglite_vault: 1"
    with pytest.raises(PathEscapeError):
        root.read_bytes(".obsidian/app.json", most_bytes=CAP)


def test_links_inside_the_vault_are_followed_by_hand(make_vault, folder):
    root = make_vault({"A/B/Note.md": "deep", "Top.md": "top"})
    (folder / "Alias.md").symlink_to("A/B/Note.md")
    (folder / "Chain.md").symlink_to("Alias.md")
    (folder / "Shortcut").symlink_to("A/B")
    (folder / "A/B/Up.md").symlink_to("../../Top.md")
    (folder / "Absolute.md").symlink_to(folder / "A" / "B" / "Note.md")
    assert root.read_bytes("Chain.md", most_bytes=CAP) == b"deep"
    assert root.stat("Shortcut/Note.md").path == "A/B/Note.md"
    assert root.read_bytes("Shortcut/Up.md", most_bytes=CAP) == b"top"
    assert root.stat("Absolute.md").path == "A/B/Note.md"


def test_links_out_of_the_vault_are_refused(make_vault, folder, tmp_path):
    (tmp_path / "secret.md").write_text("secret")
    root = make_vault({"Note.md": "x", "Folder/Inner.md": "y", ".git/config": "token"})
    (folder / "up.md").symlink_to("../secret.md")
    (folder / "absolute.md").symlink_to(tmp_path / "secret.md")
    (folder / "etc").symlink_to("/etc")
    (folder / "Folder" / "far").symlink_to("../../")
    (folder / "back.md").symlink_to("../vault/Note.md")
    (folder / "dots.md").symlink_to(".git/config")
    for path in ("up.md", "absolute.md", "etc/passwd", "Folder/far/secret.md", "back.md", "dots.md"):
        with pytest.raises(PathEscapeError):
            root.read_bytes(path, most_bytes=CAP)


def test_links_in_a_circle_end(make_vault, folder):
    root = make_vault({})
    (folder / "a.md").symlink_to("b.md")
    (folder / "b.md").symlink_to("a.md")
    (folder / "self").symlink_to("self/self")
    for path in ("a.md", "self/x.md"):
        with pytest.raises(FileError, match="circle"):
            root.read_bytes(path, most_bytes=CAP)


def test_a_folder_swapped_for_a_link_while_it_is_read_never_leads_out(make_vault, folder, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "Note.md").write_text("secret")
    root = make_vault({"Folder/Note.md": "mine"})
    (folder / "Link").symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for one, other in (("Folder", "Real"), ("Link", "Folder"), ("Folder", "Link"), ("Real", "Folder")):
                (folder / one).rename(folder / other)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(2000):
            try:
                assert root.read_bytes("Folder/Note.md", most_bytes=CAP) == b"mine"
            except FileError:
                continue
    finally:
        stop.set()
        thread.join()


def test_pipes_sockets_and_devices_are_refused_without_waiting(make_vault, folder):
    root = make_vault({})
    os.mkfifo(folder / "pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(folder)  # the path of a socket must be short
        try:
            server.bind("sock.md")
        finally:
            os.chdir(here)
        for path, kind in (("pipe.md", "pipe"), ("sock.md", "socket")):
            with pytest.raises(FileError, match=kind):
                root.read_bytes(path, most_bytes=CAP)
    try:
        os.mknod(folder / "zero.md", 0o20666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("devices cannot be made here")
    with pytest.raises(FileError, match="device"):
        root.read_bytes("zero.md", most_bytes=CAP)


def test_a_hard_link_is_an_ordinary_file(make_vault, folder):
    root = make_vault({"Note.md": "one"})
    (folder / "Other.md").hardlink_to(folder / "Note.md")
    assert root.read_bytes("Other.md", most_bytes=CAP) == b"one"


def test_names_up_to_255_bytes_are_read_and_longer_ones_are_missing(make_vault):
    name = "ä" * 126 + ".md"
    root = make_vault({name: "long"})
    assert root.read_bytes(name, most_bytes=CAP) == b"long"
    with pytest.raises(MissingFileError):
        root.read_bytes("b" * 300 + ".md", most_bytes=CAP)
    with pytest.raises(FileError):
        root.read_bytes("x/" * 3000 + "Note.md", most_bytes=CAP)


def test_a_file_over_the_cap_is_refused_with_its_size(make_vault):
    root = make_vault({"Big.md": "x" * 11})
    assert len(root.read_bytes("Big.md", most_bytes=11)) == 11
    with pytest.raises(TooLargeError) as error:
        root.read_bytes("Big.md", most_bytes=10)
    assert error.value.data == {"size_bytes": 11, "most_bytes": 10}


def test_a_folder_is_no_file(make_vault):
    root = make_vault({"Folder/Note.md": "x"})
    for path in ("Folder", "."):
        with pytest.raises(FileError, match="list_source"):
            root.read_bytes(path, most_bytes=CAP)


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        ("Geology/Fautls.md", "Geology/Faults.md"),
        ("Geology/faults.md", "Geology/Faults.md"),
        ("Geology/Faults", "Geology/Faults.md"),
        ("Geolgy/Faults.md", "Geology/Faults.md"),
        ("Faults.md", "Geology/Faults.md"),
        ("faults", "Geology/Faults.md"),
        ("Hmoe.md", "Home.md"),
        ("Home.md/Sub", "Home.md"),
        ("Geolgy/Nothing.md", "Geology"),
        ("Quartz.md", None),
    ],
)
def test_a_missing_path_names_what_was_meant(make_vault, asked, nearest):
    root = make_vault({"Geology/Faults.md": "x", "Home.md": "y", "Geology/Rivers.md": "z"})
    with pytest.raises(MissingFileError) as error:
        root.read_bytes(asked, most_bytes=CAP)
    found = error.value.data["nearest"]
    assert (found[0] if found else None) == nearest
    assert (nearest or "list_source") in error.value.message


def test_a_missing_profile_costs_no_walk_and_names_its_neighbours(make_vault):
    root = make_vault({"vault.yaml": "x"})
    with pytest.raises(MissingFileError) as error:
        root.read_bytes(".kglite/vault.yaml", most_bytes=CAP)
    assert error.value.data["nearest"] == []
    root = make_vault({".kglite/vault.yaml": "x"})
    with pytest.raises(MissingFileError) as error:
        root.read_bytes(".kglite/vault.yml", most_bytes=CAP)
    assert error.value.data["nearest"] == [".kglite/vault.yaml"]


def test_near_names_never_show_dot_files_or_what_lies_outside(make_vault, folder, tmp_path):
    (tmp_path / "secret.md").write_text("secret")
    root = make_vault({".secret.md": "x", ".git/secret.md": "y"})
    (folder / "out").symlink_to(tmp_path)
    with pytest.raises(MissingFileError) as error:
        root.read_bytes("secret.md", most_bytes=CAP)
    assert error.value.data["nearest"] == []


def test_opening_says_what_is_wrong_with_the_folder(tmp_path):
    (tmp_path / "file.md").write_text("x")
    with pytest.raises(SettingsError, match="no such folder"):
        VaultRoot.open(tmp_path / "nothing")
    with pytest.raises(SettingsError, match="is a file"):
        VaultRoot.open(tmp_path / "file.md")
    with pytest.raises(SettingsError):
        VaultRoot.open("nul\0byte")


def test_a_vault_may_itself_be_opened_through_a_link(tmp_path, make_vault, folder):
    make_vault({"Note.md": "x"})
    (tmp_path / "link").symlink_to(folder)
    (folder / "Absolute.md").symlink_to(tmp_path / "link" / "Note.md")
    with VaultRoot.open(tmp_path / "link") as root:
        assert root.path == folder.resolve()
        assert root.read_bytes("Absolute.md", most_bytes=CAP) == b"x"


def test_a_vault_knows_when_its_folder_was_replaced(make_vault, folder):
    root = make_vault({"Note.md": "x"})
    assert root.exists()
    folder.rename(folder.with_name("moved"))
    assert not root.exists()
    folder.mkdir()
    assert not root.exists()
    folder.rmdir()
    folder.with_name("moved").rename(folder)
    assert root.exists()


def test_a_closed_vault_says_so(make_vault):
    root = make_vault({"Note.md": "x"})
    root.close()
    root.close()
    with pytest.raises(FileError, match="closed"):
        root.read_bytes("Note.md", most_bytes=CAP)


def test_no_handle_is_left_open(make_vault, folder, count_handles):
    root = make_vault({"A/B/C/Note.md": "x"})
    (folder / "Link.md").symlink_to("A/B/C/Note.md")
    before = count_handles()
    for path in ("A/B/C/Note.md", "Link.md", "A/B/None.md", "A/B/C", "Nope/x"):
        try:
            root.read_bytes(path, most_bytes=CAP)
        except FileError:
            continue
    assert count_handles() == before
