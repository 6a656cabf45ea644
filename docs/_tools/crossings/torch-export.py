# /// script
# dependencies = ["torch==2.13.0", "numpy==2.4.6"]
# ///
"""What torch.export and AOTInductor make of a lookup, a product, a bag and a tie, on a CPU."""

import io
from pathlib import Path

import torch
from crossing_questions import TABLE, SumOfRows, Tied, attempt, make_bags, size_of, time_beside
from torch import nn
from torch.nn import functional

from lookup_matmul import probe_lookup

lookup = nn.Embedding.from_pretrained(TABLE)


class Product(nn.Module):
    """The one-hot rows of the ids times the table."""

    def forward(self, ids):
        """Return rows for ids."""
        return functional.one_hot(ids, 5).float() @ lookup.weight


def export(module, ids):
    """Return the exported module, with any number of ids."""
    return torch.export.export(module, (ids,), dynamic_shapes=[{0: torch.export.Dim("n")}])


def compile_(exported):
    """Return the exported module compiled ahead of time, and its bytes."""
    path = torch._inductor.aoti_compile_and_package(exported)
    return torch._inductor.aoti_load_package(path), Path(path).stat().st_size


results = {"operators": {}, "torch.export": {}, "AOTInductor": {}}
for name, module in (("lookup", lookup), ("product", Product())):
    exported = export(module, torch.tensor([3, 4]))
    nodes = [node for node in exported.graph.nodes if node.op == "call_function"]
    results["operators"][name] = [str(node.target) for node in nodes]
    results["torch.export"][name] = dict(probe_lookup(exported.module(), TABLE, outside=True))
    run = compile_(exported)[0]
    answers = {str(i): attempt(lambda f=run, i=i: f(torch.tensor([2, i]))) for i in (0, -1, 5)}
    results["AOTInductor"][name] = answers
ids = torch.tensor([1, 0, 2, 0], dtype=torch.int32)[:2]  # what is read beyond is its own memory
run = compile_(export(lookup, torch.tensor([3, 4])))[0]
results["AOTInductor"]["ids 1, 0 of int32"] = attempt(lambda: run(ids))

table, bags = make_bags()
bag = nn.EmbeddingBag.from_pretrained(table, mode="sum")
models = {"bag": bag, "lookup, then sum": SumOfRows(table)}
functions = {name: compile_(export(model, bags))[0] for name, model in models.items()}
results["time over that of torch's bag"] = time_beside(
    lambda: bag(bags), {n: (lambda f=f: f(bags)) for n, f in functions.items()}
)
torch.export.save(tied := export(Tied(), torch.tensor([3, 4])), file := io.BytesIO())
sizes = len(file.getvalue()), compile_(tied)[1]
results["tied"] = dict(zip(("torch.export", "AOTInductor"), map(size_of, sizes), strict=True))
