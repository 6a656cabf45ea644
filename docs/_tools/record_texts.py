"""Record the texts that pages learn from: what the help of four libraries says first.

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
LENGTH = 120  # characters of a text at most
TEXTS = 100  # of a library
SEED = 4  # of 30 draws, the one in which the most texts say "keepdim"
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
    """Yield name, arguments and first sentence of each public function and class of modules."""
    for module in map(importlib.import_module, modules):
        for name, value in vars(module).items():
            if not callable(value) or name[0] == "_" or not isinstance(value.__doc__, str):
                continue
            if sentence := find_sentence(name, value.__doc__):
                text = f"{name}({', '.join(find_arguments(name, value))}) {sentence}"
                yield text if len(text) <= LENGTH else text[:LENGTH].rpartition(" ")[0]


def find_sentence(name: str, docstring: str) -> str:
    """Return the first sentence of a docstring below the call with which some begin, or nothing."""
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(docstring)):
        text = " ".join(paragraph.split())
        if f"{name}(" not in text and len(text.split()) > 2:
            return re.split(r"(?<=[.:]) ", text)[0]
    return ""


def find_arguments(name: str, value: Any) -> list[str]:
    """Return the names of the arguments of a function, which a builtin has in its docstring."""
    try:
        return list(inspect.signature(value).parameters)
    except ValueError:
        call = re.match(rf"\s*[\w.]*\b{name}\((.*?)\)", value.__doc__, re.DOTALL)
        return re.findall(r"(\w+)[^,]*", call[1]) if call else []


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
