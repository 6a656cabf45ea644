"""What new rows take from the old ones."""

from collections.abc import Mapping

from lookup_matmul.figures import sheet

WIDTH = 330.0
BAR = 30.0  # its height
TOP = 26.0


def draw_share(shares: Mapping[float, float]) -> sheet.Drawing:
    """Draw the probability that new rows get, by their length; the page shows one at a time."""
    lengths = [*shares]
    frames = ";".join(f"{share * WIDTH:.0f}" for share in shares.values())
    last = shares[lengths[-1]]
    texts = []
    for k, share in enumerate(shares.values()):
        shown = ";".join("01"[j == k] for j in range(len(lengths)))
        texts.append(
            f'<text x="0" y="15" opacity="{int(k == len(lengths) - 1)}" '
            f'data-frames="opacity;{shown}" style="font-weight: 700">{share:.0%}</text>'
        )
    elements = (
        f'<g style="fill: {sheet.INK}; font-size: 13px">{"".join(texts)}</g>'
        f'<rect x="0" y="{TOP}" height="{BAR}" width="{last * WIDTH:.0f}" '
        f'data-frames="width;{frames}" style="fill: {sheet.PICK}; stroke: {sheet.MARK}"/>'
        f'<rect x="0.5" y="{TOP}" height="{BAR}" width="{WIDTH - 1}" '
        f'style="fill: none; stroke: {sheet.LINE}"/>'
    )
    steps = [f"length:{length:g}" for length in lengths]
    alt = "; ".join(f"length {length:g}: {share:.1%}" for length, share in shares.items())
    return sheet.to_steps(WIDTH, TOP + BAR + 4, steps, f"What the new rows take: {alt}.", elements)
