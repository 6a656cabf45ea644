"""Print what sparse rows times a table cost, in every form: ``python -m lookup_matmul.timings``."""

import torch

from lookup_matmul.timings.bags import bag_contenders, check_bag_contenders, zipf_bags
from lookup_matmul.timings.clock import time_side_by_side
from lookup_matmul.timings.report import ratio_table

ROWS, PER_ROW, VOCAB_SIZE, DIM = 1024, 100, 50_000, 128


def main() -> None:
    """Measure all forms in one run and print them."""
    bags = zipf_bags(ROWS, PER_ROW, VOCAB_SIZE)
    weight = torch.randn(VOCAB_SIZE, DIM, generator=torch.Generator().manual_seed(1))
    contenders = bag_contenders(bags, weight)
    check_bag_contenders(contenders, bags, weight)
    print(f"{ROWS:,} rows of {PER_ROW} entries, {VOCAB_SIZE:,} columns, dimension {DIM}, float32")
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads\n")
    print(ratio_table(time_side_by_side(contenders), baseline="embedding_bag by hand"))


if __name__ == "__main__":
    main()
