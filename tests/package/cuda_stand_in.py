"""The CUDA calls that `costs` uses, without a GPU: two clocks, a queue, and CUDA's rules.

Tensors stay on the CPU. An operation of torch that computes something is a kernel: to ask for it
takes the processor ``LAUNCH_S``; it takes the GPU ``KERNEL_S``, after all that was queued before.
What CUDA refuses is refused: arguments that torch's function does not take, times of events that
are not done, captures on the default stream, twice or without an end, and work that makes the
processor wait while it is captured.
"""

# Names of parameters are those of the functions replaced.
# ruff: noqa: ARG002, ARG005, PT008
import inspect
import warnings
from contextlib import ExitStack, contextmanager
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from lookup_matmul.costs import clock

LAUNCH_S, KERNEL_S, REPLAY_S, CLOCK_HZ = 10e-6, 3e-6, 20e-6, 1.25e9
COLD_S, WRITE_BACK_S = 4e-6, 50e-6  # how much longer the first kernel takes after a flush
QUEUE = 1000  # so many kernels and events wait; who asks for more waits as well
FLUSH = 2**16  # elements of a tensor that goes through the whole cache
FREE = ("view", "detach", "alias", "t.", "transpose", "expand", "slice", "unsqueeze", "select")
FREE += ("_sparse_coo", "_indices", "_values", "_coalesced_", "_nnz", "is_coalesced", "sym_")
WAITING = ("_local_scalar_dense", "nonzero", "_coalesce.", "unique")


class Gpu:
    """Two clocks in seconds, what is queued, and what is being captured."""

    def __init__(self):
        self.host_s, self.free_s, self.extra_s = 100.0, 100.0, 0.0
        self.done, self.captured, self.stream, self.spoilt = [], None, 0, False
        self.lost = False  # an assertion on the device has failed
        self.log = []  # of what waits or empties

    def ask(self, seconds, asking_s=LAUNCH_S):
        """Queue work for the GPU; when it will be done."""
        self.host_s += asking_s
        if len(self.done) >= QUEUE:
            self.host_s = max(self.host_s, self.done[-QUEUE])
        self.free_s = max(self.free_s, self.host_s) + seconds
        self.done.append(self.free_s)
        return self.free_s

    def kernel(self, seconds=KERNEL_S):
        """Queue one kernel, or write it down for the graph that is being captured."""
        self.check()
        if self.captured is not None:
            self.host_s += LAUNCH_S
            self.captured.append(seconds)
        else:
            self.ask(seconds + self.extra_s)
            self.extra_s = 0.0

    def wait(self, name="synchronize"):
        """Let the processor wait for all that is queued."""
        self.check()
        if self.captured is not None:
            self.spoilt = True
            raise RuntimeError("CUDA error: operation not permitted when stream is capturing")
        self.log.append(name)
        self.host_s = max(self.host_s, self.free_s)

    def check(self):
        """Answer nothing but an error once an assertion has failed."""
        if self.lost:
            raise RuntimeError("CUDA error: device-side assert triggered")

    @contextmanager
    def on(self, stream):
        """Make a stream the current one."""
        before, self.stream = self.stream, stream
        try:
            yield
        finally:
            self.stream = before


class Event:
    """A mark, whose time can be told once the GPU has come by."""

    def __init__(self, gpu, enable_timing):
        self.gpu, self.timed, self.at = gpu, enable_timing, None

    def record(self, stream=None):
        """Queue the mark."""
        self.gpu.check()
        self.at = self.gpu.ask(0.0, 1e-6)

    def query(self):
        """Tell whether the GPU has come by."""
        return self.at is not None and self.at <= self.gpu.host_s

    def elapsed_time(self, end_event):
        """Give milliseconds from this mark to another one."""
        if not (self.timed and end_event.timed and self.query() and end_event.query()):
            raise RuntimeError("Both events must be recorded, timed and done: device not ready")
        return (end_event.at - self.at) * 1e3


class Graph:
    """Kernels that are asked for at once."""

    def __init__(self, gpu):
        self.gpu, self.kernels = gpu, None

    def capture_begin(self, pool=None, capture_error_mode="global"):
        """Write kernels down from now on, on a stream that is not the default one."""
        if self.gpu.stream == 0 or self.gpu.captured is not None:
            raise RuntimeError("CUDA graphs must be captured on a non-default stream, and once")
        assert capture_error_mode in ("global", "thread_local", "relaxed")
        self.gpu.captured, self.gpu.spoilt = [], False

    def capture_end(self):
        """Write no more down."""
        self.kernels, self.gpu.captured = self.gpu.captured, None
        if self.gpu.spoilt:
            self.kernels = None
            raise RuntimeError("CUDA error: operation failed due to a previous error in capture")
        if not self.kernels:
            warnings.warn("The CUDA Graph is empty. This usually means nothing.", stacklevel=2)

    def replay(self):
        """Queue all kernels."""
        self.gpu.check()
        if self.kernels is None or self.gpu.captured is not None:
            raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
        self.gpu.ask(sum(self.kernels) + self.gpu.extra_s, REPLAY_S)
        self.gpu.extra_s = 0.0


class Kernels(TorchDispatchMode):
    """Tells the GPU of every operation."""

    def __init__(self, gpu):
        super().__init__()
        self.gpu = gpu

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Queue it, do it on the CPU, and wait if the GPU's result is needed at once."""
        name = str(func).removeprefix("aten.")
        large = any(isinstance(arg, torch.Tensor) and arg.numel() >= FLUSH for arg in args)
        if name.startswith(WAITING):
            self.gpu.kernel()
            self.gpu.wait(name)
        elif large:
            self.gpu.ask(1e-4)
            # Lines of the cache that were written are written back by whoever comes next.
            self.gpu.extra_s = COLD_S + (WRITE_BACK_S if func._schema.is_mutable else 0.0)
        elif not name.startswith(FREE):
            self.gpu.kernel()
        return func(*args, **(kwargs or {}))


class OnCpu(TorchFunctionMode):
    """Puts on the CPU what is asked for on a GPU."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        """Change the device."""
        kwargs = dict(kwargs or {})
        if "cuda" in str(kwargs.get("device")):
            kwargs["device"] = "cpu"
        if func is torch.Tensor.to:
            args = tuple("cpu" if isinstance(arg, str) else arg for arg in args)
        return func(*args, **kwargs)


def _like(real, fake):
    """Refuse arguments that the real function does not take."""
    signature = inspect.signature(real)

    def call(*args, **kwargs):
        signature.bind(*args, **kwargs)
        return fake(*args, **kwargs)

    return call


@contextmanager
def stand_in():
    """Put the stand-in under torch.cuda, and its processor's clock under ours."""
    gpu, on_cpu = Gpu(), {"__new__": lambda cls, device="cpu", real=torch.Generator: real()}
    for fake, real in ((Event, torch.cuda.Event), (Graph, torch.cuda.CUDAGraph)):
        for name in {n for n, member in vars(fake).items() if callable(member)} - set(vars(object)):
            theirs = inspect.signature(getattr(real, name)).parameters
            assert set(inspect.signature(getattr(fake, name)).parameters) <= set(theirs), name
    functions = {
        "Event": lambda enable_timing=False: Event(gpu, enable_timing),
        "CUDAGraph": lambda: Graph(gpu),
        "Stream": lambda: "aside",
        "stream": gpu.on,
        "graph_pool_handle": lambda: "pool",
        "is_available": lambda: True,
        "is_current_stream_capturing": lambda: gpu.captured is not None,
        "synchronize": gpu.wait,
        "_sleep": lambda cycles: gpu.kernel(cycles / CLOCK_HZ),
        "empty_cache": lambda: gpu.log.append("empty_cache"),
        "mem_get_info": lambda: (10**11, 10**11),
        "memory_reserved": lambda: 3000,
        "memory_allocated": lambda device=None: 1000,
        "max_memory_allocated": lambda device=None: 1512,
        "reset_peak_memory_stats": lambda device=None: gpu.log.append("reset"),
    }
    with ExitStack() as stack:
        for name, fake in functions.items():
            real = getattr(torch.cuda, name)  # a name that torch does not have ends here
            known = real if callable(real) and not inspect.isclass(real) else None
            stack.enter_context(
                mock.patch(f"torch.cuda.{name}", _like(known, fake) if known else fake)
            )
        stack.enter_context(mock.patch("torch.Generator", type("Generator", (), on_cpu)))
        stack.enter_context(mock.patch("torch.accelerator.is_available", lambda: True))
        stack.enter_context(mock.patch("torch.accelerator.synchronize", gpu.wait))
        # An optimizer of a CUDA build would ask for the stream that is captured.
        current = "torch.accelerator.current_accelerator"
        stack.enter_context(mock.patch(current, lambda check_available=False: None))
        stack.enter_context(mock.patch.object(clock, "perf_counter", lambda: gpu.host_s))
        clock._known.clear()  # what was captured on another stand-in
        clock._aside.cache_clear()
        stack.callback(clock._known.clear)
        stack.enter_context(OnCpu())
        stack.enter_context(Kernels(gpu))
        yield gpu
