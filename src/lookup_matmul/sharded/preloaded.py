"""What processes are likely to need: the fork server imports it once, so that none waits for it."""

import torch.distributed.tensor.debug
import torch.distributed.tensor.parallel  # noqa: F401
