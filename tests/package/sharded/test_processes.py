"""Processes end always, and say what went wrong."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from pathlib import Path

import pytest
import torch
from torch import distributed

from lookup_matmul.sharded import run_on_processes


@pytest.fixture(autouse=True)
def own_folder(tmp_path_factory, monkeypatch):
    """Give each test temporary folders of its own: other tests, at the same time, make theirs."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("t")))


def about():
    """Tell who one is."""
    return distributed.get_rank(), distributed.get_world_size(), os.getpid()


def gone(pid):
    """Tell whether a process has ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize("count", [1, 2, 4])
def test_results_come_in_the_order_of_the_ranks(count):
    """Each process knows its rank and the size; none is left, and no folder."""
    before = folders()
    found = run_on_processes(about, count)
    assert [answer[:2] for answer in found] == [(rank, count) for rank in range(count)]
    assert all(gone(pid) for *_, pid in found)
    assert folders() == before


def folders():
    """List the temporary folders of processes that run, or ran."""
    return {path for path in Path(tempfile.gettempdir()).glob("lookup-matmul-*") if path.is_dir()}


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


@pytest.mark.parametrize("how", ["killed", "exit"])
def test_a_process_that_dies_is_an_error(how):
    """Its partner waits for it; the caller does not, and is told who died and what it printed."""
    before = folders()

    def dying():
        print("last words", flush=True)
        if distributed.get_rank() == 1:
            os.kill(os.getpid(), signal.SIGKILL) if how == "killed" else os._exit(3)
        distributed.all_reduce(torch.ones(1))

    start = time.monotonic()
    with pytest.raises(RuntimeError) as raised:
        run_on_processes(dying, 2)
    assert time.monotonic() - start < 30
    end = "was killed by signal 9" if how == "killed" else "ended with exit code 3"
    assert str(raised.value).startswith(f"process 1 of 2 {end} before it answered")
    assert str(raised.value).endswith("Process 1 printed:\nlast words")
    assert folders() == before


def test_a_process_killed_from_outside_is_an_error(tmp_path):
    """As by the system, when memory runs out."""

    def waiting():
        (tmp_path / str(distributed.get_rank())).write_text(str(os.getpid()))
        time.sleep(60)

    def kill():
        while not (tmp_path / "0").exists() or not (tmp_path / "0").read_text():
            time.sleep(0.05)
        os.kill(int((tmp_path / "0").read_text()), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(RuntimeError, match="process 0 of 2 was killed by signal 9"):
        run_on_processes(waiting, 2)
    killer.join()


def test_processes_that_wait_for_each_other_are_an_error():
    """A collective that one of them never calls ends with the time limit, not later."""

    def mismatched():
        if distributed.get_rank() == 0:
            distributed.barrier()
        else:
            time.sleep(60)

    start = time.monotonic()
    with pytest.raises(
        TimeoutError, match=r"no answer of process 0, 1 within 2 s; stopped\. Do all"
    ):
        run_on_processes(mismatched, 2, timeout_s=2)
    assert time.monotonic() - start < 50


def test_a_port_in_use_does_not_matter(monkeypatch):
    """No fixed port is taken, not even torch's own, and several groups run at one time."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
        monkeypatch.setenv("MASTER_PORT", str(taken.getsockname()[1]))
        found, threads = [], []
        for _ in range(3):
            threads.append(
                threading.Thread(target=lambda: found.append(run_on_processes(about, 2)))
            )
            threads[-1].start()
        for thread in threads:
            thread.join()
    assert [[answer[:2] for answer in answers] for answers in found] == [[(0, 2), (1, 2)]] * 3


SCRIPT = """
    import os, time
    from pathlib import Path
    from lookup_matmul.sharded import run_on_processes

    def sleep():
        Path(FOLDER, str(os.getpid())).touch()
        time.sleep(60)

    if __name__ == "__main__":
        run_on_processes(sleep, 2)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_processes_end_with_the_one_that_started_them(tmp_path_factory, how):
    """Even if its whole session is killed: no process, no socket and no folder is left."""
    tmp_path = tmp_path_factory.mktemp("ends")  # short, since a socket's whole path is limited
    script, scratch = tmp_path / "script.py", tmp_path / "s"
    scratch.mkdir()
    script.write_text(textwrap.dedent(SCRIPT).replace("FOLDER", repr(str(tmp_path))), "utf-8")
    environment = os.environ | {"TMPDIR": str(scratch)}
    started = subprocess.Popen([sys.executable, script], env=environment, start_new_session=True)
    pids = wait_for(lambda: [int(p.name) for p in tmp_path.iterdir() if p.name.isdigit()], 2)
    assert left_in(scratch)
    os.killpg(started.pid, how)
    started.wait()
    wait_for(lambda: [pid for pid in pids if gone(pid)], 2)
    wait_for(lambda: left_in(scratch), 0)


def test_a_script_without_a_guard_is_told_of_it(tmp_path):
    """Each process would run the script again; the error says so, and none hides it."""
    script = tmp_path / "script.py"
    call = "run_on_processes(print, 2)"
    script.write_text(f"from lookup_matmul.sharded import run_on_processes\n{call}\n", "utf-8")
    ended = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False, timeout=120
    )
    assert ended.returncode == 1
    last = ended.stderr.strip().splitlines()[-1]
    assert "ended with exit code 1 before it began" in last
    assert 'if __name__ == "__main__":' in last
    assert "AttributeError" not in ended.stderr


def left_in(folder):
    """List what is there, but for the cache that importing torch makes."""
    return [path.name for path in folder.iterdir() if not path.name.startswith("torchinductor")]


def wait_for(found, count):
    """Wait until a list has so many entries."""
    for _ in range(3000):
        if len(entries := found()) == count:
            return entries
        time.sleep(0.1)
    pytest.fail(f"{found()}, expected {count} of them within five minutes")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((3, 2), TypeError, "function is 3"),
        ((about, "2"), TypeError, "count is '2'"),
        ((about, True), TypeError, "count is True"),
        ((about, 0), ValueError, "count is 0, expected 1 to 64"),
        ((about, 65), ValueError, "count is 65"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, message):
    """Before any process is started."""
    with pytest.raises(error, match=message):
        run_on_processes(*arguments)


@pytest.mark.parametrize("timeout_s", [0, -1, float("inf"), float("nan")])
def test_a_limit_is_needed(timeout_s):
    """Waiting for ever is not on offer."""
    with pytest.raises(ValueError, match="timeout_s is"):
        run_on_processes(about, 1, timeout_s=timeout_s)
