"""How much clients may send and hold, and the name by which a call hears that its client has gone.

What http_guard and http_connections keep to. Apart from them, as servers over stdio cap their calls alike.
"""

from typing import Final

from vaultgraph.frozen import frozen

GONE: Final = "vaultgraph.gone"  # in the scope of a request: the event that is set when its client has gone


@frozen
class Limits:
    """Caps on what clients send and hold. Rates are for one address: behind a proxy all clients share one.

    ``running``: calls at the same time; ``streams``: open streams of notifications, which must not keep calls out.
    ``connections``, ``head_s``, ``stall_s``: as http_connections says.
    """

    body_bytes: int = 1 << 20
    body_s: float = 30.0
    requests_per_s: float = 1000.0
    requests_at_once: float = 2000.0
    running: int = 64
    streams: int = 128
    connections: int = 512
    head_s: float = 20.0  # more than the fifteen seconds that an idle connection is kept
    stall_s: float = 30.0
