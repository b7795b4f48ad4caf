"""Where the HTTP server listens and what a client must know: `HOST:PORT`, names it answers to, the bearer token.

Read by cli/serving before anything is opened, so that a wrong flag ends in one line. Opens the socket, serves nothing.
"""

import ipaddress
import os
import re
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from vaultgraph.errors import SettingsError
from vaultgraph.frozen import frozen

DEFAULT_ADDRESS: Final = "127.0.0.1:8765"
TOKEN_VARIABLE: Final = "VAULTGRAPH_HTTP_TOKEN"  # noqa: S105 -- its name, not a token
LEAST_TOKEN_CHARS: Final = 16
MOST_TOKEN_BYTES: Final = 4096
_ADDRESS: Final = re.compile(
    r"(?:(?:\[(?P<six>[0-9A-Fa-f:.%]+)\]|(?P<host>[^:\[\]]*)):)?(?P<port>\d{1,5})|(?P<only>.+)"
)
_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/=-]+")  # what RFC 6750 lets a bearer token hold


@frozen
class Address:
    """``host`` is a name or an address without brackets; ``port`` 0 lets the system choose."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can connect."""
        return is_loopback(self.host)

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str) -> Address:
    """``HOST:PORT``, ``[IPv6]:PORT``, ``:PORT``, ``PORT`` or ``HOST``; what is left out is that of DEFAULT_ADDRESS.

    Raises:
        SettingsError: none of these.
    """
    default_host, default_port = DEFAULT_ADDRESS.split(":")
    found = _ADDRESS.fullmatch(text.strip())
    if found is None:
        raise SettingsError(f"--http {text!r} is no address; write HOST:PORT, for instance {DEFAULT_ADDRESS}.")
    host = found["six"] or found["host"] or (found["only"] or "").strip("[]") or default_host
    port = int(found["port"] or default_port)
    if port > 65_535 or any(mark in host for mark in " /@?#"):
        raise SettingsError(f"--http {text!r} is no address; write HOST:PORT, for instance {DEFAULT_ADDRESS}.")
    return Address(host, port)


def is_loopback(host: str) -> bool:
    """Whether ``host`` names this machine only."""
    if host.casefold() == "localhost":
        return True
    literal = ip_literal(host)
    return literal is not None and literal.is_loopback


def ip_literal(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address ``host`` spells, with or without brackets; None for a name."""
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


def read_token(file: str | None, environment: Mapping[str, str]) -> str | None:
    """The bearer token from ``file``, else from the variable VAULTGRAPH_HTTP_TOKEN; None where neither is given.

    Raises:
        SettingsError: the file cannot be read, or the token is too short or holds what a header cannot.
    """
    if file is not None:
        source, token = f"the token file {file}", _first_line(file)
    elif TOKEN_VARIABLE in environment:
        source, token = f"the variable {TOKEN_VARIABLE}", environment[TOKEN_VARIABLE].strip()
    else:
        return None
    if len(token) < LEAST_TOKEN_CHARS or not _TOKEN.fullmatch(token):
        # The token itself is never quoted: messages end in logs.
        raise SettingsError(
            f"{source} must hold a token of {LEAST_TOKEN_CHARS} or more letters, digits or -._~+/= characters; "
            "`openssl rand -hex 32` makes one."
        )
    return token


def check_reach(address: Address, token: str | None) -> None:
    """Refuse to be reached from other machines by whoever comes.

    Raises:
        SettingsError: not loopback, and no token.
    """
    if token is None and not address.is_loopback:
        raise SettingsError(
            f"--http {address} can be reached from other machines, so it needs a token: set {TOKEN_VARIABLE} or give "
            "--http-token-file FILE, or listen on 127.0.0.1."
        )


def listen(address: Address) -> socket.socket:
    """A socket that listens at ``address``.

    Raises:
        SettingsError: the name is unknown, or the port is taken or not allowed.
    """
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise SettingsError(f"--http {address}: {_reason(error)}. Choose another host.") from error
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise SettingsError(f"--http {address}: {_reason(error)}. Choose another port; 0 takes a free one.") from error
    listener.setblocking(False)
    return listener


def _first_line(file: str) -> str:
    try:
        with Path(file).open("rb") as handle:
            content = handle.read(MOST_TOKEN_BYTES)
    except OSError as error:
        raise SettingsError(f"--http-token-file {file}: {_reason(error)}.") from error
    return content.decode("utf-8", "replace").strip().split("\n")[0].strip()


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
