"""Settings of the kernels that run the pages; IPython reads this file when one starts."""

c = get_config()  # type: ignore[name-defined]  # noqa: F821  # IPython puts it there

c.InteractiveShell.xmode = "Minimal"  # an expected error shows its message, not a machine's paths
c.HistoryManager.enabled = False
# Or each kernel warns that a local socket is not encrypted, and some that they were told to end.
c.IPKernelApp.log_level = "CRITICAL"
# Tensors of five columns fit a phone. linewidth counts characters.
c.InteractiveShellApp.exec_lines = [
    "import torch as _torch",
    "_torch.set_printoptions(linewidth=56, sci_mode=False)",
    "del _torch",
]
