"""Settings of kernels, which do not depend on those of the machine and of the user.

On a machine with torch's CUDA build and no driver, libraries log messages that have nothing to do
with the page. Their logging is turned off, since text on standard error fails the build.
"""

# Tensors of five columns fit a phone; linewidth counts characters. torch.compile warns of
# Python 3.13.0, which no page can change.
PRINTING = """import warnings as _warnings
import torch as _torch
_torch.set_printoptions(linewidth=56, sci_mode=False)
_warnings.filterwarnings("ignore", "Guards may run slower on Python 3.13.0", RuntimeWarning)
del _torch, _warnings"""
# A thread forwards what libraries write below Python to the page, and a kernel does not wait for
# it: on a busy machine a cell could end first, and a warning would be lost. So each cell waits.
# If a cell replaces a stream and does not restore it, the wait would never end.
FLUSH_STREAMS = """
import select as _select, sys as _sys, time as _time

_streams = (_sys.stdout, _sys.stderr)

def _flush(*_, streams=_streams, select=_select.select, sys=_sys, sleep=_time.sleep):
    if (sys.stdout, sys.stderr) != streams:
        sys.stdout, sys.stderr = streams
        print("sys.stdout was replaced; use contextlib.redirect_stdout", file=sys.stderr)
    pipes = [stream._fid for stream in streams if stream._fid is not None]
    sleep(0.001)
    while select(pipes, [], [], 0)[0]:
        sleep(0.001)

get_ipython().events.register("post_run_cell", _flush)
del _flush, _select, _streams, _sys, _time
"""
# Calls of ``observer/disturb``, which only kernels import, since it imports torch.
DISTURB = '__import__("disturb").install(get_ipython())'
REPORT = '__import__("disturb").report(get_ipython())'
XMODE = "Minimal"  # an expected error shows its message, not a machine's paths
FLAGS = [
    f"--InteractiveShell.xmode={XMODE}",
    "--HistoryManager.enabled=False",
    *(f"--IPKernelApp.exec_lines={code}" for code in (PRINTING, FLUSH_STREAMS, DISTURB)),
]
QUIET = {
    "KINETO_LOG_LEVEL": "99",  # torch's profiler looks for a GPU and logs that there is none
    "TORCH_CPP_LOG_LEVEL": "ERROR",  # and logs that some memory is older than what it measures
    "CUDA_HOME": "",  # torch.utils.cpp_extension logs a compiler without a driver,
    "CUDA_PATH": "",  # wherever it finds one
    # Threads that spin while they wait keep the cores from other pages, which take up to ten times
    # as long. Pages that measure use one thread, which does not wait.
    "OMP_WAIT_POLICY": "PASSIVE",
}
