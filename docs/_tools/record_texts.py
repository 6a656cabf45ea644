"""Record the texts that pages learn from: how the help of four libraries begins.

Pages read the record and not the libraries, which word their help differently in each version.
"""

import importlib
import inspect
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

RECORD = Path("src/lookup_matmul/recorded/others/help.json")
LENGTH = 400  # characters of a text
TEXTS = 150  # of a library
SEED = 14  # of 30 draws, the one in which the most texts say "keepdim"
MODULES = {
    "NumPy": ["numpy", "numpy.fft", "numpy.linalg", "numpy.ma", "numpy.random"],
    "SciPy": [
        *("scipy.cluster.hierarchy", "scipy.fft", "scipy.integrate", "scipy.interpolate"),
        *("scipy.io", "scipy.linalg", "scipy.ndimage", "scipy.optimize", "scipy.sparse"),
        *("scipy.sparse.linalg", "scipy.spatial", "scipy.spatial.distance", "scipy.special"),
    ],
    "sklearn": [
        *("sklearn.cluster", "sklearn.datasets", "sklearn.decomposition"),
        *("sklearn.linear_model", "sklearn.metrics", "sklearn.svm"),
    ],
    "PyTorch": [
        *("torch", "torch.distributions", "torch.linalg"),
        *("torch.nn", "torch.nn.functional", "torch.optim"),
    ],
}
LICENSE = (
    "BSD-3-Clause, Copyright 2005-2025 NumPy Developers; 2001-2002 Enthought, Inc., 2003 SciPy "
    "Developers; 2007-2026 The scikit-learn developers; 2016 Facebook, Inc. and the contributors "
    "to PyTorch"
)


def read_help(modules: list[str]) -> Iterator[str]:
    """Yield how the help of each public function and class of modules begins."""
    for module in map(importlib.import_module, modules):
        for name, value in vars(module).items():
            if callable(value) and name[0] != "_" and isinstance(value.__doc__, str):
                text = " ".join(f"{find_signature(name, value)} {value.__doc__}".split())
                text = re.sub(r" at 0x[0-9a-f]+", "", text)
                if len(text) > LENGTH:
                    yield text[:LENGTH].rpartition(" ")[0]


def find_signature(name: str, value: Any) -> str:
    """Return the name and arguments of a function, or nothing if its docstring has them."""
    if re.match(rf"\s*[\w.]*\b{name}\(", value.__doc__):
        return ""
    try:
        return f"{name}{inspect.signature(value)}"
    except ValueError:
        return name


def main() -> None:
    """Write a sample of each library's texts, without those that two libraries share."""
    texts = {library: sorted({*read_help(modules)}) for library, modules in MODULES.items()}
    libraries = Counter(text for own in texts.values() for text in own)
    samples = {}
    for library, own in texts.items():
        distinct = [text for text in own if libraries[text] == 1]
        samples[library] = sorted(random.Random(SEED).sample(distinct, TEXTS))
    record = {
        "source": "docs/_tools/record_texts.py",
        "versions": {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "torch")},
        "license": LICENSE,
        "texts": samples,
    }
    RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
