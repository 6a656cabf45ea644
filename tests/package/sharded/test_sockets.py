"""``tcp_sent_bytes`` counts the bytes of open TCP connections."""

import socket
import struct
import sys

import pytest

from lookup_matmul.sharded import tcp_sent_bytes, worker

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts for each connection")


@linux
@pytest.mark.parametrize("size", [1, 100_000])
def test_sent_bytes_are_counted_once(size):
    """Other sockets and received bytes do not count, and no socket is closed."""
    unix_sender, unix_receiver = socket.socketpair()
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with unix_sender, unix_receiver, datagrams, socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as client, server.accept()[0] as peer:
            before = tcp_sent_bytes()
            unix_sender.sendall(b"not over TCP")
            client.sendall(bytes(size))
            remaining = size
            while remaining:
                remaining -= len(peer.recv(remaining))
            assert tcp_sent_bytes() - before == size
            peer.sendall(b"back")
            assert client.recv(4) == b"back"
            assert tcp_sent_bytes() - before == size + 4
        assert unix_receiver.recv(12) == b"not over TCP"


@linux
def test_ipv6_connections_count():
    """Skipped on a machine without IPv6."""
    try:
        server = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("this machine has no IPv6")
    with server, socket.create_connection(server.getsockname()[:2]) as client:
        before = tcp_sent_bytes()
        client.sendall(bytes(7))
        assert tcp_sent_bytes() - before == 7


@linux
def test_retransmitted_bytes_count_once(monkeypatch):
    """Nine bytes with two retransmitted are seven."""

    class RetransmittingSocket(socket.socket):
        def getsockopt(self, *_):
            return struct.pack("=200xQQ", 9, 2)

    monkeypatch.setattr(worker.socket, "socket", RetransmittingSocket)
    before = tcp_sent_bytes()
    with socket.create_server(("127.0.0.1", 0)):
        assert tcp_sent_bytes() - before == 7


def test_other_systems_give_none(monkeypatch):
    """Not zero, since nothing was measured."""
    monkeypatch.setattr(worker.sys, "platform", "darwin")
    assert tcp_sent_bytes() is None


@linux
def test_linux_before_4_19_gives_none(monkeypatch):
    """Its ``tcp_info`` ends before the number of sent bytes."""

    class OldSocket(socket.socket):
        def getsockopt(self, *args):
            value = super().getsockopt(*args)
            return value[:200] if isinstance(value, bytes) else value

    with socket.create_server(("127.0.0.1", 0)):
        monkeypatch.setattr(worker.socket, "socket", OldSocket)
        assert tcp_sent_bytes() is None
