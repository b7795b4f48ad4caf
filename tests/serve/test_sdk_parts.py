import subprocess
import sys
import textwrap


def _run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_server_over_stdio_imports_no_client_framework_web_server_or_cryptography():
    found = _run("""
        import sys
        from vaultgraph.serve.sdk_parts import parts_only

        with parts_only(over_http=False):
            import vaultgraph.serve.mcp_server
        print([n for n in ("mcp.client", "mcp.server.mcpserver", "uvicorn", "cryptography") if n in sys.modules])
    """)
    assert found == "[]\n"


def test_types_of_the_protocol_are_made_ready_when_they_are_used():
    found = _run("""
        from vaultgraph.serve.sdk_parts import parts_only

        with parts_only(over_http=False):
            import mcp_types
            from mcp_types.jsonrpc import jsonrpc_message_adapter
        from pydantic import TypeAdapter
        ready = [jsonrpc_message_adapter.pydantic_complete, mcp_types.Tool.__pydantic_complete__]
        message = jsonrpc_message_adapter.validate_json('{"jsonrpc": "2.0", "id": 1, "method": "ping"}')
        print(ready, type(message).__name__, jsonrpc_message_adapter.pydantic_complete)
        print(mcp_types.Tool(name="t", input_schema={}).name, TypeAdapter(int | str).pydantic_complete)
    """)
    assert found == "[False, False] JSONRPCRequest True\nt True\n"


def test_what_was_left_out_is_imported_when_somebody_asks_for_it():
    found = _run("""
        import threading
        from vaultgraph.serve.sdk_parts import parts_only

        with parts_only(over_http=False):
            from mcp.server.lowlevel import Server
        import mcp, mcp.server, mcp.client.client, uvicorn
        asked = []
        threads = [threading.Thread(target=lambda: asked.append(mcp.Client)) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        from mcp.server import MCPServer
        from mcp.server import Server as again
        print(set(asked) == {mcp.client.client.Client}, again is Server, MCPServer.__name__, uvicorn.Server.__name__)
        try:
            from mcp import nothing_of_this_name
        except ImportError as error:
            print(type(mcp).__name__, error.name)
    """)
    assert found == "True True MCPServer Server\nmodule mcp\n"


def test_a_server_over_http_has_its_web_server():
    found = _run("""
        import sys
        from vaultgraph.serve.sdk_parts import parts_only

        with parts_only(over_http=True):
            from vaultgraph.serve.http_server import HttpServer
        from sse_starlette.sse import AppStatus
        print(AppStatus.original_handler is not None, "mcp.server.mcpserver" in sys.modules)
    """)
    assert found == "True False\n"
