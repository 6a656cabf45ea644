"""Processes always end, and their errors reach the caller."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import util
from pathlib import Path

import pytest
import torch
from torch import distributed

from lookup_matmul.sharded import run_on_processes


def rank_size_and_pid():
    """Return rank, group size and process id."""
    return distributed.get_rank(), distributed.get_world_size(), os.getpid()


def has_ended(pid):
    """Return whether a process has ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def remaining_folders():
    """Return the temporary folders of calls that run or ran."""
    return list(Path(util.get_temp_dir()).glob("lookup-matmul-*"))


@pytest.mark.parametrize("count", [1, 4])
def test_results_come_in_the_order_of_the_ranks(count):
    """Each process knows its rank and the size; none is left, and no folder."""
    results = run_on_processes(rank_size_and_pid, count)
    assert [answer[:2] for answer in results] == [(rank, count) for rank in range(count)]
    assert all(has_ended(pid) for *_, pid in results)
    assert remaining_folders() == []


def test_an_error_names_its_process(capfd):
    """The error has its type and text, the traceback and what was printed; nothing else is printed."""

    def failing():
        print("before the error", flush=True)
        if distributed.get_rank() == 1:
            raise KeyError("no such column")
        distributed.barrier()

    with pytest.raises(RuntimeError) as raised:
        run_on_processes(failing, 2)
    message = str(raised.value)
    assert message.startswith("process 1 of 2 raised KeyError: 'no such column'\nTraceback")
    assert message.endswith("Process 1 printed:\nbefore the error")
    assert capfd.readouterr() == ("", "")


def test_the_end_of_a_long_output_is_in_the_error():
    """The message keeps the last 4,000 characters."""

    def print_much():
        print("x" * 5000, "the end", flush=True)
        raise KeyError

    with pytest.raises(RuntimeError, match=r"printed:\nx+ the end$"):
        run_on_processes(print_much, 1)


@pytest.mark.parametrize("how", ["killed", "exit"])
def test_a_process_that_dies_is_an_error(how):
    """Its partner waits or complains; the caller is told who died and what it printed."""

    def dying():
        print("last words", flush=True)
        if distributed.get_rank() == 1:
            os.kill(os.getpid(), signal.SIGKILL) if how == "killed" else os._exit(3)
        if how == "killed":  # it may be the first to be heard, with these words
            raise RuntimeError("[gloo/transport/tcp/pair.cc:553] Connection closed by peer")
        distributed.all_reduce(torch.ones(1))

    with pytest.raises(RuntimeError) as raised:
        run_on_processes(dying, 2)
    end = "was killed by signal 9" if how == "killed" else "ended with exit code 3"
    assert str(raised.value).startswith(f"process 1 of 2 {end} before it answered")
    assert str(raised.value).endswith("Process 1 printed:\nlast words")
    assert remaining_folders() == []


def test_processes_that_wait_for_each_other_are_an_error():
    """A collective that one of them never calls ends with the time limit."""

    def mismatched():
        distributed.barrier() if distributed.get_rank() == 0 else signal.pause()

    message = r"no answer of process 0, 1 within 0\.5 s; stopped\. Do all"
    with pytest.raises(TimeoutError, match=message):
        run_on_processes(mismatched, 2, timeout_s=0.5)
    assert remaining_folders() == []


def test_an_answer_gives_the_others_no_more_time():
    """All have the same seconds, from the moment at which all have started."""
    sleep = lambda: time.sleep(0.95 * (1 + distributed.get_rank()))  # noqa: E731
    with pytest.raises(TimeoutError, match=r"no answer of process (0, )?1 within 1 s"):
        run_on_processes(sleep, 2, timeout_s=1.0)


def test_a_port_in_use_does_not_matter(monkeypatch):
    """No fixed port is server, not even torch's own, and several groups run at one time."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
        monkeypatch.setenv("MASTER_PORT", str(server.getsockname()[1]))
        with ThreadPoolExecutor() as pool:
            results = list(pool.map(lambda _: run_on_processes(rank_size_and_pid, 2), range(3)))
    assert [[answer[:2] for answer in answers] for answers in results] == [[(0, 2), (1, 2)]] * 3


SCRIPT = """
    import os, signal, sys
    from concurrent.futures import ThreadPoolExecutor
    from pathlib import Path
    import torch
    from lookup_matmul.sharded import run_on_processes

    def wait(folder):
        Path(folder, str(os.getpid())).touch()
        signal.pause()

    if __name__ == "__main__":
        call = [wait, 1, sys.argv[1]] if len(sys.argv) > 1 else [torch.get_num_threads, 2]
        with ThreadPoolExecutor() as pool:
            print(*pool.map(lambda _: run_on_processes(*call), range(2)))
"""


def start(folder, *arguments):
    """Start a program that runs processes, with a temporary folder and two threads of its own."""
    (folder / "s").mkdir()
    environment = {
        "TMPDIR": str(folder / "s"),
        "GLOO_SOCKET_IFNAME": "nowhere0",
        "OMP_NUM_THREADS": "2",
    }
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), *arguments],
        env=os.environ | environment,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def entries_of(folder):
    """Return the entries of a folder except the cache that importing torch makes."""
    return [p.name for p in (folder / "s").iterdir() if not p.name.startswith("torchinductor")]


def test_a_program_that_ends_leaves_and_prints_nothing(tmp_path_factory):
    """Neither when its own processes end nor afterwards, and whatever network gloo is told of.

    Its processes share the machine, so each has a single thread.
    """
    folder = tmp_path_factory.mktemp("end")  # short, since a socket's whole path is limited
    started = start(folder)
    assert started.communicate() == (b"[1, 1] [1, 1]\n", b"")
    assert started.returncode == 0
    wait_for(lambda: entries_of(folder), 0)


def test_processes_end_with_the_one_that_started_them(tmp_path_factory):
    """Its children first, as Jupyter does it, then all of its session: nothing is left."""
    folder = tmp_path_factory.mktemp("end")
    with start(folder, str(folder)) as started:
        pids = wait_for(lambda: [int(p.name) for p in folder.iterdir() if p.name.isdigit()], 2)
        assert entries_of(folder)
        for child in children(started.pid):
            os.kill(child, signal.SIGTERM)
        os.killpg(started.pid, signal.SIGKILL)
    wait_for(lambda: [pid for pid in pids if has_ended(pid)], 2)
    wait_for(lambda: entries_of(folder), 0)


def children(pid):
    """Return the child processes of a process, and their children."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, check=True)
    parents = [map(int, line.split()) for line in listed.stdout.splitlines()]
    direct = [child for child, parent in parents if parent == pid]
    return [*direct, *(pid for child in direct for pid in children(child))]


def test_a_script_without_a_guard_is_told_of_it(tmp_path):
    """Each process would run the script again; the error says so, and none hides it."""
    script = tmp_path / "script.py"
    call = "run_on_processes(print, 2)"
    script.write_text(f"from lookup_matmul.sharded import run_on_processes\n{call}\n", "utf-8")
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    last = ended.stderr.strip().splitlines()[-1]
    assert "ended with exit code 1 before it began" in last
    assert 'if __name__ == "__main__":' in last
    assert "AttributeError" not in ended.stderr


def wait_for(list_entries, count):
    """Wait until the list has ``count`` entries, and return it."""
    for _ in range(3000):
        if len(entries := list_entries()) == count:
            return entries
        time.sleep(0.1)
    pytest.fail(f"{list_entries()}, expected {count} of them within five minutes")


@pytest.mark.parametrize("count", [0, -1])
def test_a_count_below_one_is_refused(count):
    """No process is started."""
    with pytest.raises(ValueError, match=f"count is {count}, expected at least 1"):
        run_on_processes(rank_size_and_pid, count)
