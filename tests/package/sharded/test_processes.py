"""Processes always end and errors name them, parts are torch's chunks, sent bytes are counted."""

import os
import signal
import socket
import struct
import subprocess
import sys
import textwrap
import time
from multiprocessing import util
from pathlib import Path

import pytest
import torch
from torch import distributed

from lookup_matmul.sharded import cut, run_on_processes, tcp_sent_bytes, worker

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts for each connection")


def has_ended(pid):
    """Return whether a process has ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def list_folders():
    """List the temporary folders of all calls."""
    return list(Path(util.get_temp_dir()).glob("lookup-matmul-*"))


@pytest.mark.parametrize("count", [1, 4])
def test_results_come_in_the_order_of_the_ranks(count):
    """All processes have ended; gloo's timeout is longer, so that the caller's comes first."""

    def describe_process():
        gloo = distributed.group.WORLD._get_backend(torch.device("cpu"))
        timeout_s = gloo.options._timeout.total_seconds()
        return distributed.get_rank(), distributed.get_world_size(), timeout_s, os.getpid()

    results = run_on_processes(describe_process, count, timeout_s=20.0)
    expected = [(rank, count, 20 + 3600) for rank in range(count)]
    assert [result[:3] for result in results] == expected
    assert all(has_ended(pid) for *_, pid in results)
    assert list_folders() == []


def test_an_error_names_its_process(capfd):
    """The message has the traceback and the end of the output; this process prints nothing."""

    def failing():
        print("x" * 5000, "before the error", flush=True)
        if distributed.get_rank() == 1:
            raise KeyError("no such column")
        distributed.barrier()

    with pytest.raises(RuntimeError) as raised:
        run_on_processes(failing, 2)
    message = str(raised.value)
    assert message.startswith("process 1 of 2 raised KeyError: 'no such column'\nTraceback")
    assert message.endswith(f"Process 1 printed:\n{'x' * (4000 - 17)} before the error")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("ending", ["killed", "exit"])
def test_a_process_that_dies_is_an_error(ending):
    """The message names the process that died, even if another one reports an error of gloo."""

    def die_on_rank_1():
        print("last words", flush=True)
        if distributed.get_rank() == 1:
            os.kill(os.getpid(), signal.SIGKILL) if ending == "killed" else os._exit(3)
        if ending == "killed":  # the error of gloo may arrive first
            raise RuntimeError("[gloo/transport/tcp/pair.cc:553] Connection closed by peer")
        distributed.all_reduce(torch.ones(1))

    with pytest.raises(RuntimeError) as raised:
        run_on_processes(die_on_rank_1, 2)
    reason = "was killed by signal 9" if ending == "killed" else "ended with exit code 3"
    assert str(raised.value).startswith(f"process 1 of 2 {reason} before it answered")
    assert str(raised.value).endswith("Process 1 printed:\nlast words")
    assert list_folders() == []


@pytest.mark.parametrize(
    ("function", "timeout_s", "message"),
    [
        (lambda: distributed.barrier() if distributed.get_rank() == 0 else signal.pause(), 0.5, r"process 0, 1 within 0\.5 s; stopped\. Do all"),
        (lambda: time.sleep(0.95 * (1 + distributed.get_rank())), 1.0, r"process (0, )?1 within 1 s"),
    ],
    ids=["deadlock", "one result"],
)  # fmt: skip
def test_no_answer_in_time_is_an_error(function, timeout_s, message):
    """All processes have the same deadline, which the result of one does not extend."""
    with pytest.raises(TimeoutError, match=f"no answer of {message}"):
        run_on_processes(function, 2, timeout_s=timeout_s)
    assert list_folders() == []


SCRIPT = """
    import os, signal, sys
    from concurrent.futures import ThreadPoolExecutor
    from pathlib import Path
    import torch
    from lookup_matmul.sharded import run_on_processes

    def wait_for_signal(folder):
        Path(folder, str(os.getpid())).touch()
        signal.pause()

    if __name__ == "__main__":
        call = [wait_for_signal, 1, sys.argv[1]] if len(sys.argv) > 1 else [torch.get_num_threads, 2]
        with ThreadPoolExecutor() as pool:
            print(*pool.map(lambda _: run_on_processes(*call), range(2)))
"""


def start_script(folder, *arguments):
    """Start ``SCRIPT`` with variables of its own, and its temporary folder inside ``folder``."""
    (folder / "s").mkdir()
    variables = {"TMPDIR": str(folder / "s"), "OMP_NUM_THREADS": "2"}
    unusable = {"GLOO_SOCKET_IFNAME": "nowhere0", "MASTER_ADDR": "nowhere", "MASTER_PORT": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), *arguments],
        env=os.environ | variables | unusable,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def list_temporary_files(folder):
    """List the temporary files of the script, except for the cache of torch."""
    return [p.name for p in (folder / "s").iterdir() if not p.name.startswith("torchinductor")]


def wait_for_count(list_entries, count):
    """Wait until a list has ``count`` entries, and return it."""
    for _ in range(3000):
        if len(entries := list_entries()) == count:
            return entries
        time.sleep(0.1)
    pytest.fail(f"{list_entries()}, expected {count} of them within five minutes")


def test_a_script_prints_nothing_and_deletes_its_files(tmp_path_factory):
    """Groups run at the same time, with one thread a process, whatever the variables of torch."""
    folder = tmp_path_factory.mktemp("end")  # short, since the path of a socket is limited
    script = start_script(folder)
    assert script.communicate() == (b"[1, 1] [1, 1]\n", b"")
    assert script.returncode == 0
    wait_for_count(lambda: list_temporary_files(folder), 0)


def test_processes_end_when_their_parent_is_killed(tmp_path_factory):
    """Jupyter terminates the children of a kernel first, then kills its session."""
    folder = tmp_path_factory.mktemp("end")
    with start_script(folder, str(folder)) as script:
        pids = [int(p.name) for p in wait_for_count(lambda: [*folder.glob("[0-9]*")], 2)]
        assert list_temporary_files(folder)
        descendants = list_descendants(script.pid)
        for pid in descendants:
            os.kill(pid, signal.SIGTERM)
        os.killpg(script.pid, signal.SIGKILL)
    assert len({*pids, *descendants}) > 2  # the fork server, too
    wait_for_count(lambda: [pid for pid in {*pids, *descendants} if not has_ended(pid)], 0)


def list_descendants(pid):
    """List the children of a process, and their children."""
    listing = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, check=True)
    pairs = [map(int, line.split()) for line in listing.stdout.splitlines()]
    children = [child for child, parent in pairs if parent == pid]
    return children + [pid for child in children for pid in list_descendants(child)]


def test_a_script_without_a_guard_is_an_error(tmp_path):
    """Each process would run the script again; the last line of the error explains the guard."""
    script = tmp_path / "script.py"
    call = "run_on_processes(print, 2)"
    script.write_text(f"from lookup_matmul.sharded import run_on_processes\n{call}\n", "utf-8")
    process = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert process.returncode == 1
    last_line = process.stderr.strip().splitlines()[-1]
    assert "ended with exit code 1 before it began" in last_line
    assert 'if __name__ == "__main__":' in last_line
    assert "AttributeError" not in process.stderr


@pytest.mark.parametrize("parts", [1, 2, 3, 4, 7])
def test_cuts_are_those_of_torch(parts):
    """The parts are torch's chunks, followed by empty ones."""
    for size in range(9):
        rows = torch.arange(size)
        slices = [rows[part] for part in cut(size, parts)]
        assert len(slices) == parts
        assert torch.cat(slices).tolist() == rows.tolist()
        chunks = [chunk.tolist() for chunk in rows.chunk(parts)] if size else []
        assert [part.tolist() for part in slices if len(part)] == chunks


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        *((cut, a, "size is {} and parts is {}, expected size >= 0 and parts >= 1") for a in [(3, 0), (3, -1), (-1, 2)]),
        *((run_on_processes, (print, n), "count is {1}, expected at least 1") for n in (0, -1)),
    ],
)  # fmt: skip
def test_impossible_numbers_are_refused(function, arguments, message):
    """The error names the arguments; no process gives no empty list of results."""
    with pytest.raises(ValueError, match=message.format(*arguments)):
        function(*arguments)


@linux
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_sent_bytes_are_counted_once(host):
    """Other sockets and received bytes do not count, and no socket is closed."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        server = socket.create_server((host, 0), family=family)
    except OSError:
        pytest.skip("this machine has no IPv6")
    unix_sender, unix_receiver = socket.socketpair()
    datagrams = socket.socket(family, socket.SOCK_DGRAM)
    with unix_sender, unix_receiver, datagrams, server:
        with (
            socket.create_connection(server.getsockname()[:2]) as client,
            server.accept()[0] as peer,
        ):
            before = tcp_sent_bytes()
            unix_sender.sendall(b"not over TCP")
            client.sendall(bytes(100_000))
            assert len(peer.recv(100_000, socket.MSG_WAITALL)) == 100_000
            assert tcp_sent_bytes() - before == 100_000
            peer.sendall(b"back")
            assert client.recv(4) == b"back"
            assert tcp_sent_bytes() - before == 100_004
        assert unix_receiver.recv(12) == b"not over TCP"


@linux
@pytest.mark.parametrize(
    ("tcp_info", "expected"), [(struct.pack("=200xQQ", 9, 2), 7), (bytes(200), None)]
)
def test_retransmitted_bytes_count_once(monkeypatch, tcp_info, expected):
    """Linux before 4.19 does not report the number of sent bytes."""
    monkeypatch.setattr(socket.socket, "getsockopt", lambda *_: tcp_info)
    before = tcp_sent_bytes()
    with socket.create_server(("127.0.0.1", 0)):
        sent = tcp_sent_bytes()
        assert sent == (None if expected is None else (before or 0) + expected)


def test_other_systems_give_none(monkeypatch):
    """Not zero, since nothing was measured."""
    monkeypatch.setattr(worker.sys, "platform", "darwin")
    assert tcp_sent_bytes() is None
