"""What a process has sent is read from its own connections."""

import socket
import struct
import sys

import pytest

from lookup_matmul.sharded import sockets, tcp_sent_bytes

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts for each connection")


@linux
@pytest.mark.parametrize("size", [1, 100_000])
def test_what_a_connection_sends_is_counted_once(size):
    """Data of TCP only, not what is received, and no socket is closed by being read."""
    sender, receiver = socket.socketpair()
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with sender, receiver, datagrams, socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as client, server.accept()[0] as served:
            before = tcp_sent_bytes()
            sender.sendall(b"not over TCP")
            client.sendall(bytes(size))
            remaining = size
            while remaining:
                remaining -= len(served.recv(remaining))
            assert tcp_sent_bytes() - before == size
            served.sendall(b"back")
            assert client.recv(4) == b"back"
            assert tcp_sent_bytes() - before == size + 4
        assert receiver.recv(12) == b"not over TCP"


@linux
def test_connections_of_ipv6_count_too():
    """Where the machine has it."""
    try:
        server = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("this machine has no IPv6")
    with server, socket.create_connection(server.getsockname()[:2]) as client:
        before = tcp_sent_bytes()
        client.sendall(bytes(7))
        assert tcp_sent_bytes() - before == 7


@linux
def test_what_had_to_be_sent_twice_counts_once(monkeypatch):
    """Of nine bytes, two of them again, seven."""

    class Again(socket.socket):
        def getsockopt(self, *_):
            return struct.pack("=200xQQ", 9, 2)

    monkeypatch.setattr(sockets.socket, "socket", Again)
    before = tcp_sent_bytes()
    with socket.create_server(("127.0.0.1", 0)):
        assert tcp_sent_bytes() - before == 7


def test_other_systems_do_not_tell(monkeypatch):
    """None, not zero: nothing was measured."""
    monkeypatch.setattr(sockets.sys, "platform", "darwin")
    assert tcp_sent_bytes() is None


@linux
def test_an_old_linux_does_not_tell(monkeypatch):
    """Its record of a connection ends before the bytes that were sent."""

    class Old(socket.socket):
        def getsockopt(self, *arguments):
            value = super().getsockopt(*arguments)
            return value[:200] if isinstance(value, bytes) else value

    with socket.create_server(("127.0.0.1", 0)):
        monkeypatch.setattr(sockets.socket, "socket", Old)
        assert tcp_sent_bytes() is None
