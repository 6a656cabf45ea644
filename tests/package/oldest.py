"""The lowest supported torch; what it cannot do its tests say."""

import torch

LOWEST = torch.__version__.startswith("2.6.")
