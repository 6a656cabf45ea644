"""Settings of the kernels that run the pages; IPython reads this file when one starts."""

import os

# What a kernel writes while it is shut down says nothing about a page: its sockets close while
# its threads still use them, now and then. What a cell writes is caught before it comes here.
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

# What a library writes below Python comes to the page by way of a thread, which a kernel does not
# wait for: on a busy machine the end of a cell could overtake it, and a warning would be lost.
SETTLE = """
import select as _select, sys as _sys, time as _time

_pipes = [stream._fid for stream in (_sys.stdout, _sys.stderr) if stream._fid is not None]

def _settle(*_, pipes=_pipes, select=_select.select, sleep=_time.sleep):
    sleep(0.001)
    while select(pipes, [], [], 0)[0]:
        sleep(0.001)

get_ipython().events.register("post_run_cell", _settle)
del _pipes, _select, _settle, _sys, _time
"""

c = get_config()  # type: ignore[name-defined]  # noqa: F821  # IPython puts it there

c.InteractiveShell.xmode = "Minimal"  # an expected error shows its message, not a machine's paths
c.HistoryManager.enabled = False
# Tensors of five columns fit a phone. linewidth counts characters.
c.InteractiveShellApp.exec_lines = [
    "import torch as _torch",
    "_torch.set_printoptions(linewidth=56, sci_mode=False)",
    "del _torch",
    SETTLE,
]
