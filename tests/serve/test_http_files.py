"""Long CSV answers as files: fetched once told, not guessed, gone in time."""

import http.client
import stat
from contextlib import closing

import pytest

from vaultgraph.errors import SettingsError
from vaultgraph.serve.http_files import KEEP_S, MOST_FILES, CsvFiles


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def files(tmp_path, clock):
    opened = CsvFiles(0, tmp_path / "csv", "https://app.example", clock=clock)
    yield opened
    opened.close()


def fetch(files, path, method="GET", host=None):
    port = int(files.address.split(":")[2].strip("/"))
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request(method, path, headers={"Host": host or f"127.0.0.1:{port}"})
        reply = connection.getresponse()
        return reply.status, dict(reply.getheaders()), reply.read()


def test_a_file_is_fetched_by_its_address(files, tmp_path):
    address, size = files.publish(["a,b\r\n", "1,é\r\n"])
    path = address.removeprefix(files.address.rstrip("/"))
    status, headers, content = fetch(files, path)
    assert (status, content, size) == (200, "a,b\r\n1,é\r\n".encode(), 11)
    assert headers["Content-Type"] == "text/csv; charset=utf-8"
    assert headers["Access-Control-Allow-Origin"] == "https://app.example"
    (written,) = (tmp_path / "csv").iterdir()
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    assert len(path) > 40


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/../secret.csv",
        "/%2e%2e/secret.csv",
        "//etc/passwd",
        "/vaultgraph-0.csv",
        "/secret.csv",
        "/csv",
        "/x" * 500,
    ],
)
def test_nothing_else_is_served(files, tmp_path, path):
    (tmp_path / "secret.csv").write_text("secret")
    (tmp_path / "csv/secret.csv").write_text("secret")
    assert fetch(files, path)[0] in (400, 404)
    assert fetch(files, path, "POST")[0] == 501
    (tmp_path / "csv/secret.csv").unlink()


def test_a_page_that_rebinds_its_name_gets_nothing(files):
    path = "/" + files.publish(["a\r\n"])[0].rsplit("/", 1)[1]
    assert fetch(files, path, host="evil.example")[0] == 404
    assert fetch(files, path, host="localhost:1")[0] == 200


def test_files_go_after_their_time_and_the_oldest_first(files, clock, tmp_path):
    paths = ["/" + files.publish([f"{i}\r\n"])[0].rsplit("/", 1)[1] for i in range(MOST_FILES + 2)]
    assert [fetch(files, path)[0] for path in paths[:3]] == [404, 404, 200]
    assert len(list((tmp_path / "csv").iterdir())) == MOST_FILES
    clock.now = KEEP_S + 1
    assert fetch(files, paths[-1])[0] == 404
    assert list((tmp_path / "csv").iterdir()) == []


def test_a_table_that_is_too_large_or_fails_leaves_nothing(files, tmp_path, monkeypatch):
    monkeypatch.setattr("vaultgraph.serve.http_files.MOST_BYTES", 10)
    assert files.publish(["123456789\r\n", "more\r\n"]) is None

    def failing():
        yield "a\r\n"
        raise RuntimeError("cancelled")

    with pytest.raises(RuntimeError):
        files.publish(failing())
    assert list((tmp_path / "csv").iterdir()) == []


def test_closing_removes_every_file_and_a_taken_port_is_one_line(tmp_path):
    first = CsvFiles(0, tmp_path / "kept")
    first.publish(["a\r\n"])
    with pytest.raises(SettingsError, match="Choose another port"):
        CsvFiles(int(first.address.split(":")[2].strip("/")))
    first.close()
    assert list((tmp_path / "kept").iterdir()) == []
    own = CsvFiles()
    own.publish(["a\r\n"])
    own.close()


def test_a_long_csv_answer_is_an_address_and_a_short_one_comes_at_once(local, sample):
    served = local(sample)
    served.session.csv_files = CsvFiles()
    assert served.text("cypher_query", query="RETURN 1 AS x FORMAT CSV").startswith("x\r\n1\r\n")
    query = "UNWIND range(1, 5000) AS i RETURN i, 'a,b' AS t"
    said = served.text("cypher_query", query=query, format="csv")
    assert len(said.encode()) < 400
    assert "5,000 rows" in said
    address = said.split(" at ")[1].split()[0]
    content = fetch(served.session.csv_files, "/" + address.rsplit("/", 1)[1])[2].decode()
    assert content == "i,t\r\n" + "".join(f'{i},"a,b"\r\n' for i in range(1, 5001))
