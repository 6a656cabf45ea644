"""What a process has sent is read from its own connections."""

import socket
import sys

import pytest

from lookup_matmul.sharded import sockets, tcp_sent_bytes

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts for each connection")


@linux
@pytest.mark.parametrize("size", [1, 100_000])
def test_what_a_connection_sends_is_counted_once(size):
    """Data of TCP only, not what is received, and no socket is closed by being read."""
    one, other = socket.socketpair()
    with one, other, socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as client, server.accept()[0] as served:
            before = tcp_sent_bytes()
            one.sendall(b"not over TCP")
            client.sendall(bytes(size))
            left = size
            while left:
                left -= len(served.recv(left))
            assert tcp_sent_bytes() - before == size
            served.sendall(b"back")
            assert client.recv(4) == b"back"
            assert tcp_sent_bytes() - before == size + 4
        assert other.recv(12) == b"not over TCP"


def test_other_systems_do_not_tell(monkeypatch):
    """None, not zero: nothing was measured."""
    monkeypatch.setattr(sockets.sys, "platform", "darwin")
    assert tcp_sent_bytes() is None
