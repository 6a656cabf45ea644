"""The losses of the tokens of two GPUs, with the mean of both means and the mean of all."""

from collections.abc import Sequence

from lookup_matmul.figures.sheet import MARK, PICK, QUIET, Drawing, Sheet, id_colors

LABEL_WIDTH = 52.0
CELL_WIDTH = 40.0
MEAN_X = LABEL_WIDTH + 4 * CELL_WIDTH + 30


def draw_two_means(losses: Sequence[Sequence[float]]) -> Drawing:
    """Draw the losses of each GPU, the mean beside them, and below, the mean by GPU and of all."""
    sheet = Sheet(MEAN_X + 80, 25)
    sheet.text(MEAN_X + 30, 0.5, "its mean", QUIET)
    means = [sum(row) / len(row) for row in losses]
    for rank, (row, mean) in enumerate(zip(losses, means, strict=True)):
        top = 1.0 + 1.3 * rank
        fill, color = id_colors(rank)
        sheet.text(LABEL_WIDTH - 8, top + 0.5, f"GPU {rank}", anchor="end")
        for k, loss in enumerate(row):
            x = LABEL_WIDTH + k * CELL_WIDTH
            sheet.cell(x, top, CELL_WIDTH, f"{loss:.2f}", color, fill=fill)
        sheet.text(MEAN_X + 30, top + 0.5, f"{mean:.3f}", color)
    by_gpu = sum(means) / len(means)
    numbers = [loss for row in losses for loss in row]
    of_all = sum(numbers) / len(numbers)
    lines = ("mean of the means", by_gpu), ("mean of all tokens", of_all)
    for k, (label, mean) in enumerate(lines):
        top = 3.8 + 1.2 * k
        sheet.text(MEAN_X - 8, top + 0.5, label, anchor="end")
        colors = (PICK, MARK) if k else ("none", QUIET)
        sheet.cell(MEAN_X, top, 60, f"{mean:.3f}", bold=bool(k), colors=colors)
    rows = "; ".join(
        f"GPU {rank}: {', '.join(f'{loss:.2f}' for loss in row)}, mean {mean:.3f}"
        for rank, (row, mean) in enumerate(zip(losses, means, strict=True))
    )
    return sheet.to_drawing(
        f"Losses of tokens. {rows}. "
        f"Mean of the means {by_gpu:.3f}, mean of all tokens {of_all:.3f}."
    )
