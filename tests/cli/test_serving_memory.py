import subprocess
import sys
import textwrap

import pytest


def test_threads_of_a_server_share_two_arenas_of_the_c_library():
    counted = """
        import ctypes, sys, tempfile, threading
        from vaultgraph.cli.serving import share_arenas

        library = ctypes.CDLL(None)
        if not hasattr(library, "malloc_info"):
            sys.exit("no glibc")
        share_arenas()
        together = threading.Barrier(12)

        def take():
            together.wait()
            library.free(ctypes.c_void_p(library.malloc(4000)))

        library.malloc.restype = ctypes.c_void_p
        threads = [threading.Thread(target=take) for _ in range(12)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        library.fopen.restype = ctypes.c_void_p
        with tempfile.NamedTemporaryFile() as said:
            file = ctypes.c_void_p(library.fopen(said.name.encode(), b"w"))
            library.malloc_info(0, file)
            library.fclose(file)
            print(said.read().decode().count("<heap nr="))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(counted)], capture_output=True, text=True, check=False)
    if "no glibc" in done.stderr:
        pytest.skip("only glibc has arenas")
    assert done.returncode == 0, done.stderr
    assert 1 <= int(done.stdout) <= 2
