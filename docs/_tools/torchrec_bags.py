"""What TorchRec gives for bags in tables that two processes hold: ``nox -s torchrec`` records it.

TorchRec is imported where it is used, since nothing else needs it.
"""

import json
import platform
import warnings
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch import distributed

from lookup_matmul.sharded.processes import run_on_processes

PROCESSES, DIM, ROWS, BAGS = 2, 8, {"goods": 10, "shops": 7}, 4
FILE = Path("src/lookup_matmul/recorded/torchrec/bags.json")


def inputs() -> tuple[dict[str, torch.Tensor], torch.Tensor, torch.Tensor]:
    """Return two tables, the bags' lengths (process, table, bag), and all ids in this order."""
    generator = torch.Generator().manual_seed(123)
    tables = {name: torch.randn(rows, DIM, generator=generator) for name, rows in ROWS.items()}
    lengths = torch.randint(4, (PROCESSES, len(ROWS), BAGS), generator=generator)
    ids = [
        torch.randint(rows, (int(lengths[process, table].sum()),), generator=generator)
        for process in range(PROCESSES)
        for table, rows in enumerate(ROWS.values())
    ]
    return tables, lengths, torch.cat(ids)


def bags_of_torchrec(
    tables: dict[str, torch.Tensor], lengths: torch.Tensor, ids: torch.Tensor
) -> dict[str, list[list[float]]]:
    """Return this process's bags, (bag, table and embedding dimension), for each way to cut."""
    warnings.simplefilter("ignore")  # torchrec uses names of torch that are to be replaced
    from torchrec import EmbeddingBagCollection, EmbeddingBagConfig, KeyedJaggedTensor
    from torchrec.distributed.embeddingbag import EmbeddingBagCollectionSharder
    from torchrec.distributed.model_parallel import DistributedModelParallel
    from torchrec.distributed.sharding_plan import (
        column_wise,
        construct_module_sharding_plan,
        row_wise,
        table_wise,
    )
    from torchrec.distributed.types import ShardingEnv, ShardingPlan

    rank, size = distributed.get_rank(), distributed.get_world_size()
    configs = [
        EmbeddingBagConfig(
            name=name, num_embeddings=len(table), embedding_dim=DIM, feature_names=[name]
        )
        for name, table in tables.items()
    ]
    whole = EmbeddingBagCollection(tables=configs, device=torch.device("cpu"))
    with torch.no_grad():
        for name, table in tables.items():
            whole.embedding_bags[name].weight.copy_(table)
    before = int(lengths[:rank].sum())
    own = ids[before : before + int(lengths[rank].sum())]
    features = KeyedJaggedTensor(list(tables), values=own, lengths=lengths[rank].flatten())
    found = {"not cut": whole(features).values()}
    sharder, every = EmbeddingBagCollectionSharder(), list(range(size))
    for way, plans in {
        "by rows": {name: row_wise() for name in tables},
        "by tables": {name: table_wise(rank=k % size) for k, name in enumerate(tables)},
        "by columns": {name: column_wise(ranks=every) for name in tables},
    }.items():
        plan = construct_module_sharding_plan(
            whole,
            per_param_sharding=plans,
            sharder=sharder,
            local_size=size,
            world_size=size,
            device_type="cpu",
        )
        model = DistributedModelParallel(
            torch.nn.Sequential(whole),
            device=torch.device("cpu"),
            env=ShardingEnv.from_process_group(distributed.group.WORLD),
            plan=ShardingPlan({"0": plan}),
            sharders=[sharder],
        )
        _fill(model, tables)
        found[way] = model(features).wait().values()
    return {way: bags.tolist() for way, bags in found.items()}


def _fill(model: Any, tables: dict[str, torch.Tensor]) -> None:
    """Copy into each shard that is here the numbers of its place."""
    for key, sharded in model.state_dict().items():
        table = tables[key.split(".")[-2]]
        for shard in sharded.local_shards():
            (row, column), (rows, columns) = shard.metadata.shard_offsets, shard.tensor.shape
            shard.tensor.detach().copy_(table[row : row + rows, column : column + columns])


def main() -> None:
    """Run TorchRec on two processes and write what it gave, with its provenance."""
    tables, lengths, ids = inputs()
    results = run_on_processes(bags_of_torchrec, PROCESSES, tables, lengths, ids, timeout_s=120.0)
    names = ("torch", "torchrec", "fbgemm-gpu-cpu")
    recording = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "device": f"{PROCESSES} processes on a CPU ({platform.machine()}), gloo",
        "versions": {"python": platform.python_version()} | {name: version(name) for name in names},
        "command": "nox -s torchrec",
        "tables": {name: table.tolist() for name, table in tables.items()},
        "lengths": lengths.tolist(),
        "ids": ids.tolist(),
        "bags": results,
    }
    FILE.write_text(json.dumps(recording, indent=1) + "\n", "utf-8")
    print(f"Wrote {FILE}.")


if __name__ == "__main__":
    main()
