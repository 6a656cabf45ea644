"""Settings of the kernels that run the pages; IPython reads this file when one starts."""

# What a library writes below Python comes to the page by way of a thread, which a kernel does not
# wait for: on a busy machine the end of a cell could overtake it, and a warning would be lost.
# A cell that replaces a stream and does not put it back would keep the next one from ending.
SETTLE = """
import select as _select, sys as _sys, time as _time

_streams = (_sys.stdout, _sys.stderr)

def _settle(*_, streams=_streams, select=_select.select, sys=_sys, sleep=_time.sleep):
    if (sys.stdout, sys.stderr) != streams:
        sys.stdout, sys.stderr = streams
        print("sys.stdout was replaced; use contextlib.redirect_stdout", file=sys.stderr)
    pipes = [stream._fid for stream in streams if stream._fid is not None]
    sleep(0.001)
    while select(pipes, [], [], 0)[0]:
        sleep(0.001)

get_ipython().events.register("post_run_cell", _settle)
del _select, _settle, _streams, _sys, _time
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
