"""Settings of the kernels that run the pages; IPython reads this file when one starts."""

import os

# What a kernel writes while it is shut down says nothing about a page: its sockets close while
# its threads still use them, now and then. What a cell writes is caught before it comes here.
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

c = get_config()  # type: ignore[name-defined]  # noqa: F821  # IPython puts it there

c.InteractiveShell.xmode = "Minimal"  # an expected error shows its message, not a machine's paths
c.HistoryManager.enabled = False
# Tensors of five columns fit a phone. linewidth counts characters.
c.InteractiveShellApp.exec_lines = [
    "import torch as _torch",
    "_torch.set_printoptions(linewidth=56, sci_mode=False)",
    "del _torch",
]
